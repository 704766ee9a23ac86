"""The diagnosis: findings put in order, and what was rejected, clear or could not be checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mqlab.findings import Certainty, Change, Finding, Shown, show_rows
from mqlab.hypotheses import Hypothesis
from mqlab.mqtt.chain_stages import Chain
from mqlab.scope import SYSTEMS
from mqlab.symptoms.change_points import Riser
from mqlab.words import Text


@dataclass(frozen=True, slots=True)
class Material:
    """What was read; lines = data + noise + rejected, and those of a copy are noise."""

    files: int
    bytes: int
    lines: int
    data_lines: int
    noise_lines: int
    rejected_lines: int
    unrecognised: tuple[str, ...]
    window: tuple[float | None, float | None]
    time_zones: Mapping[str, Text]
    """Of each log, with its zone and why it is taken to be that."""
    copies: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """Sources of which lines were left out, since another one has them too: which one, and how many."""

    @property
    def watched(self) -> float | None:
        """Seconds from its first moment to its last."""
        first, last = self.window
        return None if first is None or last is None else last - first


@dataclass(frozen=True, slots=True)
class Verdict:
    """The first finding's class, or ``healthy``, or ``undetermined``."""

    incident: str
    certainty: Certainty | None
    statement: str
    also: tuple[str, ...]
    hypotheses: tuple[Hypothesis, ...] = ()
    """Of ``undetermined``: what it may be, the most likely first."""


DISMISSED = "dismissed"
"""Why a class is rejected whose findings people dismissed."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """Part of a class's signature was there and was disproved, or people dismissed its findings."""

    incident: str
    because: str

    @property
    def dismissed(self) -> bool:
        """By people."""
        return self.because == DISMISSED


@dataclass(frozen=True, slots=True)
class NotChecked:
    """A class that this material could not show, and the commands that would fetch what is missing."""

    incident: str
    missing: tuple[str, ...]
    fetch: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """A claim that some rule made and that cannot be true; it was taken back before anybody saw it."""

    rule: str
    """Stable: the rule of ``mqlab.selfcheck`` that found it."""
    claim: str
    """Id of the finding, slug of the class, or what changed."""
    what: str
    """What was taken back of it: a measure, a field, or a place in the diagnosis."""
    because: str


@dataclass(frozen=True, slots=True, repr=False)
class Diagnosis(Shown):
    """Everything that triage prints and the report tells."""

    version: str
    material: Material
    verdict: Verdict
    findings: tuple[Finding, ...]
    rejected: tuple[Rejected, ...]
    clear: tuple[str, ...]
    not_checked: tuple[NotChecked, ...]
    changes: tuple[Change, ...]
    symptoms: tuple[str, ...] = ()
    """With ``undetermined``: the earliest new shapes and risers that nothing explains."""
    gaps: tuple[str, ...] = ()
    """What the material does not cover, one sentence each."""
    chains: tuple[Chain, ...] = ()
    """What became of messages on their way over a bridge, and within MQTT."""
    risers: tuple[Riser, ...] = ()
    """Where there is MQTT: what left its own earlier level, by time."""
    withdrawn: tuple[Withdrawn, ...] = ()
    """What rules claimed and cannot be true: mistakes of theirs, which nobody has to read."""

    @property
    def unchecked(self) -> tuple[NotChecked, ...]:
        """The classes among what was not checked."""
        return tuple(one for one in self.not_checked if one.incident not in SYSTEMS)

    @property
    def absent(self) -> tuple[NotChecked, ...]:
        """The systems among it, of which there is no material."""
        return tuple(one for one in self.not_checked if one.incident in SYSTEMS)

    def __post_init__(self) -> None:
        """Findings and all else that it lists are shown as tables."""
        show_rows(self)
