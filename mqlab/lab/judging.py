"""Whether mqlab was right: its diagnosis of the capture beside what was counted."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from mqlab.diagnosis import Diagnosis
from mqlab.findings import Severity
from mqlab.lab.counting import Books, counted
from mqlab.lab.playing import Played, iso
from mqlab.lab.scenario import Scenario

NEAR = 0.05
"""Share of the truth by which a number may differ."""


@dataclass(frozen=True, slots=True)
class Number:
    """One measure of the finding beside what was counted."""

    measure: str
    counter: str
    told: float | None
    """None where the finding does not tell it."""
    truth: float

    @property
    def right(self) -> bool:
        """Whether it is near enough."""
        return self.told is not None and abs(self.told - self.truth) <= NEAR * abs(self.truth)


@dataclass(frozen=True, slots=True)
class Check:
    """The diagnosis judged."""

    expected: str
    verdict: str
    certainty: str | None
    statement: str
    numbers: tuple[Number, ...]
    unexpected: tuple[str, ...]
    """Classes that were named as warning or worse and did not happen."""

    @property
    def right(self) -> bool:
        """Whether class and numbers are right and nobody else was accused."""
        return self.verdict == self.expected and not self.unexpected and all(one.right for one in self.numbers)

    def document(self) -> dict[str, object]:
        """As JSON has it."""
        numbers = [{**asdict(one), "right": one.right} for one in self.numbers]
        return {**asdict(self), "numbers": numbers, "right": self.right}


def truth(played: Played) -> dict[str, object]:
    """The truth file of a run."""
    scenario = played.books.scenario
    return {
        "scenario": scenario.name,
        "class": scenario.incident,
        "benign": scenario.looks_like is not None,
        "looks_like": scenario.looks_like,
        "root_cause": scenario.title,
        "brokers": [f"{one.software} {one.version}".strip() + f" × {one.nodes}" for one in scenario.brokers],
        "clients": [f"{load.name} ({load.kind})" for load in scenario.loads],
        "window": [iso(at) for at in played.window],
        "steps": [
            {"at": iso(at), "do": step.do, "to": [*step.loads, *step.nodes], **step.options}
            for at, step in played.steps
        ],
        "numbers": counted(played.books),
        "how": "counted in the loads' ledgers and facts, and in the log read to its end",
    }


def judged(scenario: Scenario, books: Books, diagnosis: Diagnosis) -> Check:
    """*diagnosis* beside *books*."""
    values = counted(books)
    lead = next((one for one in diagnosis.findings if one.incident == scenario.incident), None)
    measures = dict(lead.measures) if lead is not None else {}
    numbers = tuple(
        Number(measure, counter, measures.get(measure), values.get(counter, 0.0))
        for measure, counter in scenario.numbers.items()
    )
    allowed = {scenario.incident, *scenario.also}
    severe = {one.incident for one in diagnosis.findings if one.severity >= Severity.WARNING}
    certainty = diagnosis.verdict.certainty
    return Check(
        scenario.incident,
        diagnosis.verdict.incident,
        certainty.name.lower() if certainty is not None else None,
        diagnosis.verdict.statement,
        numbers,
        tuple(sorted(severe - allowed)),
    )


def written(folder: Path, name: str, document: object) -> None:
    """Write a document of a run."""
    (folder / name).write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n")


def told(check: Check) -> str:
    """The check as a person reads it."""
    lines = [
        f"{'RIGHT' if check.right else 'WRONG'}  {check.verdict} ({check.certainty or 'no finding'})"
        + ("" if check.verdict == check.expected else f", but it was {check.expected}"),
        f"       {check.statement}",
    ]
    for one in check.numbers:
        said = "not told" if one.told is None else f"{one.told:,.6g}"
        lines.append(f"{'ok' if one.right else 'OFF':<6} {one.measure:<28} {said:>12}  counted {one.truth:,.6g}")
    lines += [f"OFF    accused besides: {slug}" for slug in check.unexpected]
    return "\n".join(lines) + "\n"
