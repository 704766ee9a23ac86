"""One module per class of incident; this list is what mqlab can find."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mqlab.detectors import (
    acks1_failover_loss,
    acl_silent_drop,
    backlog_drain,
    batch_split_loop,
    bridge_loop,
    broker_crash,
    catch_up_read,
    client_id_takeover,
    commit_before_process_loss,
    consumer_offline,
    duplicate_client_id,
    fan_out,
    foreign,
    format_inflation,
    group_churn,
    known_errors,
    log_explosion,
    offset_reset_loss,
    overlapping_subscription,
    oversize_record_rejected,
    persistent_session_diversion,
    poison_pill_stall,
    poll_interval_exceeded,
    producer_duplicates,
    rate_limit_flapping,
    reconnect_flaky_link,
    reconnect_storm,
    redelivery_storm,
    replica_catch_up,
    replication_traffic,
    reprocess_duplicates,
    retained_replay_storm,
    retention_loss,
    retry_amplification,
    rolling_restart,
    session_queue_drop,
    session_queue_growth,
    session_timeout,
    slow_consumer,
    static_member_fenced,
    subscription_mismatch,
    unclean_election_loss,
    under_min_isr,
)
from mqlab.facts import Facts
from mqlab.findings import Result
from mqlab.known_errors import known_errors as known_table
from mqlab.plugins import Listed


class Detector(Protocol):
    """A class of incident and the rule that recognises it."""

    INCIDENT: str
    SYSTEMS: tuple[str, ...]
    """Systems whose material the rule understands: kafka, rocketmq, mqtt."""

    def detect(self, facts: Facts) -> Result:
        """What this material says about the class."""
        ...


BUILT_IN: tuple[Detector, ...] = (
    acks1_failover_loss,
    acl_silent_drop,
    backlog_drain,
    batch_split_loop,
    bridge_loop,
    broker_crash,
    catch_up_read,
    client_id_takeover,
    commit_before_process_loss,
    consumer_offline,
    duplicate_client_id,
    fan_out,
    format_inflation,
    group_churn,
    log_explosion,
    offset_reset_loss,
    overlapping_subscription,
    oversize_record_rejected,
    persistent_session_diversion,
    poison_pill_stall,
    poll_interval_exceeded,
    producer_duplicates,
    rate_limit_flapping,
    reconnect_flaky_link,
    reconnect_storm,
    redelivery_storm,
    replica_catch_up,
    replication_traffic,
    reprocess_duplicates,
    retained_replay_storm,
    retention_loss,
    retry_amplification,
    rolling_restart,
    session_queue_drop,
    session_queue_growth,
    session_timeout,
    slow_consumer,
    static_member_fenced,
    subscription_mismatch,
    unclean_election_loss,
    under_min_isr,
    *known_errors.RULES,
)
"""The rules of this version."""


def _all() -> tuple[Detector, ...]:
    """Those, the rules of plug-ins, and one for each class of theirs that only their known errors tell of."""
    ruled = (*BUILT_IN, *foreign.rules())
    known = {rule.INCIDENT for rule in ruled}
    said = dict.fromkeys(error.incident for error in known_table().values() if error.incident not in known)
    return (*ruled, *(known_errors.Rule(slug) for slug in said))


DETECTORS: Sequence[Detector] = Listed(_all)
"""What mqlab can find, with the plug-ins in force."""
