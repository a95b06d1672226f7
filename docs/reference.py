# SPDX-License-Identifier: Apache-2.0
"""The reference of the site, written from signatures and docstrings while mkdocs builds.

mkdocs calls `on_files` and `on_page_markdown`: see `hooks` in mkdocs.yml. The names of mycel are
made by decorators and looked up late, so the package is imported and asked; nothing is parsed.
"""

from __future__ import annotations

import dataclasses
import enum
import importlib
import inspect
import logging
import re
import textwrap

from mkdocs.structure.files import File

from mycel.compat.alias import public_names
from mycel.compat.keywords import RENAMED
from mycel.kernel.base.dtypes import ALL as TYPES
from mycel.kernel.spell.other_keywords import ABSENT

FOLDER = "reference"
EMPTY = inspect.Parameter.empty

# Pages in their order: file, title, what is there, and the namespaces below `mycel` whose names it
# has; behind a colon, a pattern for the files that define these. A name stands on the first page
# that takes it; the root's are taken last.
PAGES = [
    ("mycel", "mycel", "derivatives, modes, seeds, and what MindSpore has at its root", [":"]),
    ("tensor", "Tensor", "values, and their methods", [":kernel.record.tensor"]),
    ("parameter", "Parameter", "what is trained", [":kernel.record.parameter"]),
    ("cell", "Cell and containers", "the base of networks", ["nn:nn.(cell|containers)"]),
    ("layers", "Layers", "what networks are made of", ["nn:nn.layers.*"]),
    ("losses", "Losses", "as Cells", ["nn:nn.*loss"]),
    ("optimizers", "Optimisers", "and learning rates over time", ["nn:optim.*"]),
    ("steps", "Steps of training", "as Cells around a network", ["nn:"]),
    ("ops", "Operators", "functions, and Primitive classes of the same names", ["ops:"]),
    ("train", "train", "Model, callbacks, metrics", ["train:"]),
    ("amp", "amp", "mixed precision and loss scales", ["amp:"]),
    ("init", "Initialisers", "what Parameters start with", ["init:"]),
    ("dataset", "dataset", "sources, batches, samplers, iterators", ["dataset:"]),
    ("vision", "dataset.vision", "operations on pictures", ["dataset.vision:"]),
    ("transforms", "dataset.transforms", "on anything", ["dataset.transforms:"]),
    ("text", "dataset.text", "on texts", ["dataset.text:"]),
    ("mindrecord", "mindrecord", "MindSpore's files of rows", ["mindrecord:"]),
    ("checkpoint", "Checkpoints", "export, other libraries", ["checkpoint:"]),
    ("summary", "summary", "records for TensorBoard", ["summary:"]),
    ("debug", "Debugging", "the ledger, profiles, memory, devices",
     ["debug:", "profiler:", "runtime:", "hal:"]),
    ("parallel", "Communication", "the words of several devices, for one",
     ["communication:", "communication.comm_func:", "parallel:"]),
    ("numpy", "numpy", "NumPy's functions on Tensors", ["numpy:", "numpy.fft:"]),
    ("scipy", "scipy", "linear algebra and minima", ["scipy.linalg:", "scipy.optimize:"]),
    ("mint", "mint", "operators as PyTorch spells them",
     ["mint:", "mint.linalg:", "mint.special:", "mint.distributed:"]),
    ("mint_functional", "mint.nn.functional", "those of networks", ["mint.nn.functional:"]),
    ("mint_nn", "mint.nn", "layers with PyTorch's arguments", ["mint.nn:"]),
    ("experimental", "mint.optim", "optimisers with `param_groups`, and their schedulers",
     ["mint.optim:", "experimental.optim:", "experimental.optim.lr_scheduler:"]),
]  # fmt: skip
OTHERS = "ops/others"
# A text that stands on several pages is written out on the one that comes first here; these are
# asked after the rest, because they answer for what is defined elsewhere.
BORROWERS = ["tensor", "parameter", "mycel", "mint", "mint_functional", "mint_nn", "numpy", OTHERS]


@dataclasses.dataclass
class Entry:
    """One public name: a heading of the reference."""

    path: str  # as it is written behind `mycel.`, also the anchor
    item: object
    page: str
    members: list[Entry] = dataclasses.field(default_factory=list)

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
    for entry in found:
        entry.members = list(members(entry, known))
    return found


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


# Docstrings

SECTION = re.compile(r"^(Args|Args of the call|Attributes|Returns|Raises|Example):$", re.M)
INDENTED = re.compile(r"((?:[ ].*\n?|\n)*)((?:.|\n)*)")
ARGUMENT = re.compile(r"^(\*{0,2}[\w.]+(?:, \*{0,2}[\w.]+)*): (.*)$", re.S)


def text_to_markdown(text: str) -> str:
    """Plain text, in which only `code` is marked up."""
    parts = re.split(r"(`[^`\n]+`)", text)
    return "".join(p if p[:1] == "`" else re.sub(r"([*_<\[|\\])", r"\\\1", p) for p in parts)


def described(body: str) -> str:
    """The lines of `Args:` and `Raises:` as a list."""
    lines = []
    for part in re.split(r"\n(?! )", body):
        words = " ".join(part.split())
        found = ARGUMENT.match(words)
        if found:
            named = ", ".join(f"`{name}`" for name in found[1].split(", "))
            words = f"{named}: {text_to_markdown(found[2])}"
        else:
            words = text_to_markdown(words)
        lines.append(f"- {words}")
    return "\n".join(lines)


