"""From facts to one diagnosis: every class in one place, the cause first, nobody accused for want of material."""

import itertools
import random
from dataclasses import replace

import pytest
from facts_builder import at, card, episode, facts, log, positions, ramp, series, settings, splits, version

from mqlab import scope
from mqlab.catalogue import INCIDENTS
from mqlab.detectors import DETECTORS
from mqlab.facts import Facts
from mqlab.findings import Certainty, Severity
from mqlab.rows import Shape
from mqlab.sources import Role
from mqlab.verdict import diagnose

JMX = {"instance": "app-1:9404", "client_id": "app"}
BROKER = {"instance": "kafka-1:9404"}
BROKER_LOG = log("server.log", "kafka-broker-log")
GROUPS = positions(
    """
    at     group    topic   queue  committed  end
    10:00  billing  orders  0      100        101
    10:10  billing  orders  0      200        201
    10:20  billing  orders  0      300        301
    """
)
QUIET = (
    version("3.9.1"),
    settings("at owner key value\n10:00 app batch.size 16384\n10:00 app acks all\n10:00 app max.request.size 1048576"),
    series("producer.record_sends", ramp((60, 50)), **JMX),
    series("producer.record_errors", ramp((60, 0)), **JMX),
    series("broker.bytes_in", ramp((60, 100_000)), **BROKER),
    series("broker.bytes_out", ramp((60, 300_000)), **BROKER),
    series("broker.replication_bytes_in", ramp((60, 200_000)), **BROKER),
    GROUPS,
    log(),
    BROKER_LOG,
)
BIG = settings("at owner key value\n10:00 app batch.size 1638400\n10:00 app acks all")
BATCHES = 20 * 1_300_000
LOOP = (
    version("3.9.1"),
    BIG,
    settings("at owner key value\n- orders max.message.bytes 1048588", "topics.txt", scope="topic", origin="describe"),
    splits(300, 60, 2),
    series("producer.batch_splits", ramp((30, 0), (6, 20), (24, 0)), **JMX),
    series("producer.outgoing_bytes", ramp((30, 200_000), (6, 200_000 + BATCHES), (24, 200_000)), **JMX),
    series("broker.bytes_rejected", ramp((30, 0), (6, BATCHES), (24, 0)), **BROKER),
    series("broker.bytes_in", ramp((60, 200_000)), **BROKER),
    series("broker.bytes_out", ramp((60, 200_000)), **BROKER),
    card("app-1", ramp((60, 100_000)), ramp((30, 200_000), (6, 200_000 + BATCHES), (24, 200_000))),
    GROUPS,
    log(),
    BROKER_LOG,
)
RETRYING = (
    version("2.8.2"),
    settings("at owner key value\n10:00 app request.timeout.ms 2000\n10:00 app acks 1\n10:00 app retries 5"),
    tuple(
        episode("produce-retry", 300 + n, count=8, until=309 + n, left=4 - n // 10, client_id="app", topic="orders",
                reason="REQUEST_TIMED_OUT")
        for n in range(0, 40, 10)
    ),
    series("producer.record_retries", ramp((30, 0), (6, 40), (24, 0)), **JMX),
    series("producer.record_sends", ramp((30, 50), (6, 90), (24, 50)), **JMX),
    *QUIET[4:],
)  # fmt: skip
RESUBMITTING = (
    *QUIET[:3],
    tuple(
        episode("record-too-large", 300 + n, count=100, until=309 + n, left=2_000_000, client_id="app")
        for n in range(0, 60, 10)
    ),
    series("app.resubmitted", ramp((30, 0), (6, 100), (24, 0)), source="clients/app.log"),
    series("producer.record_errors", ramp((30, 0), (6, 100), (24, 0)), **JMX),
    series("broker.bytes_rejected", ramp((30, 0), (6, 200_000_000), (24, 0)), **BROKER),
    *QUIET[4:],
)
INFLATING = (
    episode("topic-config-changed", 300, "server.log", topic="orders", reason="compression.type -> uncompressed"),
    settings("at owner key value\n10:00 app compression.type zstd\n10:00 app acks all"),
    series("broker.bytes_in", ramp((60, 100_000)), **BROKER),
    series("broker.bytes_out", ramp((30, 100_000), (30, 1_000_000)), **BROKER),
    series("producer.record_sends", ramp((60, 50)), **JMX),
    GROUPS,
    log(),
    BROKER_LOG,
)
STORIES = {
    "batch-split-loop": LOOP,
    "retry-amplification": RETRYING,
    "resubmission": RESUBMITTING,
    "format-inflation": INFLATING,
    "healthy": QUIET,
}
LEAD = {"resubmission": "retry-amplification"}
CONSEQUENCES = {"resubmission": {"oversize-record-rejected"}}
each_story = pytest.mark.parametrize("story", STORIES)


