"""Every text that people read, as the template it is made from: of code, TOML tables, the report's pages, notebooks.

A place that something stands in is ``{0}``, ``{1}``, …; ``{|s}`` and ``{is|are}`` stand for one of their words.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from html import unescape
from itertools import product
from pathlib import Path

from mqlab.bundled import notebooks

PACKAGE = Path(__file__).parents[1]
CODE = (
    "catalogue", "changes", "commands", "frames", "measure_names", "headline", "hypotheses", "known_errors", "marks",
    "plots", "precedence", "repairs", "report", "scope", "screen", "settings_audit", "strong_signs", "units", "verdict",
    "assembly", "clocks", "comparing", "delivery", "detectors", "figures", "groups", "kafka", "logs", "models",
    "mqtt", "reporting", "rocketmq", "scenarios", "screens", "shared", "symptoms", "traces", "traffic", "views",
    "verbs/comparing", "verbs/demo", "verbs/explaining", "verbs/listing",
)  # fmt: skip
"""Modules and packages whose texts stand on a screen or in a report."""
_PLACE = object()
_MOST = 8
"""Variants of one text; of more its choices stay places."""
_GRAMMAR = {
    "", "s", "es", "is", "are", "was", "were", "has", "have", "had", "do", "does", "it", "them", "its", "their", "they",
    "copy", "copies", "wait", "waits", "waited", "need", "needs",
    "make", "makes",
}  # fmt: skip
"""Choices between such words are grammar of English alone."""
_LOOKED_UP = {
    "startswith", "endswith", "partition", "rpartition", "removesuffix", "removeprefix", "split", "rsplit", "replace",
    "find", "index", "count", "get", "strip", "lstrip", "rstrip", "of_kind", "named", "compile", "match", "search",
    "sub", "fullmatch", "findall", "finditer", "getattr", "namedtuple", "setdefault", "pop", "attrgetter", "TypeVar",
    "isdisjoint", "setting", "value_of", "configured", "begin",
}  # fmt: skip
"""Calls whose texts are compared with something, or are names."""
SENTENCE = re.compile(r"(?<=[A-Za-z0-9`)%}\"\]?])(?<!e\.g)(?<!i\.e)\. (?=\S)")
"""Where one sentence ends and the next begins."""
_HEADERS = re.compile(r"[A-Za-z][\w ,.%()-]*(?:\|[A-Za-z][\w ,.%()-]*)+")
"""``member|host|came``."""
_TYPED = {"help", "metavar", "prog_name"}
"""What the help of a command says, which is English."""
_LABEL = re.compile(r"[A-Z]{3,}(?: [A-Z]+)*")
_LABELLED = ("screen", "screens")
"""Where capitals are labels of rows and verdicts."""
_EDGES = (
    re.compile(r"^(?:\{\d+\})?(?:\s*[;:|·→]|\s{2})[\s;:|·→]*|^[\s,.)-]+(?=\s)|^\s+"),
    re.compile(r"(?:\s*[;:|·→]|\s{2})[\s;:|·→]*(?:\{\d+\})?$|(?<=[.;:]) \{\d+\}$|[\s,(-]+$"),
)
"""What joins a text to others."""


class Texts(ast.NodeVisitor):
    """Templates of one module, with the line of each."""

    def __init__(self, labels: bool = False, terms: bool = True) -> None:
        self.found: dict[str, int] = {}
        self.labels = labels
        self.terms = terms

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for one in (node.left, *node.comparators):
            if not isinstance(one, ast.Constant | ast.Tuple | ast.Set | ast.List):
                self.visit(one)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.visit(node.value)

    def visit_Dict(self, node: ast.Dict) -> None:
        for key, value in zip(node.keys, node.values, strict=True):
            if key is not None:
                self.visit(key)
            self.visit(value)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        self.visit(node.func)
        if name == "counted" and len(node.args) == 2:
            self.visit(node.args[0])
            for shape in _shapes(node.args[1]):
                self._keep((_PLACE, " ", *shape, ("", "s")), node.lineno)
            return
        for keyword in node.keywords:
            if keyword.arg not in _TYPED:
                self.visit(keyword.value)
        for one in node.args:
            plain = isinstance(one, ast.Constant | ast.Tuple | ast.List | ast.Set)
            if not (plain and name in _LOOKED_UP):
                self.visit(one)

    def visit_Constant(self, node: ast.Constant) -> None:
        if not isinstance(node.value, str):
            return
        if _HEADERS.fullmatch(node.value):
            for header in node.value.split("|"):
                self._keep((header,), node.lineno, alone=True)
        else:
            self._keep((node.value,), node.lineno, alone=self.labels and bool(_LABEL.fullmatch(node.value)))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self._whole(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.Add) and any(_is_text(one) for one in (node.left, node.right)):
            self._whole(node)
        else:
            self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        """What is raised is told in English on standard error."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        named = self.terms and any(isinstance(base, ast.Name) and base.id == "StrEnum" for base in node.bases)
        for one in node.body:
            if named and isinstance(one, ast.Assign) and isinstance(one.value, ast.Constant):
                self._keep((one.value.value,), one.lineno, alone=True)
            else:
                self.visit(one)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for one in (*node.args.defaults, *(d for d in node.args.kw_defaults if d), *node.body):
            self.visit(one)

    def _whole(self, node: ast.expr) -> None:
        for shape in _shapes(node):
            self._keep(shape, node.lineno)
        for place in _places(node):
            self.visit(place)

    def _keep(self, shape: Sequence[object], line: int, alone: bool = False) -> None:
        for part in paragraphs(_template(shape)):
            if alone or _speaks(part):
                self.found.setdefault(part, line)


