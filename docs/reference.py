# SPDX-License-Identifier: Apache-2.0
"""The reference of the site, written from signatures and docstrings while mkdocs builds.

The names of mycel are made by decorators and looked up late, so the package is imported and asked;
nothing is parsed. `build_site.py` puts the pages into the site.
"""

from __future__ import annotations

import dataclasses
import enum
import importlib
import inspect
import re
import sys
from pathlib import Path

from docstrings import code_block, inline, to_html

import mycel
from mycel.compat.alias import public_names
from mycel.compat.keywords import RENAMED
from mycel.kernel.base.dtypes import ALL as TYPES
from mycel.kernel.spell.other_keywords import ABSENT

# Folders of the site: pages of names, pages of source files; the way from such a page to the root.
NAMES, SOURCES, UP = "api", "source", "../../"
PACKAGE = Path(mycel.__file__).parent
EMPTY = inspect.Parameter.empty

# Pages in their order: file, title, what is there, and the namespaces below `mycel` whose names it
# has; behind a colon, a pattern for the files that define these. A name stands on the first page
# that takes it; the root's are taken last.
PAGES = [
    ("mycel", "mycel", "derivatives, modes, seeds, and what MindSpore has at its root", [":"]),
    ("tensor", "Tensor", "values, and their methods", [":kernel.record.tensor"]),
    ("parameter", "Parameter", "Tensors that are trained", [":kernel.record.parameter"]),
    ("cell", "Cell and containers", "the base of networks", ["nn:nn.(cell|containers)"]),
    ("layers", "Layers", "what networks are made of", ["nn:nn.layers.*"]),
    ("losses", "Losses", "as Cells", ["nn:nn.*loss"]),
    ("optimizers", "Optimisers", "and learning rates over time", ["nn:optim.*"]),
    ("steps", "Training steps", "as Cells around a network", ["nn:"]),
    ("ops", "Operators", "functions, and Primitive classes of the same names", ["ops:"]),
    ("train", "train", "Model, callbacks, metrics", ["train:"]),
    ("amp", "amp", "mixed precision and loss scales", ["amp:"]),
    ("init", "Initialisers", "the first values of Parameters", ["init:"]),
    ("dataset", "dataset", "sources, batches, samplers, iterators", ["dataset:"]),
    ("vision", "dataset.vision", "operations on pictures", ["dataset.vision:"]),
    ("transforms", "dataset.transforms", "operations on any column", ["dataset.transforms:"]),
    ("text", "dataset.text", "operations on texts", ["dataset.text:"]),
    ("mindrecord", "mindrecord", "MindSpore's files of rows", ["mindrecord:"]),
    ("checkpoint", "Checkpoints", "export, other libraries", ["checkpoint:"]),
    ("summary", "summary", "records for TensorBoard", ["summary:"]),
    ("debug", "Debugging", "the ledger, profiles, memory, devices",
     ["debug:", "profiler:", "runtime:", "hal:"]),
    ("parallel", "Communication", "names for several devices, here for one",
     ["communication:", "communication.comm_func:", "parallel:"]),
    ("numpy", "numpy", "NumPy's functions on Tensors", ["numpy:", "numpy.fft:"]),
    ("scipy", "scipy", "linear algebra and minima", ["scipy.linalg:", "scipy.optimize:"]),
    ("mint", "mint", "operators as PyTorch spells them",
     ["mint:", "mint.linalg:", "mint.special:", "mint.distributed:"]),
    ("mint_functional", "mint.nn.functional", "functions of networks", ["mint.nn.functional:"]),
    ("mint_nn", "mint.nn", "layers with PyTorch's arguments", ["mint.nn:"]),
    ("experimental", "mint.optim", "optimisers with `param_groups`, and their schedulers",
     ["mint.optim:", "experimental.optim:", "experimental.optim.lr_scheduler:"]),
]  # fmt: skip
OTHERS = "ops/others"
# Pages with names for what other pages define. A class has its members below its name on another
# page, or on the first of these.
BORROWERS = ["tensor", "parameter", "mycel", "mint", "mint_functional", "mint_nn", "numpy", OTHERS]


