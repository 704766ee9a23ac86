"""How a benign look-alike is written down: a notice that explains a change without accusing anybody."""

from __future__ import annotations

from collections.abc import Mapping

from mqlab.findings import Certainty, Evidence, Finding, Severity
from mqlab.wording import moment


def notice(
    incident: str,
    subject: str,
    started: float | None,
    ended: float | None,
    statement: str,
    measures: Mapping[str, float],
    evidence: tuple[Evidence, ...],
    verify: str,
    *,
    proven: bool = True,
) -> Finding:
    """A finding of severity notice: nothing to repair, something to know."""
    return Finding(
        id=f"{incident}:{subject}",
        incident=incident,
        severity=Severity.NOTICE,
        certainty=Certainty.PROVEN if proven else Certainty.LIKELY,
        subject=subject,
        started_at=moment(started),
        ended_at=moment(ended),
        ongoing=False,
        statement=statement,
        measures=measures,
        evidence=evidence,
        mitigate="None needed.",
        remedy="None needed; size the network for it.",
        verify=verify,
    )
