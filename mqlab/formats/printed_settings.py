"""Settings that clients and brokers print when they start → SETTINGS.

Sample lines, the blocks of Java's clients and brokers, and what applications print in one line::

    2026-11-21 12:18:54,559 INFO ProducerConfig values:
        acks = -1
        client.id = mqtt-bridge
    2026-11-21 12:18:54,559 INFO worker: starting, settings client.id=biller enable.auto.commit=False group.id=billing
    2026-11-21 12:18:54,559 INFO worker starting: {'group.id': 'billing', 'enable.auto.commit': False}
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from mqlab.formats.base import Line, regex
from mqlab.formats.layouts import Moment
from mqlab.tables import SETTINGS, Row

SETTING = regex(r"^\s+([a-z][\w.-]+) = (.*)$")
"""A line of the block."""
_HEAD = regex(r"\b(\w+)Config values:")
_OWNERS = ("client.id", "group.id", "broker.id", "node.id")
_PAIR = regex(r"(?:^|[\s{,(\[])['\"]?([a-z]+(?:\.[a-z]+)+|acks)['\"]?(?:=|: ?)['\"]?([^\s,'\"})\]]+)")
_OF_CONSUMERS = frozenset({"group.id", "enable.auto.commit", "auto.offset.reset", "max.poll.interval.ms"})
_OF_PRODUCERS = frozenset({"acks", "enable.idempotence", "transactional.id", "linger.ms", "batch.size"})


def in_one_line(line: str) -> Iterator[Row]:
    """The settings of a Kafka client that an application prints in one *line*; none where it is no single client's."""
    values = {key: {"True": "true", "False": "false"}.get(value, value) for key, value in _PAIR.findall(line)}
    scopes = [
        scope for scope, own in (("consumer", _OF_CONSUMERS), ("producer", _OF_PRODUCERS)) if own.intersection(values)
    ]
    owner = next((values[key] for key in _OWNERS[:2] if key in values), None)
    if len(scopes) == 1 and owner is not None:
        for key, value in values.items():
            yield SETTINGS.row(scope=scopes[0], owner=owner, key=key, value=value, origin="printed")


@dataclass
class Blocks:
    """The settings of one log, gathered block by block: whose they are stands somewhere in their block."""

    _printer: str | None = None
    _moment: Moment | None = None
    _lines: list[tuple[Line, str, str]] = field(default_factory=list)

    def header(self, line: str, moment: Moment | None) -> Iterator[tuple[Line, Row]]:
        """Begin a new block where *line* does; the settings of the one before it."""
        if head := _HEAD.search(line):
            yield from self.ended()
            self._printer, self._moment = head[1], moment

    def setting(self, line: Line) -> None:
        """Add a line of the block; one without a block is data of nobody."""
        found = SETTING.search(line.text)
        if found and self._printer is not None:
            self._lines.append((line, found[1], found[2]))

    def ended(self) -> Iterator[tuple[Line, Row]]:
        """The settings of the block, now that it is whole."""
        values = {key: value for _, key, value in reversed(self._lines) if value}
        owner = next((values[key] for key in _OWNERS if key in values), None)
        scope = "broker" if self._printer == "Kafka" else (self._printer or "").lower()
        for line, key, value in self._lines:
            row = SETTINGS.row(
                at=self._moment.wall if self._moment else None, scope=scope, owner=owner, key=key, value=value,
                origin="printed",
            )  # fmt: skip
            yield line, row
        self._lines = []

    @property
    def east(self) -> int | None:
        """Seconds east of UTC that the block's header writes."""
        return self._moment.east if self._moment else None