def places(diagnosis):
    """Where each class stands."""
    return [
        *sorted({f.incident for f in diagnosis.findings}),
        *(r.incident for r in diagnosis.rejected),
        *diagnosis.clear,
        *(n.incident for n in diagnosis.not_checked),
    ]


@each_story
def test_each_story_is_told_by_its_class(story):
    assert diagnose(facts(*STORIES[story])).verdict.incident == LEAD.get(story, story)


@each_story
def test_every_class_is_in_exactly_one_place(story):
    of_kafka = {slug for slug, incident in INCIDENTS.items() if "kafka" in incident.anywhere}
    assert sorted(places(diagnose(facts(*STORIES[story])))) == sorted({*of_kafka, "rocketmq", "mqtt"})


def test_without_kafka_there_is_one_entry_a_system():
    assert places(diagnose(Facts())) == ["kafka", "rocketmq", "mqtt"]


def test_what_was_not_checked_says_what_is_missing_and_how_to_fetch_it():
    entries = [n for n in diagnose(facts(log())).not_checked if n.incident in INCIDENTS]
    assert entries
    assert all(n.missing for n in entries)
    assert {n.incident for n in entries if not n.fetch} == {"bridge-loop", "reconnect-storm"}
    assert {n.missing for n in entries if not n.fetch} == {(scope.say("no-rule-on", systems=["Kafka"]),)}


@each_story
def test_the_same_facts_in_any_order_give_the_same_diagnosis(story):
    first = facts(*STORIES[story])
    for seed in range(5):
        rows = {name: getattr(first, name) for name in first.__dataclass_fields__ if name != "whole"}
        shuffled = Facts(**{name: _shuffled(every, seed) for name, every in rows.items()})
        assert diagnose(shuffled) == diagnose(first)


def _shuffled(rows, seed):
    rows = list(rows)
    random.Random(seed).shuffle(rows)
    return tuple(rows)


FAMILIES = {
    "logs": lambda f: replace(
        f, episodes=(), shapes=(), settings=tuple(s for s in f.settings if s.origin != "printed"),
        series=tuple(s for s in f.series if not s.name.startswith("app.")),
        coverage=tuple(c for c in f.coverage if not c.format.endswith("-log")),
    ),
    "client log": lambda f: replace(
        f, episodes=tuple(e for e in f.episodes if "clients/" not in e.source),
        settings=tuple(s for s in f.settings if "clients/" not in s.source),
        series=tuple(s for s in f.series if "clients/" not in s.source),
        coverage=tuple(c for c in f.coverage if "clients/" not in c.source),
    ),
    "broker metrics": lambda f: replace(f, series=tuple(s for s in f.series if not s.name.startswith("broker."))),
    "client metrics": lambda f: replace(f, series=tuple(s for s in f.series if not s.name.startswith("producer."))),
    "cards": lambda f: replace(f, series=tuple(s for s in f.series if not s.name.startswith("host."))),
    "counters of the application": lambda f: replace(
        f, series=tuple(s for s in f.series if not s.name.startswith("app."))
    ),
    "settings": lambda f: replace(f, settings=()),
    "positions": lambda f: replace(f, positions=()),
    "coverage of all but logs": lambda f: replace(f, shapes=()),
}  # fmt: skip


@each_story
@pytest.mark.parametrize("count", [1, 2, 3])
def test_taking_material_away_accuses_nobody_else(story, count):
    allowed = {LEAD.get(story, story), "undetermined", *CONSEQUENCES.get(story, ())}
    for gone in itertools.combinations(FAMILIES, count):
        left = facts(*STORIES[story])
        for family in gone:
            left = FAMILIES[family](left)
        diagnosis = diagnose(left)
        accused = {f.incident for f in diagnosis.findings if f.certainty > Certainty.POSSIBLE}
        assert accused <= allowed, gone
        assert diagnosis.verdict.incident in allowed, gone


def test_the_cause_leads_and_its_consequence_follows():
    diagnosis = diagnose(facts(*RESUBMITTING))
    serious = [f for f in diagnosis.findings if f.severity > Severity.NOTICE]
    assert [f.incident for f in serious] == ["retry-amplification", "oversize-record-rejected"]


