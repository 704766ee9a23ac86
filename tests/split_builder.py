"""A producer that splits its batches into themselves, drawn by hand: its settings, splits and bytes."""

from __future__ import annotations

from facts_builder import card, log, ramp, series, settings, splits, version

BIG = settings("at owner key value\n10:00:00 app batch.size 1638400")
LIMIT = settings(
    "at owner key value\n- orders max.message.bytes 1048588", "topics.txt", scope="topic", origin="describe"
)
BATCH = 1_300_000
LOOP = splits(300, 60, 2)  # 120 splits, 10:05:00 to 10:05:59
SENT_BY_LOOP = 20 * BATCH  # every ten seconds
CARD = card("app-1", ramp((60, 100_000)), ramp((30, 200_000), (6, 200_000 + SENT_BY_LOOP), (24, 200_000)))
JMX = {"instance": "app-1:9404", "client_id": "app"}
OUTGOING = series("producer.outgoing_bytes", ramp((30, 200_000), (6, 200_000 + SENT_BY_LOOP), (24, 200_000)), **JMX)
COUNTED = series("producer.batch_splits", ramp((30, 0), (6, 20), (24, 0)), **JMX)
BROKER = {"instance": "kafka-1:9404", "topic": "orders"}
REJECTED = series("broker.bytes_rejected", ramp((30, 0), (6, SENT_BY_LOOP), (24, 0)), **BROKER)
ACCEPTED = series("broker.bytes_in", ramp((60, 200_000)), **BROKER)
IDEMPOTENT = (version("3.9.1"), BIG, LIMIT, LOOP, log())
