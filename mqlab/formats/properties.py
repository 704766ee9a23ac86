r"""Java ``.properties`` and INI-like files of brokers, clients and applications → SETTINGS.

Sample lines::

    # after the incident
    group.id=ner-indexer
    max.poll.interval.ms = 15000
    listeners=PLAINTEXT://:9092,\
              SSL://:9093

Which kind of file it is shows in its keys. Nothing dates such a file, so ``at`` is null. To ``javaproperties.parse``
sections and torn lines are keys, and it stops at a bad escape; so it is asked for nothing but what an escape means.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import javaproperties

from mqlab.formats import console
from mqlab.formats.base import About, Data, Head, Item, Items, Lines, Noise, Reject, Spec, regex
from mqlab.sources import Role
from mqlab.tables import SETTINGS, Row

FORMAT = Spec("properties", Role.CONFIGURATION, (SETTINGS,))

_KEY = r"(?:[^=:\s\\#!\[{\"']|\\.)(?:[^=:\s\\\"'{}()<>]|\\.)*"
_PAIR = regex(rf"\s*(?P<key>{_KEY})(?:\s*[=:]\s*|\s+)(?P<value>.*)")
_COMMENT = regex(r"\s*(?:(?:[#!;]|\$ ).*|\[[^\]=]*\]\s*|={4,}[^=]*={4,}\s*)?$")
_OPEN = re.compile(r"(?<!\\)(?:\\\\)*\\$")
"""An odd number of backslashes at the end: the value goes on in the next line."""
_DATED = regex(
    r"\W?(?:\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d|\d{10,}|not(?:Before|After)=[A-Z]"
    r"|(?:ts?|time(?:stamp)?|level|lvl|severity|logger|caller|msg)=(?:\"[^\"]*\"|\S+) +[\w.]+=)"
)
"""What a log writes, its moment before all others, and ``openssl x509 -dates``."""
_BLANK = " \t\n\v\f\r"

_SCOPES = {
    "broker": r"broker\.id|node\.id|log\.dirs?|zookeeper\.connect|process\.roles|controller\.quorum\.voters"
    r"|brokerName|brokerClusterName|brokerRole|storePathRootDir",
    "producer": r"(?:key|value)\.serializer|acks|batch\.size|linger\.ms|max\.request\.size|buffer\.memory"
    r"|delivery\.timeout\.ms|enable\.idempotence|transactional\.id",
    "consumer": r"group\.id|(?:key|value)\.deserializer|max\.poll\..*|fetch\.m.*|auto\.offset\.reset"
    r"|enable\.auto\.commit|partition\.assignment\.strategy",
    "topic": r"cleanup\.policy|retention\.(?:ms|bytes)|max\.message\.bytes|segment\.bytes",
}
_KNOWN = {scope: regex(keys) for scope, keys in _SCOPES.items()}
_OWNERS = ("client.id", "group.id", "broker.id", "node.id", "brokerName")


def recognise(head: Head) -> bool:
    """True when most lines are ``key=value`` under different keys, and none is dated.

    ``key: value`` counts where the file's name says that it holds settings; otherwise it is as likely a command's
    output or YAML.
    """
    lines = [line for line in console.plain_lines(head) if not _COMMENT.match(line)]
    separator = "[=:]" if re.search(r"\.(?:properties|conf|cfg|ini)\b", head.name, re.ASCII) else "="
    pair = regex(rf"\s*({_KEY})\s*{separator}")
    keys = [found[1] for line in lines if (found := pair.match(line))]
    told = [line for line, before in zip(lines, ["", *lines], strict=False) if not _OPEN.search(before)]
    if not keys or any(_DATED.match(line) for line in lines):
        return False
    return len(keys) >= 0.8 * len(told) and len(set(keys)) >= 0.8 * len(keys)


def parse(lines: Lines, about: About) -> Items:
    """One setting a key, values over several lines joined; scope and owner from the whole file."""
    settings = [(pieces, _pair(pieces)) for pieces in _logical(console.shown(lines, about))]
    pairs = [pair for _, pair in settings if pair]
    scope, owner = _scope({key for key, _ in pairs}), _owner(pairs)
    for pieces, pair in settings:
        row = [SETTINGS.row(scope=scope, owner=owner, key=pair[0], value=pair[1], origin="file")] if pair else []
        for one in pieces:
            yield _item(one, row, pair=pair is not None)
            row = []


def _logical(lines: Iterable[console.Shown]) -> Iterator[Sequence[console.Shown]]:
    """Lines that belong together: a backslash at the end joins one with the next."""
    pieces: list[console.Shown] = []
    for one in lines:
        pieces.append(one)
        if _COMMENT.match(one.plain) or not _OPEN.search(one.plain):
            yield pieces
            pieces = []
    if pieces:
        yield pieces


def _pair(pieces: Sequence[console.Shown]) -> tuple[str, str] | None:
    """Key and value of the lines that belong together; None where they are none."""
    bare = [one.plain.lstrip(_BLANK) for one in pieces]
    text = "".join(piece[:-1] if _OPEN.search(piece) else piece for piece in bare)
    found = None if _COMMENT.match(text) else _PAIR.match(text)
    return (_meant(found["key"]), _meant(found["value"].rstrip(_BLANK))) if found else None


def _meant(text: str) -> str:
    r"""What Java reads of *text*; as written where that cannot be shown, such as the line break in ``C:\new``."""
    try:
        meant = javaproperties.unescape(text)
    except javaproperties.InvalidUEscapeError:
        return text
    return meant if meant.isprintable() else text


def _item(one: console.Shown, rows: Sequence[Row], *, pair: bool) -> Item:
    """What a line is; a tool's error is told whatever it looks like."""
    if one.error:
        return Data(one.line, (*rows, one.error))
    if pair:
        return Data(one.line, rows)
    return Noise(one.line) if _COMMENT.match(one.plain) else Reject(one.line)


def _scope(keys: set[str]) -> str:
    """Whose settings such keys are."""
    found = [scope for scope, known in _KNOWN.items() if any(known.fullmatch(key) for key in keys)]
    both = {"producer", "consumer"} <= set(found) and "broker" not in found
    return "application" if both or not found else found[0]


def _owner(pairs: Sequence[tuple[str, str]]) -> str | None:
    """The name that a file gives to whom it is for."""
    for name in _OWNERS:
        if values := [value for key, value in pairs if key == name and value]:
            return max(values)
    return None
