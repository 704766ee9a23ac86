"""What is in force for a topic: whose acks count, which value beats which, what no setting tells."""

from dataclasses import replace

from facts_builder import at, episode, facts, positions, series, settings, version
from message_builder import acked, acks, of_brokers, of_topic

from mqlab.delivery import durability
from mqlab.delivery.leaders import last_end, last_start, looked


def told(*rows, topic="orders"):
    """acks of the topic's producers."""
    found = durability.acks(facts(*rows), topic)
    return found.value if found else None


def test_acks_is_what_the_producer_printed_and_minus_one_is_all():
    assert told(acks("1")) == "1"
    assert told(acks("-1")) == "all"
    assert told(acks("0")) == "0"
    assert durability.acks(facts(acks("1")), "orders").leader_only


def test_without_a_word_the_clients_version_decides():
    printed = settings("at owner key value\n10:00 gateway linger.ms 5", "clients/gateway.log")
    assert told(printed, version("2.8.2", "clients/gateway.log")) == "1"
    assert told(printed, version("3.0.0", "clients/gateway.log")) == "all"
    assert told(printed) is None
    assert told() is None


def test_producers_that_differ_tell_nothing_unless_a_ledger_or_counter_names_the_one():
    both = (acks("1"), acks("all", client="other"))
    assert told(*both) is None
    assert told(*both, acked()) == "1"
    assert told(*both, acked(party="other", source="clients/other-acked.csv")) == "all"
    assert told(*both, acked(topic="bills")) is None
    sends = series("producer.topic_record_sends", [1, 2], client_id="other", topic="orders")
    assert told(*both, sends) == "all"
    assert told(acks("1"), acks("1", client="other")) == "1"


def test_a_topics_own_value_beats_that_of_its_brokers_and_these_the_default():
    own = of_topic("min.insync.replicas", "2")
    broker = of_brokers("min.insync.replicas", "1")
    assert durability.min_in_sync(facts(own, broker), "orders") == 2
    assert durability.min_in_sync(facts(own, broker), "bills") == 1
    assert durability.min_in_sync(facts(), "orders") == 1


def test_what_was_seen_last_is_in_force_whoever_tells_it():
    described = of_topic("min.insync.replicas", "2")
    printed = replace(described, origin="printed", source="logs/kafka-1/server.log")
    for early, late in ((described, printed), (printed, described)):
        rows = facts(early, replace(late, value="1", at=at("11:00")))
        assert [durability.min_in_sync(rows, "orders", at(when)) for when in ("10:30", "11:30")] == [2, 1]
        assert durability.min_in_sync(rows, "orders") == 1


def test_of_one_moment_a_description_counts_more_than_what_a_broker_printed():
    described = of_topic("min.insync.replicas", "2")
    printed = replace(described, value="1", origin="printed", source="logs/kafka-1/server.log")
    assert durability.min_in_sync(facts(printed, described), "orders") == 2
    undated = facts(replace(printed, at=None), replace(described, at=None))
    assert durability.min_in_sync(undated, "orders") == 2


def test_compaction_is_known_from_topics_and_brokers():
    assert durability.compacted(facts(of_topic("cleanup.policy", "compact,delete")), "orders")
    assert durability.compacted(facts(of_brokers("log.cleanup.policy", "compact")), "orders")
    assert not durability.compacted(facts(of_topic("cleanup.policy", "compact")), "bills")


def test_copies_are_those_that_a_description_shows():
    assert durability.replicas(facts(of_topic("replication.factor", "3")), "orders") == 3
    assert durability.replicas(facts(), "orders") is None


def test_the_ends_of_a_log_are_those_that_were_seen_last():
    seen = positions("at group topic queue committed end\n10:10 - orders 0 - 60\n10:05 - orders 0 - 90")
    exported = series("topic.end_offset", [10, 75], start=700, step=60, topic="orders", partition="0")
    known = facts(seen, exported)
    assert last_end(known, ("orders", "0")) == 75
    assert last_end(facts(seen), ("orders", "0")) == 60
    assert last_end(facts(seen), ("orders", "0"), 4e9) is None
    assert last_end(facts(seen), ("orders", "1")) is None


def test_the_start_of_a_log_moves_with_what_is_deleted():
    first = series("broker.log_start_offset", [0, 10], topic="orders", partition="0")
    moved = episode("log-start-moved", "10:10", topic="orders", queue="0", left=300.0)
    assert last_start(facts(first), ("orders", "0")) == 10
    assert last_start(facts(first, moved), ("orders", "0")) == 300


def test_a_query_may_show_a_log_start_that_the_broker_has_moved_since():
    shown = series("broker.log_start_offset", [0, 10, 10], topic="orders", partition="0")
    for when, start in ((8, 10), (18, 700), (25, 700)):
        moved = episode("log-start-moved", when, "logs/server.log", left=700, topic="orders", queue="0")
        assert last_start(facts(shown, moved), ("orders", "0")) == start
    assert looked(facts(shown), ("orders", "0")) == (at(10),)
