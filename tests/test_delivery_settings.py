"""What settings of the delivery path may lose or double, in records."""

from dataclasses import replace

import pytest
from facts_builder import at, episode, facts, log, positions, ramp, series, settings, version

from mqlab import scope
from mqlab.delivery.risk_rates import listed, say
from mqlab.delivery.risks import risks
from mqlab.findings import Certainty, Evidence, Result, Severity
from mqlab.rows import Part
from mqlab.verdict import diagnose

THREE = settings("at owner key value\n- orders replication.factor 3", "topics.txt", scope="topic", origin="describe")
ONE = settings("at owner key value\n- orders replication.factor 1", "topics.txt", scope="topic", origin="describe")
SENT = series("producer.record_sends", ramp((30, 1000)), client_id="app")
BROKERS = settings("at owner key value\n09:59 1 broker.id 1\n09:59 2 broker.id 2", "server.log", scope="broker")


def producer(*pairs):
    rows = "\n".join(f"10:00:01 app {key} {value}" for key, value in pairs)
    return settings(f"at owner key value\n{rows}")


def consumer(*pairs, owner="sink"):
    rows = "\n".join(f"10:00:01 {owner} {key} {value}" for key, value in (("group.id", "billing"), *pairs))
    return settings(f"at owner key value\n{rows}", f"clients/{owner}.log", scope="consumer")


def told(*rows):
    """(setting, owner, class, most likely, at least, at most) of every risk."""
    return [(r.setting, r.owner, r.incident, r.records, r.low, r.high) for r in risks(facts(*rows))]


def of(setting, *rows):
    return [row[1:] for row in told(*rows) if row[0] == setting]


SAFE = (("acks", "all"), ("enable.idempotence", "true"), ("retries", 2147483647))
LAG = settings("at owner key value\n09:59 1 replica.lag.time.max.ms 30000", "server.log", scope="broker")


def test_the_leaders_word_alone_risks_what_came_in_while_a_follower_in_sync_may_be_behind():
    rows = (producer(("acks", 1)), THREE, SENT, LAG)

    assert of("acks", *rows) == [("producer app", "acks1-failover-loss", None, 0, 100 * 45)]
    assert "100 records a second (counters of the producer) × 45.0 s" in risks(facts(*rows))[0].how


def test_a_rate_that_nobody_counts_bounds_nothing():
    assert of("acks", producer(("acks", 1)), THREE) == [("producer app", "acks1-failover-loss", None, 0, None)]


@pytest.mark.parametrize(
    "rows",
    [
        (producer(("acks", 1)), ONE, BROKERS),
        (producer(("acks", 1)), settings("at owner key value\n09:59 1 broker.id 1", "server.log", scope="broker")),
    ],
    ids=["one copy", "one broker"],
)
def test_acks_add_nothing_where_there_is_one_copy_anyway(rows):
    assert of("acks", *rows) == []


def test_waiting_for_all_in_sync_is_weak_only_while_the_leader_may_be_alone():
    one = settings("at owner key value\n- orders min.insync.replicas 1", "topics.txt", scope="topic", origin="describe")
    two = settings("at owner key value\n- orders min.insync.replicas 2", "topics.txt", scope="topic", origin="describe")

    weak = [("topic orders", "acks1-failover-loss", None, 0, None)]
    assert of("min.insync.replicas", producer(*SAFE), THREE, one) == weak
    assert of("min.insync.replicas", producer(*SAFE), THREE, two) == []
    assert of("min.insync.replicas", producer(*SAFE), ONE, one) == []


