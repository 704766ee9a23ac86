"""Over is what goes on without it; what ends with the material was last seen then."""

from dataclasses import replace

import pytest
from facts_builder import at, episode, facts, log
from report_example import split_loop

from mqlab.precedence import as_seen
from mqlab.units import moment


@pytest.mark.parametrize(
    ("log_ends", "material_ends", "known"),
    [
        ("10:30", "10:30", True),
        ("10:20:29", "10:20:29", False),
        ("10:20:31", "10:20:31", True),
        ("10:10", "10:30", False),
    ],
    ids=["goes on", "ends at once", "ends after half a minute", "its own log ends"],
)
def test_an_end_is_known_where_its_own_log_goes_on_for_half_a_minute(log_ends, material_ends, known):
    found = replace(split_loop(), started_at=moment(at("10:19:50")), ended_at=moment(at("10:20:00")))
    read = facts(log(found.evidence[0].source, last=log_ends), log("other.log", last=material_ends))

    assert as_seen(found, read, (None, at(material_ends))).over is known


def test_what_lasted_for_long_must_be_away_for_longer():
    found = replace(split_loop(), started_at=moment(at("09:00:00")), ended_at=moment(at("10:20:00")))
    read = facts(log(found.evidence[0].source, last="10:25"))

    assert not as_seen(found, read, (None, at("10:25"))).over
    assert as_seen(found, facts(log(found.evidence[0].source, last="10:40")), (None, at("10:40"))).over


@pytest.mark.parametrize(
    ("back", "log_ends", "known"),
    [("10:20:01", "10:20:14", True), ("10:20:01", "10:20:08", False), ("10:19", "10:20:14", False)],
    ids=["goes on", "ends at once", "it went on after that"],
)
def test_what_ended_with_its_cause_is_over_sooner(back, log_ends, known):
    seen = {"started_at": moment(at("09:00:00")), "ended_at": moment(at("10:20:00"))}
    found = replace(split_loop(), **seen, cause_ended_at=moment(at(back)))
    read = facts(log(found.evidence[0].source, last=log_ends))

    assert as_seen(found, read, (None, at(log_ends))).over is known


def test_nothing_begins_before_the_first_line_or_ends_after_the_last():
    found = replace(split_loop(), started_at=moment(at("10:00:00")), ended_at=moment(at("10:20:10")))
    seen = as_seen(found, facts(), (at("10:00:07"), at("10:20:04")))

    assert (seen.started_at, seen.ended_at) == (moment(at("10:00:07")), moment(at("10:20:04")))


@pytest.mark.parametrize(("kind", "known"), [("batch-split", False), ("client-version", True)])
def test_it_is_over_after_a_pause_that_is_longer_than_those_while_it_went_on(kind, known):
    lines = [episode(kind, when, line=number) for number, when in enumerate(("10:00", "10:09", "10:18"))]
    found = replace(
        split_loop(), started_at=moment(at("10:00")), ended_at=moment(at("10:18")), evidence=(lines[0].first,)
    )

    assert as_seen(found, facts(log(last="10:24"), lines), (None, at("10:24"))).over is known
