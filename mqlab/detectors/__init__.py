"""One module per class of incident; this list is what mqlab can find."""

from __future__ import annotations

from mqlab.detectors import (
    batch_split_loop,
    catch_up_read,
    fan_out,
    format_inflation,
    log_explosion,
    oversize_record_rejected,
    replica_catch_up,
    replication_traffic,
    retry_amplification,
    rolling_restart,
)
from mqlab.detectors.base import Detector

DETECTORS: tuple[Detector, ...] = (
    batch_split_loop,
    catch_up_read,
    fan_out,
    format_inflation,
    log_explosion,
    oversize_record_rejected,
    replica_catch_up,
    replication_traffic,
    retry_amplification,
    rolling_restart,
)
