"""Which material suffices for health."""

from dataclasses import replace

import pytest
from facts_builder import episode, facts, log, series

from mqlab import scope
from mqlab.facts import Facts
from mqlab.findings import Result
from mqlab.rows import Tally
from mqlab.sources import Role
from mqlab.verdict import diagnose

CLEAR = Result()
SERVER = log("server.log", "kafka-broker-log", lines=2000)
UNREAD = replace(SERVER, format="unrecognised", data=0, rejected=2000)


def material(*others):
    return Facts(coverage=(SERVER, *others))


@pytest.mark.parametrize(
    ("other", "enough"),
    [
        (replace(UNREAD, source="sold.xyz"), False),
        (replace(UNREAD, source="notes.txt", lines=99, rejected=99), True),
        (replace(UNREAD, source="core", format="binary", lines=0, rejected=0), True),
    ],
    ids=["long", "short", "binary"],
)
def test_a_long_file_that_nobody_understands_is_no_health(other, enough):
    assert scope.enough(material(other), dict.fromkeys(scope.RULES, CLEAR)) is enough


@pytest.mark.parametrize("slug", sorted(slug for slug, ours in scope.RULES.items() if "kafka" in ours))
def test_one_class_that_was_not_checked_is_no_health_but_for_what_ledgers_alone_tell(slug):
    results = dict.fromkeys(scope.RULES, CLEAR) | {slug: Result(missing=("anything",))}
    assert scope.enough(material(), results) is (slug in {"reprocess-duplicates", "commit-before-process-loss"})


def test_classes_of_other_systems_do_not_stand_in_the_way():
    results = {slug: CLEAR if "kafka" in ours else Result(missing=("x",)) for slug, ours in scope.RULES.items()}
    assert scope.enough(material(), results)


def test_a_hundred_lines_beside_very_many_are_notes():
    large = replace(SERVER, lines=20_000, data=20_000)
    assert scope.unread(Facts(coverage=(large, replace(UNREAD, source="notes.txt", lines=150, rejected=150)))) == ()


def test_the_verdict_names_what_nobody_understands():
    unread = material(replace(UNREAD, source="b.xyz"), replace(UNREAD, source="a.xyz"))
    verdict = diagnose(unread).verdict
    assert verdict.incident == "undetermined"
    assert "a.xyz and 1 other file (4,000 lines) in no format that mqlab knows" in verdict.statement


def test_a_file_that_was_not_read_whole_is_no_health():
    cut = replace(SERVER, source="received.csv.gz", problem="Its end is missing.")
    assert not scope.enough(material(cut), dict.fromkeys(scope.RULES, CLEAR))
    assert "received.csv.gz could not be read whole" in diagnose(material(cut)).verdict.statement


@pytest.mark.parametrize("name", ["group.lag", "topic.end_offset"])
def test_what_exporters_tell_of_groups_and_topics_is_material_of_kafka(name):
    assert scope.systems(facts(series(name, [1, 2]))) == {"kafka"}


def test_rules_for_kafkas_own_lines_check_nothing_in_the_log_of_other_software():
    redpanda = replace(SERVER, software="redpanda")
    elected = episode("leader-elected", 5, "server.log", system="kafka")
    assert not {s for s in diagnose(facts(redpanda, elected)).clear if len(scope.RULES[s]) < len(scope.SYSTEMS)}


def test_a_capture_that_gathered_nothing_says_so_and_is_not_called_calm():
    manifest = log("manifest.json", "capture-manifest", lines=40)
    refused = episode("tool-error", "10:00", source=manifest.source, reason="broker over MQTT: refused: Not authorized")
    nothing, some = diagnose(Facts(coverage=(manifest,), episodes=(refused,))), facts(refused)
    assert nothing.verdict.hypotheses == ()
    assert "Nothing was gathered: broker over MQTT: refused: Not authorized." in nothing.verdict.statement
    assert scope.ungathered(replace(some, coverage=(manifest, SERVER))).startswith("Not all was gathered: broker over")
    assert scope.ungathered(replace(some, coverage=(SERVER,))) == ""


def test_material_of_one_kind_is_named_once():
    told = scope.read(Facts(coverage=(SERVER, replace(SERVER, source="notes", software=""))))
    assert told == "What was read: log of a broker (kafka)."


