"""Bytes of a split loop: measures, the ledger and its bounds."""

from dataclasses import replace

from facts_builder import at, card, episode, facts, ramp, series
from said import told
from split_builder import ACCEPTED, BROKER, CARD, IDEMPOTENT, JMX, OUTGOING, REJECTED, SENT_BY_LOOP

from mqlab.detectors import batch_split_loop
from mqlab.units import Interval


def test_measures_of_the_card_are_bytes_and_ratios():
    finding = batch_split_loop.detect(facts(*IDEMPOTENT, CARD, OUTGOING, REJECTED, ACCEPTED)).findings[0]
    out, again = 200_000 + SENT_BY_LOOP, SENT_BY_LOOP
    assert dict(finding.measures) == {
        **{"healthy_factor": 2, "factor_after": 2, "peak_amplification_factor": out / 100_000},
        **Interval(400_000, 600_000, 600_000).measures("bytes_in"),
        **Interval(4 * out, 6 * out, 6 * out).measures("bytes_out"),
        **Interval(4 * out / 600_000, 6 * out / 600_000, 6 * out / 400_000).measures("amplification_factor"),
        **Interval(4 * again, 6 * again, 6 * again + 400_000).measures("excess_bytes"),
        **Interval(4 * again, 6 * again, 6 * again).measures("bytes_rejected"),
        "split_count": 120,
    }
    stages = {"rejected-batches": 6 * again, "accepted": 1_200_000, "unexplained": 0}
    assert {one.name: one.bytes for one in finding.ledger.stages} == stages


def test_single_records_over_the_limit_are_no_bytes_of_the_loop():
    single = episode("record-too-large", 330, "clients/app.log", client_id="app", topic="orders", left=5_000_000)
    more = [0] * 31 + [SENT_BY_LOOP] * 6 + [0] * 24
    rejected = [sum(more[: n + 1]) + (5_000_000 if n > 33 else 0) for n in range(61)]
    counted = series("broker.bytes_rejected", rejected, **BROKER)
    sent = ramp((30, 200_000), (2, 200_000 + SENT_BY_LOOP), (1, 5_200_000 + SENT_BY_LOOP), (3, 200_000 + SENT_BY_LOOP))
    wide = card("app-1", ramp((60, 100_000)), [*sent, *(sent[-1] + 200_000 * n for n in range(1, 25))])
    finding = batch_split_loop.detect(facts(*IDEMPOTENT, wide, counted, ACCEPTED, single)).findings[0]
    (resent, *_) = finding.ledger.stages
    assert finding.measures["bytes_rejected"] == 6 * SENT_BY_LOOP + 5_000_000
    assert finding.measures["excess_bytes"] == resent.bytes == 6 * SENT_BY_LOOP


def without(counter, first, last):
    """The same counter without the samples of so many seconds."""
    return replace(counter, points=tuple(p for p in counter.points if not first < p[0] - at(0) < last))


def stages(*rows):
    """(bytes, label) of what was accepted and of single records, and the rest, in the ledger of a loop."""
    ledger = batch_split_loop.detect(facts(*IDEMPOTENT, CARD, OUTGOING, REJECTED, *rows)).findings[0].ledger
    return {stage.name: (stage.bytes, stage.label) for stage in ledger.stages[1:]}


def test_of_a_gap_between_scrapes_the_window_gets_its_share_and_the_bounds_are_told():
    least, most = 200_000 * 2, 200_000 * 27  # from the first scrape after the gap, and from the last before it
    (size, label) = stages(without(ACCEPTED, 90, 330))["accepted"]
    assert size == 200_000 * 6
    assert told(label) == {"least": least, "most": most, "healthy": 2.0}


def test_without_a_gap_nothing_is_said_of_one():
    (size, label) = stages(ACCEPTED)["accepted"]
    assert (size, told(label)) == (200_000 * 6, {"healthy": 2.0})


def test_parts_are_never_more_than_the_whole():
    many = series("broker.bytes_in", ramp((9, 0), (1, 90_000_000), (50, 0)), **BROKER)
    rows = stages(without(many, 90, 330))
    assert rows["unexplained"][0] == 0
    assert rows["accepted"][0] == 6 * 200_000


def test_a_ledger_whose_certain_parts_exceed_the_whole_is_not_shown():
    many = series("broker.bytes_in", ramp((60, 90_000_000)), **BROKER)
    rows = (*IDEMPOTENT, CARD, OUTGOING, REJECTED, many)
    assert batch_split_loop.detect(facts(*rows)).findings[0].ledger is None


def test_of_a_single_record_whose_copies_nothing_tells_the_payload_is_counted_and_its_bound_told():
    single = episode("record-too-large", 334, "clients/app.log", client_id="app", topic="orders", left=5_000_000)
    (size, label) = stages(ACCEPTED, single)["oversize-records"]
    assert (size, told(label)) == (5_000_000, {"records": 1, "most": 200_000 + SENT_BY_LOOP})


def test_a_single_record_whose_size_the_client_counted_is_counted_with_its_copies():
    single = episode("record-too-large", 330, "clients/app.log", client_id="app", topic="orders", left=5_000_000)
    biggest = series("producer.record_size_max", [10_000_100] * 61, **JMX)
    (_, label) = stages(ACCEPTED, single, biggest)["oversize-records"]
    assert told(label) == {"records": 1}
