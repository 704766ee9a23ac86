"""Everything mqlab can read: one module per format, the most specific first."""

from __future__ import annotations

from mqlab.loaders import (
    application_log,
    grafana_csv,
    jmxtool_csv,
    kafka_broker_log,
    kafka_client_log,
    kafka_configs_describe,
    kafka_consumer_groups,
    kafka_consumer_groups_members,
    kafka_consumer_groups_state,
    kafka_get_offsets,
    kafka_topics_describe,
    ledger_csv,
    librdkafka_log,
    mosquitto_conf,
    process_log,
    prometheus_config,
    prometheus_json,
    prometheus_text,
    properties,
    rocketmq_admin,
    rocketmq_broker_log,
    rocketmq_client_log,
    rocketmq_store,
    ss_snapshot,
)
from mqlab.loaders.base import Loader

LOADERS: tuple[Loader, ...] = (
    prometheus_json,
    prometheus_config,
    kafka_topics_describe,
    kafka_configs_describe,
    kafka_consumer_groups_members,
    kafka_consumer_groups_state,
    kafka_consumer_groups,
    kafka_get_offsets,
    rocketmq_admin,
    rocketmq_store,
    ss_snapshot,
    jmxtool_csv,
    grafana_csv,
    prometheus_text,
    ledger_csv,
    kafka_broker_log,
    kafka_client_log,
    rocketmq_broker_log,
    rocketmq_client_log,
    librdkafka_log,
    process_log,
    mosquitto_conf,
    properties,
    application_log,
)
"""The first that recognises a file reads it."""
