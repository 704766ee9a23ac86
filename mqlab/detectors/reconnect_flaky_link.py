"""MQTT: one client, or those of one place, with a bad link comes back again and again; no fault of the broker.

Fires: at least three connections of a client were lost by silence, and it came back when its link did: the broker's
keep-alive passed, or the client's pings got no answer. Likely only where nothing but half-open connections is seen that
the client replaced itself, at no steady pace: its link failed, or the device restarted, before the broker noticed; two
suffice where the client's own log tells that it alone came back.
Quiet: an id that several clients take from each other, a limit that cuts off a client which is back at once, a break or
restart that concerns everybody, one or two losses.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from statistics import median

from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, Severity, finding
from mqlab.mqtt.accounting import lost_by, reached_nobody
from mqlab.mqtt.connections import connections
from mqlab.mqtt.reconnects import Link, Loss, links
from mqlab.mqtt.sessions import BEGIN, END
from mqlab.shared.wording import clock
from mqlab.units import Interval, between, counted, duration

INCIDENT = "reconnect-flaky-link"
SYSTEMS: tuple[str, ...] = ("mqtt",)

_SHOWN = 3
_WORDS = {
    "timeout": "the broker's keep-alive passes",
    "unanswered": "the client's ping gets no answer",
    "replaced": "it replaces a connection that the broker still held",
}


def detect(facts: Facts) -> Result:
    """One notice for each client with a bad link, or for each place with several."""
    if bad := links(facts):
        return Result(tuple(_finding(facts, group) for group in bad))
    every = connections(facts)
    silent = sorted({c.client_id for c in every if c.ended == "keep-alive"})
    if silent:
        return Result(rejected=f"{', '.join(silent[:_SHOWN])}: too few connections ended in silence for a bad link")
    return CLEAR if every else Result(missing=("a broker's log, or logs of the clients",))


def _finding(facts: Facts, group: tuple[Link, ...]) -> Finding:
    losses = sorted((loss for link in group for loss in link.losses), key=lambda loss: loss.following.since or 0.0)
    sure = all(link.sure for link in group)
    lasted = [loss.connection.seconds for loss in losses if loss.connection.seconds is not None]
    ways = Counter(loss.how for loss in losses)
    since, until = losses[0].connection.until, losses[-1].following.since
    lost = lost_by(facts, {link.client_id for link in group}, losses[0].connection.since or BEGIN, until or END)
    return finding(
        INCIDENT,
        group[0].client_id if len(group) == 1 else str(group[0].address),
        Certainty.PROVEN if sure else Certainty.LIKELY,
        (since, until),
        severity=Severity.NOTICE,
        statement=(
            f"{_who(group)} lost the connection {counted(len(losses), 'time')} between {clock(since)} and "
            f"{clock(until)} UTC and came back{_place(losses)}{_after(losses, sure=sure)}. "
            + ("Nobody else used the id; its link" if sure else "No second client fights for the id; its link or power")
            + f" fails.{reached_nobody(lost)}"
        ),
        measures={
            "clients": len(group),
            "losses": len(losses),
            "life_seconds": median(lasted) if lasted else None,
            **(_away(losses).measures("away_seconds") if sure else {}),
            "lost_records": lost,
            **{f"by_{how}": times for how, times in sorted(ways.items())},
        },
        evidence=_evidence(losses),
        mitigate=(
            "A longer keep-alive and a persistent session for what must not be lost; side effect: a dead client is "
            "noticed later."
        ),
        remedy="None needed at the broker; repair coverage, antenna, gateway or power, and let the client buffer.",
        verify="Connections last for hours, and the broker's lines about exceeded timeouts are gone.",
    )


def _who(group: tuple[Link, ...]) -> str:
    if len(group) == 1:
        return group[0].client_id
    names = ", ".join(link.client_id for link in group[:_SHOWN])
    return f"{len(group)} clients behind {group[0].address} ({names}{', …' if len(group) > _SHOWN else ''})"


def _place(losses: list[Loss]) -> str:
    """Where it came back from, as far as addresses are told."""
    addresses: dict[str, set[str | None]] = defaultdict(set)
    for loss in losses:
        addresses[loss.following.client_id] |= {loss.connection.address, loss.following.address}
    most = max(len(own - {None}) for own in addresses.values())
    return " from the same place" if most < 2 else f" from {most} addresses in turn"


def _after(losses: list[Loss], *, sure: bool) -> str:
    if not sure:
        return " before the broker had noticed"
    return f", mostly {_away(losses).words(duration)} later"


def _away(losses: list[Loss]) -> Interval:
    """Seconds from the end that the broker noted to the return, mostly, and of the shortest and the longest loss."""
    return between(median(loss.away for loss in losses), (loss.away for loss in losses))


def _evidence(losses: list[Loss]) -> Iterator[Evidence]:
    for loss in losses[:_SHOWN]:
        if loss.connection.end:
            yield replace(loss.connection.end, why=_WORDS[loss.how])
        if loss.following.begin:
            yield replace(loss.following.begin, why="and it comes back")
