"""What changed, in the order in which it happened."""

from facts_builder import episode, facts, log, positions, settings, version

from mqlab.changes import changes


def told(*rows):
    """(what, before, after) of each change."""
    return [(c.what, c.before, c.after) for c in changes(facts(*rows))]


def test_a_setting_printed_differently_is_a_change_also_in_a_rotated_log():
    first = settings("at owner key value\n10:00 app batch.size 1638400", "clients/app.log.1")
    second = settings("at owner key value\n10:05 app batch.size 16384", "clients/app.log")
    assert told(first, second) == [("producer app batch.size", "1638400", "16384")]


def test_two_processes_with_different_settings_are_no_change():
    first = settings("at owner key value\n10:00 app batch.size 1638400", "one/app.log")
    second = settings("at owner key value\n10:05 app batch.size 16384", "two/app.log")
    assert told(first, second) == []


def test_a_raised_limit_tells_what_it_was():
    raised = episode("topic-config-changed", 300, "server.log", topic="orders", reason="max.message.bytes -> 9")
    broker = settings("at owner key value\n09:00 - message.max.bytes 5", "server.log", scope="broker")
    assert told(raised, broker) == [("topic orders max.message.bytes", "5", "9")]


def test_versions_processes_and_groups_are_changes():
    rows = (
        version("4.1.0", "server.log", "10:00:00"), version("4.1.1", "server.log", "10:01:00"),
        episode("process-exit", 120, left=3, reason="app"), episode("process-started", 125, reason="app"),
        episode("rebalance-started", 130, group="a"), episode("rebalance-started", 140, group="a"),
    )  # fmt: skip
    assert told(*rows) == [
        ("version in server.log", "4.1.0", "4.1.1"),
        ("process app exited", None, "status 3"),
        ("process app", None, "started"),
        ("group a", None, "joins (first seen)"),
    ]


def test_a_group_that_begins_with_the_log_is_no_change():
    first = episode("rebalance-started", "10:01", "logs/1.log", group="a")
    later = episode("rebalance-started", "10:03", "logs/1.log", group="b")

    assert [what for what, _, _ in told(first, later, log("logs/1.log"))] == ["group b"]


def test_a_start_is_a_change_where_something_was_seen_before_it():
    up = [episode("broker-started", second, f"logs/{node}.log", node=str(node)) for node, second in ((1, 10), (2, 90))]
    again = episode("broker-started", 100, "logs/1.log", node="1")
    late = episode("broker-started", 200, "logs/3.log", node="3")

    assert told(*up, episode("process-started", 20, reason="app")) == []
    assert [what for what, _, _ in told(*up, again, late)] == ["broker 1", "broker 3"]


def test_a_brokers_file_differs_from_the_copy_that_somebody_kept_of_it():
    files = [
        settings(f"at owner key value\n- - max_queued_messages {limit}", name, origin="file", scope="broker")
        for name, limit in (("mq1/broker.conf", 20000), ("mq1/broker.conf.before-0823", 200), ("mq2/broker.conf", 7))
    ]
    assert [(c.before, c.after) for c in changes(facts(*files))] == [("200", "20000")]


def test_undated_files_that_differ_are_inferred():
    files = [
        settings(f"at owner key value\n- app batch.size {size}", f"configs/{name}.properties", origin="file")
        for name, size in (("after", 16384), ("before", 1638400))
    ]
    assert [(c.at, c.inferred) for c in changes(facts(*files))] == [(None, True)]


def test_listings_that_differ_tell_a_change_by_when_the_later_was_made_unless_a_log_dates_it():
    rows = [
        settings(
            f"at owner key value\n{when} orders max.message.bytes {size}", f"{n}.txt", scope="topic", origin="describe"
        )
        for n, (when, size) in enumerate([("10:00", 9), ("10:05", 5), ("10:10", 5), ("10:15", 9)])
    ]
    found = changes(facts(*rows))
    assert [(c.what, c.before, c.after, c.inferred) for c in found] == [
        ("topic orders max.message.bytes", "9", "5", True),
        ("topic orders max.message.bytes", "5", "9", True),
    ]
    assert changes(facts(rows[0], rows[0])) == ()
    logged = episode("topic-config-changed", "10:03", "server.log", topic="orders", reason="max.message.bytes -> 5")
    assert [c.inferred for c in changes(facts(*rows, logged))] == [False]


def test_dead_letters_of_a_group_are_told_when_they_came_and_how_many_there_are():
    rows = positions("""
at    group topic      queue      committed end
10:00 -     %DLQ%shop  broker-a/0 -         2
10:05 -     %DLQ%shop  broker-a/0 -         5
10:05 -     %DLQ%shop  broker-b/0 -         1
10:00 -     %DLQ%calm  broker-a/0 -         0
10:05 -     %RETRY%x   broker-a/0 -         9
10:05 -     %DLQ%lone  broker-a/0 -         1
""")
    assert told(rows) == [
        ("dead letters of group lone", None, "1 message"), ("dead letters of group shop", "3 messages", "6 messages"),
    ]  # fmt: skip
