"""What was asked, when, of whom with which clock, and what failed: ``manifest.json`` of a bundle.

Sample::

    {"schema": "mqlab.capture/1", "system": "kafka", "state": "complete", "started_at": "2026-11-22T10:00:00.000Z",
     "questions": [{"what": "offsets of groups", "times": 60, "failed": 1, "because": "Broker: Not coordinator", …}],
     "clocks": [{"host": "kafka-1:7071", "ahead_seconds": [-0.2, 0.3], "how": "Date of its answers"}], …}
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from time import monotonic
from typing import Any

from mqlab import __version__
from mqlab.secrets import mask

NAME = "manifest.json"
_REASONS = 20


def now() -> datetime:
    """The moment by this host's clock."""
    return datetime.now(UTC)


def iso(at: datetime) -> str:
    """The moment to the millisecond, as the manifest writes it."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def stamp(at: datetime) -> str:
    """The moment as names of files show it, ``20261122T100000Z``."""
    return f"{at.astimezone(UTC):%Y%m%dT%H%M%SZ}"


@dataclass(slots=True)
class Question:
    """One thing that was asked, again and again, and what became of it."""

    what: str
    times: int = 0
    failed: int = 0
    first_at: str = ""
    last_at: str = ""
    seconds: float = 0.0
    """How long all answers took together."""
    failed_at: str | None = None
    """When it last failed."""
    because: str | None = None
    """Why it last failed."""
    reasons: list[str] = field(default_factory=list)
    """Why it failed, each reason once, the first ``_REASONS`` of them."""


@dataclass(slots=True)
class Clock:
    """How far a host's clock is ahead of this one's, as bounds in seconds; None where nothing bounds it."""

    host: str
    how: str
    ahead_seconds: list[float | None]
    samples: int = 1


@dataclass(slots=True)
class Manifest:
    """What a bundle says of itself."""

    system: str
    asked: Mapping[str, Any]
    """The options of the command."""
    state: str = "running"
    """running (also for ever, after the process was killed), complete, empty, interrupted, incomplete."""
    because: str | None = None
    """What interrupted it, or why it is incomplete."""
    started_at: str = field(default_factory=lambda: iso(now()))
    ended_at: str | None = None
    gatherer: str = field(default_factory=platform.node)
    """The host that asked; moments are by its clock."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What was learnt of whom was asked: versions, identities."""
    questions: dict[str, Question] = field(default_factory=dict)
    clocks: dict[str, Clock] = field(default_factory=dict)
    files: int = 0
    bytes: int = 0

    @contextmanager
    def asking(self, what: str, *expected: type[Exception]) -> Iterator[None]:
        """Note that something is asked; *expected* exceptions are noted as its failure, and end there."""
        begun = monotonic()
        question = self._question(what)
        try:
            yield
        except expected as error:
            self.failed(what, str(error) or type(error).__name__)
        finally:
            question.seconds = round(question.seconds + monotonic() - begun, 3)

    def failed(self, what: str, because: str) -> None:
        """Note that what was asked, or a part of it, failed, and why."""
        question = self.questions.get(what) or self._question(what)
        question.failed += 1
        question.failed_at, question.because = iso(now()), because
        if because not in question.reasons and len(question.reasons) < _REASONS:
            question.reasons.append(because)

    def become(self, other: Manifest) -> None:
        """Say what *other* says: what another process has noted."""
        for one in fields(self):
            setattr(self, one.name, getattr(other, one.name))

    def clock(self, host: str, how: str, lowest: float | None, highest: float | None) -> None:
        """Narrow down how many seconds *host* is ahead by one more measurement."""
        known = self.clocks.get(host)
        if known is None:
            self.clocks[host] = Clock(host, how, [_rounded(lowest), _rounded(highest)])
            return
        known.samples += 1
        low, high = known.ahead_seconds
        low = max((each for each in (low, _rounded(lowest)) if each is not None), default=None)
        high = min((each for each in (high, _rounded(highest)) if each is not None), default=None)
        # Bounds that cross mean that the clock was set in between: the last measurement holds.
        crossed = low is not None and high is not None and low > high
        known.ahead_seconds = [_rounded(lowest), _rounded(highest)] if crossed else [low, high]

    def text(self) -> str:
        """The document, its secrets masked."""
        said = asdict(self) | {"questions": [asdict(one) for one in self.questions.values()]}
        said["clocks"] = [asdict(one) for one in self.clocks.values()]
        return mask(json.dumps({"schema": "mqlab.capture/1", "mqlab": __version__} | said, indent=1)) + "\n"

    def _question(self, what: str) -> Question:
        question = self.questions.setdefault(what, Question(what, first_at=iso(now())))
        question.times += 1
        question.last_at = iso(now())
        return question


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
