"""How a benign look-alike is written down: a notice that explains a change without accusing anybody."""

from __future__ import annotations

from collections.abc import Mapping

from mqlab.findings import Certainty, Evidence, Finding, Severity
from mqlab.questions.wording import moment


def notice(
    name: str,
    span: tuple[float | None, float | None],
    statement: str,
    measures: Mapping[str, float],
    evidence: tuple[Evidence, ...],
    *,
    verify: str,
) -> Finding:
    """A finding of severity notice about a *span* of time: nothing to repair, something to know.

    *name* is the id: class and subject.
    """
    incident, _, subject = name.partition(":")
    return Finding(
        id=name,
        incident=incident,
        severity=Severity.NOTICE,
        certainty=Certainty.PROVEN,
        subject=subject,
        started_at=moment(span[0]),
        ended_at=moment(span[1]),
        ongoing=False,
        statement=statement,
        measures=measures,
        evidence=evidence,
        mitigate="None needed.",
        remedy="None needed; size the network for it.",
        verify=verify,
    )
