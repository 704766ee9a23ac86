"""Names of exporters' metrics, and what they mean.

MQTT's part of the vocabulary of metrics: what brokers publish below ``$SYS``, and what exporters call it.

Mosquitto's ``sys_tree.c`` names them; ``clients/active``, ``clients/inactive`` and ``messages/stored`` are second names
of what stands here. A stored message is one that waits in a queue or is retained.

EMQX's command line, its API and Prometheus say the same with other dots: ``emqx.messages.dropped`` is what ``emqx_ctl
metrics`` and the API print, ``emqx_messages_dropped`` what Prometheus scrapes. ``connections.count`` counts sessions of
clients that are away, too (emqx_cm); ``takeovered`` of 4.x is ``takenover`` in 5.x. The command line cuts names after
30 characters.

HiveMQ registers ``com.hivemq.messages.dropped.count`` (class ``HiveMQMetrics``), which its extension for Prometheus
shows as ``com_hivemq_messages_dropped_count`` and JMX as ``metrics:name=com.hivemq.messages.dropped.count``. VerneMQ's
names have no prefix, so only those are known that nobody else has: ``bytes_received`` stays unknown. RabbitMQ counts
messages of all its protocols under one name, told apart by a label only, so none of them is known.

RocketMQ's part of the vocabulary of metrics.

``rocketmq.group.diff`` is what consumerProgress prints as ``#Diff Total`` and rocketmq-exporter as
``rocketmq_group_diff``; RocketMQ 5 itself exports ``rocketmq_consumer_lag_messages``, which counts otherwise and is
``rocketmq.group.lag_messages``. Neither knows single queues. Names without an exporter's are those of command outputs.

The vocabulary of metrics: what each exporter calls a quantity that mqlab knows.

``broker.bytes_in`` is ``kafka_server_brokertopicmetrics_bytesin_total`` (jmx_exporter, Strimzi),
``kafka_server_brokertopicmetrics_bytesinpersec_count`` (Bitnami) and
``kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec:Count`` (JmxTool). jmx_exporter without rules puts half of it
into a label: ``kafka_server_BrokerTopicMetrics_Count{name="BytesInPerSec"}``. Rates are never taken for counters:
``…_oneminuterate`` and the unsuffixed names of cp-helm, which are one-minute rates, stay unknown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from mqlab.formats.base import regex

_BROKER = r"\$SYS/broker/"

_PUBLISHED: dict[str, str] = {
    "mqtt.messages_received": rf"{_BROKER}messages/received",
    "mqtt.messages_sent": rf"{_BROKER}messages/sent",
    "mqtt.publish_received": rf"{_BROKER}publish/messages/received",
    "mqtt.publish_sent": rf"{_BROKER}publish/messages/sent",
    "mqtt.publish_dropped": rf"{_BROKER}publish/messages/dropped",
    "mqtt.bytes_received": rf"{_BROKER}bytes/received",
    "mqtt.bytes_sent": rf"{_BROKER}bytes/sent",
    "mqtt.clients_connected": rf"{_BROKER}clients/connected",
    "mqtt.clients_disconnected": rf"{_BROKER}clients/disconnected",
    "mqtt.clients_total": rf"{_BROKER}clients/total",
    "mqtt.stored_messages": rf"{_BROKER}store/messages/count",
    "mqtt.stored_bytes": rf"{_BROKER}store/messages/bytes",
    "mqtt.retained_messages": rf"{_BROKER}retained messages/count",
    "mqtt.inflight_messages": rf"{_BROKER}messages/inflight",
    "mqtt.subscriptions": rf"{_BROKER}subscriptions/count",
    "mqtt.shared_subscriptions": rf"{_BROKER}shared_subscriptions/count",
    "mqtt.heap_bytes": rf"{_BROKER}heap/current(?: size)?",
    "mqtt.uptime_seconds": rf"{_BROKER}uptime",
}

_ANY = "[._-]"


def _hivemq(name: str) -> str:
    """All ways to write a metric of HiveMQ, whatever stands between the words of *name*."""
    return rf"(?:metrics[:_](?:name=)?)?com[._]hivemq{_ANY}{name.replace('.', _ANY)}(?:[:_](?:count|number|value))?"


_EXPORTED: dict[str, str] = {
    "mqtt.messages_received": _hivemq("messages.incoming.total.count"),
    "mqtt.messages_sent": _hivemq("messages.outgoing.total.count"),
    "mqtt.publish_received": f"{_hivemq('messages.incoming.publish.count')}|mqtt_publish_received",
    "mqtt.publish_sent": f"{_hivemq('messages.outgoing.publish.count')}|mqtt_publish_sent",
    "mqtt.publish_dropped": _hivemq("messages.dropped.count"),
    "mqtt.queue_full_dropped": f"{_hivemq('messages.dropped.queue.full.count')}|queue_message_drop",
    "mqtt.publish_denied": "mqtt_publish_auth_error",
    "mqtt.bytes_received": _hivemq("networking.bytes.read.total"),
    "mqtt.bytes_sent": _hivemq("networking.bytes.write.total"),
    "mqtt.clients_connected": f"{_hivemq('networking.connections.current')}|active_mqtt_connections",
    "mqtt.sessions": f"{_hivemq('sessions.overall.current')}|queue_processes",
    "mqtt.retained_messages": f"{_hivemq('messages.retained.current')}|retain_messages",
    "mqtt.subscriptions": f"{_hivemq('subscriptions.overall.current')}|router_subscriptions",
}
"""HiveMQ and VerneMQ; VerneMQ drops from full queues alone (``vmq_queue``)."""

_EMQX: dict[str, str] = {
    "mqtt.publish_received": r"emqx[._]packets[._]publish[._]received",
    "mqtt.publish_sent": r"emqx[._]packets[._]publish[._]sent",
    "mqtt.publish_dropped": r"emqx[._]delivery[._]dropped",
    "mqtt.queue_full_dropped": r"emqx[._]delivery[._]dropped[._]queue[._]full",
    "mqtt.publish_denied": r"emqx[._]packets[._]publish[._]auth[._]error|emqx[._]authorization[._]deny",
    "mqtt.quota_exceeded": r"emqx[._]packets[._]publish[._]quota[._]exceeded?",
    "mqtt.takeovers": r"emqx[._]session[._](?:takeovered|takenover)",
    "mqtt.bytes_received": r"emqx[._]bytes[._]received",
    "mqtt.bytes_sent": r"emqx[._]bytes[._]sent",
    "mqtt.clients_connected": r"emqx[._]live[._]connections[._]count",
    "mqtt.clients_total": r"emqx[._]connections[._]count",
    "mqtt.sessions": r"emqx[._]sessions[._]count",
    "mqtt.subscriptions": r"emqx[._]subscriptions[._]count",
    "mqtt.shared_subscriptions": r"emqx[._]subscriptions[._]shared[._]count",
    "mqtt.retained_messages": r"emqx[._]retained[._]count",
    "mqtt.heap_bytes": r"emqx[._]memory/total|emqx[._]vm[._]used[._]memory",
}

_ALL = (_PUBLISHED, _EXPORTED, _EMQX)
MQTT: dict[str, str] = {
    name: "|".join(names[name] for names in _ALL if name in names) for name in dict.fromkeys(n for a in _ALL for n in a)
}
"""Canonical name → regex over whole names of exporters."""


_ROCKETMQ_EXPORTED: dict[str, tuple[str, ...]] = {
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

ROCKETMQ = {
    f"rocketmq.{name}": "|".join((re.escape(f"rocketmq.{name}"), *exported))
    for name, exported in _ROCKETMQ_EXPORTED.items()
}
"""Canonical name → regex over whole names, the canonical one among them."""


_COUNT = r"(?:persec)?_(?:count|total)(?:_total)?"
_WITHOUT_RULES = (
    r"(kafka_(?:server_(?:brokertopicmetrics|replicamanager)|network_requestmetrics"
    r"|controller_(?:controllerstats|kafkacontroller)|log_log))_(count|value)"
)
_EMBEDDED = r"persec_topic_(.+?)(?:_(?:count|total))?$"


def _meter(mbean: str, short: str) -> str:
    """A broker's meter: *mbean* is its type, *short* its name without PerSec."""
    domain, kind = mbean.split(":")
    flat = domain.replace(".", "_")
    return (
        rf"(?:cp_)?{flat}_{kind}_(?:total_)?{short}(?:{_COUNT}|persec_topic_.+_(?:count|total))"
        rf"|{re.escape(domain)}:type={kind},name={short}persec:count"
    )


