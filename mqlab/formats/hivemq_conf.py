"""``config.xml`` of HiveMQ → SETTINGS of scope broker.

Sample lines::

    <hivemq>
        <listeners>
            <tcp-listener><port>1883</port><bind-address>10.104.0.4</bind-address></tcp-listener>
        </listeners>
        <mqtt>
            <queued-messages>
                <max-queue-size>300</max-queue-size>
                <strategy>discard-oldest</strategy>
            </queued-messages>

Keys are the names of elements that hold words of one line and no element: ``max-queue-size``, ``strategy``, ``port``.
Where a declaration of types begins, which could declare entities, and where the document is damaged, its rest is read
line by line, each as a piece of its own. Values of passwords and secrets are not kept.
"""

from __future__ import annotations

import re
from xml.parsers import expat

from mqlab.formats import console
from mqlab.formats.base import About, Data, Head, Item, Items, Lines, Noise, Spec, regex
from mqlab.secrets import MASK
from mqlab.sources import Role
from mqlab.tables import SETTINGS, Row

FORMAT = Spec("hivemq-conf", Role.CONFIGURATION, (SETTINGS,), "hivemq")

_ROOT = re.compile(r"^\s*<hivemq(?: [^<>]*)?>", re.ASCII | re.MULTILINE)
_MARKUP = regex(r"^\s*+(?:(?:<[^<>]*>\s*+)+|<!--.*|.*-->\s*)$")
_SECRET = regex(r"(?i)(?:password|secret|token)")


class _DeclarationError(ValueError):
    """The document declares types."""


class _Elements:
    """What expat meets in a document or a piece of one."""

    def __init__(self) -> None:
        self.settings: list[tuple[int, str, str]] = []
        """Line, name and words of each element that holds words."""
        self.stray: set[int] = set()
        """Lines with other words."""
        self._words: list[tuple[int, str]] = []
        self._leaf = False
        self._parser = expat.ParserCreate("utf-8")
        self._parser.StartElementHandler = self._begin
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._hold
        self._parser.StartDoctypeDeclHandler = self._refuse

    def damage(self, text: str, whole: bool) -> int | None:
        """Read *text*; the number of the line from which on it cannot be read."""
        try:
            self._parser.Parse(text.encode("utf-8", "replace"), whole)
        except (expat.ExpatError, _DeclarationError):
            return self._parser.CurrentLineNumber
        self._stray()
        return None

    def _begin(self, _name: str, _attributes: object) -> None:
        self._stray()
        self._leaf = True

    def _end(self, name: str) -> None:
        words = "".join(word for _, word in self._words).strip()
        if self._leaf and words and "\n" not in words:
            line = next(line for line, word in self._words if word.strip())
            self.settings.append((line, name, words))
            self._words = []
        self._stray()
        self._leaf = False

    def _hold(self, words: str) -> None:
        self._words.append((self._parser.CurrentLineNumber, words))

    def _stray(self) -> None:
        self.stray.update(line for line, words in self._words if words.strip())
        self._words = []

    def _refuse(self, *_declared: object) -> None:
        raise _DeclarationError


def recognise(head: Head) -> bool:
    """True for a document whose outermost element is ``hivemq``."""
    return head.text.lstrip("\ufeff \t\r\n").startswith("<") and _ROOT.search(head.text) is not None


def parse(lines: Lines, about: About) -> Items:
    """One row an element with a value, in the order of the file; what only begins or ends an element is noise."""
    told = console.shown(lines, about)
    document = _Elements()
    damage = document.damage("\n".join(one.plain for one in told), whole=True) or len(told) + 1
    rows: dict[int, list[Row]] = {}
    for number, name, words in document.settings:
        rows.setdefault(number, []).append(_setting(name, words))
    for number, one in enumerate(told[: damage - 1], 1):
        if number in rows:
            yield Data(one.line, rows[number])
        else:
            yield console.remark(one) if number in document.stray else Noise(one.line)
    yield from map(_alone, told[damage - 1 :])


def _alone(one: console.Shown) -> Item:
    """A line of a damaged document."""
    piece = _Elements()
    piece.damage(f"<hivemq>{one.plain}", whole=False)
    if piece.settings:
        return Data(one.line, [_setting(name, words) for _, name, words in piece.settings])
    return Noise(one.line) if _MARKUP.search(one.plain) else console.remark(one)


def _setting(name: str, words: str) -> Row:
    return SETTINGS.row(scope="broker", origin="file", key=name, value=MASK if _SECRET.search(name) else words)