def test_loop_and_oversize_records_are_two_findings():
    large = episode("record-too-large", 300, left=6_000_000, client_id="app", reason="max message size the server")
    found = [f.incident for f in diagnose(facts(*LOOP, large)).findings]
    assert found == ["batch-split-loop", "oversize-record-rejected"]


def test_the_change_that_ended_it_is_named_as_inferred():
    repaired = settings("at owner key value\n10:06:20 app batch.size 16384\n10:06:20 app acks 1")
    lead = diagnose(facts(*LOOP, repaired)).findings[0]
    assert (lead.cure.what, lead.cure.before, lead.cure.after) == ("producer app batch.size", "1638400", "16384")


def test_a_raised_limit_is_named_as_what_ended_it():
    raised = episode("topic-config-changed", 358, "server.log", topic="orders", reason="max.message.bytes -> 2097152")
    start = settings("at owner key value\n09:59 - message.max.bytes 1048588", "server.log", scope="broker")
    lead = diagnose(facts(*LOOP, raised, start)).findings[0]
    assert (lead.cure.what, lead.cure.after) == ("topic orders max.message.bytes", "2097152")


def test_replication_and_three_groups_from_the_start_are_no_notice():
    diagnosis = diagnose(facts(*QUIET))
    assert (diagnosis.verdict.incident, diagnosis.findings, diagnosis.symptoms) == ("healthy", (), ())


def test_settings_that_allow_a_loop_are_a_notice_and_the_verdict_stays():
    diagnosis = diagnose(facts(*QUIET, settings("at owner key value\n10:00:01 app batch.size 1638400")))
    assert diagnosis.verdict.incident == "healthy"
    assert [(f.incident, f.severity, f.certainty) for f in diagnosis.findings] == [
        ("batch-split-loop", Severity.NOTICE, Certainty.POSSIBLE)
    ]


def test_settings_alone_make_every_risk_possible_and_nothing_more():
    stored = settings(
        """
        at  owner  key               value
        -   app    batch.size        1638400
        -   app    max.request.size  12695150
        -   app    acks              1
        -   app    retries           3
        """,
        "producer.properties", origin="file",
    )  # fmt: skip
    limit = settings("at owner key value\n- orders max.message.bytes 1048588", "topics.txt", scope="topic")
    diagnosis = diagnose(facts(stored, limit))
    assert diagnosis.verdict.incident == "undetermined"
    assert [(f.incident, f.certainty) for f in diagnosis.findings] == [
        ("batch-split-loop", Certainty.POSSIBLE),
        ("oversize-record-rejected", Certainty.POSSIBLE),
    ]


def test_a_notice_from_settings_excuses_no_symptom():
    odd = Shape("server.log", "ERROR", "Disk full on <path>", 4, 400, at(900), at(950), 77)
    risky = settings("at owner key value\n10:00:01 app batch.size 1638400")
    assert diagnose(replace(facts(*QUIET, risky), shapes=(odd,))).verdict.incident == "undetermined"


def test_a_dismissed_finding_is_rejected_not_lost():
    name = "batch-split-loop:app/orders"
    diagnosis = diagnose(facts(*LOOP), [name])
    assert [(r.incident, r.because) for r in diagnosis.rejected if r.incident == "batch-split-loop"] == [
        ("batch-split-loop", "dismissed")
    ]


def test_every_detector_is_of_a_class_of_the_catalogue():
    assert {d.INCIDENT for d in DETECTORS} <= set(INCIDENTS)


def test_material_of_no_broker_is_told_what_to_gather():
    prose = replace(log("notes.md", lines=2), format="unrecognised", data=0, rejected=2, software="", role=Role.UNKNOWN)
    told = diagnose(facts(prose)).verdict.statement
    assert "in it is in a format that mqlab knows; `mqlab checklist kafka`" in told
    app = replace(log("app.log", "application-log"), software="")
    assert "in it tells of which broker it is; `mqlab checklist kafka`" in diagnose(facts(app)).verdict.statement


@pytest.mark.parametrize(("seen", "watched"), [((), 1740.0), (("10:05:40",), 1740.0), (("10:31:10",), 1870.0)])
def test_what_was_watched_is_from_the_first_line_or_row_to_the_last(seen, watched):
    lines = [episode("connected", when, "server.log", system="kafka") for when in seen]
    assert diagnose(facts(log("server.log", "kafka-broker-log", "10:00", "10:29"), lines)).material.watched == watched