def free_text(text: str) -> str:
    """Paragraphs; indented ones and examples are shown as they stand."""
    written = []
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        if paragraph.startswith((" ", ">>>")):
            written.append(f"```pycon\n{textwrap.dedent(paragraph)}\n```")
        elif paragraph.strip():
            written.append(text_to_markdown(paragraph))
    return "\n\n".join(written)


def doc_to_markdown(doc: str) -> str:
    """A docstring with its sections."""
    first, *rest = SECTION.split(doc)
    written = [free_text(first)]
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        inner, outer = INDENTED.match(body.lstrip("\n")).groups()
        inner = textwrap.dedent(inner).strip("\n")
        if title == "Example":
            written.append(f"```pycon\n{inner}\n```")
        elif title == "Returns":
            written.append(f"**Returns:** {text_to_markdown(' '.join(inner.split()))}")
        else:
            written.append(f"**{title}:**\n\n{described(inner)}")
        written.append(free_text(outer))
    return "\n\n".join(part for part in written if part)


# Pages


def write_entry(entry: Entry, level: int, homes: dict[str, Entry]) -> str:
    home = homes[entry.doc]
    lines = [f"{'#' * level} {text_to_markdown(entry.path)} {{ #{entry.path} }}"]
    lines.append(f"```python\n{signature(entry)}\n```")
    if home.path != entry.path and "\n\n" in entry.doc:
        lines.append(f"{text_to_markdown(entry.summary)} See {link(home, entry.page)}.")
    else:
        lines.append(doc_to_markdown(entry.doc))
        lines += [write_entry(member, level + 1, homes) for member in entry.members]
    return "\n\n".join(lines)


def link(there: Entry, page: str) -> str:
    """A link from a page of the reference to a name."""
    up = "../" * page.count("/")
    place = "" if there.page == page else f"{up}{there.page}.md"
    return f"[`{there.path}`]({place}#{there.path})"


def title_of(module: str) -> str:
    return module.removesuffix(".api").rpartition(".")[2].replace("_", " ").capitalize()


def about(module: str) -> str:
    """The first paragraph of a module's docstring."""
    if not module.startswith("mycel"):
        return ""
    return text_to_markdown((importlib.import_module(module).__doc__ or "").partition("\n\n")[0])


def write_page(title: str, found: list[Entry], homes: dict[str, Entry]) -> str:
    """The names of a page; those of several files below a heading for each file."""
    lines = [f"# {title}"]
    if found[0].page in BORROWERS:
        own_first = sorted(found, key=lambda entry: homes[entry.doc].page != entry.page)
        lines += [write_entry(entry, 2, homes) for entry in own_first]
        return "\n\n".join(lines) + "\n"
    groups: dict[str, list[Entry]] = {}
    for entry in found:
        groups.setdefault(module_of(entry.item), []).append(entry)
    for module, group in groups.items():
        lines += [f"## {title_of(module)}"] if len(groups) > 1 else []
        lines.append(about(module))
        lines += [write_entry(entry, 3 if len(groups) > 1 else 2, homes) for entry in group]
    return "\n\n".join(lines) + "\n"


OVERVIEW = """# API reference

Every public name, with its signature and its docstring, as the installed package has them. Names
are written as below `mycel`: `ops.tanh` is `mycel.ops.tanh`. A class with two pairs of parentheses
is made with the first and called with the second. To find one, type it into the search field above.
The examples have imported `mycel as ms`, `mycel.dataset as ds`, `numpy as np`, and from mycel `nn`,
`ops`, `mint`, `Tensor` and `Parameter`.

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
            lines += [f"## [{title_of(name)}]({name}.md)", text]
            lines.append(", ".join(link(entry, "ops/index") for entry in found))
    return "\n\n".join(lines) + "\n"


def write_all() -> dict[str, str]:
    """The reference: Markdown by the name of the page."""
    pages: dict[str, list[Entry]] = {}
    for entry in sorted(entries(), key=lambda e: (e.page == OTHERS, e.page)):
        pages.setdefault(entry.page, []).append(entry)
    everything = [e for found in pages.values() for entry in found for e in (entry, *entry.members)]
    ranks = {page: rank for rank, page in enumerate(BORROWERS, start=1)}
    homes: dict[str, Entry] = {}
    for entry in sorted(everything, key=lambda e: ranks.get(e.page, 0)):
        homes.setdefault(entry.doc, entry)
    titles = {page: title for page, title, _, _ in PAGES}
    written = {"index": write_overview(pages), "ops/index": write_operators(pages)}
    for page, found in pages.items():
        title = titles.get(page) or title_of(page.replace("/", "."))
        written[page] = write_page(title, found, homes)
    return written


# What mkdocs calls


def on_files(files, config):
    """Add the pages, and name them in the navigation."""
    logging.getLogger("mycel").setLevel(logging.ERROR)  # older names say what they are called now
    written = write_all()
    for page, text in written.items():
        files.append(File.generated(config, f"{FOLDER}/{page}.md", content=text))
    operators = [f"{FOLDER}/{page}.md" for page in written if page.startswith("ops/")]
    tree = [f"{FOLDER}/index.md"]
    for name, title, _, _ in PAGES:
        tree.append({title: operators if name == "ops" else f"{FOLDER}/{name}.md"})
    for section in config.nav:
        if section.get("API reference"):
            section["API reference"] = tree
    return files


def on_page_markdown(markdown, page, config, files):
    """Examples are sessions of the interpreter, and are coloured as such."""
    return re.sub(r"^```python\n(?=>>>)", "```pycon\n", markdown, flags=re.M)
