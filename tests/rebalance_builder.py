"""Rebalances, lives of members and polls as finished rows, drawn by hand for tables and figures."""

from __future__ import annotations

from facts_builder import at

from mqlab.facts import Position
from mqlab.findings import Evidence
from mqlab.kafka.rows import Behind, End, Life, Rebalance, Trigger
from mqlab.rows import Batch
from mqlab.views.kafka_group import Poll, RebalanceView

GROUP, TOPIC = "billing", "invoices"
LOG = "logs/server.log"


def life(client, since, until, end="left", *, number=1, host="10.0.0.1", **more) -> Life:
    """One life; times in seconds since 10:00, None where they are not told."""
    known = Life(
        GROUP, client, f"{client}-{number}", host, False, _at(since), _at(until), _named(End, end), "", None,
        None, None,
        (Evidence(f"clients/{client}.log", 10 * number, "(Re-)joining group"),),
    )  # fmt: skip
    return _with(known, more)


def rebalance(when, generation, trigger="join", behind="unknown", client="a", **more) -> Rebalance:
    """One rebalance that lasts three seconds; *when* in seconds since 10:00."""
    known = Rebalance(
        GROUP, at(when), at(when + 3), generation, _named(Trigger, trigger), _named(Behind, behind), "", client,
        f"{client}-1",
        "10.0.0.1", False, "", 1, 2, 2, 1, 3.0, None, None,
        (Evidence(LOG, 100 + (generation or 0), "Preparing to rebalance group billing"),),
    )  # fmt: skip
    return _with(known, more)


def _named(kinds, name):
    """The kind that is shown as *name*."""
    return next(kind for kind in kinds if str(kind) == name)


def poll(when, records, seconds, *, client="a", polls=1, longest=None, allowed=15.0, most=500) -> Poll:
    """A row of polls that took *seconds* in all; *longest* is (records, seconds) where there are several."""
    most_records, most_seconds = longest or (records, seconds)
    text = f"processed {most_records} records in {most_seconds} s"
    batch = Batch(
        at(when), client, GROUP, polls, records, seconds, most_seconds, most_records, f"clients/{client}.log",
        int(when), text,
    )  # fmt: skip
    return Poll(batch, allowed, most)


def points(partition, *offsets, step=10, topic=TOPIC) -> tuple[Position, ...]:
    """``40/100`` is a snapshot with committed offset 40 and end 100, one every *step* seconds since 10:00."""
    rows = []
    for number, pair in enumerate(offsets):
        committed, end = map(int, pair.split("/"))
        when = at(number * step)
        rows.append(
            Position(
                when, GROUP, topic, str(partition), committed, end, None, None, None, None,
                f"groups/{number:03}.txt", 3 + int(partition), pair,
            )
        )  # fmt: skip
    return tuple(rows)


def view(*rows, finding=None, group=GROUP) -> RebalanceView:
    """The view that shows these rows."""
    flat = list(_opened(rows))
    topics: dict[str, dict[str, tuple[Position, ...]]] = {}
    for one in flat:
        if isinstance(one, Position):
            queues = topics.setdefault(one.topic, {})
            queues[one.queue] = (*queues.get(one.queue, ()), one)
    return RebalanceView(
        group,
        finding,
        tuple(one for one in flat if isinstance(one, Life)),
        tuple(one for one in flat if isinstance(one, Rebalance)),
        tuple(one for one in flat if isinstance(one, Poll)),
        topics,
    )


def a_loop() -> RebalanceView:
    """Two members whose polls of 500 records take 45 s where 15 s may pass; then 50 records are allowed."""
    lives = [life(c, n * 48 + shift, n * 48 + shift + 15, "poll timeout", number=n + 1, host=f"10.0.0.{h}")
             for h, (c, shift) in enumerate((("a", 0), ("b", 20)), 1) for n in range(5)]  # fmt: skip
    calm = [life(c, 250, None, "open", number=9, host=f"10.0.0.{h}") for h, c in enumerate("ab", 1)]
    late = [(n * 48 + shift + 15, "poll timeout", c) for c, shift in (("a", 0), ("b", 20)) for n in range(5)]
    back = [(when + 33, "join", c) for when, _, c in late]
    history = [
        rebalance(when, 2 + n, trigger, "poll timeout", c, repeated=500 if trigger == "join" else None,
                  inferred=trigger == "join", because="it left 33 s before" if trigger == "join" else "")
        for n, (when, trigger, c) in enumerate(sorted(late + back))
    ]  # fmt: skip
    slow = [
        poll(n * 48 + shift + 47, 500, 44 + n / 10, client=c) for c, shift in (("a", 0), ("b", 20)) for n in range(5)
    ]
    quick = [poll(260 + 6 * n, 100, 8.8, polls=2, longest=(50, 4.5), most=50) for n in range(20)]
    offsets = [points(p, *[f"{min(n, 3) * 10 + max(0, n - 26) * 90}/{n * 60}" for n in range(40)]) for p in range(3)]
    return view(*lives, *calm, *history, *slow, *quick, *offsets)


def _opened(rows):
    for row in rows:
        if isinstance(row, tuple | list):
            yield from _opened(row)
        else:
            yield row


def _at(seconds):
    return None if seconds is None else at(seconds)


def _with(known, more):
    return type(known)(**{**{name: getattr(known, name) for name in known.__slots__}, **more})
