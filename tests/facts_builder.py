"""Facts drawn by hand: what Spark would hand over, in a few lines."""

from __future__ import annotations

from dataclasses import fields

from mqlab.facts import Episode, Facts, Position, Series, Setting
from mqlab.findings import Evidence
from mqlab.formats.registry import BY_NAME
from mqlab.rows import (
    Assignment,
    Batch,
    Client,
    Coverage,
    Delivery,
    Fate,
    Flow,
    Part,
    Passage,
    Receipt,
    Tally,
    TopicFlow,
)

DAY = 1_800_000_000.0 - 1_800_000_000.0 % 86_400
"""Midnight of the day on which everything happens."""


def at(clock: str | float) -> float:
    """``10:00:05`` or seconds since 10:00 as epoch seconds."""
    if isinstance(clock, int | float):
        return DAY + 36_000 + clock
    hours, minutes, seconds = (*clock.split(":"), "0")[:3]
    return DAY + int(hours) * 3600 + int(minutes) * 60 + float(seconds)


def episode(
    kind, when, source="clients/app.log", *, count=1, line=1, until=None, left=None, text="", **more
) -> Episode:
    """One thing that happened, *count* times up to *until*; *left* is its value."""
    start = None if when is None else at(when)
    end = start if until is None else at(until)
    first, last = Evidence(source, line, text or kind), Evidence(source, line + count - 1, text or kind)
    values = {"value_min": left, "value_max": left} if left is not None else {}
    return Episode(kind, source, count, start, end, first, last, **{**values, **more})


def splits(start, seconds, a_second, *, client="app", topic="orders", queue="0", left=2_147_483_647, **more):
    """Splits of one partition, thinned to ten seconds."""
    source = more.pop("source", f"clients/{client}.log")
    return tuple(
        episode(
            "batch-split", start + n, source, count=max(1, round(a_second * 10)), line=100 + n, until=start + n + 9,
            left=left, client_id=client, topic=topic, queue=queue, reason="MESSAGE_TOO_LARGE", **more,
        )
        for n in range(0, seconds, 10)
    )  # fmt: skip


def series(name, values, *, start=0, step=10, source="metrics.json", **labels) -> Series:
    """A counter sampled every *step* seconds; None is a scrape that failed."""
    points = tuple((at(start + n * step), float(v)) for n, v in enumerate(values) if v is not None)
    return Series(name, name.replace(".", "_"), labels, source, points)


def ramp(*legs, base=0):
    """A counter made of (samples, increase per sample) legs."""
    values = [base]
    for samples, rise in legs:
        values += [values[-1] + rise * n for n in range(1, samples + 1)]
    return values


def card(host, came, left, **more) -> tuple[Series, Series]:
    """Both counters of a host's network card."""
    labels = {"instance": f"{host}:9100", "device": "eth0"}
    return (
        series("host.receive_bytes", came, **labels, **more),
        series("host.transmit_bytes", left, **labels, **more),
    )


def drawn(text, make):
    """One *make* for each row under the header of a drawn table; ``-`` is None, digits become numbers."""
    head, *rows = [line.split() for line in text.strip().splitlines()]
    return tuple(make(**{key: _cell(word) for key, word in zip(head, row, strict=True)}) for row in rows)


def _cell(word):
    if word == "-":
        return None
    return int(word) if word.isdigit() else word


def settings(text, source="clients/app.log", *, scope="producer", origin="printed") -> tuple[Setting, ...]:
    """Settings from a table with the columns at, owner, key and value."""
    number = iter(range(1, 1000))
    return drawn(
        text,
        lambda at, owner, key, value: Setting(
            key, str(value), scope, owner, origin, moment(at), source, next(number), f"\t{key} = {value}"
        ),
    )


def moment(clock):
    """``10:00`` as epoch seconds, None as None."""
    return None if clock is None else at(clock)


def positions(text) -> tuple[Position, ...]:
    """Positions from a table with the columns at, group, topic, queue, committed, end."""
    return drawn(
        text,
        lambda at, group, topic, queue, committed, end: Position(
            moment(at), group, topic, str(queue), committed, end, None, None, None, None, f"groups.{at}.txt", 3, ""
        ),
    )


def log(source="clients/app.log", form="kafka-client-log", first="10:00", last="10:30", lines=100) -> Coverage:
    """A log that was read."""
    known = BY_NAME[form]
    return Coverage(
        source, form, lines, lines * 100, lines, 0, 0, "UTC", "assumed", at(first), at(last), None,
        known.FORMAT.software, known.FORMAT.role,
    )  # fmt: skip


def version(number, source="clients/app.log", when="10:00:00") -> Episode:
    """The line with which a client or broker tells its version."""
    return episode("client-version", when, source, reason=number)


def facts(*rows) -> Facts:
    """Facts of rows of all kinds, in any order; tuples and lists are opened."""
    flat = list(_opened(rows))

    def of(kind):
        return tuple(r for r in flat if isinstance(r, kind))

    by_time = sorted(of(Episode), key=lambda e: (e.first_at or 0.0, e.source, e.kind, e.first.line or 0))
    return Facts(
        episodes=tuple(by_time), series=of(Series), settings=of(Setting), positions=of(Position),
        coverage=of(Coverage), clients=of(Client), assignments=of(Assignment), tallies=of(Tally),
        deliveries=of(Delivery), batches=of(Batch), fates=of(Fate), parts=of(Part),
        flows=of(Flow), topic_flows=of(TopicFlow), receipts=of(Receipt), passages=of(Passage),
    )  # fmt: skip


def _opened(rows):
    for row in rows:
        if isinstance(row, tuple | list):
            yield from _opened(row)
        else:
            yield row


def rows_of(known: Facts) -> dict[str, tuple]:
    """The rows of Facts by subject, which compare by value."""
    return {field.name: getattr(known, field.name) for field in fields(Facts)}
