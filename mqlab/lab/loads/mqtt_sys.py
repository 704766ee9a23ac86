"""A recorder of ``$SYS``, as ``mosquitto_sub -F '%I %t %p'`` prints it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from mqlab.lab.errors import MissingToolError
from mqlab.lab.loads.common import opened

try:
    import paho.mqtt.client as mqtt
    from paho.mqtt.enums import CallbackAPIVersion
except ImportError as missing:
    raise MissingToolError("paho-mqtt", "MQTT loads", "install the Python package paho-mqtt 2") from missing


def main() -> None:
    """Write each message of ``$SYS`` until it is stopped."""
    load = opened()
    with (load.ledgers.parent / "metrics" / f"{load.name}.log").open("a", buffering=1) as out:

        def got(_client: Any, _data: Any, message: Any) -> None:
            now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S+0000")
            out.write(f"{now} {message.topic} {message.payload.decode(errors='replace')}\n")

        client = mqtt.Client(CallbackAPIVersion.VERSION2, load.name)
        client.on_connect = lambda asked, *_: asked.subscribe("$SYS/#")
        client.on_message = got
        host, port = load.address.split(",")[0].rsplit(":", 1)
        client.connect(host, int(port), 60)
        client.loop_start()
        load.stopping.wait()
        client.disconnect()
        client.loop_stop()


if __name__ == "__main__":
    main()
