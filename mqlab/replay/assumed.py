"""What a replay of a consumer group takes for granted, as sentences."""

from __future__ import annotations

from collections.abc import Iterator

from mqlab.models.group_terms import Course
from mqlab.replay.inputs import Inputs
from mqlab.replay.pace import Paces
from mqlab.replay.request import RECORD, THREADS, Changes
from mqlab.units import counted, digits, duration, number

_MOST = 4
"""Sentences about single members that fit on a screen."""


def assumed(known: Inputs, asked: Changes) -> tuple[str, ...]:
    """One sentence each, those about single members in the middle."""
    return tuple(_all(known, asked))


def _all(known: Inputs, asked: Changes) -> Iterator[str]:
    paces = known.paces
    yield "what came in is as recorded, and who calls or is called notices nothing of the change"
    if paces.polls:
        polls = f"{counted(paces.polls, 'poll')} with {counted(paces.records, 'record')}"
        bounds = "other orders of polls, other moments of records, the quarters of what polls took"
        yield f"{digits(paces.mean * 1000)} ms per record, from {polls}; bounds: {bounds}"
    elif RECORD not in asked.numbers:
        yield f"{digits(paces.mean * 1000)} ms per record, from what ledgers note in ten seconds while records wait"
    own = list(_of_members(known.course, paces))
    yield from own[:_MOST]
    if len(own) > _MOST:
        yield f"{number(len(own) - _MOST)} more of that kind"
    if known.course.members[0].settings.commit_every == 0:
        yield "each poll is committed when it is done"
    if THREADS in asked.numbers:
        yield "threads share a poll evenly, where one works it off now"
    yield "no poll is cut short by sizes of fetches, no broker fails, joins themselves take no time"


def _of_members(course: Course, paces: Paces) -> Iterator[str]:
    came = sum(log.end.at(course.until) - log.end.at(course.since) for log in course.logs)
    share = came / (course.until - course.since) / len({each.name for each in course.members})
    for client, seconds in sorted(paces.means.items()):
        pace = f"{digits(seconds * 1000)} ms per record, {digits(1 / seconds)}/s"
        yield f"{client}: slower than the others as recorded: {pace}, where an even share is {digits(share)}/s"
    for client, stalls in sorted(paces.stalls.items()):
        longest = duration(max(seconds for _, seconds in stalls))
        yield f"{client}: stood still for {longest} in a poll of few records; it would have with any max.poll.records"
    for each in course.members:
        if each.silences:
            longest = duration(max(until - since for since, until in each.silences))
            often = counted(len(each.silences), "time")
            yield f"{each.name}: without heartbeats for up to {longest} as recorded, {often}"
