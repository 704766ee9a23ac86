"""Which value was in force: printed beats files, what was before the change beats what was after."""

from facts_builder import at, episode, facts, settings, version

from mqlab.models.kafka_defaults import Version
from mqlab.shared import configured

FILE = settings("at owner key value\n- app batch.size 16384", "producer.properties", origin="file")


def changed(when, reason, source="server.log"):
    """A topic's configuration as a broker logs it."""
    return episode("topic-config-changed", when, source, topic="orders", reason=reason)


def size(when, *rows, client="app"):
    """batch.size at a moment."""
    value = configured.producer_value(facts(*rows), client, "batch.size", None if when is None else at(when))
    return value and value.value


def test_what_a_process_printed_beats_an_undated_file():
    printed = settings("at owner key value\n10:00 app batch.size 1638400\n10:10 app batch.size 32768")
    assert [size(when, FILE, printed) for when in (60, 700)] == ["1638400", "32768"]


def test_a_file_without_owner_counts_where_it_is_the_only_one():
    nobody = settings("at owner key value\n- - batch.size 500000", "producer.properties", origin="file")
    assert size(0, nobody) == "500000"
    assert size(0, nobody, FILE, client="other") == "16384"  # the default


def test_only_a_value_seen_before_is_certain():
    printed = settings("at owner key value\n10:10 app batch.size 32768")
    value = configured.producer_value(facts(printed), "app", "batch.size", at(0))
    assert [configured.certain(value, at(when)) for when in (0, 700)] == [False, True]


def test_a_version_is_that_of_the_clients_own_log_at_the_time():
    known = facts(
        settings("at owner key value\n10:00 app acks all"),
        version("2.1.0", when="10:00"), version("3.9.1", when="10:10"), version("4.1.0", "server.log"),
        episode("broker-started", 5, "server.log", client_id="app"),
    )  # fmt: skip
    assert [configured.version_of(known, "app", at(n)) for n in (60, 700)] == [Version(2, 1), Version(3, 9, 1)]
    assert configured.broker_version(known) == Version(4, 1)
    assert configured.version_of(known, None) is None


def test_a_topic_change_that_several_brokers_log_is_one():
    both = [changed(300, "max.message.bytes -> 2097152", f"kafka-{n}.log") for n in (1, 2)]
    assert [(s.key, s.value) for s in configured.topic_changes(facts(*both))] == [("max.message.bytes", "2097152")]


def test_a_topic_change_can_be_taken_back_and_made_again():
    story = [changed(100, "max.message.bytes -> 9"), changed(200, None), changed(300, "max.message.bytes -> 9")]
    assert [s.value for s in configured.topic_changes(facts(*story))] == ["9", "", "9"]


def test_a_limit_is_what_was_in_force():
    after = settings("at owner key value\n- orders max.message.bytes 9", "topics.txt", scope="topic", origin="describe")
    broker = settings("at owner key value\n09:00 - message.max.bytes 5", "server.log", scope="broker")
    known = facts(after, broker, changed(300, "max.message.bytes -> 9"), changed(600, None))
    assert [configured.limit(known, "orders", at(n)).value for n in (100, 400, 700)] == ["5", "9", "5"]
    assert configured.limit(facts(after, broker), "orders", at(100)).value == "9"
    assert configured.limit(facts(), "orders", at(100)) is None
