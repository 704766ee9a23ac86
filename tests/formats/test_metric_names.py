"""The vocabulary of metrics."""

import inspect
import re

import pytest

from mqlab.formats import rocketmq_admin
from mqlab.formats.exporters import canonical, factor, is_known, labels_of


@pytest.mark.parametrize(
    ("original", "name"),
    [
        ("kafka_server_brokertopicmetrics_bytesin_total", "broker.bytes_in"),
        ("kafka_server_BrokerTopicMetrics_BytesOut_total", "broker.bytes_out"),
        ("kafka_server_brokertopicmetrics_bytesinpersec_count", "broker.bytes_in"),
        ("kafka_server_brokertopicmetrics_total_bytesrejectedpersec_count", "broker.bytes_rejected"),
        ("kafka_server_brokertopicmetrics_bytesinpersec_topic_orders_count", "broker.bytes_in"),
        ("kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec:Count", "broker.bytes_in"),
        ("kafka_server_brokertopicmetrics_totalproducerequests_total", "broker.produce_requests"),
        ("kafka_server_brokertopicmetrics_producemessageconversions_total", "broker.message_conversions"),
        ("kafka_network_requestmetrics_errors_total", "broker.request_errors"),
        ("kafka_network_requestmetrics_requests_total", "broker.requests"),
        ("kafka_server_replicamanager_underreplicatedpartitions", "broker.under_replicated_partitions"),
        ("cp_kafka_server_replicamanager_underreplicatedpartitions", "broker.under_replicated_partitions"),
        ("kafka_server_replicamanager_underreplicatedpartitions_value", "broker.under_replicated_partitions"),
        ("kafka_server_replicamanager_isrshrinks_total", "broker.isr_shrinks"),
        ("kafka_controller_controllerstats_uncleanleaderelections_total", "broker.unclean_elections"),
        ("kafka_log_log_logendoffset", "broker.log_end_offset"),
        ("kafka.log:type=Log,name=Size:Value", "broker.log_size"),
        ("kafka_producer_producer_metrics_batch_split_total", "producer.batch_splits"),
        ("kafka_producer_producer_metrics_batch_split", "producer.batch_splits"),
        ("kafka_producer_outgoing_byte_total", "producer.outgoing_bytes"),
        ("kafka.producer.outgoing.byte.total", "producer.outgoing_bytes"),
        ("kafka.producer:type=producer-metrics:record-retry-total", "producer.record_retries"),
        ("kafka_producer_producer_topic_metrics_byte_total", "producer.topic_bytes"),
        ("kafka_producer_topic_record_send_total", "producer.topic_record_sends"),
        ("kafka_consumer_consumer_fetch_manager_metrics_records_lag_max", "consumer.records_lag_max"),
        ("kafka_consumer_fetch_manager_records_lag_max", "consumer.records_lag_max"),
        ("kafka_consumer_consumer_metrics_incoming_byte_total", "consumer.incoming_bytes"),
        ("kafka_consumer_consumer_coordinator_metrics_rebalance_total", "consumer.rebalances"),
        ("kafka_consumer_consumer_metrics_last_poll_seconds_ago", "consumer.last_poll_seconds_ago"),
        ("kafka_consumer_poll_idle_ratio_avg", "consumer.poll_idle_ratio"),
        ("kafka_consumer_coordinator_last_heartbeat_seconds_ago", "consumer.last_heartbeat_seconds_ago"),
        ("kafka_consumer_consumer_coordinator_metrics_heartbeat_rate", "consumer.heartbeat_rate"),
        ("kafka.consumer:type=consumer-coordinator-metrics:commit-latency-max", "consumer.commit_latency_max"),
        ("kafka_consumergroup_lag", "group.lag"),
        ("kafka_consumergroup_group_offset", "group.committed_offset"),
        ("kafka_consumergroup_group_lag", "group.lag"),
        ("kafka_consumergroup_group_lag_seconds", "group.lag_seconds"),
        ("kafka_partition_latest_offset", "topic.end_offset"),
        ("kafka_partition_earliest_offset", "topic.start_offset"),
        ("java_lang_Copy_LastGcInfo_duration", "jvm.gc_last_pause_seconds"),
        ("java_lang_g1_young_generation_lastgcinfo_duration", "jvm.gc_last_pause_seconds"),
        ("http.slowest_seconds", "http.slowest_seconds"),
        ("kminion_kafka_topic_partition_high_water_mark", "topic.end_offset"),
        ("kafka_topic_partition_oldest_offset", "topic.start_offset"),
        ("node_network_transmit_bytes_total", "host.transmit_bytes"),
        ("container_network_receive_bytes_total", "host.receive_bytes"),
        ("jvm_memory_bytes_used", "jvm.heap_used"),
        ("jvm_memory_used_bytes", "jvm.heap_used"),
        ("jvm_gc_collection_seconds_sum", "jvm.gc_seconds"),
        ("process_resident_memory_bytes", "process.resident_bytes"),
        ("rocketmq_group_diff", "rocketmq.group.diff"),
        ("rocketmq.group.diff", "rocketmq.group.diff"),
        ("rocketmq_group_count", "rocketmq.group.count"),
        ("rocketmq_group_get_latency", "rocketmq.group.get_latency_ms"),
        ("rocketmq_group_get_latency_by_storetime", "rocketmq.group.store_latency_ms"),
        ("rocketmq_consumer_offset", "rocketmq.consumer.offset"),
        ("rocketmq_consumer_tps", "rocketmq.consumer.tps"),
        ("rocketmq_client_consumer_pull_rt", "rocketmq.client.pull_rt_ms"),
        ("rocketmq_consumer_lag_messages", "rocketmq.group.lag_messages"),
        ("rocketmq_brokeruntime_commitlog_disk_ratio", "rocketmq.broker.disk_ratio"),
        ("emqx.delivery.dropped.queue_full", "mqtt.queue_full_dropped"),
        ("emqx_delivery_dropped_queue_full", "mqtt.queue_full_dropped"),
        ("emqx.session.takeovered", "mqtt.takeovers"),
        ("emqx_session_takenover", "mqtt.takeovers"),
        ("emqx.packets.publish.auth_error", "mqtt.publish_denied"),
        ("emqx.packets.publish.quota_exceede", "mqtt.quota_exceeded"),
        ("emqx.live_connections.count", "mqtt.clients_connected"),
        ("emqx_connections_count", "mqtt.clients_total"),
        ("emqx.memory/total", "mqtt.heap_bytes"),
        ("emqx.messages.dropped", None),
        ("com_hivemq_messages_dropped_count", "mqtt.publish_dropped"),
        ("com.hivemq.messages.dropped.count", "mqtt.publish_dropped"),
        ("metrics:name=com.hivemq.messages.dropped.count:Count", "mqtt.publish_dropped"),
        ("com.hivemq.messages.dropped.queue-full.count", "mqtt.queue_full_dropped"),
        ("com_hivemq_messages_incoming_publish_count", "mqtt.publish_received"),
        ("com_hivemq_messages_outgoing_total_count", "mqtt.messages_sent"),
        ("com_hivemq_networking_connections_current", "mqtt.clients_connected"),
        ("com_hivemq_networking_bytes_read_total", "mqtt.bytes_received"),
        ("com_hivemq_sessions_overall_current", "mqtt.sessions"),
        ("mqtt_publish_received", "mqtt.publish_received"),
        ("mqtt_publish_auth_error", "mqtt.publish_denied"),
        ("queue_message_drop", "mqtt.queue_full_dropped"),
        ("queue_processes", "mqtt.sessions"),
        ("rabbitmq_process_resident_memory_bytes", "process.resident_bytes"),
        ("$SYS/broker/publish/messages/dropped", "mqtt.publish_dropped"),
        ("com_hivemq_messages_dropped_rate", None),
        ("com_hivemq_messages_incoming_publish_rate_count", None),
        ("bytes_received", None),
        ("rabbitmq_global_messages_received_total", None),
        ("enqueue_processes", None),
        ("rocketmq_groups_diff", None),
        ("up", "up"),
        ("kafka_server_brokertopicmetrics_bytesinpersec_oneminuterate", None),
        ("cp_kafka_server_brokertopicmetrics_bytesinpersec_topic_orders", None),
        ("kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec:OneMinuteRate", None),
        ("kafka_producer_producer_metrics_outgoing_byte_rate", None),
        ("kafka_producer_producer_metrics_batch_split_rate", None),
        ("kafka_producer_request", None),
        ("startup", None),
    ],
)
def test_each_exporters_name_has_one_meaning(original, name):
    """Of HiveMQ, VerneMQ and RabbitMQ rates and names that others have, too, stay unknown."""
    assert canonical(original) == name
    assert is_known(original) or name is None