@pytest.mark.parametrize(
    ("given", "release", "off"),
    [
        ((("acks", "all"),), "2.8.2", True),
        ((("acks", "all"),), "3.0.1", False),
        ((("acks", 1),), "3.9.1", True),
        ((("acks", "all"), ("max.in.flight.requests.per.connection", 6)), "3.9.1", True),
        ((("acks", "all"), ("retries", 0)), "3.9.1", False),
        ((("acks", "all"), ("enable.idempotence", "true")), "3.1.0", True),
        ((("acks", "all"), ("enable.idempotence", "true")), "3.1.1", False),
    ],
    ids=["2.8", "3.0.1", "acks=1", "6 in flight", "no retries, no copies", "3.1.0 prints it only", "3.1.1"],
)
def test_idempotence_counts_as_the_release_has_it(given, release, off):
    rows = of("enable.idempotence", producer(*given), version(release))
    assert rows == ([("producer app", "producer-duplicates", None, 0, None)] if off else [])


def test_a_cut_connection_may_double_what_is_usually_on_its_way_and_averages_bound_nothing():
    batches = series("producer.records_per_request_avg", [0, 400, 300, 200, 20, 20, 16, 20], client_id="app")
    rows = of("enable.idempotence", producer(("acks", "all")), version("2.8.2"), batches)

    assert rows == [("producer app", "producer-duplicates", 5 * 20, 0, None)]


UNCLEAN = settings("at owner key value\n- orders unclean.leader.election.enable true", "topics.txt",
                   scope="topic", origin="describe")  # fmt: skip


def test_unclean_elections_are_a_risk_where_there_is_another_replica():
    assert of("unclean.leader.election.enable", UNCLEAN, THREE) == [
        ("topic orders", "unclean-election-loss", None, 0, None)
    ]
    assert of("unclean.leader.election.enable", UNCLEAN, ONE, BROKERS) == []


def test_a_single_copy_is_told_where_there_are_brokers_for_more():
    read = positions("at group topic queue committed end\n10:00 billing orders 0 10 500")

    assert of("replication.factor", ONE, BROKERS, read) == [("topic orders", None, 500, 0, 500)]
    assert of("replication.factor", ONE, read) == []


COMMITS = positions(
    """
    at     group    topic   queue  committed  end
    10:00  billing  orders  0      0          0
    10:10  billing  orders  0      6000       6000
    """
)


def test_automatic_commits_repeat_an_interval_and_a_poll_at_the_most():
    rows = (consumer(("enable.auto.commit", "true"), ("auto.commit.interval.ms", 5000)), COMMITS)
    assert of("enable.auto.commit", *rows) == [("consumer sink", "reprocess-duplicates", 25, 0, 550)]


def test_automatic_commits_lose_what_was_handed_over():
    waits = [
        episode("handed-over", 30 + n, "clients/sink.log", line=n + 1, left=left, client_id="sink", group="billing")
        for n, left in enumerate((100, 1200, 800))
    ]
    rows = (consumer(("enable.auto.commit", "true")), COMMITS, waits)

    assert of("enable.auto.commit", *rows) == [("consumer sink", "commit-before-process-loss", 800, 0, 1200)]


def test_what_another_consumer_handed_over_is_not_this_ones():
    waits = episode("handed-over", 30, "clients/other.log", left=1200, client_id="other", group="mails")
    rows = (consumer(("enable.auto.commit", "true")), COMMITS, waits)

    assert [row[1] for row in of("enable.auto.commit", *rows)] == ["reprocess-duplicates"]


def test_what_nobody_set_is_told_as_a_default():
    rows = risks(facts(consumer(("max.poll.records", 100)), COMMITS))

    assert [(r.setting, r.value) for r in rows] == [
        ("enable.auto.commit", "true (default)"),
        ("auto.offset.reset", "latest (default)"),
    ]


def in_file(owner, folder, **values):
    rows = "".join(f"- {owner} {key.replace('_', '.')} {value}\n" for key, value in values.items())
    return settings(
        f"at owner key value\n{rows}", f"configs/{folder}/consumer.properties", scope="consumer", origin="file"
    )