def _gauge(mbean: str, name: str) -> str:
    """A broker's gauge."""
    domain, kind = mbean.split(":")
    flat = domain.replace(".", "_")
    return rf"(?:cp_)?{flat}_{kind}_{name}(?:_value)?|{re.escape(domain)}:type={kind},name={name}:value"


def _client(kind: str, group: str, attribute: str) -> str:
    """A Java client's attribute in ``<kind>[-<group>]-metrics``: jmx_exporter, Micrometer, JmxTool."""
    mbean = f"{kind}-{group}-metrics" if group else f"{kind}-metrics"
    long, short, name = (_flat(word) for word in (f"{mbean}-", f"{group}-" if group else "", attribute))
    return rf"kafka[._]{kind}[._](?:{long}|{short}){name}|kafka\.{kind}:type={mbean}:{attribute}"


def _flat(name: str) -> str:
    return name.replace("-", "[._-]")


_STOPPING = "copy|marksweepcompact|parnew|ps_scavenge|ps_marksweep|g1_(?:young|old)_generation|\\w+_pauses"
"""Collectors that stop the application for as long as they run."""
_TOPICS = "kafka.server:brokertopicmetrics"
_REPLICAS = "kafka.server:replicamanager"

CANONICAL: dict[str, str] = {
    "broker.bytes_in": _meter(_TOPICS, "bytesin"),
    "broker.bytes_out": _meter(_TOPICS, "bytesout"),
    "broker.bytes_rejected": _meter(_TOPICS, "bytesrejected"),
    "broker.messages_in": _meter(_TOPICS, "messagesin"),
    "broker.replication_bytes_in": _meter(_TOPICS, "replicationbytesin"),
    "broker.replication_bytes_out": _meter(_TOPICS, "replicationbytesout"),
    "broker.reassignment_bytes_in": _meter(_TOPICS, "reassignmentbytesin"),
    "broker.produce_requests": _meter(_TOPICS, "totalproducerequests"),
    "broker.failed_produce_requests": _meter(_TOPICS, "failedproducerequests"),
    "broker.fetch_requests": _meter(_TOPICS, "totalfetchrequests"),
    "broker.message_conversions": _meter(_TOPICS, "(?:produce|fetch)messageconversions"),
    "broker.request_errors": _meter("kafka.network:requestmetrics", "errors"),
    "broker.requests": _meter("kafka.network:requestmetrics", "requests"),
    "broker.under_replicated_partitions": _gauge(_REPLICAS, "underreplicatedpartitions"),
    "broker.under_min_isr_partitions": _gauge(_REPLICAS, "underminisrpartitioncount"),
    "broker.isr_shrinks": _meter(_REPLICAS, "isrshrinks"),
    "broker.isr_expands": _meter(_REPLICAS, "isrexpands"),
    "broker.unclean_elections": _meter("kafka.controller:controllerstats", "uncleanleaderelections"),
    "broker.offline_partitions": _gauge("kafka.controller:kafkacontroller", "offlinepartitionscount"),
    "broker.log_end_offset": _gauge("kafka.log:log", "logendoffset"),
    "broker.log_start_offset": _gauge("kafka.log:log", "logstartoffset"),
    "broker.log_size": _gauge("kafka.log:log", "size"),
    "producer.outgoing_bytes": _client("producer", "", "outgoing-byte-total"),
    "producer.record_sends": _client("producer", "", "record-send-total"),
    "producer.record_retries": _client("producer", "", "record-retry-total"),
    "producer.record_errors": _client("producer", "", "record-error-total"),
    "producer.batch_splits": _client("producer", "", "batch-split-total"),
    "producer.batch_size_avg": _client("producer", "", "batch-size-avg"),
    "producer.record_size_avg": _client("producer", "", "record-size-avg"),
    "producer.record_size_max": _client("producer", "", "record-size-max"),
    "producer.request_size_avg": _client("producer", "", "request-size-avg"),
    "producer.request_size_max": _client("producer", "", "request-size-max"),
    "producer.requests": _client("producer", "", "request-total"),
    "producer.records_per_request_avg": _client("producer", "", "records-per-request-avg"),
    "producer.compression_rate_avg": _client("producer", "", "compression-rate-avg"),
    "producer.buffer_available_bytes": _client("producer", "", "buffer-available-bytes"),
    "producer.topic_bytes": _client("producer", "topic", "byte-total"),
    "producer.topic_record_sends": _client("producer", "topic", "record-send-total"),
    "producer.topic_record_errors": _client("producer", "topic", "record-error-total"),
    "producer.topic_record_retries": _client("producer", "topic", "record-retry-total"),
    "consumer.bytes_consumed": _client("consumer", "fetch-manager", "bytes-consumed-total"),
    "consumer.records_consumed": _client("consumer", "fetch-manager", "records-consumed-total"),
    "consumer.records_lag": _client("consumer", "fetch-manager", "records-lag"),
    "consumer.records_lag_max": _client("consumer", "fetch-manager", "records-lag-max"),
    "consumer.fetch_size_avg": _client("consumer", "fetch-manager", "fetch-size-avg"),
    "consumer.fetch_size_max": _client("consumer", "fetch-manager", "fetch-size-max"),
    "consumer.records_per_request_avg": _client("consumer", "fetch-manager", "records-per-request-avg"),
    "consumer.incoming_bytes": _client("consumer", "", "incoming-byte-total"),
    "consumer.time_between_poll_max": _client("consumer", "", "time-between-poll-max"),
    "consumer.last_poll_seconds_ago": _client("consumer", "", "last-poll-seconds-ago"),
    "consumer.poll_idle_ratio": _client("consumer", "", "poll-idle-ratio-avg"),
    "consumer.last_heartbeat_seconds_ago": _client("consumer", "coordinator", "last-heartbeat-seconds-ago"),
    "consumer.heartbeat_rate": _client("consumer", "coordinator", "heartbeat-rate"),
    "consumer.commit_latency_max": _client("consumer", "coordinator", "commit-latency-max"),
    "consumer.rebalances": _client("consumer", "coordinator", "rebalance-total"),
    "consumer.failed_rebalances": _client("consumer", "coordinator", "failed-rebalance-total"),
    "consumer.assigned_partitions": _client("consumer", "coordinator", "assigned-partitions"),
    "group.committed_offset": (
        r"kafka_consumergroup_current_offset|kafka_consumergroup_group_offset|burrow_kafka_consumer_current_offset"
    ),
    "group.lag": (
        r"kafka_consumergroup_(?:group_)?lag|kminion_kafka_consumer_group_topic_partition_lag"
        r"|burrow_kafka_consumer_partition_lag"
    ),
    "group.lag_seconds": r"kafka_consumergroup_group_lag_seconds",
    "group.members": r"kafka_consumergroup_members|kminion_kafka_consumer_group_members",
    "topic.end_offset": (
        r"kafka_topic_partition_current_offset|kminion_kafka_topic_partition_high_water_mark"
        r"|burrow_kafka_topic_partition_offset|kafka_partition_latest_offset"
    ),
    "topic.start_offset": (
        r"kafka_topic_partition_oldest_offset|kminion_kafka_topic_partition_low_water_mark"
        r"|kafka_partition_earliest_offset"
    ),
    "host.receive_bytes": r"node_network_receive_bytes(?:_total)?|container_network_receive_bytes_total",
    "host.transmit_bytes": r"node_network_transmit_bytes(?:_total)?|container_network_transmit_bytes_total",
    "host.receive_packets": r"node_network_receive_packets(?:_total)?|container_network_receive_packets_total",
    "host.transmit_packets": r"node_network_transmit_packets(?:_total)?|container_network_transmit_packets_total",
    "jvm.heap_used": (
        r"jvm_memory_bytes_used|jvm_memory_used_bytes|jvm\.memory\.used|java_lang_memory_heapmemoryusage_used"
    ),
    "jvm.gc_seconds": r"jvm_gc_collection_seconds_sum|jvm_gc_pause_seconds_sum",
    "jvm.gc_count": (
        r"jvm_gc_collection_seconds_count|jvm_gc_pause_seconds_count|java_lang_garbagecollector_collectioncount"
        r"|java\.lang:type=garbagecollector,name=[^:]*:collectioncount"
    ),
    "jvm.gc_last_pause_seconds": rf"java_lang_(?:{_STOPPING})_lastgcinfo_duration",
    "process.resident_bytes": r"(?:rabbitmq_)?process_resident_memory_(?:bytes|[kmg]ib)|container_memory_rss",
    "process.cpu_seconds": r"process_cpu_seconds_total|container_cpu_usage_seconds_total",
    "process.start_time": r"process_start_time_seconds|container_start_time_seconds",
    "up": r"up",
    **{name: re.escape(name) for name in ("http.requests", "http.seconds", "http.slowest_seconds")},
    **ROCKETMQ,
    **MQTT,
}
"""Canonical name → regex over whole names of exporters, without regard to case."""

