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

from mqlab import words
from mqlab.facts import Facts, span
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, Severity, finding
from mqlab.models.mqtt import broker_gives_up
from mqlab.mqtt.accounting import lost_by
from mqlab.mqtt.connections import connections
from mqlab.mqtt.reconnects import Link, Loss, links
from mqlab.mqtt.sessions import BEGIN, END
from mqlab.units import Interval, between
from mqlab.words.filling import Value

INCIDENT = "reconnect-flaky-link"
SYSTEMS: tuple[str, ...] = ("mqtt",)
say = words.room(INCIDENT)

_SHOWN = 3


def detect(facts: Facts) -> Result:
    """One notice for each client with a bad link, or for each place with several."""
    if bad := links(facts):
        return Result(tuple(_finding(facts, group) for group in bad))
    every = connections(facts)
    silent = sorted({c.client_id for c in every if c.ended == "keep-alive"})
    if silent:
        return Result(rejected=say("too-few", clients=silent[:_SHOWN]))
    return CLEAR if every else Result(missing=(say("no-material"),))


def _finding(facts: Facts, group: tuple[Link, ...]) -> Finding:
    losses = sorted((loss for link in group for loss in link.losses), key=lambda loss: loss.following.since or 0.0)
    sure = all(link.sure for link in group)
    lasted = [loss.connection.seconds for loss in losses if loss.connection.seconds is not None]
    ways = Counter(loss.how for loss in losses)
    since, until = span(loss.begins for loss in losses)[0], losses[-1].following.since
    lost = lost_by(facts, {link.client_id for link in group}, losses[0].connection.since or BEGIN, until or END)
    return finding(
        INCIDENT,
        group[0].client_id if len(group) == 1 else str(group[0].address),
        Certainty.PROVEN if sure else Certainty.LIKELY,
        (since, until),
        severity=Severity.NOTICE,
        slots=_slots(group, losses, sure=sure) | {"lost": None if lost is None else round(lost)},
        measures={
            "clients": len(group),
            "losses": len(losses),
            "life_seconds": median(lasted) if lasted else None,
            **(_away(losses).measures("away_seconds") if sure else {}),
            "lost_records": lost,
            **{f"by_{how}": times for how, times in sorted(ways.items())},
        },
        evidence=_evidence(losses),
    )


def _slots(group: tuple[Link, ...], losses: list[Loss], *, sure: bool) -> dict[str, Value]:
    """Who came back, from where and after how long."""
    several = len(group) > 1
    return {
        "address": group[0].address if several else None,
        "names": [link.client_id for link in group[:_SHOWN]],
        "others": len(group) > _SHOWN,
        "places": _places(losses),
        "sure": sure,
        "away": _away(losses) if sure else None,
        "noticed": all(loss.noticed is not None for loss in losses),
        **_silence(losses),
    }


def _silence(losses: list[Loss]) -> dict[str, Value]:
    """After how long the broker gives a silent client up, and how long it had heard nothing, at least, at a return."""
    ends = [loss for loss in losses if loss.how == "timeout"]
    waits = {loss.connection.keep_alive for loss in ends}
    quiet = [loss.quiet for loss in ends if loss.quiet is not None]
    keep_alive = waits.pop() if len(waits) == 1 else None
    return {
        "timeouts": len(ends),
        "patience": broker_gives_up(keep_alive).low if keep_alive else None,
        "silent": min(quiet) if len(quiet) == len(ends) > 0 else None,
    }


def _places(losses: list[Loss]) -> int | None:
    """From how many addresses it came back in turn, as far as these are told; None where it was one."""
    addresses: dict[str, set[str | None]] = defaultdict(set)
    for loss in losses:
        addresses[loss.following.client_id] |= {loss.connection.address, loss.following.address}
    most = max(len(own - {None}) for own in addresses.values())
    return most if most > 1 else None


def _away(losses: list[Loss]) -> Interval:
    """Seconds from the end to the return, mostly, and of the shortest and the longest loss.

    The end is what the client itself noticed, where its log tells of each; else what the broker did.
    """
    own = [loss.noticed for loss in losses if loss.noticed is not None]
    told = own if len(own) == len(losses) else [loss.away for loss in losses]
    return between(median(told), told)


def _evidence(losses: list[Loss]) -> Iterator[Evidence]:
    for loss in losses[:_SHOWN]:
        if loss.own and loss.own[0].end:
            yield replace(loss.own[0].end, why=say("noticed"))
        if loss.connection.end:
            yield replace(loss.connection.end, why=say("how", how=loss.how))
        if loss.following.begin:
            yield replace(loss.following.begin, why=say("back"))
