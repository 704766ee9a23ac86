"""Logs of mosquitto 1.x, 2.0 and 2.1.

Sample lines::

    1795261185: mosquitto version 2.0.11 starting
    1795261186: New client connected from 10.41.3.40:46436 as sysmon-ops-1 (p2, c1, k60, u'ops').
    1795262522: Client agent-edge-1 already connected, closing old connection.
    2026-11-21T12:40:37: Outgoing messages are being dropped for client historian.
    1795265264: Sending PUBLISH to viewer (d0, q1, r0, m7, 'grid/n1/power', ... (21 bytes))
    1795265264: viewer 1 grid/#

The seconds count from 1970, so such a log needs no zone; ``log_timestamp_format`` shows the broker's own clock.

The words are those of ``loop.c``, ``handle_*.c``, ``bridge.c`` and others. A client may call itself anything, blanks,
quotes and whole sentences of the broker included. So a line is read from its beginning, where the broker's own words
stand, to its end, and a name is what is left between them. That is why these signatures hold in mosquitto's own files
alone (``Signature.only``).

From 2.1 on ``Client ID [address] disconnected: session taken over.`` is printed whenever a kept session is used again,
also long after its last connection ended. The address is that of the session's last connection: only where that one is
still open was anything taken over, and only then is the ``session-takeover`` one, which its ``peer`` allows to tell. A
session that was restored from disk never had a connection: its address is ``(null):0``, the kind ``session-resumed``.
"""

from __future__ import annotations

import re

from mqlab.formats.base import Head, Signature, Spec
from mqlab.formats.layouts import MONTH, WEEKDAY
from mqlab.sources import Reading, Role
from mqlab.tables import EVENTS, VOLUME

FORMAT = Spec("mosquitto-log", Role.BROKER_LOG, (EVENTS, VOLUME), "mosquitto", Reading.LOG, "mqtt")

_MONTH = f"(?:{MONTH})[a-z]{{0,6}}"
_DATED = rf"\[?(?:(?:{WEEKDAY})[a-z]{{0,6}},? )?(?:\d|{_MONTH} )(?:[\d/.,:+ TZ\]-]|{_MONTH}| [A-Z]{{3,5}}){{6,32}}?: "
PREFIX = (
    rf"(?:1\d{{9}}: |{_DATED}|[A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d mosquitto: "
    r"|\d{4}-\d\d-\d\dT[\d:.,]{8,18}(?:Z|[+-]\d\d:?\d\d) mosquitto: )"
)
"""Seconds since 1970, ``log_timestamp_format`` as ``layouts`` reads it, or what is left of syslog's envelope."""
END = r"\s*$"
ERRNO = (
    r"(?:Connection reset by peer|Broken pipe|Connection timed out|Connection refused|No route to host"
    r"|Network is unreachable|Transport endpoint is not connected)"
)
"""Errors of a socket, by ``strerror``, that say no more than that the other side is gone."""
_LEFT = r"Client (?:(?P<client_id>.+) \[(?:\(null\):0|(?P<peer>\S+))\]|(?P<client_id2>.+)) disconnected"
_FLAGS = {("0", "0"): "", ("0", "1"): "retained", ("1", "0"): "dup", ("1", "1"): "dup retained"}


def _own(kind: str, begins: str, told: str = "") -> Signature:
    return Signature(kind, begins=f"(?:{begins}){END}", told=told, only=True)


def _connected(clean: int, told: str) -> Signature:
    begins = (
        r"New (?:client|bridge) connected from (?P<peer>\S+) as (?P<client_id>.+?) "
        rf"\((?:p\d+, )?c{clean}, k(?P<value>\d+)(?:, u'(?P<member_id>.*)')?\)\.?"
    )
    return _own("client-connected", begins, told)


def _publish(words: str, dup: str = r"\d", retained: str = r"\d") -> str:
    return rf"{words} (?P<client_id>.+?) \(d{dup}, q\d, r{retained}, m\d+, '(?P<topic>.*)', \.\.\. "


def _traced(kind: str, words: str) -> tuple[Signature, ...]:
    size = r"\((?P<value>\d+) bytes\)\)"
    return tuple(_own(kind, _publish(words, d, r) + size, told) for (d, r), told in _FLAGS.items())


