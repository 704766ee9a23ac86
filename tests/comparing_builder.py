"""Captures to be compared, with a diagnosis made by hand: a group of Kafka whose polls come too late."""

from __future__ import annotations

from dataclasses import replace

from facts_builder import at, facts, log, positions
from report_example import diagnosis

from mqlab.comparing.sides import Side
from mqlab.diagnosis import NotChecked, Rejected
from mqlab.findings import Certainty, Evidence, Severity, finding

LATE = "poll-interval-exceeded"


def late(subject="shop", since=60, until=180, **more):
    """Polls that come too late in a group."""
    places = [Evidence("clients/app.log", 7, "consumer poll timeout has expired")]
    told = {"statement": "late", "measures": {"rebalances": 4}, "evidence": places, "verify": ""}
    return finding(LATE, subject, Certainty.PROVEN, (at(since), at(until)), **told | more)


def group(name="shop", topic="orders", since="10:00", until="10:10", records=6000):
    """A group, and how many records its topic took."""
    return positions(f"""
        at       group   topic    queue  committed  end
        {since}  {name}  {topic}  0      0          0
        {until}  {name}  {topic}  0      {records}  {records}
        """)


def side(
    rows, findings=(), *, first="10:00", last="10:10", clear=(), rejected=(), not_checked=(), verdict=None, **more
):
    """A capture of these rows with a diagnosis made by hand."""
    lead = next((f.incident for f in findings if f.severity > Severity.NOTICE), "healthy")
    told = diagnosis(*findings, incident=verdict or lead)
    told = replace(
        told, clear=clear, rejected=tuple(Rejected(*one) for one in rejected), changes=(), symptoms=(),
        not_checked=tuple(NotChecked(slug, (missing,), ()) for slug, missing in not_checked),
        material=replace(told.material, window=(at(first), at(last))),
    )  # fmt: skip
    return Side("incidents/one", facts(*rows), told, **more)


BEFORE = (log(), group())
AFTER = (log(first="11:00", last="11:10"), group(since="11:00", until="11:10"))
EARLIER = (log(first="09:00", last="09:10"), group(since="09:00", until="09:10"))
LATER = {"first": "11:00", "last": "11:10", "clear": (LATE,)}


def before(*more, **told):
    return side((*BEFORE, *more), (late(**told),))
