"""The funnel of a topic's messages, its replicas by time, and offsets through a failover, as drawn data."""

from dataclasses import replace

import pytest
from audit_builder import A_FAILOVER, FAILOVER, HOSTILE, MIXED, SETTINGS_ONLY, acked, audit, level, losses, reign
from facts_builder import at

from mqlab.figures.delivery import chosen, delivery_funnel, failover, funnel_pieces, lanes_of, replicas
from mqlab.figures.style import ALARM, figure_table
from mqlab.views.delivery import CUT, FOLLOWER, LEADER, AuditView, Offsets


def drawn(chart):
    return [tuple(row) for row in figure_table(chart.to_plotly_json()).rows]


def named(chart, name):
    return next(trace for trace in chart.data if trace.name == name)


def clocks(values):
    return [None if value is None else value[11:19] for value in values]


def test_a_stage_shows_what_arrived_and_beside_it_what_was_lost_or_only_waits():
    assert [(piece.stage, piece.kind, piece.words) for piece in funnel_pieces(FAILOVER)] == [
        ("sent", "arrived", "33,002"),
        ("acknowledged", "arrived", "33,002"),
        ("in the log", "arrived", "31,440"),
        ("in the log", "lost: acks1-failover-loss", "1,562"),
        ("handled by sink", "arrived", "27,000"),
        ("handled by sink", "pending", "4,440"),
    ]


def test_intervals_and_sums_of_what_is_told_in_part_are_marked_and_groups_stay_apart():
    assert [(piece.stage, piece.kind, piece.words) for piece in funnel_pieces(MIXED)] == [
        ("sent", "arrived", "≥ 500"),
        ("acknowledged", "arrived", "≥ 490"),
        ("acknowledged", "rejected or given up", "10"),
        ("in the log", "arrived", "490"),
        ("handled by audit", "arrived", "≥ 300"),
        ("handled by audit", "pending", "190"),
        ("handled by billing", "arrived", "≥ 380"),
        ("handled by billing", "lost: retention-loss", "about 110 (≥ 100, ≤ 120)"),
        ("handled by billing", "lost: not explained by this audit", "≥ 4 (≤ 9)"),
        ("handled by billing", "unknown", "3"),
    ]


def test_where_only_offsets_tell_a_loss_it_stands_alone():
    lost = losses("queue incident records offsets since until least most\n0 retention-loss 9 1..9 10:00 10:01 4 9")
    assert [(piece.stage, piece.kind, piece.words) for piece in funnel_pieces(audit(losses=lost))] == [
        ("in the log", "lost: retention-loss", "≤ 9 (≥ 4)"),
    ]


def test_the_funnel_has_one_bar_for_each_stage_and_its_table_every_piece():
    assert drawn(delivery_funnel(FAILOVER)) == [
        ("arrived", "33002", "sent", "33,002 arrived"),
        ("arrived", "33002", "acknowledged", "33,002 arrived"),
        ("arrived", "31440", "in the log", "31,440 arrived"),
        ("arrived", "27000", "handled by sink", "27,000 arrived"),
        ("pending", "4440", "handled by sink", "4,440 pending"),
        ("lost: acks1-failover-loss", "1562", "in the log", "1,562 lost: acks1-failover-loss"),
    ]


@pytest.mark.parametrize("audit", [None, SETTINGS_ONLY])
def test_where_nothing_was_counted_a_sentence_stands_in_place_of_the_funnel(audit):
    assert (
        "The material has no count of sent, acknowledged or handled messages"
        in delivery_funnel(audit).layout.annotations[0].text
    )


def test_each_replica_has_a_lane_and_the_leader_a_thick_bar():
    chart = replicas(A_FAILOVER)
    led = named(chart, "leads")
    assert list(chart.layout.yaxis.categoryarray) == [
        "partition 1 · broker 3", "partition 1 · broker 1", "partition 0 · broker 3", "partition 0 · broker 2",
        "partition 0 · broker 1",
    ]  # fmt: skip
    assert list(zip(led.y, clocks(led.x), strict=True))[:5] == [
        ("partition 0 · broker 2", "10:00:00"), ("partition 0 · broker 2", "10:04:40"), (None, None),
        ("partition 0 · broker 1", "10:04:40"), ("partition 0 · broker 1", "10:10:00"),
    ]  # fmt: skip
    assert led.text[3] == (
        "leads 10:04:40 to 10:10:00 in epoch 2, high watermark 1,030, in sync: 1, 3, logs/kafka-1/state-change.log:2"
    )


