"""How a recorded consumer was set, as the settings of a simulated one."""

from __future__ import annotations

from mqlab.facts import Facts
from mqlab.models.group_terms import Settings
from mqlab.polling import limits
from mqlab.questions import configured

_USUAL = Settings()


def settings_of(facts: Facts, client: str, at: float) -> Settings:
    """What *client* was set to at *at*; what nothing tells is as in the newest client."""
    limit = limits.poll_limit(facts, client, at)
    by_polls = limit is not None and limit.key == limits.SESSION
    session = limits.session_limit(facts, client, at)
    return Settings(
        records=_records(facts, client, at),
        interval=limit.seconds if limit else _USUAL.interval,
        session=session.seconds if session else _USUAL.session,
        heartbeat=0.0 if by_polls else _seconds(facts, client, "heartbeat.interval.ms", at, _USUAL.heartbeat),
        commit_every=_commit_every(facts, client, at),
    )


def _records(facts: Facts, client: str, at: float) -> int:
    """max.poll.records; a client that has no such setting hands out what its application took at most."""
    told = limits.poll_records(facts, client, at)
    if told is not None:
        return told
    seen = [b.longest_records for b in facts.batches if b.client_id == client]
    return max(seen, default=_USUAL.records)


def _commit_every(facts: Facts, client: str, at: float) -> float:
    automatic = configured.consumer_value(facts, client, "enable.auto.commit", at)
    if automatic is None or automatic.value != "true":
        return 0.0
    return _seconds(facts, client, "auto.commit.interval.ms", at, 5.0)


def _seconds(facts: Facts, client: str, key: str, at: float, otherwise: float) -> float:
    value = configured.consumer_value(facts, client, key, at)
    return value.number / 1000 if value is not None and value.number is not None else otherwise
