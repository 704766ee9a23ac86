"""What a report is told from; ``mqlab.capture.Capture`` is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts
from mqlab.notes import IncidentNotes

if TYPE_CHECKING:
    from mqlab.capture import Options


class Told(Protocol):
    """What a report needs of a capture."""

    @property
    def facts(self) -> Facts:
        """Everything the detectors looked at."""

    @property
    def diagnosis(self) -> Diagnosis:
        """What they found."""

    @property
    def notes(self) -> IncidentNotes:
        """What people wrote beside the material."""

    @property
    def paths(self) -> Sequence[str]:
        """What was given on the command line."""

    @property
    def options(self) -> Options:
        """What was chosen on the command line."""
