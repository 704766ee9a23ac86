"""``kafka-configs.sh --describe`` (0.10 … 4.x) → SETTINGS of topics, brokers and clients.

Sample lines::

    All configs for topic plant-telemetry are:
      max.message.bytes=1048588 sensitive=false synonyms={DEFAULT_CONFIG:message.max.bytes=1048588}
    Quota configs for client-id 'billing' are producer_byte_rate=1048576.0

A value whose first synonym is the default, or that has none, was never set by anybody: its origin is ``default``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mqlab.formats import console
from mqlab.formats.base import About, Data, Head, Items, Lines, Noise, Spec, regex
from mqlab.sources import Role
from mqlab.tables import SETTINGS, Row

FORMAT = Spec("kafka-configs-describe", Role.COMMAND, (SETTINGS,), "kafka")

_HEADER = regex(
    r"^\s*(?:(?:Dynamic|All|Default|Quota|SCRAM credential) )?[Cc]onfigs? for (?:the default )?"
    r"(?P<entity>topic|broker|client-id|client|user-principal|user|ip|group)s?\b[ :]?(?P<owner>.*?) are\b:?"
    r"(?P<entries>.*)$"
)
_ROW = regex(r"^\s+(?P<key>[A-Za-z][\w.-]*)=(?P<value>.*) sensitive=(?:true|false) synonyms=\{(?P<synonyms>.*)\}\s*$")
_NEXT_KEY = regex(r",\s*(?=[A-Za-z][\w.]*=)")
_MARKS = regex(r"^:?\s*'?|'$")
"""What surrounds an owner's name; without a name it is the default of all, as in ``for brokers in the cluster``."""
_LOGGED = regex(r"^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,]\d+\]?.* (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) ")
_FEW = 5
"""Lines of its own log that the tool may print beside its output."""
_SAID = r"executing config command|ConfigCommand"


def recognise(head: Head) -> bool:
    """True when most lines are the tool's headers, entries with synonyms or remarks: a log may quote one."""
    lines = console.plain_lines(head)
    strange = [line for line in lines if not (_HEADER.search(line) or _ROW.search(line))]
    found = len(lines) - len(strange)
    if not found:
        return console.only_errors(head, _SAID, r"configs?-describe|kafka-configs")
    logged = sum(1 for line in strange if _LOGGED.search(line))
    others = sum(1 for line in strange if not _LOGGED.search(line) and not console.is_remark(line))
    return found > others + max(0, logged - _FEW)


def parse(lines: Lines, about: About) -> Items:
    """One setting an entry; scope and owner come from the header nearest above, which may hold entries itself."""
    scope, owner = "client", None
    for one in console.shown(lines, about):
        if header := _HEADER.search(one.plain):
            entity = header["entity"]
            scope, owner = entity if entity in ("topic", "broker") else "client", _owner(header)
            rows = tuple(_setting(one, scope, owner, pair) for pair in _entries(header))
            yield Data(one.line, rows) if rows else Noise(one.line)
        elif entry := _ROW.search(one.plain):
            pair = (entry["key"], entry["value"])
            unset = not entry["synonyms"] or entry["synonyms"].startswith("DEFAULT_CONFIG:")
            yield Data(one.line, (_setting(one, scope, owner, pair, "default" if unset else "describe"),))
        else:
            yield console.remark(one)


def _owner(header: re.Match[str]) -> str | None:
    named = _MARKS.sub("", header["owner"].strip())
    return named if named not in ("", "in the cluster") else None


def _entries(header: re.Match[str]) -> Iterator[tuple[str, str]]:
    for pair in _NEXT_KEY.split(header["entries"].strip()):
        key, told, value = pair.partition("=")
        if told:
            yield key, value


def _setting(one: console.Shown, scope: str, owner: str | None, pair: tuple[str, str], origin: str = "describe") -> Row:
    return SETTINGS.row(at=one.at, scope=scope, owner=owner, key=pair[0], value=pair[1], origin=origin)