@dataclasses.dataclass
class Entry:
    """One public name: a heading of the reference."""

    path: str  # as it is written behind `mycel.`, also the anchor on the page of its family
    item: object
    page: str
    members: list[Entry] = dataclasses.field(default_factory=list)
    address: str = ""  # the folder of its own page

    @property
    def doc(self) -> str:
        if not is_ours(self.item):
            return f"Python's `{self.item.__module__.lstrip('_')}.{self.item.__qualname__}`."
        return inspect.cleandoc(getattr(self.item, "__doc__", None) or "")

    @property
    def summary(self) -> str:
        return self.doc.partition("\n\n")[0].replace("\n", " ")


# What is public


def names_of(namespace: str) -> list[str]:
    """The public names of a namespace, in the order in which it lists them."""
    module = importlib.import_module(f"mycel.{namespace}".rstrip("."))
    names = vars(module).get("__all__") or public_names(module.__name__) or dir(module)
    return [name for name in names if not name.startswith("_")]


def is_ours(item: object) -> bool:
    return (getattr(item, "__module__", None) or "mycel").startswith("mycel")


def is_documented(item: object, namespace: str) -> bool:
    """What can be called; of others' only what older programs call operators."""
    foreign = namespace == "ops" and hasattr(item, "__qualname__")
    return callable(item) and not inspect.ismodule(item) and (is_ours(item) or foreign)


def module_of(item: object) -> str:
    """The file that defines an item; an operator's is that of its definition."""
    call = item.__call__ if inspect.isclass(item) and "__call__" in vars(item) else item
    written = getattr(call, "__globals__", {}).get("function")
    if item.__module__ in ("mycel.ops", "mycel.mint", "mycel.mint.nn.functional") and written:
        return written.__module__
    return item.__module__ if is_ours(item) else "Python"


def source_of(item: object) -> tuple[str, int] | None:
    """The file below `mycel`, and the line in it, that define an item."""
    if inspect.isclass(item) and not _is_made(vars(item).get("__call__")):
        file = Path(sys.modules[item.__module__].__file__ or "")
        source = file.read_text("utf-8")
        found = re.search(rf"^class {item.__name__}\b", source, re.M)
        line = source.count("\n", 0, found.start()) + 1 if found else 1
        return (str(file.relative_to(PACKAGE)), line) if is_ours(item) else None
    call = vars(item)["__call__"] if inspect.isclass(item) else item
    call = inspect.unwrap(call.fget if isinstance(call, property) else call)
    written = call.__globals__["function"] if _is_made(call) else call
    code = getattr(written, "__code__", None)
    if code is None or not is_ours(item):
        return None
    file, line = Path(code.co_filename), code.co_firstlineno
    if not file.is_relative_to(PACKAGE):  # written by a loop over names
        file, line = Path(sys.modules[written.__module__].__file__ or ""), 1
    return str(file.relative_to(PACKAGE)), line


def _is_made(call: object) -> bool:
    """Whether a function was written by `spell`, from a definition that it knows as `function`."""
    return getattr(call, "__globals__", {}).get("function") is not None and (
        call.__code__.co_filename.startswith("<")
    )


def entries() -> list[Entry]:
    """Every name that is documented, in the order of the pages."""
    found, taken = [], set()
    for page, _, _, sources in sorted(PAGES, key=lambda row: row[3] == [":"]):
        for source in sources:
            namespace, _, pattern = source.partition(":")
            module = importlib.import_module(f"mycel.{namespace}".rstrip("."))
            for name in names_of(namespace):
                item, path = getattr(module, name), f"{namespace}.{name}".lstrip(".")
                if not is_documented(item, namespace) or path in taken:
                    continue
                if pattern and not re.fullmatch(pattern, module_of(item).removeprefix("mycel.")):
                    continue
                taken.add(path)
                where = family_page(item) if page == "ops" else page
                is_root = not namespace and not (pattern and inspect.isclass(item))
                found.append(Entry(f"mycel.{name}" if is_root else path, item, where))
    known = {entry.item for entry in found if inspect.isclass(entry.item)}
    seen = set()  # a class that has several names has its members below the first
    for entry in sorted(found, key=rank):
        if entry.item in known and entry.item not in seen:
            seen.add(entry.item)
            entry.members = list(members(entry, known))
    return found


def rank(entry: Entry) -> int:
    """Where what has several names is at home: first the pages that borrow nothing."""
    return BORROWERS.index(entry.page) + 1 if entry.page in BORROWERS else 0


def family_page(item: object) -> str:
    """Operators have a page for each file that defines some."""
    module = module_of(item).removeprefix("mycel.")
    return f"ops/{module.rpartition('.')[2]}" if module.startswith("ops.") else OTHERS


