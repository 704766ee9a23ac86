# ruff: noqa: E501 - lines of brokers stay in one piece
"""What EMQX's logs say, in the layouts of 4.0, 4.3, 5.0, 5.6 and as JSON."""

import pytest
from log_lines import events, kept

from mqlab.formats import emqx_log
from mqlab.formats.base import Head
from mqlab.material import envelopes

FORM = emqx_log.FORMAT.name
OLD, NEW, FIVE = "2020-02-18 16:10:03.872 ", "2023-03-30T20:50:48.088416+08:00 ", "2024-03-20T11:08:39.568980+01:00 "

# line, kind, value, reason, names
LINES = (
    (f'{OLD}[warning] <<"pump-7">>@127.0.0.1:57105 [Session] Dropped msg due to mqueue is full: Message(Id=<<0,1>>, QoS=1, Topic=plant/a, From=<<"gw">>, Flags=[], Headers=#{{}})',
     "session-queue-dropping", None, "queue full", {"client_id": "pump-7", "topic": "plant/a", "peer": "127.0.0.1:57105"}),
    (f"{NEW}[error] a@b c@124.79.220.151:58561 [Channel] Cannot publish message to a/b due to Not authorized.",
     "publish-denied", None, "Not authorized", {"client_id": "a@b c", "topic": "a/b", "peer": "124.79.220.151:58561"}),
    (f"{NEW}[warning] gw@10.0.0.1:5 [Channel] Cannot publish messages to a/b due to Quota exceeded.",
     "quota-exceeded", None, "quota", {"client_id": "gw", "topic": "a/b", "peer": "10.0.0.1:5"}),
    (f"{FIVE}[warning] clientid: gw, msg: cannot_publish_to_topic_due_to_quota_exceeded, peername: 10.0.0.1:5, username: u, topic: a/b, reason: quota_exceeded",
     "quota-exceeded", None, "quota", {"client_id": "gw", "topic": "a/b", "member_id": "u", "peer": "10.0.0.1:5"}),
    (f"{NEW}[warning] gw@10.0.0.1:5 [Channel] Dropped the qos2 packet 37923 due to awaiting_rel is full.",
     "quota-exceeded", None, "receive maximum", {"client_id": "gw", "peer": "10.0.0.1:5"}),
    (f"{NEW}[warning] gw@10.0.0.1:5 [Channel] Client gw (Username: 'ops') login failed for bad_username_or_password",
     "client-disconnected", None, "not-authorized", {"client_id": "gw", "peer": "10.0.0.1:5"}),
    (f"{FIVE}[warning] tag: AUTHN, clientid: gw, msg: authentication_failure, peername: 10.0.0.1:5, username: u, reason: not_authorized",
     "client-disconnected", None, "not-authorized", {"client_id": "gw", "member_id": "u", "peer": "10.0.0.1:5"}),
    (f"{FIVE}[error] clientid: gw, msg: frame_parse_error, peername: 10.0.0.1:5, reason: frame_too_large",
     "client-disconnected", None, "frame-too-large", {"client_id": "gw", "peer": "10.0.0.1:5"}),
    (f"{FIVE}[warning] clientid: gw, msg: session_buffer_high_watermark, peername: 10.0.0.1:5, mqueue_length: 900, inflight_count: 32",
     "alarm-raised", None, "session_buffer_high_watermark", {"client_id": "gw", "peer": "10.0.0.1:5"}),
    (f"{NEW}[warning] gw@10.0.0.1:5 [Connection] Pause 2100ms due to rate limit",
     "rate-limited", 2100.0, None, {"client_id": "gw", "peer": "10.0.0.1:5"}),
    (f"{NEW}[info] gw@10.0.0.1:5 [Connection] Terminate. reason: {{shutdown,takeovered}}",
     "session-takeover", None, "takeovered", {"client_id": "gw", "peer": "10.0.0.1:5"}),
    (f"{NEW}[info] gw@10.0.0.1:5 [Connection] Terminate. reason: {{shutdown,keepalive_timeout}}",
     "client-disconnected", None, "keep-alive", {"client_id": "gw", "peer": "10.0.0.1:5"}),
    (f"{FIVE}[warning] clientid: <b>x</b>, 1, line: 792, mfa: emqx_session:drop/2, msg: dropped_msg_due_to_mqueue_is_full, peername: 10.0.0.7:59441, queue: #{{len => 1000,max_len => 1000}}, topic: plant/a",
     "session-queue-dropping", None, "queue full", {"client_id": "<b>x</b>, 1", "topic": "plant/a", "peer": "10.0.0.7:59441"}),
    (f"{FIVE}[warning] tag: AUTHZ, clientid: client1, msg: cannot_publish_to_topic_due_to_not_authorized, peername: 127.0.0.1:47860, username: user1, topic: republish-event/1, reason: not_authorized",
     "publish-denied", None, "not_authorized", {"client_id": "client1", "topic": "republish-event/1", "member_id": "user1", "peer": "127.0.0.1:47860"}),
    (f"{FIVE}[warning] clientid: test, msg: authorization_permission_denied, peername: 127.0.0.1:54870, username: test, topic: t/#, action: SUBSCRIBE(Q0), source: file",
     "subscribe-denied", None, None, {"client_id": "test", "topic": "t/#", "member_id": "test", "peer": "127.0.0.1:54870"}),
    (f"{FIVE}[warning] msg: log_events_throttled_during_last_period, period: 1 minutes, 0 seconds, dropped: #{{authorization_permission_denied => 4}}",
     "log-throttled", 4.0, "authorization_permission_denied", {}),
    (f"{FIVE}[warning] tag: RATE, clientid: gw, msg: socket_receive_paused_by_rate_limit, peername: 10.0.0.1:5, paused_ms: 800",
     "rate-limited", 800.0, None, {"client_id": "gw", "peer": "10.0.0.1:5"}),
    (f"{FIVE}[info] clientid: gw, msg: socket_force_closed, peername: 10.0.0.1:5, reason: takenover",
     "session-takeover", None, "takenover", {"client_id": "gw", "peer": "10.0.0.1:5"}),
    (f"{FIVE}[error] msg: alarm_is_activated, name: high_system_memory_usage, message: over 70%",
     "alarm-raised", None, "high_system_memory_usage", {}),
    (f"{FIVE}[warning] msg: alarm_is_deactivated, mfa: emqx_alarm:do_actions/3(424), name: high_system_memory_usage",
     "alarm-cleared", None, "high_system_memory_usage", {}),
    (f"{NEW}[warning] [Alarm Handler] Alarm high_cpu_usage is deactivated, cpu usage is lower than 60%",
     "alarm-cleared", None, "high_cpu_usage", {}),
)  # fmt: skip


