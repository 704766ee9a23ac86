"""The vocabulary of metrics: what each exporter calls a quantity that mqlab knows.

``broker.bytes_in`` is ``kafka_server_brokertopicmetrics_bytesin_total`` (jmx_exporter, Strimzi),
``kafka_server_brokertopicmetrics_bytesinpersec_count`` (Bitnami) and
``kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec:Count`` (JmxTool). jmx_exporter without rules puts half of it
into a label: ``kafka_server_BrokerTopicMetrics_Count{name="BytesInPerSec"}``. Rates are never taken for counters:
``…_oneminuterate`` and the unsuffixed names of cp-helm, which are one-minute rates, stay unknown.

Mosquitto's ``sys_tree.c`` names what it publishes below ``$SYS``; ``clients/active``, ``clients/inactive`` and
``messages/stored`` are second names. A stored message is one that waits in a queue or is retained. EMQX's command line
and API print ``emqx.messages.dropped``, Prometheus scrapes ``emqx_messages_dropped``. ``connections.count`` counts
sessions of clients that are away, too (emqx_cm); ``takeovered`` of 4.x is ``takenover`` in 5.x. HiveMQ registers
``com.hivemq.messages.dropped.count`` (class ``HiveMQMetrics``), its extension for Prometheus shows it with underscores
and JMX as ``metrics:name=com.hivemq.messages.dropped.count``. VerneMQ's names have no prefix, so only those are known
that nobody else has. RabbitMQ tells its protocols apart by a label only, so none of its names is known.

``rocketmq.group.diff`` is what consumerProgress prints as ``#Diff Total`` and rocketmq-exporter as
``rocketmq_group_diff``; RocketMQ 5 itself exports ``rocketmq_consumer_lag_messages``, which counts otherwise. Neither
knows single queues. Names without an exporter's are those of command outputs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
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


_ROCKETMQ: dict[str, str] = {
    "group.members": "", "group.count": "group_count", "group.diff": "group_diff",
    "group.retry_diff": "group_retrydiff", "group.dlq_diff": "group_dlqdiff", "group.inflight": "",
    "group.consume_tps": "group_consume_tps", "group.total_offset": "group_(?:consume_)?total_offset",
    "group.get_latency_ms": "group_get_latency", "group.store_latency_ms": "group_get_latency_by_storetime",
    "group.sent_back": "send_back_nums", "group.lag_messages": "consumer_lag_messages",
    "group.lag_latency_ms": "consumer_lag_latency(?:_milliseconds)?",
    "group.inflight_messages": "consumer_inflight_messages", "group.ready_messages": "consumer_ready_messages",
    "group.queueing_latency_ms": "consumer_queueing_latency(?:_milliseconds)?",
    "group.connections": "consumer_connections",
    "consumer.tps": "consumer_tps", "consumer.offset": "consumer_offset",
    "consumer.message_size": "consumer_message_size", "consumer.pull_rt_ms": "", "consumer.pull_tps": "",
    "consumer.consume_rt_ms": "", "consumer.consume_ok_tps": "", "consumer.consume_failed_tps": "",
    "client.consume_rt_ms": "client_consume_rt", "client.consume_ok_tps": "client_consume_ok_msg_tps",
    "client.consume_failed_tps": "client_consume_fail_msg_tps",
    "client.consume_failed": "client_consume_fail_msg_count", "client.pull_rt_ms": "client_consumer_pull_rt",
    "client.pull_tps": "client_consumer_pull_tps",
    "producer.tps": "producer_tps", "producer.offset": "producer_offset",
    "producer.message_size": "producer_message_size",
    "topic.in_tps": "", "topic.out_tps": "", "topic.in_24h": "", "topic.out_24h": "",
    "topic.messages_in": "messages_in_total", "topic.messages_out": "messages_out_total",
    "broker.in_tps": "broker_tps", "broker.out_tps": "broker_qps", "broker.put_tps": "brokeruntime_put_tps10",
    "broker.get_total_tps": "brokeruntime_gettotal_tps10",
    "broker.get_transferred_tps": "brokeruntime_gettransfered_tps10",
    "broker.disk_ratio": "brokeruntime_commitlog_disk_ratio",
    "broker.consume_queue_disk_ratio": "brokeruntime_consumequeue_disk_ratio",
    "broker.earliest_message_ms": "brokeruntime_earliest_message_timestamp", "broker.boot_ms": "",
    "broker.commit_log_max_offset": "brokeruntime_commitlog_maxoffset",
    "broker.commit_log_min_offset": "brokeruntime_commitlog_minoffset",
    "broker.dispatch_behind_bytes": "(?:brokeruntime|storage)_dispatch_behind_bytes",
    "broker.message_size_avg": "brokeruntime_put_message_average_size",
    "broker.put_messages": "brokeruntime_putmessage_times_total",
    "broker.messages_in": "brokeruntime_msg_put_total_today_now",
    "broker.messages_out": "brokeruntime_msg_gettotal_today_now",
    "broker.send_queue_size": "brokeruntime_send_threadpool_queue_size",
    "broker.send_queue_wait_ms": "brokeruntime_send_threadpoolqueue_headwait_timemills",
    "broker.pull_queue_size": "brokeruntime_pull_threadpoolqueue_size",
    "broker.pull_queue_wait_ms": "brokeruntime_pull_threadpoolqueue_headwait_timemills",
    "broker.page_cache_lock_ms": "brokeruntime_pagecache_lock_time_mills",
}  # fmt: skip
"""What is said of groups, topics, clients and brokers, and what exporters call it behind ``rocketmq_``."""

ROCKETMQ = {
    f"rocketmq.{name}": rf"rocketmq\.{re.escape(name)}" + (f"|rocketmq_{exported}" if exported else "")
    for name, exported in _ROCKETMQ.items()
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
    """A Java client's attribute in ``<kind>[-<group>]-metrics``: jmx_exporter, Micrometer, JmxTool.

    jmx_exporter 1.0 prints a rule's value that is untyped without ``_total``, which OpenMetrics keeps for counters.
    """
    mbean = f"{kind}-{group}-metrics" if group else f"{kind}-metrics"
    long, short, name = (_flat(word) for word in (f"{mbean}-", f"{group}-" if group else "", attribute))
    bare = name.removesuffix(_flat("-total"))
    return (
        rf"kafka[._]{kind}[._](?:{long}|{short}){name}|kafka_{kind}_{long}{bare}|kafka\.{kind}:type={mbean}:{attribute}"
    )


def _named(whose: str, pattern: Callable[[str], str], names: Mapping[str, str]) -> dict[str, str]:
    """Canonical names of what belongs to *whose*, and the *pattern* of what each is called."""
    return {f"{whose}.{name}": pattern(exported) for name, exported in names.items()}


def _flat(name: str) -> str:
    return name.replace("-", "[._-]")


_STOPPING = "copy|marksweepcompact|parnew|ps_scavenge|ps_marksweep|g1_(?:young|old)_generation|\\w+_pauses"
"""Collectors that stop the application for as long as they run."""
_TOPICS = "kafka.server:brokertopicmetrics"
_REPLICAS = "kafka.server:replicamanager"

CANONICAL: dict[str, str] = {
    **_named("broker", lambda name: _meter(_TOPICS, name), {
        "bytes_in": "bytesin", "bytes_out": "bytesout", "bytes_rejected": "bytesrejected", "messages_in": "messagesin",
        "replication_bytes_in": "replicationbytesin", "replication_bytes_out": "replicationbytesout",
        "reassignment_bytes_in": "reassignmentbytesin", "produce_requests": "totalproducerequests",
        "failed_produce_requests": "failedproducerequests", "fetch_requests": "totalfetchrequests",
        "message_conversions": "(?:produce|fetch)messageconversions",
    }),
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
    **_named("producer", lambda name: _client("producer", "", name), {
        "outgoing_bytes": "outgoing-byte-total", "record_sends": "record-send-total",
        "record_retries": "record-retry-total", "record_errors": "record-error-total",
        "batch_splits": "batch-split-total", "batch_size_avg": "batch-size-avg", "record_size_avg": "record-size-avg",
        "record_size_max": "record-size-max", "request_size_avg": "request-size-avg",
        "request_size_max": "request-size-max", "requests": "request-total",
        "records_per_request_avg": "records-per-request-avg", "compression_rate_avg": "compression-rate-avg",
        "buffer_available_bytes": "buffer-available-bytes",
    }),
    **_named("producer", lambda name: _client("producer", "topic", name), {
        "topic_bytes": "byte-total", "topic_record_sends": "record-send-total",
        "topic_record_errors": "record-error-total", "topic_record_retries": "record-retry-total",
    }),
    **_named("consumer", lambda name: _client("consumer", "fetch-manager", name), {
        "bytes_consumed": "bytes-consumed-total", "records_consumed": "records-consumed-total",
        "records_lag": "records-lag", "records_lag_max": "records-lag-max", "fetch_size_avg": "fetch-size-avg",
        "fetch_size_max": "fetch-size-max", "records_per_request_avg": "records-per-request-avg",
    }),
    **_named("consumer", lambda name: _client("consumer", "", name), {
        "incoming_bytes": "incoming-byte-total", "time_between_poll_max": "time-between-poll-max",
        "last_poll_seconds_ago": "last-poll-seconds-ago", "poll_idle_ratio": "poll-idle-ratio-avg",
    }),
    **_named("consumer", lambda name: _client("consumer", "coordinator", name), {
        "last_heartbeat_seconds_ago": "last-heartbeat-seconds-ago", "heartbeat_rate": "heartbeat-rate",
        "commit_latency_max": "commit-latency-max", "rebalances": "rebalance-total",
        "failed_rebalances": "failed-rebalance-total", "assigned_partitions": "assigned-partitions",
    }),
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
}  # fmt: skip
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
