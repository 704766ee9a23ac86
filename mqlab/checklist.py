"""The first hour of an incident: read-only commands per broker, what rotates away first on top."""

from __future__ import annotations

from collections.abc import Iterable

from mqlab.commands import commands
from mqlab.errors import MqlabError

_VARIABLES = {
    "kafka": (
        "BOOTSTRAP=broker-1:9092",
        "POD=name-of-a-client-pod",
        "KAFKA_LOG_DIR=/var/log/kafka",
        "TOPIC=name  BROKER=id",
        "CLIENT_PROPERTIES=file",
        'PROMETHEUS=http://prometheus:9090  START=$(date -u -d "-6 hours" +%s)  END=$(date -u +%s)',
    ),
    "rocketmq": (
        "NAMESRV=namesrv:9876",
        "GROUP=consumer-group  TOPIC=name",
        "BROKER_ADDR=broker:10911",
        "ROCKETMQ_LOG_DIR=$HOME/logs/rocketmqlogs  ROCKETMQ_STORE=$HOME/store",
    ),
    "mqtt": (
        "MQTT_HOST=broker  TOPIC=filter",
        "MQTT_UNIT=mosquitto  MQTT_LOG_DIR=/var/log/emqx",
        "MQTT_CONF=/etc/mosquitto/mosquitto.conf  ACL_FILE=/etc/mosquitto/acl",
        "POD=name-of-a-client-pod",
        'PROMETHEUS=http://prometheus:9090  START=$(date -u -d "-6 hours" +%s)  END=$(date -u +%s)',
    ),
}
_STEPS = {
    "kafka": (
        "kafka-events", "kafka-client-previous", "kafka-client-log", "kafka-broker-logs", "kafka-groups",
        "kafka-members", "kafka-state", "kafka-log-start", "kafka-log-end", "kafka-topics", "kafka-topic-configs",
        "kafka-broker-configs", "kafka-client-settings", "kafka-host-metrics", "kafka-client-metrics",
        "kafka-broker-metrics",
    ),
    "rocketmq": (
        "rocketmq-client-log", "rocketmq-broker-logs", "rocketmq-connection", "rocketmq-progress",
        "rocketmq-progress-all", "rocketmq-consume-stats", "rocketmq-status", "rocketmq-topic-status",
        "rocketmq-store", "rocketmq-route", "rocketmq-broker-status", "rocketmq-broker-config", "rocketmq-clusters",
    ),
    "mqtt": (
        "mqtt-client-log", "mqtt-broker-log", "mqtt-broker-logs", "mqtt-peers", "mqtt-sys", "mqtt-emqx-clients",
        "mqtt-emqx-subscriptions", "mqtt-emqx-metrics", "mqtt-emqx-stats", "mqtt-emqx-listeners", "mqtt-emqx-memory",
        "mqtt-settings", "mqtt-acl", "mqtt-host-metrics",
    ),
}  # fmt: skip
_HINTS = {
    "kafka": "On a secured cluster add --command-config FILE to the kafka-*.sh commands.",
    "rocketmq": "mqadmin prints times in the zone of this machine; export TZ=UTC first. With ACL it needs tools.yml.",
    "mqtt": "The emqx_ctl commands are for EMQX only (5.x: emqx ctl); leave them out elsewhere.",
}


class UnknownSystemError(MqlabError):
    """There is no checklist for this system."""

    def __init__(self, system: str, known: Iterable[str]) -> None:
        super().__init__(f"No checklist for {system!r}. Known: {', '.join(known)}.")


def checklist(system: str) -> str:
    """What to run in the first hour on *system*: kafka, rocketmq or mqtt.

    Raises:
        UnknownSystemError: there is no checklist for it.
    """
    if system not in _STEPS:
        raise UnknownSystemError(system, _STEPS)
    known = commands()
    lines = [
        f"# First hour of an incident on {system}: read-only, what rotates away first on top.",
        "# Each output is saved under a name that bears the UTC moment; gather all in one folder and give it to mqlab.",
        f"# {_HINTS[system]}",
        "# Set first:",
        *(f"#   {variable}" for variable in _VARIABLES[system]),
    ]
    for number, name in enumerate(_STEPS[system], start=1):
        lines += ["", f"# {number}. {known[name].why}", known[name].line]
    return "\n".join(lines) + "\n"