def test_numbers_of_queues_are_of_kafka_where_nothing_else_tells_whose_they_are():
    noted = Tally(0.0, "consumed", "orders", "3", 40, "out.csv", 2)
    admin = replace(SERVER, source="consumerProgress.txt", format="rocketmq-admin", software="rocketmq")
    assert scope.systems(Facts(tallies=(noted,))) == {"kafka"}
    assert scope.systems(Facts(tallies=(noted,), coverage=(admin,))) == {"rocketmq"}
    assert scope.systems(Facts(tallies=(replace(noted, queue="broker-a/3"),))) == {"rocketmq"}


BROKER_LOG = log("server.log", "kafka-broker-log", lines=600)
CLIENT_LOG = log(lines=600)
JOINED = episode("join-completed", "10:01:00", "clients/app.log", system="kafka")


def clear(*rows):
    """The classes that these rows clear."""
    return set(diagnose(facts(*rows)).clear)


def test_a_few_lines_clear_nothing():
    assert clear(JOINED, replace(log(lines=1), last_at=log().first_at)) == set()
    assert clear(JOINED, log(lines=99), replace(BROKER_LOG, lines=0, data=0)) == set()
    few = (
        replace(BROKER_LOG, lines=9, data=9),
        series("broker.bytes_in", [0] * 40),
        replace(SERVER, role=Role.METRICS),
    )
    assert clear(JOINED, *few) == set()


def test_lines_of_one_moment_clear_nothing():
    assert clear(JOINED, log(last="10:01", lines=600), BROKER_LOG) == clear(JOINED, CLIENT_LOG, BROKER_LOG) != set()
    both = [log(last="10:00:59", lines=600), replace(BROKER_LOG, last_at=log(last="10:00:59").last_at)]
    assert clear(*both) == set()
    assert clear(*(replace(one, first_at=None, last_at=None) for one in both)) == set()


def test_a_class_is_clear_only_where_a_log_that_would_show_it_was_read():
    assert {"disk-full", "quorum-lost"} <= clear(BROKER_LOG)
    assert "broker-unreachable" not in clear(BROKER_LOG)
    assert "broker-unreachable" in clear(CLIENT_LOG, JOINED)
    assert not {"disk-full", "quorum-lost"} & clear(CLIENT_LOG, JOINED)


def test_the_log_of_another_software_clears_nothing_but_itself():
    access = replace(log("access.log", "access-log", lines=5000), role=Role.LOG, software="")
    shop = log("shop.log", "application-log", lines=5000)
    assert clear(access) == clear(shop) == {"log-explosion"}
    assert "startup-failure" in clear(shop, CLIENT_LOG, JOINED)


def test_what_was_read_but_shows_too_little_is_not_checked_and_says_what_is_missing():
    told = {one.incident: one.missing for one in diagnose(facts(JOINED, log(lines=3))).not_checked}
    assert told["startup-failure"] == (scope.say("excerpt"),)
    assert told["disk-full"] == ("broker and client logs that cover the time of the incident",)


def test_a_class_that_it_may_be_is_neither_clear_nor_ruled_out():
    refused = episode("offset-reset", "10:10:00", "clients/app.log", topic="orders", queue="0", left=500.0)
    told = diagnose(facts(JOINED, CLIENT_LOG, BROKER_LOG, refused))
    maybe = {one.incident for one in told.verdict.hypotheses}
    assert maybe
    assert not maybe & {*told.clear, *(one.incident for one in told.rejected)}


def test_systems_of_which_there_is_nothing_are_no_classes_that_were_not_checked():
    told = diagnose(facts(JOINED, CLIENT_LOG))
    assert [one.incident for one in told.absent] == ["rocketmq", "mqtt"]
    assert (*told.unchecked, *told.absent) == told.not_checked


REFUSED = episode("produce-retry", "10:05:00", "clients/app.log", client_id="app", reason="NETWORK_EXCEPTION")
OF_GROUPS = {"group-churn", "poll-interval-exceeded", "poison-pill-stall", "offset-reset-loss", "retention-loss"}
OF_PRODUCERS = {"producer-duplicates", "under-min-isr"}


def test_logs_of_producers_clear_nothing_of_groups_and_those_of_consumers_nothing_of_producers():
    producers, consumers = clear(CLIENT_LOG, REFUSED), clear(CLIENT_LOG, replace(JOINED, group="billing"))
    assert not producers & OF_GROUPS
    assert producers >= OF_PRODUCERS
    assert not consumers & OF_PRODUCERS
    assert consumers >= OF_GROUPS
