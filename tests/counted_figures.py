"""What was counted in each capture, beside the measure that says the same: quantities of one scope, one row each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

CLOSE = 0.05
"""Share by which a measure may differ from what was counted."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One counted quantity, and where the diagnosis says it."""

    capture: str
    incident: str
    measure: str
    counted: Callable[[Any], float]
    """From the numbers of the truth file."""
    within: float = CLOSE
    because: str = ""
    """Why it may differ by more than that."""
    subject: str = ""
    """Part of the finding's subject, where a class has several."""

    def told(self, findings: Any) -> Mapping[str, float]:
        """The measures of the finding that says it."""
        fits = [f.measures for f in findings if f.incident == self.incident and self.subject in f.id]
        return fits[0] if fits else {}


def holds(told: Mapping[str, float], measure: str, counted: float) -> bool:
    """Whether the interval that the finding gives for a measure holds what was counted."""
    return told.get(f"{measure}_low", told[measure]) <= counted <= told.get(f"{measure}_high", told[measure])


def error(told: float, counted: float) -> float:
    """By which share of what was counted a measure is off."""
    return abs(told - counted) / abs(counted) if counted else abs(told)


def _rows(capture: str, incident: str, subject: str = "", **counted: Callable[[Any], float]) -> list[Figure]:
    return [Figure(capture, incident, measure, number, subject=subject) for measure, number in counted.items()]


def _lag(numbers: Any) -> float:
    """Most that waited, without the first look, at which consumers may just have started."""
    return float(max(waiting for _, waiting in numbers["lag_series_total"][1:]))


def _sum(of: Mapping[str, float]) -> float:
    return float(sum(of.values()))


def _slowest(numbers: Any) -> Mapping[str, float]:
    """The consumer that owns most of the backlog after the repair."""
    owners: Mapping[str, Mapping[str, float]] = numbers["drain"]["per_consumer"]
    return max(owners.values(), key=lambda owner: owner["backlog_at_repair"])


UNDER_WAY = "two polls that were under way when the counted window ended were too late as well"

