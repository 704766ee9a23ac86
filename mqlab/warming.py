"""Warming up: a server that has read something answers the next triage in half the time."""

from __future__ import annotations

import tempfile
from pathlib import Path

from mqlab.capture import open_capture

_MATERIAL = {
    "server.log": "[2024-10-24 10:00:00,000] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n",
    "client.log": (
        "2024-10-24 10:00:00,000 INFO  ProducerConfig values: \n"
        "\tacks = all\n"
        "2024-10-24 10:00:01,000 WARN  [Producer clientId=p] Got error produce response in correlation id 7 on "
        "topic-partition t-0, splitting and retrying (2147483646 attempts left). Error: MESSAGE_TOO_LARGE\n"
    ),
    "consumer-groups.txt": (
        "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID\n"
        "g     t     0         709            718            9   c-1         /10.0.0.1 c\n"
    ),
    "producer.properties": "acks=all\nbatch.size=16384\n",
    "up.json": (
        '{"status":"success","data":{"resultType":"matrix","result":['
        '{"metric":{"__name__":"up","instance":"b:1"},"values":[[1729764000,"1"],[1729764010,"1"]]}]}}'
    ),
}


def warm_up() -> None:
    """Read a little of each kind of material with the session at hand, and forget it.

    Raises:
        MqlabError: no session, or no place for temporary files.
    """
    with tempfile.TemporaryDirectory() as place:
        material = Path(place, "material")
        material.mkdir()
        for name, text in _MATERIAL.items():
            (material / name).write_text(text, encoding="utf-8")
        open_capture(material, workspace=str(Path(place, "workspace")))
