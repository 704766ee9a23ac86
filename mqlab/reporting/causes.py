"""The root cause as a chain: trigger, cause, mechanism, setting, consequence, each with its proof or inferred.

Nothing is invented: a link that the material does not show is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from mqlab import words
from mqlab.catalogue import INCIDENTS
from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts, Setting
from mqlab.findings import Evidence
from mqlab.headline import cause
from mqlab.reporting.course import Step
from mqlab.reporting.evidence import Dossier, harmful

say = words.room("causes")

_MOST = 3


@dataclass(frozen=True, slots=True)
class Link:
    """One link of the chain."""

    role: str
    text: str
    href: str = ""
    proof: str = ""
    """Where it was read, or how it is known."""
    inferred: bool = False


def causes(
    facts: Facts, diagnosis: Diagnosis, found: Sequence[Dossier], steps: Sequence[Step] = ()
) -> tuple[Link, ...]:
    """The chain of the leading finding, whose trigger is among the *steps* of its course; empty where there is none."""
    lead = next(iter(found), None)
    if lead is None or lead.finding.incident != diagnosis.verdict.incident or not harmful(lead.finding):
        return ()
    made = tuple(islice(_settings(facts, diagnosis, lead), _MOST))
    return (
        *_triggers(steps),
        *(_link("Cause", one) for one in found[1:] if lead.finding.comes_of(one.finding)),
        *(one for one in made if one.role == "Cause"),
        _mechanism(lead),
        *(one for one in made if one.role != "Cause"),
        *_consequences(lead, found),
    )


def _triggers(steps: Sequence[Step]) -> Iterator[Link]:
    for step in steps:
        if step.name == "trigger":
            proof = say("by-moment" if step.inferred else "by-finding")
            text = say("at", at=step.at, text=step.text) if step.at else step.text
            yield Link("Trigger", text, step.href, proof, step.inferred)


def _mechanism(lead: Dossier) -> Link:
    """In a few words: the statement stands at the head of the page."""
    proof = say("places", certainty=lead.finding.certainty.name.lower(), places=len(lead.finding.evidence))
    return Link("Mechanism", cause(lead.finding.incident), f"#{lead.anchor}", proof)


def _settings(facts: Facts, diagnosis: Diagnosis, lead: Dossier) -> Iterator[Link]:
    """Settings among the evidence, but for those of the repair: what made it possible or worse, or is its cause."""
    role = "Cause" if lead.finding.incident in _OF_A_SETTING else "Setting"
    repaired = {(change.what.rpartition(" ")[2], change.after) for change in diagnosis.changes if change.before}
    told_of = set(repaired)
    for number, place in enumerate(lead.finding.evidence, start=1):
        for setting in _printed(facts, lead.finding.incident, place):
            if (setting.key, setting.value) not in told_of:
                told_of.add((setting.key, setting.value))
                told = say(
                    "setting",
                    key=setting.key,
                    value=words.Quoted(setting.value),
                    scope=setting.scope,
                    owner=setting.owner or None,
                    why=place.why or None,
                )
                yield Link(role, told, f"#{lead.anchor}-e{number}", place.place)
    if "cause of the id" in lead.finding.facts:
        yield Link("Cause", lead.finding.facts["cause of the id"], f"#{lead.anchor}", say("by-ids"))


_OF_A_SETTING = frozenset({"overlapping-subscription", "rate-limit-flapping"})
"""Classes that the setting among the evidence brings about by itself: a limit, or copies that are allowed."""
_RULE, _LIMIT = "acl", "max_"
"""The scope of rules of access, of which those that allow other topics did nothing; what the names of limits of
mosquitto begin with, of which 0 is none."""
_REPORTED = "PROP_"
"""What the names begin with that a client of RocketMQ reports of itself: a version is no setting."""


def _printed(facts: Facts, incident: str, place: Evidence) -> list[Setting]:
    """The setting that a line prints; of several, those that the catalogue names for the class."""
    named = INCIDENTS[incident].explain if incident in INCIDENTS else ""
    own = [one for one in facts.settings if (one.source, one.line) == (place.source, place.line)]
    alike = [one for one in own if one.key in place.text and not one.key.startswith(_REPORTED) and _acts(one)]
    return alike if len(alike) == 1 else [one for one in alike if one.key in named]


def _acts(setting: Setting) -> bool:
    is_rule = _RULE in (setting.scope, setting.key.partition("_")[0])
    return not is_rule and not (setting.key.startswith(_LIMIT) and setting.value == "0")


def _consequences(lead: Dossier, found: Sequence[Dossier]) -> Iterator[Link]:
    """The findings that came of it; what it cost stands in the impact."""
    for one in found[1:]:
        if lead.finding.brings(one.finding) and harmful(one.finding):
            yield _link("Consequence", one)


def _link(role: str, one: Dossier) -> Link:
    text = say("other", incident=one.finding.incident, what=cause(one.finding.incident))
    return Link(role, text, f"#{one.anchor}", one.finding.certainty.name.lower())