def _is_text(node: ast.expr) -> bool:
    if isinstance(node, ast.IfExp):
        return _is_text(node.body) or _is_text(node.orelse)
    if isinstance(node, ast.BinOp):
        return _is_text(node.left) or _is_text(node.right)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _shapes(node: ast.expr) -> list[tuple[object, ...]]:
    """What a text expression may be made of: words, places, choices of short words."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [(node.value,)]
    if isinstance(node, ast.FormattedValue):
        return _shapes(node.value)
    if isinstance(node, ast.IfExp):
        return _choices(node)
    parts = node.values if isinstance(node, ast.JoinedStr) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and _is_text(node):
        parts = [node.left, node.right]
    if parts is None:
        return [(_PLACE,)]
    every = [_shapes(part) for part in parts]
    while _size(every) > _MOST:
        every[max(range(len(every)), key=lambda n: len(every[n]))] = [(_PLACE,)]
    return [tuple(part for shape in one for part in shape) for one in product(*every)]


def _size(every: Iterable[Sequence[object]]) -> int:
    size = 1
    for one in every:
        size *= len(one)
    return size


def _choices(node: ast.IfExp) -> list[tuple[object, ...]]:
    shapes = [*_shapes(node.body), *_shapes(node.orelse)]
    words = [shape[0] for shape in shapes if len(shape) == 1 and isinstance(shape[0], str)]
    if len(words) == len(shapes) == 2 and _GRAMMAR.issuperset(words):
        return [(tuple(words),)]
    return list(dict.fromkeys(shapes))


def _places(node: ast.expr) -> Iterator[ast.expr]:
    """Expressions that stand in places, and conditions."""
    if isinstance(node, ast.Constant):
        return
    if isinstance(node, ast.FormattedValue):
        yield from _places(node.value)
    elif isinstance(node, ast.JoinedStr):
        for part in node.values:
            yield from _places(part)
    elif isinstance(node, ast.IfExp):
        yield node.test
        yield from (*_places(node.body), *_places(node.orelse))
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and _is_text(node):
        yield from (*_places(node.left), *_places(node.right))
    else:
        yield node


def _template(shape: Sequence[object]) -> str:
    text, number = "", 0
    for part in shape:
        if part is _PLACE:
            text += f"{{{number}}}"
            number += 1
        elif isinstance(part, tuple):
            text += "{" + "|".join(sorted(part)) + "}"
        else:
            text += str(part)
    return text


def paragraphs(text: str) -> Iterator[str]:
    """Parts of *text* that are translated by themselves: lines, without what joins them to others, places counted."""
    for line in re.sub(r"\{(?=\}|[a-z_]+\})[a-z_]*\}", "{0}", text).split("\n"):
        part, before = re.sub(r"^#+ +", "", line.strip()), ""
        while part != before:
            before = part
            for edge in _EDGES:
                part = edge.sub("", part)
        yield from (numbered(one) for one in sentences(part))


def sentences(text: str) -> list[str]:
    """The sentences of *text*, each without its full stop."""
    parts = SENTENCE.split(re.sub(r"\.(?:\{\d+\})+(?= |$)", ".", text))
    return [one.removesuffix(".") if not one.endswith("..") else one for one in parts if one]


def numbered(template: str) -> str:
    """The template with its places counted from the left; those that touch are one."""
    counted = iter(range(99))
    return re.sub(r"(?:\{\d+\})+", lambda _: f"{{{next(counted)}}}", template)


_OTHER_TONGUES = re.compile(
    r"\\[wdsSb.]|\(\?|\[\^|^[%#.]|</?(?:b|br|div|extra|pre|th)\b|=>|rgba\(|sans-serif|'none'|domain$|^(?:const|for) |"
    r"Plotly|\[bold\]|^(?:top|bottom|middle) (?:left|right|center)$|^(?=.*\w=\w)[\w= ]+$|^[a-z]+(?:-[a-z]+)+: [a-z ]+$|"
    r"\$\(date"
)
"""Patterns, scripts, settings of plotly, columns of JSON, kinds of events."""
_WITHOUT = ("kafka/log_lines.py", "models/kafka_defaults.py")
"""Modules whose texts are those of brokers and clients."""
_WORD = re.compile(r"[A-Za-z]*[a-z]{2}[a-z]*")


def bare(template: str) -> str:
    """The template without places and code."""
    return re.sub(r"`[^`]*`|\{[^{}]*\}", "\0", template)


def _speaks(template: str) -> bool:
    if _OTHER_TONGUES.search(template):
        return False
    own = bare(template)
    if not _WORD.search(own):
        return False
    if re.search(r"\s", own.strip()) or "\0" in own.strip():
        return bool(re.search(r"(?<![\w.-])[A-Za-z]{2,}(?![\w.=-]*[\w=])", own))
    return False


def _of_code() -> Iterator[tuple[str, str]]:
    for name in CODE:
        path = PACKAGE / name
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]:
            if str(file.relative_to(PACKAGE)) in _WITHOUT:
                continue
            texts = Texts(labels=name in _LABELLED, terms=name != "models")
            texts.visit(ast.parse(file.read_text(encoding="utf-8")))
            yield from ((text, str(file.relative_to(PACKAGE))) for text in texts.found)


_TOML = {
    "catalogue": ("catalogue.toml", "commands.toml", "checklist.toml", "events.toml", "measures.toml"),
    "known_errors": ("known_errors.toml",),
}
_READ = {
    "catalogue.toml": {"family", "title", "what", "proves", "looks_like", "needs", "mechanism", "confirm", "mitigate",
                       "fix", "verify", "cost", "cause", "begins"},
    "commands.toml": {"why"},
    "checklist.toml": {"hint"},
    "known_errors.toml": {"software", "versions", "means", "causes", "check", "fix"},
}  # fmt: skip
"""Fields that people read; of other files all values."""


def _of_tables(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        table = tomllib.loads((PACKAGE / name).read_text(encoding="utf-8"))
        for entry in table.values():
            fields = entry.items() if isinstance(entry, dict) else [("", entry)]
            for field, value in fields:
                if field not in _READ.get(name, {field}):
                    continue
                for text in value if isinstance(value, list) else [value]:
                    lines = (_slotted(line.strip()) if field in _TITLES else line.strip() for line in text.split("\n"))
                    yield from ((line, name) for line in lines if _read_by_people(line))


_TITLES = {"cost", "cause", "begins"}


def _slotted(template: str) -> str:
    """A template of titles (``{lost_records:record} of {topic} lost``) with places and choices."""
    places = re.sub(r"\{\w+\}", "{0}", re.sub(r"\{\w+:([^{}]+)\}", r"{0} \1{|s}", re.sub(r"\{\w+\?\}", "", template)))
    return numbered(places)


def _read_by_people(line: str) -> bool:
    return bool(_WORD.search(bare(line))) and line.strip() not in ("all",)


_TEMPLATE = re.compile(r"\{#.*?#\}|\{%.*?%\}", re.DOTALL)
_TAG = re.compile(r"<(?:style|script)\b.*?</(?:style|script)>|<[^<>]*>|(?m:^\..*\}$)", re.DOTALL)
_ATTRIBUTE = re.compile(r"\b(?:title|aria-label|alt)=\"([^\"]*)\"")


def _of_templates() -> Iterator[tuple[str, str]]:
    """Text between tags, with places for what is put in."""
    for file in sorted((PACKAGE / "templates").glob("*.j2")):
        page = file.read_text(encoding="utf-8")
        for quoted in re.findall(r"\{\{[^{}]*?\}\}|\{%[^{}]*?%\}", page):
            yield from ((text, file.name) for text in re.findall(r'"([^"]*)"', quoted) if _speaks(text))
        page = _TEMPLATE.sub("\0", re.sub(r"\{\{.*?\}\}", "{0}", page, flags=re.DOTALL))
        texts = [*_ATTRIBUTE.findall(page), *_TAG.sub("\0", page).split("\0")]
        for text in texts:
            whole = numbered(" ".join(unescape(text).split()))
            yield from ((part, file.name) for part in paragraphs(whole) if _WORD.search(bare(part)))


def _of_notebooks() -> Iterator[tuple[str, str]]:
    """Paragraphs, and the items of lists, of what a report shows: all from the first question on."""
    for file in sorted(notebooks().glob("0[0-5]_*.py")):
        shown = False
        for cell in re.split(r"^# %%", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            kind, _, source = cell.partition("\n")
            prose = "\n".join(line.removeprefix("#").strip() for line in source.strip().split("\n"))
            shown = shown or prose.startswith("## ")
            if shown and "[markdown]" in kind:
                yield from ((text, file.name) for text in prose_parts(prose))


def prose_parts(prose: str) -> Iterator[str]:
    """Paragraphs, headings and items of light Markdown, each on one line."""
    for block in re.split(r"\n\s*\n|\n(?=[-*#|] )", prose):
        text = re.sub(r"^(?:#+|[-*]) ", "", " ".join(block.split()))
        if _WORD.search(bare(text)):
            yield text


def texts() -> dict[str, dict[str, str]]:
    """By catalogue: every text that people read, and the file that it stands in."""
    found: dict[str, dict[str, str]] = {}
    sources = {
        "catalogue": _of_tables(_TOML["catalogue"]),
        "known_errors": _of_tables(_TOML["known_errors"]),
        "notebooks": _of_notebooks(),
        "report": _of_templates(),
        "code": _of_code(),
    }
    seen: set[str] = set()
    for name, every in sources.items():
        found[name] = {}
        for text, file in every:
            if text not in seen:
                seen.add(text)
                found[name][text] = file
    return found
