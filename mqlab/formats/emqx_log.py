"""Logs of EMQX 4.0 to 5.x: text, and JSON as ``structured`` rebuilds it.

Sample lines::

    2020-02-18 16:10:03.872 [warning] <<"pump-7">>@127.0.0.1:57105 [Session] Dropped msg due to mqueue is full:
    Message(Id=…, QoS=1, Topic=plant/a, From=<<"gw">>, …)
    2023-03-30T20:50:48.088416+08:00 [error] abc@124.79.220.151:58561 [Channel] Cannot publish message to a/b due to Not
    authorized.
    2024-03-20T11:08:39.568980+01:00 [warning] tag: AUTHZ, clientid: client1, msg:
    cannot_publish_to_topic_due_to_not_authorized, peername: 127.0.0.1:47860, username: user1, topic: a/b, reason: …
    2024-03-13T15:45:53.634909+02:00 [warning] msg: log_events_throttled_during_last_period, period: 1 minutes, 0
    seconds, dropped: #{authorization_permission_denied => 4}

At its default level, warning, EMQX tells of no connects and few ends of connections; of traces and lower levels the
reasons of ends are read. Since 5.6 only the first line of a kind and a minute is written, for all clients together:
counts of lines are too low, by what ``log-throttled`` tells. A client id may hold ``@``, blanks and commas: in 4.x the
address begins behind its last ``@``, in 5.x it ends where the next name begins.
"""

from __future__ import annotations

import re

from mqlab.formats.base import Head, Signature, Spec
from mqlab.sources import Reading, Role
from mqlab.tables import EVENTS, VOLUME

_LEVEL = r"\[(?:debug|info|notice|warning|error|critical|alert|emergency)\] "
_ADDRESS = r"(?:\d{1,3}(?:\.\d{1,3}){3}|\[?[0-9a-fA-F:]+\]?):\d+"
_NEXT = r"(?=, (?:msg|mfa|line|peername|username|topic|reason|action|tag|packet|payload)(?:: )|\s*$)"
LAYOUT = (
    rf"{_LEVEL}(?:<<\")?(?P<client_id>.+?)(?:\">>)?@(?P<peer>{_ADDRESS}) \["
    rf"|\[[A-Z]+\] (?P<client_id4>.+?)@(?P<peer4>{_ADDRESS}) msg: "
    rf"|(?:{_LEVEL}|, | - )clientid: (?P<client_id2>.+?){_NEXT}|, username: (?!undefined)(?P<member_id>.+?){_NEXT}"
    rf"|\bClient\((?P<client_id3>.+?)@(?P<peer3>{_ADDRESS})\)|, topic: (?P<topic>.+?){_NEXT}"
    rf"|, peername: (?P<peer2>{_ADDRESS})"
)
"""4.x, traces of 5.x, 5.x, 2.x."""
FORMAT = Spec("emqx-log", Role.BROKER_LOG, (EVENTS, VOLUME), "emqx", Reading.LOG, "mqtt", LAYOUT)

_MESSAGE = r", Topic=(?P<topic>.+?), From="
_REASON = r"\breason: (?P<reason>\w+)"
_ENDS = {
    "normal": "normal", "sock_closed": "closed", "closed": "closed", "tcp_closed": "closed", "ssl_closed": "closed",
    "einval": "closed", "etimedout": "closed",
    "keepalive_timeout": "keep-alive", "idle_timeout": "idle", "kicked": "kicked", "frame_too_large": "frame-too-large",
    "not_authorized": "not-authorized", "proc_heap_too_large": "queue-killed", "message_queue_too_long": "queue-killed",
    "mailbox_overflow": "queue-killed",
}  # fmt: skip
"""What ``{shutdown, …}`` means (emqx_connection, emqx_channel)."""
_SHUT = (
    r"(?:[Tt]erminated?\b.{0,300}?\{shutdown, ?|terminated, reason: |[Ss]hutdown for |Force to close the socket due to "
    r"|(?:socket_force|websocket|tcp|ssl|sock)_closed.*\breason: )\{?(?:shutdown, ?|error, ?)?"
)


def _ended(word: str, told: str) -> Signature:
    return Signature("client-disconnected", begins=rf"{_SHUT}{word}\b", also=LAYOUT, told=told)