def test_log_ends_stand_as_numbers_where_each_replica_began_and_was_cut():
    chart = replicas(A_FAILOVER)
    ends = [trace for trace in chart.data if trace.name.startswith("log ")]
    told = {trace.name: list(zip(trace.y, trace.text, strict=True)) for trace in ends}
    assert told == {
        "log end when it became leader": [("partition 0 · broker 1", "1,032")],
        "log end when it became follower": [("partition 0 · broker 3", "1,031"), ("partition 0 · broker 2", "2,606")],
        "log truncated to": [("partition 0 · broker 2", "1,032")],
    }


def test_an_unclean_leader_has_a_colour_and_a_name_of_its_own():
    unclean = replace(A_FAILOVER, reigns=(reign("0", "1", "10:00", "10:01", unclean=True),))
    (bar,) = [trace for trace in replicas(unclean).data if trace.name.startswith("leads")]
    assert (bar.name, bar.line.color) == ("leads after an unclean election", ALARM)


def test_of_very_many_partitions_those_whose_leader_changed_most_are_kept():
    calm = tuple(reign(str(n), "1", "10:00", "10:10") for n in range(60))
    moved = (reign("59", "2", "10:05", "10:10"),)
    lanes = lanes_of(AuditView(None, reigns=(*calm, *moved)))
    assert len(lanes) == 30
    assert lanes[-2:] == ("partition 59 · broker 1", "partition 59 · broker 2")


def test_a_failover_shows_the_part_that_was_lost_the_new_leader_and_the_cut():
    chart = failover(A_FAILOVER)
    lost, kept = named(chart, "acknowledged, lost"), named(chart, "acknowledged, kept")
    assert (list(lost.y), clocks(lost.x)) == ([1032, 2593, None], ["10:04:32", "10:04:38", None])
    assert list(kept.y)[3:5] == [1032, 2593]
    assert list(named(chart, "log end when it became leader").text) == [" 1,032 · 1"]
    assert list(named(chart, "log truncated to").y) == [1032]
    assert list(named(chart, "committed by sink").y) == [690, 3000, 5035]
    assert [note.text for note in chart.layout.annotations] == ["broker 1 leads", "lost: 1,032 to 2,593"]


def test_a_failover_begins_with_the_part_that_was_lost():
    chart = failover(A_FAILOVER)
    assert clocks(chart.layout.xaxis.range) == ["10:04:12", "10:05:42"]
    assert [round(edge) for edge in chart.layout.yaxis.range] == [485, 3699]


def test_the_partition_that_lost_most_is_shown_unless_one_is_named():
    assert chosen(A_FAILOVER).queue == "0"
    assert chosen(A_FAILOVER, "1").queue == "1"
    assert chosen(A_FAILOVER, "7") is None


def test_a_partition_without_a_failover_is_drawn_whole():
    calm = AuditView(None, offsets=(Offsets("0", acked=(acked("10:00", "10:01", 0, 99),)),))
    chart = failover(calm)
    assert ([trace.name for trace in chart.data], chart.layout.xaxis.range) == (["acknowledged, kept"], None)


def test_without_leaders_and_offsets_there_are_sentences():
    nothing = AuditView(FAILOVER)
    assert "The leaders of orders" in replicas(nothing).layout.annotations[0].text
    assert "offsets of orders" in failover(nothing).layout.annotations[0].text
    assert "a topic of Kafka" in failover(AuditView(None)).layout.annotations[0].text


def test_mark_up_in_names_is_shown_and_not_followed():
    hostile = AuditView(
        replace(MIXED, groups=tuple(replace(row, group=HOSTILE) for row in MIXED.groups)),
        reigns=(reign(HOSTILE, HOSTILE, "10:00", "10:01"), reign(HOSTILE, "b", "10:01", "10:02")),
        levels=tuple(level(HOSTILE, HOSTILE, "10:00", 1, what) for what in (LEADER, FOLLOWER, CUT)),
        offsets=(Offsets(HOSTILE, committed={HOSTILE: ((at("10:00"), 1),)}),),
    )
    for chart in (delivery_funnel(hostile.audit), replicas(hostile), failover(hostile)):
        assert "<script" not in chart.to_json().replace("\\u003c", "<")
        assert "&lt;script" in chart.to_json()
