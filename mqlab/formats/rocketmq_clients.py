"""Consumers and producers in what ``mqadmin`` prints → CLIENTS and EVENTS.

consumerConnection prints a row a connection: the same ``#ClientId`` with another ``#ClientAddr`` is another process.
consumerStatus prints a row a connection, too, but asks each id once only. A consumer's own words give its version and
what it subscribed to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mqlab.formats import rocketmq_lines as shapes
from mqlab.formats.rocketmq_lines import Place
from mqlab.formats.values import epoch, real
from mqlab.tables import CLIENTS, EVENTS, Row

_SELF = re.compile(r"^PROP_CLIENT_VERSION\s*: (?P<version>\S+)", re.ASCII)


def rows(place: Place) -> Iterator[Row]:
    """The client that a line lists, or what consumerStatus concludes of the group."""
    client = _listed(place) or _own(place)
    if client:
        yield client
    if shapes.MISMATCH.search(place.plain):
        yield EVENTS.row(at=place.at, system="rocketmq", kind="subscription-different", group=place.group)
    elif stuck := shapes.STUCK.search(place.plain):
        yield _stuck(stuck, place)


def _listed(place: Place) -> Row | None:
    """Of a producer the group is not told."""
    connection = shapes.CONNECTION.search(place.plain) if place.kind == "connections" else None
    listed = connection or shapes.PRODUCER.search(place.plain)
    if not listed:
        return None
    return CLIENTS.row(
        at=place.at,
        system="rocketmq",
        group=place.group if connection else None,
        client_id=listed["client"],
        peer=listed["peer"],
        connected="true",
        subscription=place.subscription if connection else None,
        version=listed["version"],
    )


def _own(place: Place) -> Row | None:
    """A consumer that consumerStatus asked, or the one whose own words these are."""
    running, own = shapes.RUNNING.search(place.plain), _SELF.search(place.plain)
    if running:
        asked = epoch(running["millis"]) if place.at is None else place.at
        return CLIENTS.row(
            at=asked, system="rocketmq", group=place.group, client_id=running["client"], connected="true",
            version=running["version"],
        )  # fmt: skip
    if own:
        return CLIENTS.row(
            at=place.at, system="rocketmq", group=place.group, client_id=place.client, connected="true",
            subscription=place.subscription, version=own["version"],
        )  # fmt: skip
    return None


def _stuck(stuck: re.Match[str], place: Place) -> Row:
    """The value is milliseconds, or how often unlocking was tried."""
    return EVENTS.row(
        at=place.at,
        system="rocketmq",
        kind="queue-stuck",
        group=place.group,
        topic=stuck["topic"],
        queue=f"{stuck['broker']}/{stuck['number']}",
        client_id=stuck["client"],
        value=real(stuck["value"]),
    )