SENTENCES = (
    r"Received |Sending |No will |Will message |New |Client |Bridge |Opening |Config |mosquitto |Saving |Error|Warning"
    r"|Connecting |Socket |Bad |Denied |Dropped |Rejected |Expiring |Outgoing |OpenSSL |Protocol error|Invalid |Reused "
    r"|Reloading |Loading |Restored |Plugin |Empty |Too |\s"
)
"""How the broker's other lines begin, which may name a client too."""

SIGNATURES: tuple[Signature, ...] = (
    *_traced("publish-sent", "Sending PUBLISH to"),
    *_traced("publish-received", "Received PUBLISH from"),
    _connected(0, "persistent"),
    _connected(1, "clean"),
    _own("session-takeover", r"Client (?P<client_id>.+) already connected, closing old connection\.",
         "already connected"),
    _own("session-resumed", r"Client (?P<client_id>.+) \[\(null\):0\] disconnected: session taken over\.",
         "session taken over"),
    _own("session-takeover", rf"{_LEFT}: session taken over\.", "session taken over"),
    _own("client-disconnected", rf"{_LEFT}\.", "normal"),
    _own("client-disconnected", r"Client (?P<client_id3>.+) has exceeded timeout, disconnecting\."
         rf"|{_LEFT}: exceeded timeout\.", "keep-alive"),
    _own("client-disconnected", r"Socket error on client (?:<unknown>|(?P<client_id3>.+)), disconnecting\."
         r"|Client (?:<unknown>|(?P<client_id4>.+)) closed its connection\."
         rf"|{_LEFT}: (?:connection closed by client|{ERRNO})\."
         r"|Bad socket read/write on client (?P<client_id5>.+): [^:]+", "closed"),
    _own("client-disconnected", rf"{_LEFT}(?:,|:) (?:not|no longer) authori[sz]ed\.", "not-authorized"),
    _own("client-disconnected", rf"{_LEFT}(?: due to|:) (?:malformed packet|protocol error)\.", "protocol-error"),
    _own("client-disconnected", rf"{_LEFT}(?: due to|:) oversize (?:packet|payload)\.", "frame-too-large"),
    _own("client-disconnected", r"Client (?P<client_id3>.+) been disconnected by administrative action\."
         rf"|{_LEFT}(?: by|:) administrative action\.", "kicked"),
    _own("client-disconnected", rf"{_LEFT}(?: due to|:) (?P<reason>.*)\."),
    _own("session-expired", r"Expiring (?:persistent )?client (?P<client_id>.+) due to timeout\."),
    _own("session-queue-dropping", r"Outgoing messages are being dropped for client (?P<client_id>.+)\.", "queue full"),
    _own("publish-denied", _publish("Denied PUBLISH from") + r"\(\d+ bytes\)\)"),
    _own("client-unsubscribed", r"Received UNSUBSCRIBE from (?P<client_id>.+?)"),
    _own("broker-starting", r"mosquitto version (?P<reason>\S+) (?:\(.*\) )?starting"),
    _own("settings-reloaded", r"Reloading config\."),
    _own("recovered", r"mosquitto version (?P<reason>\S+) (?:\(.*\) )?running"),
    _own("listens-locally", r"Starting in local only mode\. .*"),
    _own("broker-stopping", r"mosquitto version (?P<reason>\S+) (?:\(.*\) )?terminating"),
    _own("bridge-connecting", r"Connecting bridge (?:\(step 1\) (?P<client_id>.+)|(?P<client_id2>[^(].*)) "
         r"\((?P<reason>\S+:\d+)\)"),
    Signature("client-subscribed", begins=rf"(?P<client_id>.+) (?P<value>[012]) (?P<topic>\S.*?){END}",
              unless=SENTENCES, only=True),
    Signature("subscribe-denied", begins=rf"(?P<client_id>.+) (?:128|135) (?P<topic>\S.*?){END}",
              unless=SENTENCES, only=True),
)  # fmt: skip
"""A subscription's line is ``ID QOS FILTER``: the broker prints the code of its SUBACK."""

_SURE = "|".join(f"(?:{s.unnamed})" for s in SIGNATURES if not s.unless)
_BESIDES = (
    r"New connection from \S+ on port \d+\.|Saving in-memory database to |No will message specified\."
    r"|(?:Received|Sending) (?:PUBACK|PUBREC|PUBREL|PUBCOMP|PINGREQ|PINGRESP|SUBSCRIBE|SUBACK|CONNACK|DISCONNECT)\b"
    r"|Opening (?:ipv[46]|websockets|unix) listen socket |Config loaded from "
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
