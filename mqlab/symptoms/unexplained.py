"""What is out of the ordinary and whether a finding explains it.

Symptoms are new ERROR and WARN shapes, events and counters that mean trouble, lag that grows, and a rise of bytes out
over bytes in. Lines that brokers and clients print in every start, restart or hand-over are no symptoms
(``ordinary``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from mqlab import ordinary
from mqlab.delivery_groups import cases as group_cases
from mqlab.delivery_log import cases as log_cases
from mqlab.facts import Facts
from mqlab.findings import Certainty, Finding
from mqlab.log_growth import lines
from mqlab.mqtt import left_over, symptoms
from mqlab.questions import lags
from mqlab.questions.wording import clock
from mqlab.rocketmq import duplicate_case
from mqlab.rows.lines import LineShape
from mqlab.symptoms import counters, events
from mqlab.symptoms.symptom import Symptom, explained
from mqlab.units import counted, number

EFFECT = "log-explosion"
"""A class that explains nothing but its own lines: why they are printed, it does not say."""


def unexplained(facts: Facts, findings: Sequence[Finding], rejected: Collection[str] = ()) -> tuple[Symptom, ...]:
    """What remains, earliest first; splits that were found to end by themselves (*rejected*) are explained."""
    known = [f for f in findings if f.certainty > Certainty.POSSIBLE and f.incident != EFFECT]
    loud = [s for f in findings if f.incident == EFFECT for s in lines.shapes_of(facts, f)]
    found = [
        *events.troubles(facts, known, rejected, loud),
        *events.crashes_of_brokers(facts, known),
        *counters.rises(facts, known, rejected),
        *counters.repeats(facts, known),
        *_losses(facts),
        *_shapes(facts, [f for f in known if f.incident not in counters.OF_TRAFFIC], loud),
        *(Symptom(grown.at, grown.told) for grown in lags.grown(facts) if not explained(grown.at, known, None)),
        *(Symptom(at, told) for at, told in lags.stuck(facts) if not explained(at, known, None)),
        *(Symptom(at, told) for at, told in duplicate_case.doubtful(facts)),
        *(Symptom(a, told) for a, told in symptoms.copies(facts) if not explained(a, known, symptoms.COPYING)),
        *(Symptom(at, told) for at, told in symptoms.cut_off_when_idle(facts)),
        *(Symptom(at, told) for at, told in left_over.every(facts) if not explained(at, known, symptoms.MISSING)),
        *counters.ratio(facts, known),
    ]
    return tuple(sorted(found, key=lambda s: (s.at if s.at is not None else float("inf"), s.text)))


def _losses(facts: Facts) -> Iterator[Symptom]:
    """Acknowledged records that a log or a group lost by no mechanism that the material tells."""
    for case in (case for case in log_cases.undecided(facts) if case.loss.least):
        lost = f"{number(case.loss.records)} acknowledged records of {case.loss.topic}-{case.loss.queue}"
        yield Symptom(case.loss.since, f"{clock(case.loss.since)} UTC: {lost} are gone from the log")
    for own in group_cases.cases(facts, None):
        told = f"{own.told} of {own.topic} that {own.group} went past are in no ledger of it: {own.losses[0].how}"
        yield Symptom(own.span[0], f"{clock(own.span[0])} UTC: {told}" if own.span[0] is not None else told)


def _shapes(facts: Facts, findings: Sequence[Finding], loud: Collection[LineShape]) -> Iterator[Symptom]:
    known = ordinary.starts(facts)
    for shape in facts.shapes:
        if not ordinary.notable(shape) or lines.accounts_for_shape(loud, shape):
            continue
        if not known.account_for(shape) and not explained(shape.first_at, findings, None):
            yield Symptom(
                shape.first_at,
                f"{clock(shape.first_at)} UTC: new {shape.level} shape, {counted(shape.lines, 'line')}, "
                f"{shape.source}:{shape.first_line}  {shape.shape.strip()[:120]}",
            )
