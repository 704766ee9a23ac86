"""The loop closed: a scenario, the remedy that mqlab advises, the scenario with it; prediction beside outcome."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path

from mqlab.lab import judging, running
from mqlab.lab.home import Home
from mqlab.lab.remedies import Number, advice
from mqlab.lab.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Verified:
    """What came of a remedy."""

    scenario: str
    title: str
    incident: str
    """What mqlab said of the first run."""
    remedy: str
    after: str
    """What it said of the second."""
    numbers: tuple[Number, ...]
    folders: tuple[Path, Path]

    @property
    def right(self) -> bool:
        """Whether all predictions were near."""
        return all(one.right for one in self.numbers)


def verify(scenario: Scenario, home: Home, ports: int, tell: running.Tell) -> Verified:
    """Run, take mqlab's remedy, run again with it.

    Raises:
        LabError: it could not be played, or there is no remedy to try.
        MqlabError: mqlab foresees nothing from this capture.
    """
    from mqlab.capture import open_capture

    first = running.play(scenario, home, ports, tell)
    tell("diagnosing")
    capture = open_capture([str(first.capture)])
    finding = next((one for one in capture.diagnosis.findings if one.incident == scenario.incident), None)
    taken = advice(first, capture.facts, finding)
    tell(f"again with {taken.told}")
    second = running.play(taken.scenario, home, ports, tell)
    tell("diagnosing")
    after = open_capture([str(second.capture)]).diagnosis.verdict.incident
    incident = capture.diagnosis.verdict.incident
    folders = first.folder, second.folder
    done = Verified(scenario.name, scenario.title, incident, taken.told, after, taken.judge(second), folders)
    judging.written(second.folder, "verified.json", {**asdict(done), "folders": [str(f) for f in folders]})
    (second.folder / "verified.html").write_text(page(done))
    return done


def told(done: Verified) -> str:
    """The report as a person reads it on a screen."""
    lines = [
        f"{'AS FORESEEN' if done.right else 'NOT AS FORESEEN'}  {done.incident}: {done.remedy}; then {done.after}",
        f"{'':<6} {'':<44} {'before':>10} {'foreseen':>10} {'came':>10}",
    ]
    for one in done.numbers:
        before = "" if one.before is None else f"{one.before:,.4g}"
        mark = "ok" if one.right else "OFF"
        lines.append(f"{mark:<6} {one.name:<44} {before:>10} {one.predicted:>10,.4g} {one.outcome:>10,.4g}")
    return "\n".join(lines) + "\n"


def page(done: Verified) -> str:
    """The report as one HTML file that opens offline; every text is escaped."""
    from jinja2 import Environment

    text = files("mqlab.lab").joinpath("verified.html").read_text("utf-8")
    return Environment(autoescape=True).from_string(text).render(done=done)
