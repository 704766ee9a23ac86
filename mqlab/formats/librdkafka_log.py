"""Lines of librdkafka (confluent-kafka, node-rdkafka, php-rdkafka) on standard error or inside application logs.

Sample line::

    %4|1729766123.421|REQTMOUT|app#producer-1| [thrd:b1/1]: b1/1: Timed out 1 in-flight, 0 retry-queued …
"""

from __future__ import annotations

import re

from mqlab.formats import kafka_layout
from mqlab.formats.base import Head, Signature, Spec
from mqlab.sources import Reading, Role
from mqlab.tables import EVENTS, SETTINGS, VOLUME

FORMAT = Spec(
    "librdkafka-log", Role.CLIENT_LOG, (EVENTS, SETTINGS, VOLUME), "kafka", Reading.LOG, "kafka", kafka_layout.LAYOUT
)

_LINE = re.compile(r"^%\d\|\d{10}\.\d{3}\||\b(?:REQTMOUT|MAXPOLL|SESSTMOUT|COMMITFAIL)\b.*\[thrd:")

SIGNATURES: tuple[Signature, ...] = (
    Signature("request-timeout", contains=r"REQTMOUT.*Timed out (?P<value>\d+) in-flight"),
)


def recognise(head: Head) -> bool:
    """True when at least a fifth of the lines are librdkafka's."""
    lines = [line for line in head.lines if line.strip()]
    return bool(lines) and sum(bool(_LINE.search(line)) for line in lines) * 5 >= len(lines)
