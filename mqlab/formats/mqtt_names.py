"""Who and what a kept line of MQTT is about: what each format knows of its own lines, put together.

Each pattern begins with words that stand in lines of one broker or client only.
"""

from __future__ import annotations

from mqlab.formats import emqx_log, hivemq_log, paho_log, rabbitmq_log, vernemq_log

CLIENT_IDS = (
    *hivemq_log.CLIENT_IDS,
    *rabbitmq_log.CLIENT_IDS,
    *vernemq_log.CLIENT_IDS,
    *emqx_log.CLIENT_IDS,
    *paho_log.CLIENT_IDS,
)
TOPICS = (*hivemq_log.TOPICS, *rabbitmq_log.TOPICS, *emqx_log.TOPICS, *paho_log.TOPICS)
GROUPS = hivemq_log.GROUPS
MEMBER_IDS = (*rabbitmq_log.MEMBER_IDS, *vernemq_log.MEMBER_IDS, *emqx_log.MEMBER_IDS)
PEERS = (*hivemq_log.PEERS, *rabbitmq_log.PEERS, *emqx_log.PEERS, *paho_log.PEERS)
DOTTED = rabbitmq_log.DOTTED
"""Lines whose topic is as AMQP writes it: ``a.*.#`` for ``a/+/#``."""