@pytest.mark.parametrize(
    ("original", "mbean", "name"),
    [
        ("kafka_server_BrokerTopicMetrics_Count", "BytesInPerSec", "broker.bytes_in"),
        ("kafka_server_brokertopicmetrics_count", "BytesRejectedPerSec", "broker.bytes_rejected"),
        ("kafka_network_RequestMetrics_Count", "RequestsPerSec", "broker.requests"),
        ("kafka_server_ReplicaManager_Value", "UnderReplicatedPartitions", "broker.under_replicated_partitions"),
        ("kafka_controller_ControllerStats_Count", "UncleanLeaderElectionsPerSec", "broker.unclean_elections"),
        ("kafka_log_Log_Value", "LogEndOffset", "broker.log_end_offset"),
        ("kafka_server_BrokerTopicMetrics_OneMinuteRate", "BytesInPerSec", None),
        ("kafka_network_RequestMetrics_Count", "TotalTimeMs", None),
        ("kafka_server_BrokerTopicMetrics_Count", "", None),
    ],
)
def test_without_rules_the_name_of_the_mbean_is_a_label(original, mbean, name):
    assert canonical(original, {"name": mbean, "topic": "t"}) == name
    assert canonical(original) is None
    assert name is None or is_known(original)


def test_a_label_called_name_means_nothing_elsewhere():
    labels = {"name": "kafka-1"}
    assert canonical("container_memory_rss", labels) == "process.resident_bytes"
    assert canonical("kafka_producer_producer_metrics_batch_split_total", labels) == "producer.batch_splits"
    assert canonical("java_lang_GarbageCollector_CollectionCount", labels) == "jvm.gc_count"