def told(kind, value, reason, names):
    said = {"kind": kind, "system": "mqtt", "value": value, "reason": reason, **names}
    return {name: word for name, word in said.items() if word is not None}


def test_each_line_says_who_lost_what_and_why():
    assert events([line for line, *_ in LINES], FORM) == [told(*rest) for _, *rest in LINES]


def test_lines_of_other_things_are_only_counted():
    others = [
        f"{NEW}[info] [Broker] started", f"{FIVE}[info] msg: config_changed, mfa: emqx_conf:x/1",
        f"{FIVE}[debug] clientid: test, msg: mqtt_packet_received, packet: PINGREQ(Q0, R0, D0), peername: 127.0.0.1:64391",
    ]  # fmt: skip
    assert kept(others, FORM) == [False, False, False]


@pytest.mark.parametrize("time", ["1702604675872987", '"2023-12-15T02:24:35.872987+01:00"'])
def test_a_record_of_json_reads_as_the_text_would(time):
    record = (
        f'{{"time":{time},"level":"warning","msg":"cannot_publish_to_topic_due_to_not_authorized","mfa":"emqx_channel:x/2",'
        '"clientid":"gw","peername":"10.0.0.1:5","topic":"a/b","reason":"not_authorized"}'
    )
    assert events([envelopes.rebuilt(record)], FORM) == [
        told("publish-denied", None, "not_authorized", {"client_id": "gw", "topic": "a/b", "peer": "10.0.0.1:5"})
    ]


def test_its_logs_are_recognised_and_those_of_others_are_not():
    for line, *_ in LINES:
        assert emqx_log.recognise(Head("x.log", line, len(line))), line
    for line in (
        "2024-01-01 10:00:00.123 [warning] <0.1.0>@vmq_x:y:1 client",
        "1795261185: mosquitto version 2.0.11 starting",
        "[2026-11-21 12:18:43,427] INFO [GroupCoordinator 1]: x",
        "2024-01-01 10:00:00.1 [info] <0.1.0> accepting",
    ):
        assert not emqx_log.recognise(Head("x.log", line, len(line)))
