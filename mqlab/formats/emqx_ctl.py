r"""What ``emqx_ctl`` (4.x) and ``emqx ctl`` (5.x) print → CLIENTS, EVENTS, METRICS, SETTINGS.

Sample lines::

    Client(pump-7, username=undefined, peername=10.0.0.7:59441, clean_start=false, keepalive=60,
        session_expiry_interval=7200, subscriptions=1, inflight=0, awaiting_rel=0, delivered_msgs=4530,
        enqueued_msgs=1000, dropped_msgs=17, connected=false, created_at=1684736435155, connected_at=1684736435155)
    ingest-1 -> $share/ingest/plant/+/telemetry:1
    emqx_a -> topic:t/1 qos:0 nl:0 rh:0 rap:0
    messages.dropped.no_subscriber: 17
    mqtt:tcp:external
      shutdown_count  : [{keepalive_timeout,3},{takeovered,12}]

``enqueued_msgs`` is what waits now, ``dropped_msgs`` what its queue dropped since the session began. Names of metrics
are cut after 30 characters. A client id may hold ``, ``, a topic colons: what surrounds them tells where they end.
Moments are seconds in 4.0 to 4.2 and milliseconds later; none of them says when the command ran.
"""

from __future__ import annotations

import re

from mqlab.formats import console
from mqlab.formats.base import About, Data, Head, Items, Lines, Noise, Spec, regex
from mqlab.formats.values import first_of_each, real, whole
from mqlab.sources import Role
from mqlab.tables import CLIENTS, EVENTS, METRICS, SETTINGS, Row

FORMAT = Spec("emqx-ctl", Role.COMMAND, (CLIENTS, EVENTS, METRICS, SETTINGS), "emqx")

_CLIENT = regex(
    r"^Client ?\((?P<client>(?:(?!, username=).)*+), username=(?:(?!, peername=).)*+"
    r", peername=(?P<peer>[^,\s]+), (?P<fields>.*)\)\s*$"
)
_MEMBER = regex(r"\b(\w+)=([^,)]+)")
_SUBSCRIBED = (
    regex(r"^(?P<client>(?:(?! -> topic:).)*+) -> topic:(?P<topic>.*) qos:(?P<qos>[012])(?: (?:nl|rh|rap):\d)*\s*$"),
    regex(r"^(?P<client>(?:(?! -> ).)*+) -> (?P<topic>.*):(?P<qos>[012])\s*$"),
)
"""As 5.x and as 4.x print it."""
_METRIC = regex(r"^(?P<name>(?:[a-z_]+[./])+[a-z_]*[a-z_/-]|[a-z_]+/[a-z_/-]+)\s*: (?P<value>-?\d+)\s*$")
_LISTENER = regex(r"^(?P<name>(?:mqtt|tcp|ssl|ws|wss|quic|http|dashboard|management|https):[\w.:-]+)\s*$")
_FIELD = regex(
    r"^\s+(?P<name>listen_on|acceptors|proxy_protocol|running|max_conns|max_conn|current_conns?|shutdown_count)"
    r"\s*: (?P<value>(?:.*\S)?)\s*$"
)
_COUNTED = regex(r"\{([a-z_]+),(\d+)\}")
_ASIDE = regex(
    r"^(?:Node '[^']*' \S+ is|emqx \S+ is running|sysdescr|version\s*:|uptime\s*:|datetime\s*:)|emqx(?:_|[ ])ctl"
)
_OWN = (
    _CLIENT,
    *_SUBSCRIBED,
    _LISTENER,
    re.compile(r"^(?:messages|packets|session|delivery)\."),
    re.compile(
        r"^(?:(?:live_)?connections|channels|sessions|subscriptions|topics|retained)\.(?:\w+\.)?(?:count|max) *:"
    ),
    re.compile(r"^Node '[^']+' \S+ is (?:started|running|stopped)"),
)
_INSIDE = regex(r"^\s|emqx(?:_|\s)ctl|^[$#] ")


def recognise(head: Head) -> bool:
    """True when the first lines are clients, subscriptions, counters or listeners as these commands print them."""
    lines = [line for line in console.plain_lines(head) if not _INSIDE.search(line)][:20]
    own = sum(any(one.search(line) for one in _OWN) for line in lines)
    told = sum(any(one.search(line) for one in (*_OWN, _METRIC)) for line in lines)
    return own > 0 and told * 2 > len(lines)


def parse(lines: Lines, about: About) -> Items:
    """A client for each line about one, a subscription, a counter, a field of the listener named above."""
    listener = None
    for one in console.shown(lines, about):
        rows = _rows(one, listener)
        if rows is not None:
            yield Data(one.line, rows)
        elif named := _LISTENER.search(one.plain):
            listener = named["name"]
            yield Noise(one.line)
        else:
            yield Noise(one.line) if _ASIDE.search(one.plain) else console.remark(one)


def _rows(one: console.Shown, listener: str | None) -> list[Row] | None:
    """None where the line is nothing that becomes a row."""
    if client := _CLIENT.search(one.plain):
        return [_client(one, client)]
    if told := next((found for form in _SUBSCRIBED if (found := form.search(one.plain))), None):
        about = {"client_id": told["client"], "topic": told["topic"], "value": real(told["qos"])}
        return [EVENTS.row(at=one.at, system="mqtt", kind="client-subscribed", **about)]
    if metric := _METRIC.search(one.plain):
        return [METRICS.row(at=one.at, name=f"emqx.{metric['name']}", labels={}, value=real(metric["value"]))]
    if field := _FIELD.search(one.plain):
        return _of_listener(one, field["name"], field["value"], listener)
    return None


def _client(one: console.Shown, client: re.Match[str]) -> Row:
    told = first_of_each(_MEMBER.findall(client["fields"]))
    return CLIENTS.row(
        at=one.at,
        system="mqtt",
        client_id=client["client"],
        peer=None if client["peer"] == "undefined" else client["peer"],
        connected=told.get("connected"),
        clean=told.get("clean_start"),
        expiry=whole(told.get("session_expiry_interval")),
        queued=whole(told.get("enqueued_msgs")),
        dropped=whole(told.get("dropped_msgs")),
    )


def _of_listener(one: console.Shown, name: str, value: str, listener: str | None) -> list[Row]:
    """A setting; of ``shutdown_count`` how many connections ended in which way."""
    if name != "shutdown_count":
        told = {"scope": "broker", "owner": listener, "origin": "describe", "key": f"listener.{name}", "value": value}
        return [SETTINGS.row(at=one.at, **told)]
    return [
        METRICS.row(
            at=one.at,
            name="emqx.shutdown_count",
            labels={"listener": listener or "", "reason": reason},
            value=real(count),
        )
        for reason, count in _COUNTED.findall(value)
    ]
