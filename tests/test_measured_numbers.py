"""How numbers of findings are measured: what a saw-tooth, a pause, a start or an old backlog must not change."""

import pytest
from facts_builder import at, card, episode, facts, positions, ramp, series

from mqlab.detectors.oversize_record_rejected import detect
from mqlab.shared.counters import usual_factor
from mqlab.shared.lag import speeds, stretch_between, trend
from mqlab.shared.queues import of_groups
from mqlab.traffic import payload
from mqlab.units import between


def waiting(*lags, group="g", topic="t"):
    """Snapshots every 10 s, with so many messages waiting; a hundred come in between two."""
    rows = "\n".join(
        f"10:{n * 10 // 60:02}:{n * 10 % 60:02} {group} {topic} 0 {10_000 + 100 * n - lag} {10_000 + 100 * n}"
        for n, lag in enumerate(lags)
    )
    return positions(f"at group topic queue committed end\n{rows}")


def test_a_saw_tooth_grows_as_its_teeth_do_wherever_it_is_cut():
    toothed = [(float(n), 10.0 * n + 200 * (n % 5 == 4)) for n in range(25)]

    assert trend(toothed) == pytest.approx(10, rel=0.05)
    assert (toothed[-1][1] - toothed[0][1]) / 24 == pytest.approx(18.3, abs=0.1)


def test_what_grows_evenly_grows_by_that():
    assert trend([(0.0, 5.0), (10.0, 25.0), (20.0, 45.0)]) == 2
    assert trend([(0.0, 5.0)]) is None


def test_speeds_leave_the_pause_of_a_restart_at_one_end_out():
    given = facts(waiting(0, 200, *range(220, 620, 20)))
    queues = of_groups(given)["g", "t"]

    whole = stretch_between(queues, at(0), at(220))
    assert speeds(queues, whole) == (10, between(2, [2, whole.grown / whole.seconds])), "the bounds hold both"


def test_a_usual_factor_leaves_the_start_and_an_earlier_fault_out():
    came = ramp((6, 10), (20, 1000), (6, 100))
    left = ramp((6, 900), (20, 2000), (6, 9000))

    assert usual_factor(facts(card("a", came, left)), "a", 0, at(10_000)) == pytest.approx(2, rel=0.01)


def test_a_usual_factor_of_an_even_time_is_out_over_in():
    assert usual_factor(facts(card("a", ramp((20, 1000)), ramp((20, 1500)))), "a", 0, at(10_000)) == 1.5


def test_what_left_is_told_over_what_was_offered_and_delivered():
    given = facts(
        series("app.receivedBytes", ramp((6, 100)), source="app.log"),
        series("app.deliveredPayloadBytes", ramp((6, 50)), source="app.log"),
        series("app.receivedBytes", ramp((6, 7)), source="other.log"),
    )

    assert payload.measures(given, {"app.log"}, 3000.0, at(0), at(60)) == {
        "offered_bytes": 600, "sent_per_offered_factor": 5, "delivered_bytes": 300, "sent_per_delivered_factor": 10,
    }  # fmt: skip
    assert payload.measures(given, {"silent.log"}, 3000.0, at(0), at(60)) == {}


def refused(client):
    return episode(
        "record-too-large",
        "10:00:10",
        until="10:00:30",
        client_id=client,
        topic="t",
        value_max=2e6,
        count=5,
        source=f"{client}.log",
    )


@pytest.mark.parametrize(
    ("rows", "rejected"),
    [
        ((refused("a"),), 600),
        ((refused("a"), refused("b")), None),
        ((refused("a"), episode("batch-split", "10:00:20", client_id="a", topic="t")), None),
    ],
    ids=["of one client", "of two clients", "beside batches that were split"],
)
def test_rejected_bytes_are_those_of_records_over_the_limit_where_nothing_else_was_refused(rows, rejected):
    counter = series("broker.bytes_rejected", [0, 0, 600, 600], topic="t")

    assert detect(facts(*rows, counter)).findings[0].measures.get("bytes_rejected") == rejected
