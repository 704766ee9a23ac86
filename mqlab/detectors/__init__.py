"""One module per class of incident; this list is what mqlab can find."""

from __future__ import annotations

from mqlab.detectors import (
    backlog_drain,
    batch_split_loop,
    catch_up_read,
    consumer_offline,
    duplicate_client_id,
    fan_out,
    format_inflation,
    group_churn,
    log_explosion,
    oversize_record_rejected,
    poison_pill_stall,
    poll_interval_exceeded,
    replica_catch_up,
    replication_traffic,
    reprocess_duplicates,
    retry_amplification,
    rolling_restart,
    session_timeout,
    slow_consumer,
    static_member_fenced,
    subscription_mismatch,
)
from mqlab.detectors.base import Detector

DETECTORS: tuple[Detector, ...] = (
    backlog_drain,
    batch_split_loop,
    catch_up_read,
    consumer_offline,
    duplicate_client_id,
    fan_out,
    format_inflation,
    group_churn,
    log_explosion,
    oversize_record_rejected,
    poison_pill_stall,
    poll_interval_exceeded,
    replica_catch_up,
    replication_traffic,
    reprocess_duplicates,
    retry_amplification,
    rolling_restart,
    session_timeout,
    slow_consumer,
    static_member_fenced,
    subscription_mismatch,
)