def test_the_last_collection_is_told_in_seconds_where_it_stopped_the_application():
    assert factor("jvm.gc_last_pause_seconds") == 0.001
    assert factor("jvm.gc_seconds") == 1
    assert canonical("java_lang_concurrentmarksweep_lastgcinfo_duration") is None


def test_labels_get_one_name_each():
    labels = {"client-id": "c", "topic_name": "t", "consumergroup": "g", "partition_id": "3", "instance": "b:1"}
    assert labels_of("group.lag", "kafka_consumergroup_lag", labels) == {
        "client_id": "c", "topic": "t", "group": "g", "partition": "3", "instance": "b:1"
    }  # fmt: skip


def test_labels_of_rocketmqs_exporters_are_the_same_as_those_of_its_tools():
    labels = {"clientId": "c", "consumer_group": "g", "localaddr": "a,a,b"}
    assert labels_of("rocketmq.client.pull_rt_ms", "rocketmq_client_consumer_pull_rt", labels) == {
        "client_id": "c", "group": "g", "localaddr": "a,a,b"
    }  # fmt: skip


def test_every_number_that_rocketmqs_tools_print_has_a_name():
    printed = re.findall(r"rocketmq\.[a-z]+\.[a-z0-9_]+", inspect.getsource(rocketmq_admin))
    printed += [f"rocketmq.broker.{name}" for name in rocketmq_admin.STATUS.values()]
    printed += [f"rocketmq.consumer.{name}" for name in rocketmq_admin.SPEEDS]
    assert [name for name in printed if canonical(name) != name] == []


def test_a_topic_inside_the_name_becomes_a_label():
    name = "kafka_server_brokertopicmetrics_bytesinpersec_topic_plant_telemetry_count"
    assert labels_of("broker.bytes_in", name, {}) == {"topic": "plant_telemetry"}
    assert labels_of("broker.bytes_in", name, {"topic": "plant.telemetry"}) == {"topic": "plant.telemetry"}


def test_the_combined_pattern_finds_what_canonical_knows():
    names = ["kafka_server_BrokerTopicMetrics_BytesIn_total", "jvm_memory_used_bytes", "process_open_fds", "startup"]
    found = [name for name in names if is_known(name)]
    assert found == [name for name in names if canonical(name)] == names[:2]
