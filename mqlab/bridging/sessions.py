"""Who else has a part in the messages of a bridge or a receiver: sessions that wait, members without a ledger."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mqlab.facts import Facts
from mqlab.models.topic_filters import shared
from mqlab.mqtt.copies import client_of
from mqlab.mqtt.sessions import END
from mqlab.mqtt.subscriptions import Subscription, subscriptions


def away(facts: Facts, clients: Collection[str]) -> tuple[Subscription, ...]:
    """Kept subscriptions whose client is away at the end, of *clients* or of the share groups that they are in."""
    every = subscriptions(facts)
    groups = {shared(one.filter) for one in every if one.client_id in clients}
    groups = {(name, inner) for name, inner in groups if name is not None}
    return tuple(
        one
        for one in every
        if one.away and one.away[-1][1] == END and _persistent(one)
        and (one.client_id in clients or shared(one.filter) in groups)
    )  # fmt: skip


def unseen(facts: Facts, takers: Sequence[str]) -> tuple[str, ...]:
    """Clients that share the messages of the ledgers *takers* and have no ledger: what they got is not told."""
    every = subscriptions(facts)
    own = {client for source in takers if (client := client_of(facts, source))}
    groups = {one.filter for one in every if one.client_id in own and shared(one.filter)[0] is not None}
    members = {one.client_id for one in every if one.filter in groups}
    return tuple(sorted(members - own - {one.client_id for one in away(facts, own)}))


def _persistent(one: Subscription) -> bool:
    return one.session is not None and one.session.persistent
