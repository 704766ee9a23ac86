"""RocketMQ's part of the vocabulary of metrics.

``rocketmq.group.diff`` is what consumerProgress prints as ``#Diff Total`` and rocketmq-exporter as
``rocketmq_group_diff``; RocketMQ 5 itself exports ``rocketmq_consumer_lag_messages``, which counts otherwise and is
``rocketmq.group.lag_messages``. Neither knows single queues. Names without an exporter's are those of command outputs.
"""

from __future__ import annotations

import re

_EXPORTED: dict[str, tuple[str, ...]] = {
    "group.members": (),
    "group.count": ("rocketmq_group_count",),
    "group.diff": ("rocketmq_group_diff",),
    "group.retry_diff": ("rocketmq_group_retrydiff",),
    "group.dlq_diff": ("rocketmq_group_dlqdiff",),
    "group.inflight": (),
    "group.consume_tps": ("rocketmq_group_consume_tps",),
    "group.total_offset": ("rocketmq_group_(?:consume_)?total_offset",),
    "group.get_latency_ms": ("rocketmq_group_get_latency",),
    "group.store_latency_ms": ("rocketmq_group_get_latency_by_storetime",),
    "group.sent_back": ("rocketmq_send_back_nums",),
    "group.lag_messages": ("rocketmq_consumer_lag_messages",),
    "group.lag_latency_ms": ("rocketmq_consumer_lag_latency(?:_milliseconds)?",),
    "group.inflight_messages": ("rocketmq_consumer_inflight_messages",),
    "group.ready_messages": ("rocketmq_consumer_ready_messages",),
    "group.queueing_latency_ms": ("rocketmq_consumer_queueing_latency(?:_milliseconds)?",),
    "group.connections": ("rocketmq_consumer_connections",),
    "consumer.tps": ("rocketmq_consumer_tps",),
    "consumer.offset": ("rocketmq_consumer_offset",),
    "consumer.message_size": ("rocketmq_consumer_message_size",),
    "consumer.pull_rt_ms": (),
    "consumer.pull_tps": (),
    "consumer.consume_rt_ms": (),
    "consumer.consume_ok_tps": (),
    "consumer.consume_failed_tps": (),
    "client.consume_rt_ms": ("rocketmq_client_consume_rt",),
    "client.consume_ok_tps": ("rocketmq_client_consume_ok_msg_tps",),
    "client.consume_failed_tps": ("rocketmq_client_consume_fail_msg_tps",),
    "client.consume_failed": ("rocketmq_client_consume_fail_msg_count",),
    "client.pull_rt_ms": ("rocketmq_client_consumer_pull_rt",),
    "client.pull_tps": ("rocketmq_client_consumer_pull_tps",),
    "producer.tps": ("rocketmq_producer_tps",),
    "producer.offset": ("rocketmq_producer_offset",),
    "producer.message_size": ("rocketmq_producer_message_size",),
    "topic.in_tps": (),
    "topic.out_tps": (),
    "topic.in_24h": (),
    "topic.out_24h": (),
    "topic.messages_in": ("rocketmq_messages_in_total",),
    "topic.messages_out": ("rocketmq_messages_out_total",),
    "broker.in_tps": ("rocketmq_broker_tps",),
    "broker.out_tps": ("rocketmq_broker_qps",),
    "broker.put_tps": ("rocketmq_brokeruntime_put_tps10",),
    "broker.get_total_tps": ("rocketmq_brokeruntime_gettotal_tps10",),
    "broker.get_transferred_tps": ("rocketmq_brokeruntime_gettransfered_tps10",),
    "broker.disk_ratio": ("rocketmq_brokeruntime_commitlog_disk_ratio",),
    "broker.consume_queue_disk_ratio": ("rocketmq_brokeruntime_consumequeue_disk_ratio",),
    "broker.earliest_message_ms": ("rocketmq_brokeruntime_earliest_message_timestamp",),
    "broker.boot_ms": (),
    "broker.commit_log_max_offset": ("rocketmq_brokeruntime_commitlog_maxoffset",),
    "broker.commit_log_min_offset": ("rocketmq_brokeruntime_commitlog_minoffset",),
    "broker.dispatch_behind_bytes": (
        "rocketmq_brokeruntime_dispatch_behind_bytes",
        "rocketmq_storage_dispatch_behind_bytes",
    ),
    "broker.message_size_avg": ("rocketmq_brokeruntime_put_message_average_size",),
    "broker.put_messages": ("rocketmq_brokeruntime_putmessage_times_total",),
    "broker.messages_in": ("rocketmq_brokeruntime_msg_put_total_today_now",),
    "broker.messages_out": ("rocketmq_brokeruntime_msg_gettotal_today_now",),
    "broker.send_queue_size": ("rocketmq_brokeruntime_send_threadpool_queue_size",),
    "broker.send_queue_wait_ms": ("rocketmq_brokeruntime_send_threadpoolqueue_headwait_timemills",),
    "broker.pull_queue_size": ("rocketmq_brokeruntime_pull_threadpoolqueue_size",),
    "broker.pull_queue_wait_ms": ("rocketmq_brokeruntime_pull_threadpoolqueue_headwait_timemills",),
    "broker.page_cache_lock_ms": ("rocketmq_brokeruntime_pagecache_lock_time_mills",),
}
"""What is said of groups, topics, clients and brokers, and the names that exporters give it."""

CANONICAL = {
    f"rocketmq.{name}": "|".join((re.escape(f"rocketmq.{name}"), *exported)) for name, exported in _EXPORTED.items()
}
"""Canonical name → regex over whole names, the canonical one among them."""
