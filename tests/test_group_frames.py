"""The notebook's tables about a group, as a reader sees them."""

import pytest
from facts_builder import facts
from group_builder import GROUP, TOPIC, allocated, broker_log, connected, ledger, listings, queue, said
from report_example import diagnosis

from mqlab import frames
from mqlab.detectors.duplicate_client_id import detect
from mqlab.facts import Facts
from mqlab.figures.drain import drain_sliders
from mqlab.scenarios.drain import Request
from mqlab.views import rocketmq_tables
from mqlab.views.rocketmq_group import GroupView, group_view
from mqlab.views.scenarios import drain_answer, drain_plan

A1, A2 = "172.17.0.1@9 10.0.0.1:1001", "172.17.0.1@9 10.0.0.2:1002"
NAMES = [f"broker-a/{n}" for n in range(4)]


def shared():
    """Two processes share an id for five minutes; two of four queues are read by nobody; then it is repaired."""
    logs = [row for host in ("host-1", "host-2") for row in allocated(5, "172.17.0.1@9", host, NAMES[:2])]
    moving = [queue(name, [(300, 3, 3 if n < 2 else 0), (300, 3, 12)]) for n, name in enumerate(NAMES)]
    noted = [ledger(TOPIC, name, ("host-1", "host-2"), 100) for name in NAMES[:2]]
    kept = said("fileReservedTime", "48", owner="broker-a")
    after = listings(320, 600, 20, "A@1 10.0.0.1:2001", "A@2 10.0.0.2:2002")
    return facts(listings(0, 300, 20, A1, A2), after, *moving, *noted, *logs, kept)


@pytest.fixture
def known():
    every = shared()
    return every, group_view(every, diagnosis(*detect(every).findings))


def rows(frame):
    """Cells as text, the index first."""
    return [[str(cell) for cell in row] for row in frame.reset_index().to_numpy()]


def test_the_overview_names_the_shared_id(known):
    told = dict(rows(rocketmq_tables.overview(*known)))
    assert told["group"] == GROUP
    assert told["client IDs shared by several processes"] == "172.17.0.1@9"
    assert told["allocation strategy"] == "AVG"


def test_the_overview_says_that_no_id_is_shared():
    every = facts(listings(0, 300, 20, "A@1 10.0.0.1:1", "A@2 10.0.0.2:1"))
    told = dict(rows(rocketmq_tables.overview(every, group_view(every, diagnosis()))))
    assert told["client IDs shared by several processes"] == "none"
    assert told["highest lag of one queue"] == "no offsets in the material"


def test_people_are_listed_by_when_they_came():
    every = facts(connected(0, "B@9", "10.0.0.2:1"), connected(9, "A@9", "10.0.0.1:1"), broker_log(0, 300))
    assert rows(rocketmq_tables.people(group_view(every, diagnosis()))) == [
        ["B@9", "10.0.0.2:1", "10:00:00", "10:05:00", "its own", "logs/broker-a/broker.log:1"],
        ["A@9", "10.0.0.1:1", "10:00:09", "10:05:00", "its own", "logs/broker-a/broker.log:1"],
    ]


def test_queues_that_fare_alike_are_one_row(known):
    assert rows(rocketmq_tables.shares([known[1].during])) == [
        ["while the ID was shared", TOPIC, "broker-a 0-1", "2", "2 × 172.17.0.1@9", "2 of 2",
         "advanced by 1,560; 1,560 arrived"],
        ["while the ID was shared", TOPIC, "broker-a 2-3", "0", "nobody", "0 of 2", "stood still; 1,560 arrived"],
    ]  # fmt: skip


def test_what_waits_is_told_by_what_became_of_the_queues(known):
    assert rows(rocketmq_tables.waiting(*known)) == [
        ["broker-a 2-3", TOPIC, "nobody reads it", "6.00/s", "0/s", "900", "0"],
        ["broker-a 0-1", TOPIC, "several read it", "6.00/s", "6.00/s", "0", "0"],
    ]


def test_the_work_that_was_of_use_is_compared_with_ids_of_their_own(known):
    assert rows(rocketmq_tables.capacity(known[1])) == [
        [TOPIC, "as it was", "2 of 4 (50.0 %)", "2", "as 1.00 processes", "50.0 %"],
        [TOPIC, "with a unique ID per process", "4 of 4 (100.0 %)", "2", "as 2.00 processes", "100.0 %"],
    ]


def test_costs_tell_growth_repeats_and_when_retention_deletes(known):
    told = dict(rows(rocketmq_tables.costs(*known)))
    assert told["backlog grew by"] == told["sent to queues that nobody reads"] == "6.00/s"
    assert told["duplicate deliveries, by the ledgers"] == "200"
    assert told["retention"] == "2.00 days, as configured"
    assert told["oldest unread message may be deleted"].endswith("10:00:00 UTC")
    assert rows(rocketmq_tables.repeats(known[1])) == [["broker-a 0-1", TOPIC, "2", "2.00 times"]]


def test_repair_names_the_group_in_its_commands(known):
    told = rows(frames.repair(known[1].finding, "rocketmq", GROUP))
    assert [step for step, _ in told][:3] == ["do now", "for good", "see that it worked"]
    assert f'mqadmin consumerConnection -n "$NAMESRV" -g {GROUP}' in [what for _, what in told]


def test_ids_that_come_about_alike_are_one_row_the_shared_first(known):
    told = rows(rocketmq_tables.identities(*known))
    assert [row[0] for row in told] == ["172.17.0.1@9", "A@1, A@2"]
    assert told[0][1:3] == ["address, configured instance name", "V4_9_4"]


def test_the_drain_is_forecast_and_planned(known):
    request = Request(group=GROUP, capacity=500, load=100, response_time=0.02)
    told = dict(rows(drain_plan(drain_answer(known[0], request))))
    assert told["BUDGET"].endswith("writes/s for the backlog")
    assert {"DRAIN", "MEASURED", "FORECAST", "HOLD", "FINISH", "RAMP", "GUARD", "ASSUMED"} <= told.keys()
    refused = drain_answer(known[0], Request(group=GROUP, capacity=10, load=100, response_time=0.02))
    assert "normal load" in dict(rows(drain_plan(refused)))["REFUSED"]


def test_without_a_group_every_table_is_empty_and_says_so():
    nobody = GroupView(None)
    assert rows(rocketmq_tables.overview(Facts(), nobody)) == [["group", "no RocketMQ consumer group in this material"]]
    tables = (
        rocketmq_tables.people(nobody), rocketmq_tables.shares(nobody.panels), rocketmq_tables.waiting(Facts(), nobody),
        rocketmq_tables.capacity(nobody), rocketmq_tables.costs(Facts(), nobody), rocketmq_tables.repeats(nobody),
        rocketmq_tables.identities(Facts(), nobody), frames.repair(None, "rocketmq", None), drain_plan(None),
    )  # fmt: skip
    assert [len(table) for table in tables] == [0] * len(tables)
    assert drain_answer(Facts(), Request()) is None
    assert "nothing to plan" in drain_sliders(None, Request(), lambda _: None)


def test_sliders_begin_at_what_was_asked_and_draw_what_they_are_set_to(known):
    request = Request(group=GROUP, capacity=500, load=100, response_time=0.02)
    asked = []
    shown = drain_sliders(
        drain_answer(known[0], request), request, lambda r: asked.append(r) or drain_answer(known[0], r)
    )
    capacity, load, reserve, response = shown.children[0].children
    assert (capacity.value, load.value, reserve.value, round(response.value)) == (500, 100, 0.3, 20)
    capacity.value = 400
    assert asked[-1].capacity == 400