_FACTORS = {"jvm.gc_last_pause_seconds": 1e-3}
"""``com.sun.management.GcInfo`` counts milliseconds."""
_UNITS = {"kib": 2.0**10, "mib": 2.0**20, "gib": 2.0**30}
"""By the end of a name that ``process_csv`` gives."""
_COMPILED = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in CANONICAL.items()}
_LABELS = {
    "client_id": "client_id", "clientid": "client_id", "topic": "topic", "topic_name": "topic",
    "consumergroup": "group", "consumer_group": "group", "group_id": "group", "groupid": "group",
    "partition_id": "partition", "pod_name": "pod", "container_name": "container", "node_id": "node_id",
}  # fmt: skip


def canonical(name: str, labels: Mapping[str, str] | None = None) -> str | None:
    """The name in mqlab of what an exporter calls *name*; None for what mqlab does not use.

    *labels* matter where jmx_exporter has no rules: ``name`` is then the name of the MBean.
    """
    halves = re.fullmatch(_WITHOUT_RULES, name, re.IGNORECASE)
    mbean = (labels or {}).get("name")
    return _canonical(f"{halves[1]}_{mbean}_{halves[2]}" if halves and mbean else name)


@cache
def _canonical(name: str) -> str | None:
    return next((known_as for known_as, pattern in _COMPILED.items() if pattern.fullmatch(name)), None)


def factor(canonical: str, original: str = "") -> float:
    """What an exporter's value is multiplied by, so that it has the unit that mqlab's name says."""
    return _UNITS.get(original.rpartition("_")[2], 1.0) * _FACTORS.get(canonical, 1.0)


@cache
def is_known(name: str) -> bool:
    """Whether the metric *name* has a canonical one, or may have one by its labels."""
    return _known().match(name) is not None


@cache
def _known() -> re.Pattern[str]:
    return regex(f"(?i)(?:{'|'.join((*CANONICAL.values(), _WITHOUT_RULES))})$")


def labels_of(canonical: str, original: str, labels: Mapping[str, str]) -> dict[str, str]:
    """*labels* under mqlab's names, with the topic that some exporters hide in the name of the metric."""
    renamed = {_LABELS.get(re.sub(r"[-.]", "_", key).lower(), key): value for key, value in labels.items()}
    hidden = re.search(_EMBEDDED, original, re.IGNORECASE) if canonical.startswith("broker.") else None
    return {"topic": hidden[1], **renamed} if hidden else renamed
