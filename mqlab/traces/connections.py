"""Connections that are made anew, as lists of peers show, and what is sent again for it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.marks import Mark
from mqlab.rows import Client
from mqlab.shared.lag import LEAST
from mqlab.traces.marking import mark

_Peers = dict[str, dict[str, Client]]
"""Rows by host and port."""


def renewed(facts: Facts) -> Iterator[Mark]:
    """Connections that were made anew, as lists of peers show: another port of the same host is another connection."""
    lists: dict[float, _Peers] = defaultdict(lambda: defaultdict(dict))
    for row in facts.clients:
        host, _, port = (row.peer or "").rpartition(":")
        if row.at is not None and host and not row.client_id:
            lists[row.at][host][port] = row
    every = [lists[at] for at in sorted(lists)]
    anew = list(_renewed(every))
    at_once = [rows for listing, rows in zip(every[1:], anew, strict=True) if len(rows) == len(listing) > 2]
    swaps = [row for before, after in pairwise(every) for row in _swapped(before, after)]
    again = [row for rows in anew for row in rows]
    often = {host for host, times in Counter(_host(row) for row in again).items() if times > 1}
    if at_once:
        yield _renewals("connections-renewed: all", [row for rows in at_once for row in rows])
    elif len(swaps) > 2 and len({_host(row) for row in swaps}) == 2:
        yield _renewals("connections-renewed: in turn", swaps)
    elif often:
        yield _renewals("connections-renewed", [row for row in again if _host(row) in often])


def _host(row: Client) -> str:
    return (row.peer or "").rpartition(":")[0]


def _renewals(kind: str, rows: Sequence[Client]) -> Mark:
    return mark(kind, [(row.at, row.evidence) for row in rows], sorted({_host(row) for row in rows}))


def _renewed(listings: Sequence[_Peers]) -> Iterator[list[Client]]:
    """The connections of each listing but the first that took the place of another of the same host."""
    known: dict[str, set[str]] = {}
    for number, listing in enumerate(listings):
        rows = []
        for host, ports in listing.items():
            fresh = sorted(ports.keys() - known.get(host, ports.keys()))
            rows += [ports[fresh[0]]] if fresh and known[host] - ports.keys() else []
            known[host] = set(ports)
        if number:
            yield rows


def _swapped(before: _Peers, after: _Peers) -> list[Client]:
    """The connection of the one host that came as one other went."""
    came, went = sorted(after.keys() - before.keys()), after.keys() ^ before.keys()
    return [next(iter(after[came[0]].values()))] if len(came) == 1 and len(went) == 2 else []


def retained_again(facts: Facts) -> Iterator[Mark]:
    """Retained messages that a receiver had noted before: it subscribed once more."""
    told = [(one, min(one.retained, one.again)) for one in facts.receipts if min(one.retained, one.again) >= LEAST]
    if told:
        places = [(one.at, Evidence(one.source, one.line, "")) for one, _ in told]
        yield mark("retained-again", places, sorted({one.source for one, _ in told}), sum(n for _, n in told))
