"""Logs of mosquitto 1.x, 2.0 and 2.1.

Sample lines::

    1795261185: mosquitto version 2.0.11 starting
    1795261186: New client connected from 10.41.3.40:46436 as sysmon-ops-1 (p2, c1, k60, u'ops').
    1795262522: Client agent-edge-1 already connected, closing old connection.
    2026-11-21T12:40:37: Outgoing messages are being dropped for client historian.
    1795265264: Sending PUBLISH to viewer (d0, q1, r0, m7, 'grid/n1/power', ... (21 bytes))
    1795265264: viewer 1 grid/#

The seconds count from 1970, so such a log needs no zone; ``log_timestamp_format`` shows the broker's own clock.
"""

from __future__ import annotations

import re

from mqlab.formats.base import Head, Spec
from mqlab.formats.mosquitto_lines import PREFIX, SIGNATURES
from mqlab.sources import Reading, Role
from mqlab.tables import EVENTS, VOLUME

FORMAT = Spec("mosquitto-log", Role.BROKER_LOG, (EVENTS, VOLUME), "mosquitto", Reading.LOG, "mqtt")

_SURE = "|".join(f"(?:{s.unnamed})" for s in SIGNATURES if not s.unless)
_BESIDES = (
    r"New connection from \S+ on port \d+\.|Saving in-memory database to |No will message specified\."
    r"|(?:Received|Sending) (?:PUBACK|PUBREC|PUBREL|PUBCOMP|PINGREQ|PINGRESP|SUBSCRIBE|SUBACK|CONNACK|DISCONNECT)\b"
    r"|mosquitto version \S+ running|Opening (?:ipv[46]|websockets|unix) listen socket |Config loaded from "
    r"|Client .+ negotiated TLS"
)
BESIDES = rf"^(?:{PREFIX})?(?:{_BESIDES})"
"""Lines of the broker that say nothing; for Polars, too."""
_OURS = re.compile(rf"(?:{PREFIX})?(?:{_SURE}|{_BESIDES}|Connecting bridge \(step \d\) )")
_SHARE = 5
"""Plugins write into the same file, as much as they like."""


def recognise(head: Head) -> bool:
    """True when at least a fifth of the lines are the broker's from their first word on."""
    lines = [line.rstrip("\r") for line in head.lines[:2000] if line.strip()]
    return bool(lines) and sum(bool(_OURS.match(line[:4000])) for line in lines) * _SHARE >= len(lines)
