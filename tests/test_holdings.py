"""Who holds which queue: by the rule, by what processes say, by what offsets do."""

from facts_builder import at, facts
from group_builder import GROUP, TOPIC, allocated, listings, queues
from hypothesis import given
from hypothesis import strategies as st

from mqlab.findings import Evidence
from mqlab.rocketmq.eras import Era, Terms, eras, had_been_unique, panel, terms
from mqlab.rows import Assignment
from mqlab.shared.queues import Member

A1, A2, B = "A@9 10.0.0.1:1", "A@9 10.0.0.2:1", "B@9 10.0.0.3:1"
NAMES = tuple(f"broker-a/{n}" for n in range(4))


def held(one):
    """``queue: owners; said`` of each share."""
    return [
        f"{s.queue.rpartition('/')[2]}: {' '.join(s.owners) or '-'}; "
        f"{' '.join(f'{client} {n}/{s.speaking[client]}' for client, n in sorted(s.said.items())) or '-'}"
        for s in one.shares
    ]


def of(every, title="during"):
    """The panel of the only era."""
    (era,) = eras(every, GROUP)
    return panel(every, GROUP, title, era, terms(every, GROUP, {}, {}, None))


def test_processes_with_one_id_own_the_same_queues_and_say_so():
    logs = [row for host in ("host-1", "host-2") for row in allocated(5, "A@9", host, NAMES[:2])]
    every = facts(listings(0, 300, 20, A1, A2), queues(4, {0, 1}), *logs)
    one = of(every)
    assert held(one) == ["0: A@9 A@9; A@9 2/2", "1: A@9 A@9; A@9 2/2", "2: -; -", "3: -; -"]
    assert [s.queue for s in one.orphans] == ["broker-a/2", "broker-a/3"]
    assert [s.queue for s in one.doubled] == ["broker-a/0", "broker-a/1"]
    assert [s.pace.frozen for s in one.shares] == [False, False, True, True]


def test_a_process_that_names_another_queue_is_not_hidden():
    every = facts(listings(0, 300, 20, "A@9 10.0.0.1:1", B), queues(4, range(4)), allocated(5, "A@9", "h", NAMES[1:3]))
    assert held(of(every)) == ["0: A@9; -", "1: A@9; A@9 1/1", "2: B@9; A@9 1/1", "3: B@9; -"]


def asked(when, client, names):
    """What a tool was told that *client* holds."""
    return tuple(Assignment(at(when), GROUP, TOPIC, q, client, None, None, "status/A@9", 1, "") for q in names)


def test_of_one_process_the_latest_word_counts():
    said = allocated(5, "A@9", "h", NAMES), asked(200, "A@9", NAMES[:2])
    every = facts(listings(0, 300, 20, "A@9 10.0.0.1:1", B), queues(4, range(4)), *said)
    assert held(of(every)) == ["0: A@9; A@9 1/1", "1: A@9; A@9 1/1", "2: B@9; -", "3: B@9; -"]


def test_of_a_shared_id_the_logs_count_before_a_tool_that_reaches_one_process():
    logs = [row for host in ("host-1", "host-2") for row in allocated(5, "A@9", host, NAMES[:2])]
    every = facts(listings(0, 300, 20, A1, A2), queues(4, {0, 1}), *logs, asked(200, "A@9", NAMES[:1]))
    assert held(of(every))[:2] == ["0: A@9 A@9; A@9 2/2", "1: A@9 A@9; A@9 2/2"]


def test_where_no_rule_tells_it_owners_are_those_that_say_so():
    logs = allocated(5, "A@9", "host-1", NAMES[:3], strategy="MINE")
    one = of(facts(listings(0, 300, 20, "A@9 10.0.0.1:1", B), queues(4, range(4)), logs))
    assert (one.by_rule, held(one)) == (
        False,
        ["0: A@9; A@9 1/1", "1: A@9; A@9 1/1", "2: A@9; A@9 1/1", "3: -; -"],
    )


def test_the_queues_of_absent_members_have_no_owner():
    every = facts(listings(0, 300, 20, "A@9 10.0.0.1:1", B), queues(4, {2, 3}))
    (era,) = eras(every, GROUP)
    one = panel(every, GROUP, "", era, terms(every, GROUP, {}, {TOPIC: ["A@9"]}, None))
    assert [s.queue for s in one.orphans] == ["broker-a/0", "broker-a/1"]


def test_topics_come_from_offsets_or_from_allocations_and_a_retry_topic_is_none():
    retry = queues(1, {0}, topic=f"%RETRY%{GROUP}")
    every = facts(queues(2, {0}), retry, allocated(0, "A@9", "h", ["broker-b/1", "broker-a/0"], topic="OTHER"))
    assert terms(every, GROUP, {TOPIC: "AVG_BY_CIRCLE"}, {}, None) == (
        Terms(TOPIC, ("broker-a/0", "broker-a/1"), "AVG_BY_CIRCLE"),
        Terms("OTHER", ("broker-a/0", "broker-b/1"), "AVG"),
    )
    assert [t.topic for t in terms(every, GROUP, {}, {}, "OTHER")] == ["OTHER"]


@given(st.lists(st.sampled_from("ABC"), min_size=1, max_size=6), st.integers(1, 12))
def test_with_ids_of_their_own_each_queue_has_one_owner(ids, count):
    members = tuple(Member(f"{client}@9", f"10.0.0.{n}:1", Evidence("", 1, "")) for n, client in enumerate(ids))
    known = (Terms(TOPIC, tuple(f"broker-a/{n}" for n in range(count)), "AVG"),)
    one = had_been_unique(facts(), GROUP, Era(0.0, 100.0, 100.0, members), known)
    assert [len(s.owners) for s in one.shares] == [1] * count
    assert sorted(m.place for m in one.era.members) == sorted(m.place for m in members)
    assert one.era.shared == ()