def test_what_a_file_does_not_set_its_application_may():
    given = facts(in_file("a", "one", max_poll_records=100), in_file("b", "two", max_poll_records=100), COMMITS)
    files = ("configs/one/consumer.properties", "configs/two/consumer.properties")
    assert [(r.setting, r.who, r.value) for r in risks(given)] == [
        ("enable.auto.commit", listed(["a", "b"]), say("not-set-in", value="true", files=files)),
        ("auto.offset.reset", listed(["a", "b"]), say("not-set-in", value="latest", files=files)),
    ]


def test_what_a_file_sets_is_told_as_it_stands_and_apart_from_what_another_does_not():
    given = facts(in_file("a", "one", enable_auto_commit="true"), in_file("b", "two", max_poll_records=500), COMMITS)
    assert [(r.who, r.value) for r in risks(given) if r.setting == "enable.auto.commit"] == [
        (listed(["a"]), "true"),
        (listed(["b"]), say("not-set-in", value="true", files=("configs/two/consumer.properties",))),
    ]


def test_what_a_client_prints_is_all_that_it_has():
    printed = settings("at owner key value\n10:00 a max.poll.records 100", "a.log", scope="consumer")
    given = facts(in_file("a", "one", group_id="billing"), printed, COMMITS)
    assert [r.value for r in risks(given)] == [say("default", value="true"), say("default", value="latest")]


def test_consumers_that_commit_by_themselves_are_no_row():
    assert told(consumer(("enable.auto.commit", "false"), ("auto.offset.reset", "earliest")), COMMITS) == []


def test_a_reset_to_the_end_is_weaker_for_a_group_that_has_offsets():
    latest = consumer(("auto.offset.reset", "latest"), ("enable.auto.commit", "false"))
    behind = positions("at group topic queue committed end\n10:00 billing orders 0 10 500")

    assert [row.effective.values["case"] for row in risks(facts(latest, behind))] == ["offsets-may-go"]
    assert [row.effective.values["case"] for row in risks(facts(latest))] == ["no-offsets"]


@pytest.mark.parametrize("ends", [(100, 900, 500), (900, 500, 100), (100, 500, 900)])
def test_no_lag_seen_bounds_what_waits_when_offsets_expire_and_the_largest_is_told(ends):
    latest = consumer(("auto.offset.reset", "latest"), ("enable.auto.commit", "false"))
    seen = "".join(f"10:0{n} billing orders 0 10 {end}\n" for n, end in enumerate(ends))
    behind = positions(f"at group topic queue committed end\n{seen}")

    assert of("auto.offset.reset", latest, behind) == [("consumer sink", "offset-reset-loss", None, 0, None)]
    (row,) = risks(facts(latest, behind))
    assert [one.values["records"] for one in row.how.values["waited"]] == [890]


def test_members_with_the_same_settings_share_a_row():
    latest = [consumer(("auto.offset.reset", "latest"), owner=name) for name in ("sink-1", "sink-2")]
    assert [owner for owner, *_ in of("auto.offset.reset", *latest)] == ["consumer sink-1, sink-2"]


def test_many_owners_are_counted_not_listed():
    own = (("auto.offset.reset", "latest"), ("enable.auto.commit", "false"))
    (row,) = risks(facts([consumer(*own, owner=f"sink-{n}") for n in range(1, 9)]))

    assert row.owner == "consumer sink-1, sink-2, sink-3, sink-4, sink-5 and 3 more"
    assert len(row.evidence) == 5


def snapshots(read, minutes=10, every=60):
    """A group on a topic that takes 10 records a second, of which it reads *read*."""
    rows = "\n".join(
        f"10:{n:02}:00 billing orders 0 {round(read * every * n)} {10 * every * n}" for n in range(minutes + 1)
    )
    return positions(f"at group topic queue committed end\n{rows}")


def kept(milliseconds):
    return settings(f"at owner key value\n- orders retention.ms {milliseconds}", "topics.txt", scope="topic",
                    origin="describe")  # fmt: skip