def members(entry: Entry, known: set):
    """Public methods and properties of a class, also of bases that are not public themselves."""
    if not inspect.isclass(entry.item) or issubclass(entry.item, enum.Enum):
        return
    seen = set()
    above = [base for base in entry.item.__mro__[1:] if base in known]
    for base in entry.item.__mro__:
        if not base.__module__.startswith("mycel") or any(issubclass(k, base) for k in above):
            continue
        for name, raw in list(vars(base).items()):
            if name.startswith("_") or name in seen or name in ("construct", "bprop"):
                continue
            if not hasattr(entry.item, name):
                continue  # it only says why it is not there
            seen.add(name)
            item = raw if isinstance(raw, property) else getattr(entry.item, name)
            is_member = isinstance(item, property) or inspect.isroutine(item)
            if is_member and (item.__doc__ or "").strip():
                yield Entry(f"{entry.path}.{name}", item, entry.page)


# Signatures


def parameters(function, path: str = "") -> str | None:
    """What stands between the parentheses; older keywords and `self` are left out."""
    try:
        if inspect.isclass(function) and function.__init__ is not object.__init__:
            function = function.__init__
        taken = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    older, written, starred = RENAMED.get(path, {}), [], False
    for parameter in taken:
        if parameter.name in older or parameter.name == "self" or parameter.name[0] == "_":
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            starred = True
        elif parameter.kind is parameter.KEYWORD_ONLY and not starred:
            written, starred = [*written, "*"], True
        written.append(one_parameter(parameter))
    return ", ".join(written)


def one_parameter(parameter: inspect.Parameter) -> str:
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    text = stars + parameter.name
    if parameter.default is EMPTY or parameter.default is ABSENT:
        return text
    shown = repr(parameter.default)
    if isinstance(parameter.default, enum.Enum):
        shown = f"{type(parameter.default).__name__}.{parameter.default.name}"
    if " at 0x" in shown or shown.startswith("<"):
        shown = getattr(parameter.default, "__name__", "...")
    return f"{text}={shown}"


def signature(entry: Entry) -> str:
    """How it is written: a call; for Primitives and Cells also the call of what was made."""
    item, made = entry.item, None
    if isinstance(item, property):
        return entry.path
    if inspect.isclass(item):
        call = item.__dict__.get("construct") or item.__dict__.get("__call__")
        made = parameters(call) if inspect.isfunction(call) else None
    given = parameters(item, entry.path)
    call = f"({made})" if made is not None else ""
    written = entry.path if given is None else f"{entry.path}({given}){call}"
    if len(written) <= 92 or given is None:
        return written
    between = f"\n    {given},\n" if len(given) <= 88 else _one_by_one(given)
    return f"{entry.path}({between}){call}"


def _one_by_one(given: str) -> str:
    """Parameters on lines of their own; commas within brackets do not separate."""
    parts = re.split(r", (?![^(\[{]*[)\]}])", given)
    return "".join(f"\n    {part}," for part in parts) + "\n"


# Pages


def link(there: Entry, up: str) -> str:
    """A link to the page of a name, from so many folders below the root of the site."""
    return f'<a href="{up}{there.address}/"><code>{there.path}</code></a>'


def title_of(module: str) -> str:
    return module.removesuffix(".api").rpartition(".")[2].replace("_", " ").capitalize()


def about(module: str) -> str:
    """The first paragraph of a module's docstring."""
    if not module.startswith("mycel"):
        return ""
    return inline((importlib.import_module(module).__doc__ or "").partition("\n\n")[0])


def list_names(found: list[Entry], up: str) -> str:
    """Names with their first sentences; below a class its members."""
    lines = []
    for entry in found:
        lines.append(
            f'<dt id="{entry.path}">{link(entry, up)}</dt><dd>{inline(entry.summary)}</dd>'
        )
        if entry.members:
            below = ", ".join(link(member, up) for member in entry.members)
            lines.append(f'<dd class="members">{below}</dd>')
    return f'<dl class="names">{"".join(lines)}</dl>'


def write_family(title: str, found: list[Entry]) -> str:
    """The names of a page; those of several files below a heading for each file."""
    up = "../" * (found[0].page.count("/") + 2)
    groups: dict[str, list[Entry]] = {}
    for entry in found:
        module = "" if found[0].page in BORROWERS else module_of(entry.item)
        groups.setdefault(module, []).append(entry)
    lines = [f"# {title}"]
    for module, group in groups.items():
        lines += [f"## {title_of(module)}"] if len(groups) > 1 else []
        lines += [f"<p>{about(module)}</p>"] if about(module) else []
        lines.append(list_names(group, up))
    return "\n\n".join(lines) + "\n"


