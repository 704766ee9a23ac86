"""What proves that members of a Kafka group poll too late: both sides of a departure, the poll, settings, the cost."""

from __future__ import annotations

from collections.abc import Iterator

from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.kafka import coordinator_words
from mqlab.polling.case import Case
from mqlab.polling.cause import Cause
from mqlab.polling.leave import Departure
from mqlab.questions.configured import consumer_value

_MORE = 3
"""Further departures that are shown."""


def evidence(facts: Facts, case: Case, cause: Cause | None) -> tuple[Evidence, ...]:
    """One departure as client and coordinator tell of it, the longest poll, the settings, the cost; then more of them.

    No place stands there twice.
    """
    first = case.departures[0]
    found = [*_client(facts, first), *coordinator_words.said(facts, case.group, first.client_id, first.at)]
    if case.pace is not None and case.over:
        found.append(_with(case.pace.longest.evidence, "the longest poll"))
    found += _settings(facts, case, first)
    found += [_with(e.first, "its commit fails") for e in case.commits[:1]]
    found += cause.evidence if cause else ()
    found += [place for one in case.departures[1 : 1 + _MORE] for place in _client(facts, one)]
    return coordinator_words.once(found)


def _client(facts: Facts, one: Departure) -> Iterator[Evidence]:
    """The first line of the client's log that tells of a departure; where there is none, the coordinator's."""
    brokers = coordinator_words.logs(facts)
    places = sorted(one.evidence, key=lambda place: place.source in brokers)
    if places:
        whose = "the coordinator takes it out" if places[0].source in brokers else f"{one.client_id} polled too late"
        yield _with(places[0], whose)


def _settings(facts: Facts, case: Case, one: Departure) -> Iterator[Evidence]:
    if case.limit is not None and case.limit.evidence is not None:
        yield _with(case.limit.evidence, "what was set then")
    value = consumer_value(facts, one.client_id, "max.poll.records", one.at)
    if value is not None and value.setting is not None:
        yield _with(value.setting.evidence, "what was set then")


def _with(place: Evidence, why: str) -> Evidence:
    return Evidence(place.source, place.line, place.text, why, place.pointer)
