# SPDX-License-Identifier: Apache-2.0
"""The module paths that real code imports. Oracle: the list recorded from 100 repositories."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support import prepared

RECORDED = Path(__file__).parents[1] / "fixtures" / "import_paths.txt"
# Packages that are not there yet; this list may only shrink.
NOT_YET = ("mindspore.dataset.audio",)

EACH = """
import importlib, sys
failed = 0
for path in open(sys.argv[1]).read().split("\\n"):
    if path and not path.startswith("#"):
        try:
            module = importlib.import_module(path)
            assert module.__name__ == path
            exec(f"from {path} import *", {})
        except Exception as error:
            failed += 1
            print(path, type(error).__name__, error)
sys.exit(failed > 0)
"""


def test_every_path_is_imported(tmp_path):
    paths = [p for p in RECORDED.read_text("utf-8").splitlines() if not p.startswith(NOT_YET)]
    listed = tmp_path / "paths.txt"
    listed.write_text("\n".join(paths))
    script = tmp_path / "each.py"
    script.write_text(EACH)
    command = [sys.executable, "-m", "mycel", "run", str(script), str(listed)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == ""
    assert done.returncode == 0, done.stderr
    assert len(paths) > 100


# Lines as they stand in real programs, and what their last name must be in mycel.
LINES = [
    ("from mindspore.parallel._utils import _get_device_num as f", "f() == 1"),
    ("from mindspore.parallel._utils import _get_parallel_mode as f", "f() == 'stand_alone'"),
    ("from mindspore.parallel._auto_parallel_context import auto_parallel_context as f", "f()"),
    ("from mindspore.common.api import _pynative_executor as e", "e.sync() is None"),
    ("import mindspore.dataset.debug as d", "d.DebugHook"),
    ("import mindspore.dataset.dataloader as d", "d.DataLoader"),
    ("from mindspore.ops.operations import TransposeView as f", "f()"),
    ("from mindspore.ops._primitive_cache import _get_cache_prim as f", "f"),
    ("from mindspore._c_expression import Tensor as A", "A"),
    ("from mindspore._c_expression import TensorPy as A", "A([1])"),
    ("from mindspore.communication.management import init, get_rank", "get_rank() == 0"),
    ("from mindspore.communication import GlobalComm as G", "G.BACKEND"),
    ("from mindspore.communication.comm_func import barrier", "barrier() is None"),
    ("from mindspore.context import ParallelMode as P", "P.AUTO_PARALLEL == 'auto_parallel'"),
    ("from mindspore.nn.wrap.grad_reducer import DistributedGradReducer as D", "D"),
    ("from mindspore.nn.utils import no_init_parameters as f", "f"),
    ("from mindspore._extends import cell_attr_register as f", "f"),
    ("from mindspore._checkparam import Validator as V, Rel", "V.check_int(3, 4, Rel.LT)"),
    ("from mindspore._checkparam import Validator as V", "V.check_int(3, 3, V.EQ)"),
    ("from mindspore import log as logger", "logger.info('text') is None"),
    ("from mindspore.log import logging", "logging.getLogger"),
    ("from mindspore.profiler import Profiler, ProfilerLevel", "ProfilerLevel.Level0"),
    ("from mindspore.profiler.profiling import Profiler", "Profiler"),
    ("from mindspore.common.initializer import _calculate_fan_in_and_fan_out as f",
     "f((8, 3, 5, 5)) == (75, 200)"),
    ("from mindspore.common.initializer import _assignment as f, _register", "f"),
    ("from mindspore.common._stub_tensor import StubTensor", "StubTensor"),
    ("from mindspore.common.dtype import number_type as n, float32", "float32 in n"),
    ("from mindspore.parallel.auto_parallel import AutoParallel as A", "A"),
    ("from mindspore.device_context.ascend.op_precision import precision_mode as f", "f"),
    ("import mindspore as ms", "ms.hal.is_available('CPU')"),
    ("import mindspore as ms", "ms.runtime.synchronize() is None"),
    ("import mindspore as ms", "ms.max_memory_allocated() >= 0"),
    ("import mindspore as ms", "ms.float_ is ms.float32 and ms.bool is ms.bool_"),
    ("import mindspore as ms", "(ms.STRICT, ms.LAX) == (0, 2)"),
    ("import mindspore.mint.distributed as d", "d.get_world_size() == 1"),
    # Of former versions; oracle: the list of repositories that import them.
    ("from mindspore.nn.transformer import FeedForward, MultiHeadAttention as M, MoEConfig", "M"),
    ("from mindspore.nn.transformer.transformer import AttentionMask, TransformerEncoder, "
     "TransformerEncoderLayer, VocabEmbedding", "AttentionMask(3)"),
    ("from mindspore.nn.transformer.layers import _LayerNorm, _Linear", "_LayerNorm((3,))"),
    ("from mindspore.nn.transformer.moe import default_moe_config as c", "c.expert_num == 1"),
    ("from mindspore.nn.transformer.op_parallel_config import _check_config as f", "f"),
    ("from mindspore.nn.transformer import TransformerDecoder as a; "
     "from mindspore.parallel._transformer import TransformerDecoder as b", "a is b"),
    ("from mindspore.nn.transformer import Transformer, FixedSparseAttention as F", "type(F)"),
    ("import mindspore", "mindspore.common.seed.set_seed(3) is None"),
    ("import mindspore", "mindspore.common.seed.get_seed() == 3"),
    ("from mindspore.ops._grad.grad_base import bprop_getters, dyn_rank", "bprop_getters"),
    ("from mindspore.ops import _selected_ops as s", "s.ReduceMean()"),
    ("from mindspore.train.serialization import _get_merged_param_data as f", "type(f)"),
    ("import mindspore.dataset as d", "d.py_transforms.Compose and d.c_transforms.Compose"),
    ("from mindspore._extends.utils import cell_attr_register as f", "f"),
    ("from mindspore.dataset.dataloader.dataset import IterableDataset as D", "D"),
    ("import mindspore as ms", "str(ms.ops.typeof(ms.Tensor([1.0]))) == 'Tensor[Float32]'"),
    ("import mindspore as ms", "str(ms.ops.typeof(3)) == 'Int64'"),
]  # fmt: skip


def test_lines_of_real_programs(tmp_path):
    script = tmp_path / "lines.py"
    script.write_text("\n".join(f"{line}\nassert {check}, {line!r}" for line, check in LINES))
    done = prepared.run(["-m", "mycel", "run", str(script)])
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("statement", "nearest"),
    [
        ("from mindspore.nn import ModuleList", "mycel.nn.CellList"),
        ("from mindspore.nn import Parameter", "mycel.Parameter"),
        ("from mindspore.nn import Module", "mycel.nn.Cell"),
        ("from mindspore.nn.functional import relu", "mycel.ops.relu"),
        ("from mindspore.nn.transformer.layers import _no_such_norm", None),
    ],
)
def test_names_that_are_not_those_of_mindspore_stay_absent(tmp_path, statement, nearest):
    script = tmp_path / "wrong.py"
    script.write_text(statement)
    done = prepared.run(["-m", "mycel", "run", str(script)])
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith(("ImportError: ", "ModuleNotFoundError: mindspore."))
    assert f"has no {statement.rpartition(' ')[2]!r} in mycel" in last
    if nearest is not None:
        assert nearest in last