def write_name(entry: Entry, others: list[Entry]) -> str:
    """The page of a name: how it is called, what it says, its members, where it is defined."""
    lines = [f"<h1>{entry.path}</h1>", code_block(signature(entry), "python"), to_html(entry.doc)]
    if entry.members:
        lines.append(f"<h2>Members</h2>{list_names(entry.members, UP)}")
    lines.append(f'<p class="also">{written_where(entry)}')
    if others:
        lines.append("The same under other names: " + ", ".join(link(o, UP) for o in others) + ".")
    return "\n".join([*lines, "</p>"])


def written_where(entry: Entry) -> str:
    """A link to the line of the source that defines a name."""
    found = source_of(entry.item)
    if found is None:
        return ""
    file, line = found
    return f'<a href="{UP}{SOURCES}/{file}/#L{line}">Source: {file}, line {line}</a>.'


OVERVIEW = """# API reference

Every public name has a page, with its signature and its docstring, as the installed package has
them. Names are written without `mycel` in front: `ops.tanh` is `mycel.ops.tanh`. A class with two
pairs of parentheses is made with the first and called with the second. To find a name, type it into
the search field above: exact names come first.

| page | names | |
|---|---:|---|
"""


def write_overview(pages: dict[str, list[Entry]]) -> str:
    lines = []
    for name, title, what, _ in PAGES:
        count = sum(len(found) for page, found in pages.items() if page.split("/")[0] == name)
        target = "ops/index.md" if name == "ops" else f"{name}.md"
        lines.append(f"| [{title}]({target}) | {count} | {what} |\n")
    types = ", ".join(f"`mycel.{kind.name}`" for kind in TYPES).replace("bool", "bool_")
    return f"{OVERVIEW}{''.join(lines)}\nElement types are {types}.\n"


def write_operators(pages: dict[str, list[Entry]]) -> str:
    """All operators, by the file that defines them."""
    lines = ["# Operators"]
    for page, found in pages.items():
        if page.startswith("ops/"):
            name = page.partition("/")[2]
            text = "" if page == OTHERS else about(module_of(found[0].item))
            lines += [f"## [{title_of(name)}]({name}.md)", f"<p>{text}</p>"]
            lines.append(f"<p>{', '.join(link(entry, UP) for entry in found)}</p>")
    return "\n\n".join(lines) + "\n"


class Reference:
    """Everything public: the pages of families in Markdown, and those of names in HTML."""

    def __init__(self):
        self.families: dict[str, list[Entry]] = {}
        for entry in sorted(entries(), key=lambda e: (e.page == OTHERS, e.page)):
            self.families.setdefault(entry.page, []).append(entry)
        listed = [entry for found in self.families.values() for entry in found]
        self.names = [name for entry in listed for name in (entry, *entry.members)]
        self.by_doc: dict[str, list[Entry]] = {}
        taken: set[str] = set()
        for entry in self.names:
            self.by_doc.setdefault(entry.doc, []).append(entry)
        for entry in sorted(self.names, key=lambda entry: inspect.isclass(entry.item)):
            entry.address = address_of(entry, taken)
        titles = {page: title for page, title, _, _ in PAGES}
        self.titles = {p: titles.get(p) or title_of(p.replace("/", ".")) for p in self.families}

    def family_pages(self) -> dict[str, str]:
        """Markdown by the name of the page."""
        written = {
            "index": write_overview(self.families),
            "ops/index": write_operators(self.families),
        }
        for page, found in self.families.items():
            written[page] = write_family(self.titles[page], found)
        return written

    def name_page(self, entry: Entry) -> str:
        """HTML; one sentence that two names share by chance does not make them the same."""
        same = self.by_doc[entry.doc] if "\n\n" in entry.doc else []
        return write_name(entry, [other for other in same if other is not entry])


def address_of(entry: Entry, taken: set[str]) -> str:
    """The folder of a name's page; some file systems do not tell `Tanh` from `tanh`."""
    address = f"{NAMES}/{entry.path}"
    while address.casefold() in taken:
        address += "-class" if inspect.isclass(entry.item) else "-function"
    taken.add(address.casefold())
    return address
