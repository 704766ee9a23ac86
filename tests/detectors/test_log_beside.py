"""A log that explodes beside other findings: whose lines they are, and what they explain."""

from dataclasses import replace

from facts_builder import at, episode, facts, log, settings
from volume_builder import QUIET, loop, shape, volume

from mqlab.findings import Severity
from mqlab.known_errors import words
from mqlab.logs import explosion
from mqlab.scope import RULES, SYSTEMS
from mqlab.symptoms.unexplained import trouble
from mqlab.verdict import diagnose
from mqlab.words import pieces, room

SPLITTING = tuple(
    episode(
        "batch-split", 2_532 + n, "app.log", count=1_500, line=301 + n, until=2_541 + n, left=3, client_id="app",
        topic="orders", queue="0", reason="MESSAGE_TOO_LARGE",
    )
    for n in range(0, 1_060, 10)
)  # fmt: skip
PRODUCER = settings("at owner key value\n10:00 app batch.size 1638400\n10:00 app acks all", "app.log")


def test_lines_of_another_finding_are_its_consequence():
    flooded = volume(shape("splitting and retrying", [(42, 60, 2_000_000)], level="WARN", line=301), rest=QUIET)
    diagnosis = diagnose(replace(facts(SPLITTING, PRODUCER, log("app.log")), volumes=(flooded,)))
    lead, *rest = diagnosis.findings
    assert (lead.incident, "log-explosion" in lead.explains) == ("batch-split-loop", True)
    (loud,) = [f for f in rest if f.incident == "log-explosion"]
    assert loud.severity is Severity.NOTICE
    (_, consequence) = pieces(loud.statement, " ")
    assert consequence == explosion.say("consequence", incident=lead.incident, subject=lead.subject)


def test_a_few_events_do_not_explain_a_million_lines_beside_them():
    few = tuple(replace(e, count=20) for e in SPLITTING)
    diagnosis = diagnose(replace(facts(few, PRODUCER, log("app.log")), volumes=(loop(),)))
    severities = {f.incident: f.severity for f in diagnosis.findings}
    assert severities["log-explosion"] is Severity.WARNING


def test_material_of_no_known_system_has_the_class_too():
    lonely = replace(facts(log("app.log", "application-log")), volumes=(loop(),))
    quiet = replace(lonely, volumes=(volume(rest=QUIET),))
    assert diagnose(lonely).verdict.incident == "log-explosion"
    assert "log-explosion" in diagnose(quiet).clear
    others = {slug for slug, systems in RULES.items() if len(systems) == len(SYSTEMS)} - {"log-explosion"}
    assert {n.incident for n in diagnose(quiet).not_checked} == {*others, *SYSTEMS}


def test_it_explains_its_own_lines_and_no_others():
    own = episode("send-failed", 2_532, "app.log", count=90_000, line=301)
    other = episode("sender-error", 2_600, "app.log", line=900)
    material = replace(facts(log("app.log", "application-log"), own, other), volumes=(loop(),))
    left = diagnose(material).symptoms
    what = words()["sender-error"]
    assert left == (room("symptoms")("trouble", at=at(2_600), what=what, times=1, several=False, place="app.log:900"),)
    assert "send-failed" in trouble()
