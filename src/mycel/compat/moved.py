# SPDX-License-Identifier: Apache-2.0
"""Where modules of ours stood before: what was pickled then names them so."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

OURS = "mycel"
# The modules that stood in `ops`, by the shelf where each is now; but for those that an operator is
# named like, which an import would put in its place.
SHELVES = {
    "array": (
        "axes bands casting copying creation diagonals indexing joining "
        "masking ordering replacing selection"
    ),
    "math": (
        "accumulation arithmetic comparison complex_numbers decompositions distances "
        "elementwise fourier lengths linear powers products quantiles quotients "
        "reduction segments solving special statistics trigonometry windows"
    ),
    "nn": (
        "activation attention convolution deformable detection fused_attention loss "
        "margins normalization patches pooling positions recurrent recurrent_kinds "
        "regions resizing sampling sequence_loss transposed unpooling volumes"
    ),
    "random": "distributions",
    "spelled": "hints in_place in_place_methods in_place_places members overloads",
    "update": "clipping descent_updates overflow sparse_updates updates",
    "user": "composite control custom hook registration user_operator user_primitive",
}
# The modules that stood in `kernel.execute`, in `execute` before that, and are in `kernel.prove`.
PROVE = (
    "attributes bytecode callees cases explain guards kinds lines memos notes python_watch "
    "reads sources"
)
# Former paths below mycel, of packages and modules; what was below a package is below the new one.
MOVED = {
    "base": "kernel.base",
    "base.checking": "compat.checking",
    "base.keywords": "report.keywords",
    "base.processes": "ops.collectives.groups",
    "base.heap": "tuning.malloc",
    "checkpoint.distributed": "checkpoint.sharded.loading",
    "define": "kernel.define",
    "differentiate": "kernel.differentiate",
    "differentiate.plans": "kernel.differentiate.reverse",
    "kernel.differentiate.plans": "kernel.differentiate.reverse",
    "differentiate.mapping": "transform.vmap",
    "differentiate.products": "transform.jacobian",
    "differentiate.recompute": "transform.recompute",
    "differentiate.untaped": "transform.no_grad",
    "execute": "kernel.execute",
    "execute.ledger": "report.ledger",
    "execute.logged": "report.logging_sites",
    "execute.printing": "report.printing",
    "execute.report": "report.pages",
    "execute.written": "tuning.materialize",
    "init.older": "compat.initializers",
    "nn.layers.older": "nn.layers.operators",
    "ops.arrangements": "ops.array.combinatorics",
    "ops.collective_table": "ops.collectives.table",
    "ops.array.arrangements": "ops.array.combinatorics",
    "ops.array.blocks": "ops.array.space_to_batch",
    "ops.blocks": "ops.array.space_to_batch",
    "ops.extended": "compat.mint_operators",
    "ops.extremes": "ops.math.argminmax",
    "ops.math.extremes": "ops.math.argminmax",
    "ops.older": "compat.operators",
    "ops.processes": "ops.collectives.groups",
    "ops.only_in_mint": "ops.spelled.mint_variants",
    "ops.spelled.extended": "compat.mint_operators",
    "ops.spelled.older": "compat.operators",
    "ops.spelled.only_in_mint": "ops.spelled.mint_variants",
    "ops.update_rules": "ops.update.rules",
    "ops.update.update_rules": "ops.update.rules",
    "optim.group_rules": "ops.update.rules",
    "optim.grouped": "optim.param_groups.optimizer",
    "optim.grouped_adam": "optim.param_groups.adam",
    "optim.grouped_descent": "optim.param_groups.descent",
    "optim.rules": "ops.update.rules",
    "optim.together": "optim.fused_update",
    "record": "kernel.record",
    "record.show": "report.show",
    "spell": "kernel.spell",
    "ops.lowering": "tuning.lowering",
    "ops.sparse_functions": "ops.sparse.sparse_functions",
    **{
        f"ops.{name}": f"ops.{shelf}.{name}" for shelf in SHELVES for name in SHELVES[shelf].split()
    },
    **{
        f"{former}.{name}": f"kernel.prove.{name}"
        for former in ("execute", "kernel.execute")
        for name in PROVE.split()
    },
    **{
        f"{former}.{name}": "kernel.execute.sites"
        for former in ("execute", "kernel.execute")
        for name in ("effects", "watch")
    },
}


def present_path(fullname: str) -> str | None:
    """Where a module is now that had this path, or None if it never moved.

    Example:
        >>> from mycel.compat.moved import present_path
        >>> present_path("mycel.record.tensor")
        'mycel.kernel.record.tensor'
    """
    root, _, below = fullname.partition(".")
    former, rest = below, ""
    while root == OURS and former:
        if former in MOVED:
            return f"{OURS}.{MOVED[former]}{rest}"
        former, _, last = former.rpartition(".")
        rest = f".{last}{rest}"
    return None


class Finder(MetaPathFinder, Loader):
    """Finds modules under their former paths: the same module under both names."""

    def find_spec(self, fullname: str, path=None, target=None) -> ModuleSpec | None:
        """The import system asks here for what no other finder has."""
        present = present_path(fullname)
        if present is None or importlib.util.find_spec(present) is None:
            return None
        is_package = fullname.count(".") == 1
        return ModuleSpec(fullname, self, is_package=is_package)

    def create_module(self, spec: ModuleSpec) -> None:
        """As for any module; a package stays empty, so that nothing below it is loaded twice."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the module of today in its place."""
        if not hasattr(module, "__path__"):
            present = present_path(module.__name__)
            assert present is not None
            sys.modules[module.__name__] = importlib.import_module(present)


def install() -> None:
    """Serve the former paths, after everything that is there."""
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        sys.meta_path.append(Finder())
