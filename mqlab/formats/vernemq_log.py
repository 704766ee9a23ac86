"""Logs of VerneMQ: console.log of lager (1.x) and of OTP's logger (2.x).

Sample lines::

    2020-08-04 10:36:03.858 [warning] <0.4739.33>@vmq_mqtt_fsm:connected:442 client {[],<<"gw-1">>} with username
    <<"ops">> stopped due to keepalive expired
    2020-08-04 10:36:03.858 [debug] <0.225.0>@vmq_queue:online:221 client {[],<<"gw-1">>} disconnected due to multiple
    sessions not allowed
    2020-08-04 10:36:03.858 [error] <0.1.0>@vmq_mqtt_fsm:auth_on_publish:877 can't auth publish [<<"ops">>,{[],
    <<"gw-1">>},1,[<<"a">>,<<"b">>],<<"…">>,false] due to not_authorized

The words are those of ``vmq_mqtt_fsm``, ``vmq_mqtt5_fsm`` and ``vmq_queue``. Connects, ends by the peer and messages
that a queue drops are not in its log, only in its metrics.
"""

from __future__ import annotations

import re

from mqlab.formats.base import Head, Signature, Spec
from mqlab.sources import Reading, Role
from mqlab.tables import EVENTS, VOLUME

FORMAT = Spec("vernemq-log", Role.BROKER_LOG, (EVENTS, VOLUME), "vernemq", Reading.LOG, "mqtt")

_SUBSCRIBER = r"\{(?:(?:\[\]|\"[^\"]*\"),<<\"(?P<client_id>.*?)\">>\})?"
"""Mount point and client id, as Erlang prints them."""

SIGNATURES: tuple[Signature, ...] = (
    Signature(
        "client-disconnected",
        contains=rf"client {_SUBSCRIBER}.*?(?: with username <<\"(?P<member_id>.*)\">>)?"
        r" stopped due to keepalive expired",
        told="keep-alive",
    ),
    Signature(
        "session-takeover",
        contains=rf"client {_SUBSCRIBER}.* disconnected due to multiple sessions not allowed",
        told="multiple sessions not allowed",
    ),
    Signature(
        "client-disconnected",
        contains=rf"stopped connected session for client {_SUBSCRIBER}.* due to unexpected frame type",
        told="protocol-error",
    ),
    Signature(
        "publish-denied",
        contains=rf"can't auth publish \[(?:(?:<<\"(?P<member_id>.*?)\">>|[^,]*),{_SUBSCRIBER})?"
        r"(?:.*\] due to (?P<reason>\S+)\s*$)?",
    ),
    Signature("broker-starting", contains=r"Application vmq_server started on node '"),
)

_OURS = re.compile(r"@vmq_\w+:|\bvmq_\w+:\w+[:/]\d|Application vmq_\w+ started|client \{\[\],<<\".*stopped due to")


def recognise(head: Head) -> bool:
    """True when a line comes from one of VerneMQ's modules."""
    return any(_OURS.search(line[:2000]) for line in head.lines[:2000])