SIGNATURES: tuple[Signature, ...] = (
    Signature(
        "log-throttled",
        contains=r"log_events_throttled_during_last_period"
        r"(?:.*?dropped: (?:#\{(?P<reason>\w+) => |\{\"(?P<reason2>\w+)\": ?)(?P<value>\d+))?",
    ),
    Signature(
        "session-queue-dropping",
        contains=r"Dropped msg due to (?:mqueue|queue) is full|dropped_msg_due_to_mqueue_is_full",
        also=_MESSAGE,
        told="queue full",
    ),
    Signature("session-queue-dropping", contains=r"Dropped qos0 msg: |dropped_qos0_msg", also=_MESSAGE, told="qos 0"),
    Signature(
        "quota-exceeded",
        contains=r"Cannot publish messages? to (?P<topic>.*) due to Quota exceeded"
        r"|cannot_publish_to_topic_due_to_quota_exceeded|cannot_publish_to_topic.*\breason: quota_exceeded",
        told="quota",
    ),
    Signature(
        "quota-exceeded",
        contains=r"Dropped the qos2 packet \d+ due to awaiting_rel is full|dropped_the_qos2_packet_due_to_awaiting_rel"
        r"|receive_maximum_exceeded",
        told="receive maximum",
    ),
    Signature(
        "publish-denied",
        contains=r"acl deny publish clientid \[(?P<client_id>.*?)\] username \[.*\] topic \[(?P<topic2>.*)\]"
        r"|Cannot publish messages? to (?P<topic>.*) due to (?P<reason>Not authorized)?"
        r"|cannot_publish_to_topic(?:_due_to_(?P<reason2>\w+))?|authorization_permission_denied.*PUBLISH",
        also=_REASON,
    ),
    Signature(
        "subscribe-denied",
        contains=r"Cannot subscribe (?P<topic>.*) due to (?P<reason>Not authorized)?"
        r"|authorization_permission_denied.*SUBSCRIBE|cannot_subscribe_topic",
        also=_REASON,
    ),
    Signature(
        "rate-limited",
        contains=r"Pause (?P<value>\d+)ms due to rate limit|pause_time_due_?to_rate_limit"
        r"|socket_receive_paused_by_rate_limit",
        also=r"(?:paused_ms: |pause_time: )(?P<value>\d+)",
    ),
    Signature(
        "flapping-detected",
        contains=r"Flapping detected: |flapping_detected",
        also=r"(?:disconnected |detect_cnt: )(?P<value>\d+)",
    ),
    Signature(
        "session-killed",
        contains=r"(?P<reason>maximum heap size) reached|reason => (?P<reason2>proc_heap_too_large)"
        r"|(?P<reason3>mailbox_overflow|message_queue_too_long)",
    ),
    Signature("session-takeover", begins=rf"{_SHUT}(?P<reason>takeovered|takenover|discarded|conflict)\b", also=LAYOUT),
    *(_ended(word, told) for word, told in _ENDS.items()),
    Signature(
        "client-disconnected",
        contains=r"\[Channel\] Client .* login failed for |\bauthentication_failure\b",
        told="not-authorized",
    ),
    Signature(
        "client-disconnected", contains=r"frame is too large|frame_parse_error.*frame_too_large", told="frame-too-large"
    ),
    Signature("too-many-files", contains=r"Accept error on .*(?:emfile|EMFILE)", told="too many open files"),
    Signature(
        "alarm-raised",
        contains=r"New Alarm: (?P<reason>\w+)?|Alarm (?P<reason2>\w+) is activated|alarm_is_activated"
        r"|(?P<reason3>session_buffer_high_watermark)",
        also=r"\bname: (?P<reason>\w+)",
    ),
    Signature(
        "alarm-cleared",
        contains=r"Alarm (?P<reason>\w+) is deactivated|alarm_is_deactivated",
        also=r"\bname: (?P<reason>\w+)",
    ),
)

_OURS = re.compile(
    rf"^\W{{0,2}}\d{{4}}-\d\d-\d\d[T ]\S+ (?:[A-Z]+ )?{_LEVEL}"
    rf"(?:.*@{_ADDRESS} \[[\w/]+\] |.*\bmsg: \w+|.*\bmfa: emqx|\[[\w/ ]+\] )"
    rf"|^\W{{0,2}}\d{{4}}-\d\d-\d\dT\S+ \[[A-Z]+\] .+@{_ADDRESS} msg: \w"
    r"|@emqttd_\w+:\w+:\d|\bemqx_\w+:\w+/\d|\"mfa\": ?\"emqx|log_events_throttled_during_last_period"
)


def recognise(head: Head) -> bool:
    """True when at least one of the dated lines is laid out, or written by a module, as only EMQX's are."""
    return any(_OURS.search(line[:2000]) for line in head.lines[:500])