FIGURES: tuple[Figure, ...] = (
    *_rows("kafka-amp-05", "fan-out", out_per_in_after=lambda t: t["after"]["kafka-1_tx_over_rx"]),
    *_rows("kafka-delivery-02", "poison-pill-stall",
           lag_growth_per_second=lambda t: t["lag_slope_partition_3_records_per_s"]),
    *_rows("mqtt-loop-01", "bridge-loop", circulating_per_second=lambda _: (16470 - 6658) / 22),
    *_rows("mqtt-reconnect-02", "reconnect-flaky-link", away_seconds=lambda t: median(t["reconnect_delay_s"])),
    *_rows("rocketmq-03", "backlog-drain", drained_per_second=lambda t: t["drain"]["net_drain_rate_msg_per_s"]),
    *_rows(
        "rocketmq-dup-01",
        "duplicate-client-id",
        drain_seconds=lambda t: t["drain"]["measured_s_from_rebalance_to_under_400"],
        predicted_drain_seconds=lambda t: t["drain"]["predicted_drain_s_owner_aware"],
    ),
    *(
        Figure(
            capture, "poll-interval-exceeded", "polls_over_interval",
            lambda t: t["batches_longer_than_max_poll_interval_in_window"], 0.25, UNDER_WAY,
        )
        for capture in ("kafka-rebalance-01", "kafka-rebalance-02")
    ),
    Figure("kafka-rebalance-01", "poll-interval-exceeded", "commit_failures", lambda t: t["commit_failed_errors"], 0.1,
           "the client failed one more, which its application did not log while it stopped"),
    Figure("kafka-rebalance-02", "poll-interval-exceeded", "commit_failures", lambda t: t["commit_failed_errors"]),
    *_rows(
        "kafka-amp-01",
        "batch-split-loop",
        bytes_in=lambda t: t["fault"]["bridge_eth0_rx_bytes"],
        healthy_factor=lambda t: t["healthy"]["bridge_tx_over_rx"],
        factor_after=lambda t: t["fixed"]["bridge_tx_over_rx"],
        bytes_rejected=lambda t: t["broker_totals_whole_run"]["bytesrejected_total"],
        split_count=lambda t: t["decomposition_fault_window"]["split_warn_lines_total"],
        failed_records=lambda t: t["application"]["failed_callbacks"],
        bytes_out=lambda t: t["fault"]["bridge_eth0_tx_bytes"],
        amplification_factor=lambda t: t["fault"]["tx_over_rx"],
    ),
    *_rows(
        "kafka-amp-03",
        "retry-amplification",
        retried_records=lambda t: (
            t["fault"]["producer_meter-ingest"]["record_retry"]
            + t["start_up_phase_already_retrying"]["producer_meter-ingest"]["record_retry"]
        ),
        # The application's own count, 8,700 received less 6,660 delivered: record_error counts some batches twice.
        failed_records=lambda _: 2040,
        amplification_factor=lambda t: t["fault"]["ingest-1_tx_over_rx"],
        bytes_out=lambda t: (
            t["fault"]["ingest-1_eth0_tx_bytes"] + t["start_up_phase_already_retrying"]["ingest-1_eth0_tx_bytes"]
        ),
        bytes_in=lambda t: (
            t["fault"]["ingest-1_eth0_rx_bytes"] + t["start_up_phase_already_retrying"]["ingest-1_eth0_rx_bytes"]
        ),
        transmissions_per_record=lambda t: (
            (
                t["fault"]["producer_meter-ingest"]["record_send"]
                + t["start_up_phase_already_retrying"]["producer_meter-ingest"]["record_send"]
            )
            / (
                t["fault"]["producer_meter-ingest"]["record_send"]
                + t["start_up_phase_already_retrying"]["producer_meter-ingest"]["record_send"]
                - t["fault"]["producer_meter-ingest"]["record_retry"]
                - t["start_up_phase_already_retrying"]["producer_meter-ingest"]["record_retry"]
            )
        ),
    ),
    *_rows(
        "kafka-amp-05",
        "fan-out",
        out_per_in_before=lambda t: t["before"]["kafka-1_tx_over_rx"],
        amplification_factor=lambda t: t["after"]["kafka-1_tx_over_rx"],
    ),
    *_rows(
        "kafka-amp-07",
        "oversize-record-rejected",
        "scan-svc",
        rejected_records=lambda t: t["summary"]["scan_svc_rejected_records"],
        bytes_rejected=lambda t: t["summary"]["broker_bytes_rejected_fault"],
    ),
    *_rows(
        "kafka-amp-07",
        "oversize-record-rejected",
        "doc-svc",
        rejected_records=lambda t: t["summary"]["doc_svc_refused_in_client_total"],
        bytes_out=lambda t: t["summary"]["doc_svc_bytes_on_wire_for_them"],
    ),
    *_rows(
        "kafka-amp-13",
        "format-inflation",
        bytes_out=lambda t: t["after"]["kafka-1_eth0_tx_bytes"],
        amplification_factor=lambda t: t["after"]["kafka-1_tx_over_rx"],
        healthy_factor=lambda t: t["before"]["kafka-1_tx_over_rx"],
    ),
    *_rows(
        "kafka-amp-17",
        "batch-split-loop",
        bytes_in=lambda t: t["fault"]["bridge_eth0_rx_bytes"],
        bytes_out=lambda t: t["fault"]["bridge_eth0_tx_bytes"],
        bytes_rejected=lambda t: t["fault"]["broker_bytes_rejected"],
        amplification_factor=lambda t: t["fault"]["bridge_tx_over_rx"],
        healthy_factor=lambda t: t["healthy"]["bridge_tx_over_rx"],
        factor_after=lambda t: t["fixed"]["bridge_tx_over_rx"],
        peak_amplification_factor=lambda t: max(t["per_20s"]["tx_over_rx_in_plateau"]),
        crashes=lambda _: 2,
    ),
    *_rows(
        "kafka-delivery-01",
        "acks1-failover-loss",
        lost_records=lambda t: t["acked_and_lost_ids"],
        pending_records=lambda t: t["acked_not_yet_read_by_sink_at_collection_time"],
        acknowledged_records=lambda t: t["ids_acked"],
    ),
    *_rows(
        "kafka-delivery-02",
        "poison-pill-stall",
        offset=lambda _: 499,
        retries=lambda t: t["retries_by_parser-2"],
    ),
    *_rows("kafka-delivery-03", "commit-before-process-loss", lost_records=lambda t: t["lost_at_orderly_stop"]),
    *_rows("kafka-delivery-03", "catch-up-read", peak_lag=_lag),
    *_rows("kafka-delivery-03", "session-timeout", expired_members=lambda t: t["member_has_failed_lines"]),
    *_rows(
        "kafka-delivery-04",
        "unclean-election-loss",
        lost_records=lambda t: t["acked_records_removed_from_the_log"],
        acknowledged_records=lambda t: t["ids_acked"],
    ),
    *_rows("kafka-delivery-04", "reprocess-duplicates", duplicated_records=lambda t: t["duplicate_receptions"]),
    *_rows("kafka-delivery-05", "retention-loss", lost_records=lambda t: t["records_in_gaps"]),
    *_rows("kafka-delivery-05", "consumer-offline", peak_lag=_lag),
    *_rows(
        "kafka-delivery-06",
        "reprocess-duplicates",
        duplicated_records=lambda t: t["records_processed_lines"] - t["distinct_ids_processed"],
        repeated_records=lambda t: t["ids_processed_more_than_once"],
        records_handled=lambda t: t["distinct_ids_processed"],
        most_times_handled=lambda t: t["max_times_one_id_processed"],
    ),
    *_rows(
        "kafka-delivery-06", "session-timeout", expired_members=lambda t: t["member_has_failed_lines"], peak_lag=_lag
    ),
    *(
        figure
        for capture in ("kafka-rebalance-01", "kafka-rebalance-02")
        for figure in (
            *_rows(
                capture,
                "poll-interval-exceeded",
                longest_batch_seconds=lambda t: t["longest_batch_s"],
                records_per_poll=lambda t: t["max_poll_records_before"],
                poll_interval_seconds=lambda t: t["max_poll_interval_ms"] / 1000,
                duplicated_records=lambda t: t["records_processed_lines"] - t["distinct_ids_processed"],
                peak_lag=_lag,
            ),
            *_rows(
                capture,
                "reprocess-duplicates",
                duplicated_records=lambda t: t["records_processed_lines"] - t["distinct_ids_processed"],
                repeated_records=lambda t: t["ids_processed_more_than_once"],
                records_handled=lambda t: t["distinct_ids_processed"],
                most_times_handled=lambda t: t["max_times_one_id_processed"],
            ),
        )
    ),
    *_rows("kafka-rebalance-04", "static-member-fenced", fencings=lambda t: t["fencing_events"]),
    *_rows(
        "kafka-rebalance-04",
        "reprocess-duplicates",
        duplicated_records=lambda t: t["ids_processed_more_than_once"],
    ),
    *_rows(
        "kafka-rebalance-05",
        "session-timeout",
        expired_members=lambda t: t["member_has_failed_lines"],
        duplicated_records=lambda t: t["ids_processed_more_than_once"],
        peak_lag=_lag,
    ),
    *_rows("mqtt-acl-01", "acl-silent-drop", lost_records=lambda t: t["published_acked_site_b"] - t["received_site_b"]),
    *_rows(
        "mqtt-flap-01",
        "rate-limit-flapping",
        lives=lambda t: t["edge_1_qos0"]["connection_lost"],
        life_seconds=lambda t: median(t["edge_1_qos0"]["lifetimes_s"]),
        limit_bytes=lambda t: t["limit_bytes_per_s"],
        life_bytes=lambda t: median(t["bytes_per_life"]),
        lost_records=lambda t: t["edge_1_qos0"]["ok_but_lost"],
    ),
    *_rows(
        "mqtt-kafka-01",
        "persistent-session-diversion",
        diverted_messages=lambda t: t["ids_published_not_in_etl_at_snapshot"],
        queue_growth_per_second=lambda t: t["dead_queue_growth_msg_per_s"],
        alone_seconds=lambda t: t["gap_without_live_member_s"],
        diverted_fraction=lambda t: t["diverted_fraction_of_phase"],
    ),
    *_rows(
        "mqtt-logx-01",
        "log-explosion",
        log_bytes=lambda t: t["log_bytes"],
        lines=lambda t: t["error_lines"],
        share_of_bytes=lambda t: t["share_of_one_message_pct"] / 100,
    ),
    *_rows(
        "mqtt-loop-01",
        "bridge-loop",
        dropped_messages=lambda t: t["east_dropped"],
        copies_of_worst_id=lambda t: t["max_copies_of_one_id"],
        amplification_factor=lambda t: t["amplification_rows_per_distinct"],
    ),
    *_rows(
        "mqtt-overlap-02",
        "overlapping-subscription",
        extra_copies=lambda t: t["billing_in_received"] - t["published"],
        copies_per_message=lambda t: max(t["copies_per_topic"].values()),
    ),
    *_rows(
        "mqtt-queue-drop-02",
        "session-queue-drop",
        lost_records=lambda t: t["missing"],
        dropped_messages=lambda t: t["sys_dropped"],
        survivors=lambda t: t["survivors_of_outage"],
        received_messages=lambda t: t["received"],
    ),
    *_rows(
        "mqtt-reconnect-02",
        "reconnect-flaky-link",
        losses=lambda t: t["connections"] - 1,
        by_timeout=lambda t: t["keepalive_timeouts"],
        life_seconds=lambda t: median(t["lifetimes_s"]),
    ),
    *_rows(
        "mqtt-restart-02",
        "reconnect-storm",
        down_seconds=lambda t: t["down_s"],
        back_seconds=lambda t: t["reconnect_seconds_after_start"],
    ),
    *_rows(
        "mqtt-retained-02",
        "retained-replay-storm",
        replayed_messages=lambda t: t["restarts"] * t["retained_topics"],
        retained_topics=lambda t: t["retained_topics"],
        subscribes=lambda t: t["restarts"],
    ),
    *_rows(
        "mqtt-session-01",
        "persistent-session-diversion",
        diverted_messages=lambda t: t["missing_at_snapshot"],
        diverted_fraction=lambda t: t["diverted_fraction_after_upgrade"],
        queue_growth_per_second=lambda t: t["dead_queue_growth_msg_per_s"],
    ),
    *_rows(
        "mqtt-session-04",
        "session-queue-growth",
        queued_messages=lambda t: t["published_while_offline"],
        queue_growth_per_second=lambda t: t["queue_growth_msg_per_s"],
        payload_bytes=lambda t: t["store_bytes_per_message"],
        memory_growth_bytes_per_second=lambda t: t["rss_growth_bytes_per_s"],
        memory_bytes_per_message=lambda t: t["rss_growth_bytes_per_message"],
    ),
    *_rows(
        "mqtt-slow-02",
        "session-queue-drop",
        lost_records=lambda t: t["lost"],
        dropped_messages=lambda t: t["sys_dropped_final"],
        received_messages=lambda t: t["historian_received_after_drain"],
    ),
    *_rows(
        "mqtt-slow-02",
        "slow-consumer",
        consumed_per_second=lambda t: t["consumer_rate_msg_per_s"],
        lag_growth_per_second=lambda t: t["queue_growth_msg_per_s"],
    ),
    *_rows(
        "mqtt-takeover-01",
        "client-id-takeover",
        takeovers=lambda t: t["takeovers"],
        period_seconds=lambda t: t["takeover_period_s"],
    ),
    *_rows(
        "rocketmq-03",
        "slow-consumer",
        produced_per_second=lambda t: _sum(t["produce_rate_msg_per_s_per_queue"]),
        lag_growth_per_second=lambda t: t["growth_total_observed_msg_per_s"],
        peak_lag=lambda t: t["drain"]["peak_msgs"],
        capacity_per_second=lambda t: t["capacity_nominal_msg_per_s"],
    ),
    *_rows(
        "rocketmq-03",
        "backlog-drain",
        peak_lag=lambda t: t["drain"]["peak_msgs"],
    ),
    *_rows(
        "rocketmq-04",
        "subscription-mismatch",
        orphan_queues=lambda t: len(t["orphan_queues_of_TRADE_B"]),
        pending_records=lambda _: 309 + 310,
    ),
    *_rows(
        "rocketmq-05",
        "duplicate-client-id",
        orphan_queues=lambda t: len(t["fault"]["orphan_queues_observed_frozen"]),
        lag_growth_per_second=lambda t: _sum(t["fault"]["backlog_growth_msg_per_s_per_queue_observed"]),
        pending_records=lambda t: t["fault"]["backlog_at_end_msgs"],
        drain_seconds=lambda t: _slowest(t)["drain_s_from_complete_rebalance_measured"],
        predicted_drain_seconds=lambda t: _slowest(t)["drain_s_from_complete_rebalance_forecast"],
    ),
    *_rows(
        "rocketmq-dup-01",
        "duplicate-client-id",
        orphan_queues=lambda t: len(t["orphan_queues_observed_frozen"]),
        lag_growth_per_second=lambda t: _sum(t["backlog_growth_msg_per_s_per_queue_observed"]),
        pending_records=lambda t: t["backlog_at_end_msgs"],
        peak_lag=lambda t: t["drain"]["peak_msgs"],
    ),
    *_rows(
        "kafka-amp-03",
        "retry-amplification",
        duplicated_records_at_most=lambda t: (
            t["fault"]["producer_meter-ingest"]["record_retry"]
            + t["start_up_phase_already_retrying"]["producer_meter-ingest"]["record_retry"]
        ),
    ),
    *_rows(
        "kafka-amp-05",
        "fan-out",
        readers=lambda _: 5,
        bytes_in=lambda t: t["after"]["kafka-1_eth0_rx_bytes"],
        bytes_out=lambda t: t["after"]["kafka-1_eth0_tx_bytes"],
    ),
    *_rows("kafka-amp-17", "batch-split-loop", split_count=lambda _: 586),
    Figure("kafka-amp-13", "format-inflation", "bytes_in", lambda t: t["after"]["kafka-1_eth0_rx_bytes"], 0.1,
           "the counted time begins half a minute before the setting changed"),
    *(
        Figure("kafka-delivery-02", "poison-pill-stall", measure, number, 0.2,
               "the rest waits in other partitions, since the members were stopped")
        for measure, number in (("peak_lag", _lag), ("pending_records", lambda t: t["final_total_lag_records"]))
    ),
    *_rows(
        "kafka-delivery-03",
        "session-timeout",
        peak_lag=lambda t: t["max_total_lag_records"],
        pending_records=lambda t: t["final_total_lag_records"],
    ),
    *_rows("kafka-delivery-03", "catch-up-read", caught_up_messages=lambda t: t["max_total_lag_records"]),
    *_rows("kafka-delivery-04", "unclean-election-loss", pending_records=lambda t: t["acked_but_never_received"]),
    *_rows("kafka-delivery-04", "reprocess-duplicates", records_handled=lambda t: t["ids_received_distinct"]),
    *_rows("kafka-delivery-05", "retention-loss", peak_lag=_lag,
           pending_records=lambda t: t["final_total_lag_records"]),
    *_rows("kafka-delivery-06", "session-timeout", pending_records=lambda t: t["final_total_lag_records"],
           duplicated_records=lambda t: t["second_processing_by_10s"]["12:57:00Z"]),
    *(
        figure
        for capture in ("kafka-rebalance-01", "kafka-rebalance-02")
        for figure in _rows(
            capture,
            "poll-interval-exceeded",
            pending_records=lambda t: t["final_total_lag_records"],
            p50_record_seconds=lambda t: t["mean_ms_per_record_in_fault_batches"] / 1000,
        )
    ),
    *_rows("kafka-rebalance-03", "rolling-restart", members=lambda _: 3),
    *_rows(
        "kafka-rebalance-04",
        "reprocess-duplicates",
        repeated_records=lambda t: t["ids_processed_more_than_once"],
        records_handled=lambda t: t["distinct_ids_processed"],
        most_times_handled=lambda t: t["max_times_one_id_processed"],
    ),
    *_rows("kafka-rebalance-05", "session-timeout", pending_records=lambda t: t["final_total_lag_records"]),
    *_rows(
        "kafka-rebalance-05",
        "reprocess-duplicates",
        duplicated_records=lambda t: t["records_processed_lines"] - t["distinct_ids_processed"],
        records_handled=lambda t: t["distinct_ids_processed"],
        most_times_handled=lambda t: t["max_times_one_id_processed"],
    ),
    *_rows("mqtt-acl-01", "acl-silent-drop", published_messages=lambda t: t["published_acked_site_b"]),
    *_rows("mqtt-loop-01", "bridge-loop", delivered_rows=lambda t: t["dashboard_rows"],
           distinct_messages=lambda t: t["dashboard_distinct_ids"]),
    *_rows("mqtt-overlap-02", "overlapping-subscription",
           copied_messages=lambda t: t["billing_in_received"] - t["published"]),
    *_rows("mqtt-queue-drop-02", "session-queue-drop", queue_limit=lambda t: t["queue_limit"],
           published_messages=lambda t: t["published"]),
    *_rows("mqtt-reconnect-02", "reconnect-flaky-link", lost_records=lambda _: 0),
    *_rows("mqtt-session-04", "session-queue-growth",
           memory_growth_bytes_per_hour=lambda t: 3600 * t["rss_growth_bytes_per_s"]),
    *_rows("mqtt-slow-02", "session-queue-drop", published_messages=lambda t: t["published"]),
    *_rows(
        "mqtt-slow-02",
        "slow-consumer",
        produced_per_second=lambda t: t["consumer_rate_msg_per_s"] + t["queue_growth_msg_per_s"],
        full_queue_delay_seconds=lambda t: t["capacity_of_connected_session"] / t["consumer_rate_msg_per_s"],
    ),
    *_rows("mqtt-takeover-01", "client-id-takeover", parties=lambda _: 2, lost_records=lambda t: t["qos1_lost"],
           takeovers_per_hour=lambda t: 3600 / t["takeover_period_s"]),
    *_rows("rocketmq-02", "rolling-restart", members=lambda _: 3),
    *_rows(
        "rocketmq-03",
        "slow-consumer",
        consumed_per_second=lambda t: (
            _sum(t["produce_rate_msg_per_s_per_queue"]) - t["growth_total_observed_msg_per_s"]
        ),
        pending_records=lambda t: t["drain"]["curve_s_msgs"][-1][1],
    ),
    *_rows("rocketmq-03", "backlog-drain", drain_seconds=lambda t: t["drain"]["drained_s"] - t["drain"]["peak_at_s"]),
    *_rows(
        "rocketmq-05",
        "duplicate-client-id",
        doubled_queues=lambda t: sum(n > 1 for n in t["fault"]["owners_per_queue_predicted"].values()),
        peak_lag=lambda t: t["drain"]["drain_curve_s_diff"][0][1],
        processes=lambda _: 4,
        distinct_ids=lambda t: len(set(t["fault"]["client_ids_at_end"])),
    ),
    *_rows("rocketmq-05", "backlog-drain", peak_lag=lambda t: t["drain"]["drain_curve_s_diff"][0][1],
           pending_records=lambda t: t["drain"]["drain_curve_s_diff"][-1][1]),
    *_rows(
        "rocketmq-dup-01",
        "duplicate-client-id",
        doubled_queues=lambda t: sum(n > 1 for n in t["owners_per_queue_predicted"].values()),
        processes=lambda t: len(t["client_ids_at_end"]),
        distinct_ids=lambda t: len(set(t["client_ids_at_end"])),
        orphans_produced_per_second=lambda t: _sum(
            {q: t["produce_rate_msg_per_s_per_queue"][q] for q in t["orphan_queues_observed_frozen"]}
        ),
    ),
)  # fmt: skip