def test_retention_that_reaches_unread_records_within_a_day_is_told_in_records_of_that_day():
    (row,) = risks(facts(snapshots(read=5), kept(7_200_000)))

    assert (row.setting, row.owner, row.incident) == ("retention.ms", "group billing on orders", "retention-loss")
    assert row.due_seconds == pytest.approx((7200 - 300) / 0.5)
    assert (row.records, row.low, row.high) == (5 * (86_400 - 13_800), 0, 10 * (86_400 - 6900))


@pytest.mark.parametrize(
    "rows",
    [
        (snapshots(read=5), kept(604_800_000)),
        (snapshots(read=10), kept(40_000)),
        (snapshots(read=9.9), kept(40_000)),
        (snapshots(read=5), kept(-1)),
        (snapshots(read=5),),
    ],
    ids=["a week", "keeps pace", "varies within a snapshot", "kept for ever", "default"],
)
def test_retention_that_is_far_away_is_no_row(rows):
    assert of("retention.ms", *rows) == [] == of("log.retention.hours", *rows)


def test_a_size_counts_as_the_time_in_which_it_fills():
    size = settings("at owner key value\n- orders retention.bytes 36000000", "topics.txt", scope="topic")
    came = series("broker.bytes_in", ramp((60, 100_000)), topic="orders")
    (row,) = risks(facts(snapshots(read=5), size, came))

    assert (row.setting, row.value) == ("retention.bytes", "36000000")
    assert row.due_seconds == pytest.approx((3600 - 300) / 0.5)


def test_compacted_topics_are_not_deleted_by_age():
    compacted = settings("at owner key value\n- orders cleanup.policy compact", "topics.txt", scope="topic")
    assert of("retention.ms", snapshots(read=5), kept(3_600_000), compacted) == []


def test_ledgers_tell_a_rate_where_no_counter_does():
    place = Evidence("acked.csv", 2, "1,0,0")
    part = Part("acked.csv", "acked", "name", "app", None, "orders", "0", 6000, 6000, 0, 5999, at(0), at(60), place,
                place)  # fmt: skip
    found = risks(replace(facts(producer(("acks", 1)), THREE, LAG), parts=(part,)))

    assert [(r.setting, r.high) for r in found if r.setting == "acks"] == [("acks", 100 * 45)]


def test_only_what_was_chosen_or_is_on_its_way_becomes_a_notice_one_for_a_class():
    also = settings("at owner key value\n- bills unclean.leader.election.enable true", "topics.txt", scope="topic")
    found = diagnose(facts(producer(("acks", 1)), THREE, UNCLEAN, also, snapshots(read=5), kept(7_200_000))).findings
    notices = [(f.incident, f.subject) for f in found if f.certainty is Certainty.POSSIBLE]

    assert notices == [("retention-loss", "billing on orders"), ("unclean-election-loss", "bills, orders")]
    assert {f.severity for f in found if f.certainty is Certainty.POSSIBLE} == {Severity.NOTICE}


def test_a_notice_does_not_make_health_of_a_class_that_could_not_be_checked(monkeypatch):
    judged = []
    monkeypatch.setattr(scope, "asked", lambda *_: Result(missing=("controller.log",)))
    monkeypatch.setattr(scope, "enough", lambda _, results: judged.append(results["unclean-election-loss"]))
    verdict = diagnose(facts(THREE, UNCLEAN)).verdict

    assert [(len(r.findings), r.missing) for r in judged] == [(1, ("controller.log",))]
    assert verdict.incident == "undetermined"


def test_clients_of_rocketmq_have_no_settings_of_kafka():
    mine = settings(
        "at owner key value\n10:00 10.0.0.1@9 consumeFromWhere CONSUME_FROM_LAST_OFFSET", "status/1", scope="consumer"
    )
    read = replace(log("status/1"), software="rocketmq")
    assert told(mine, read) == []
    assert {owner for _, owner, *_ in told(mine, replace(read, software="kafka"))} == {"consumer 10.0.0.1@9"}
