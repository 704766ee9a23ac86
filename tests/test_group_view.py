"""Which group is looked at, and which times of it are drawn."""

from dataclasses import replace

import pytest
from facts_builder import facts
from group_builder import GROUP, TOPIC, broker_log, listings, queue, queues, said, told
from report_example import at, diagnosis, split_loop

from mqlab.facts import Facts
from mqlab.views.rocketmq_group import GroupView, group_view

A1, A2 = "A@9 10.0.0.1:1", "A@9 10.0.0.2:1"
ALONE = ("A@1 10.0.0.1:1", "A@2 10.0.0.2:1")


def about(incident, subject, **more):
    """A finding of this class."""
    return replace(split_loop(), incident=incident, subject=subject, **more)


def other(peak):
    """Queues of another group that nobody reads, and the members of both."""
    members = (*listings(0, 20, 20, *ALONE), *listings(0, 20, 20, *ALONE, group="other"))
    return (*members, *queue("broker-a/0", [(100, peak, 0)], group="other"), broker_log())


@pytest.mark.parametrize(
    ("found", "asked", "chosen"),
    [
        ((), None, "other"),
        ((), GROUP, GROUP),
        ((about("slow-consumer", f"{GROUP}/{TOPIC}"),), None, GROUP),
        ((about("duplicate-client-id", GROUP), about("slow-consumer", f"other/{TOPIC}")), None, GROUP),
        ((about("slow-consumer", "of-kafka/T"),), None, "other"),
        ((about("batch-split-loop", f"{GROUP} -> {TOPIC}"),), None, "other"),
    ],
)
def test_the_group_is_the_one_asked_for_else_of_a_finding_else_the_busiest(found, asked, chosen):
    offsets = queues(2, {0, 1}, seconds=100)
    rows = [replace(p, source="logs/broker-a/broker.log") for p in (*offsets, *other(5)) if hasattr(p, "committed")]
    every = facts(*(r for r in other(5) if not hasattr(r, "committed")), *rows)
    assert group_view(every, diagnosis(*found), asked).group == chosen


def test_without_offsets_a_group_with_members_is_looked_at():
    assert group_view(facts(listings(0, 20, 20, *ALONE)), diagnosis()).group == GROUP


def test_without_rocketmq_there_is_no_group():
    assert group_view(Facts(), diagnosis()) == GroupView(None)
    kafka = facts(queues(2, {0}, group="of-kafka"))
    assert group_view(kafka, diagnosis()) == GroupView(None)


def test_before_during_and_after_are_drawn_and_what_unique_ids_would_have_given():
    rows = (
        *listings(0, 100, 20, *ALONE), *listings(120, 420, 20, A1, A2),
        *listings(440, 700, 20, "A@3 10.0.0.1:3", "A@4 10.0.0.2:3"),
    )  # fmt: skip
    moving = [queue(f"broker-a/{n}", [(120, 3, 3), (300, 3, 3 if n < 2 else 0), (260, 3, 9)]) for n in range(4)]
    view = group_view(facts(*rows, *moving), diagnosis())
    assert [p.title for p in view.panels] == ["before", "while the ID was shared", "after"]
    assert view.during is view.panels[1]
    assert [s.queue for s in view.during.orphans] == ["broker-a/2", "broker-a/3"]
    assert [len(s.owners) for s in view.unique.shares] == [1, 1, 1, 1]


def test_without_a_shared_id_the_steady_time_of_the_finding_is_looked_at():
    rows = (*listings(0, 200, 20, *ALONE), *listings(220, 300, 20, "A@1 10.0.0.1:1"))
    every = facts(*rows, *queues(4, range(4)))
    early = diagnosis(about("slow-consumer", f"{GROUP}/{TOPIC}", started_at=at("12:00:00"), ended_at=at("12:00:01")))
    view = group_view(every, early)
    assert (view.unique, len(view.panels)) == (None, 2)
    assert view.during is view.panels[1]
    begin, end = view.panels[0].era.since, view.panels[0].era.seen
    shown = about("slow-consumer", f"{GROUP}/{TOPIC}")
    inside = replace(shown, started_at=shown.started_at.fromtimestamp(begin, shown.started_at.tzinfo),
                     ended_at=shown.started_at.fromtimestamp(end, shown.started_at.tzinfo))  # fmt: skip
    assert group_view(every, diagnosis(inside)).during.era.since == begin


@pytest.mark.parametrize(
    "rows",
    [
        (*listings(0, 300, 20, A1, A2), said("messageModel", "BROADCASTING")),
        listings(0, 300, 20, "172.17.0.2@DEFAULT 10.0.0.1:1", "172.17.0.2@DEFAULT 10.0.0.2:1"),
    ],
)
def test_in_a_broadcast_group_nothing_is_allocated(rows):
    view = group_view(facts(*rows, queues(4, range(4))), diagnosis())
    assert (view.broadcast, view.panels, view.unique) == (True, (), None)


def test_members_that_do_not_read_a_topic_leave_its_queues_to_nobody():
    rows = (*listings(0, 300, 20, *ALONE), told(100, "A@1", f"{TOPIC}:*"), told(100, "A@2", "OTHER:*"))
    view = group_view(facts(*rows, queues(4, {0, 1})), diagnosis())
    assert view.mismatch is not None
    assert [s.queue for s in view.during.orphans] == ["broker-a/2", "broker-a/3"]
