"""Answers of EMQX's management API, ``/api/v4/clients``, ``/api/v5/subscriptions``, … → CLIENTS, EVENTS, METRICS.

Sample lines::

    {"meta":{"page":1,"limit":100,"count":1},"data":[{"clientid":"pump-7","ip_address":"10.0.0.7","port":59441,
    "clean_start":false,"connected":false,"expiry_interval":7200,"mqueue_len":1000,"mqueue_dropped":17, …
    [{"node":"emqx@10.0.0.1","messages.dropped":17,"session.takenover":3, …

One answer a file, laid out over one line or many. Clients, sessions of 3.0 (``client_id``), subscriptions, metrics,
stats and the counters of rules; of an answer over many lines the first is cited. Moments of 4.x are local time and are
not used: the answer is as old as its file's name says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from mqlab.formats import console
from mqlab.formats.base import About, Data, Head, Items, Lines, Spec, regex
from mqlab.formats.values import filled, real, whole
from mqlab.sources import Role
from mqlab.tables import CLIENTS, EVENTS, METRICS, Row

FORMAT = Spec("emqx-rest", Role.COMMAND, (CLIENTS, EVENTS, METRICS), "emqx")

_OWN = regex(
    r'"(?:mqueue_len|mqueue_dropped|mqueue_max|max_mqueue|inflight_cnt|inflight_len|awaiting_rel(?:_cnt|_len)?'
    r"|subscriptions_(?:cnt|count)|clean_start|packets\.connect\.received|messages\.dropped|live_connections\.count"
    r'|sessions\.count|session\.(?:takeovered|takenover))"\s*:'
)
_SUBSCRIPTION = regex(r'^\{?\s*(?:"(?:meta|data)"|\[?\s*\{).*"topic"\s*:.*"clientid"\s*:|"clientid"\s*:.*"topic"\s*:')
_RULE = regex(r'"(?:sql|rawsql)"\s*:.*"metrics"\s*:|"metrics"\s*:.*"(?:sql|rawsql)"\s*:')
_PART = regex(r'^\s*(?:[{}\[\]]|"(?:[^"\\]|\\.)*"\s*(?:[:,]|$)|-?\d[\d.eE+-]*,?\s*$|(?:true|false|null),?\s*$)')
_JSON = json.JSONDecoder()
_LIST = re.compile(r'\s*(?:\{.*?"data"\s*:\s*)?\[\s*', re.ASCII | re.DOTALL)
_BETWEEN = regex(r"[\s,]*")
_QUOTED = 500
"""Characters of an entry that are cited."""

_Entry = Mapping[str, Any]
_Texts = Mapping[str, str | None]


def recognise(head: Head) -> bool:
    """True for a JSON answer that holds what only EMQX counts of clients, sessions, subscriptions or rules."""
    text = head.text.lstrip("\ufeff \r\n\t")
    begun = " ".join(text[:16_384].split())
    return text[:1] in ("{", "[") and any(one.search(begun) for one in (_OWN, _SUBSCRIPTION, _RULE))


def parse(lines: Lines, about: About) -> Items:
    """Every line of the answer is data, the first with a row for each client, subscription and counter in it."""
    told = console.shown(lines, about)
    at = min((one.at for one in told if one.at is not None), default=None)
    rows = _rows("\n".join(one.plain for one in told), at)
    for one in told:
        if _PART.search(one.plain):
            yield Data(one.line, rows)
            rows = []
        else:
            yield console.remark(one)


def _rows(answer: str, at: int | None) -> list[Row]:
    try:
        return [row for entry in _entries(answer) for row in _told(entry, at)]
    except RecursionError:
        return []


def _entries(answer: str) -> Sequence[_Entry]:
    """The objects that an answer is about; of one that is damaged those above the damage."""
    try:
        read, _ = _JSON.raw_decode(answer.lstrip())
    except ValueError:
        read = _whole_entries(answer)
    listed = read.get("data") if isinstance(read, dict) else read
    if isinstance(listed, list):
        return [entry for entry in listed if isinstance(entry, dict)]
    alone = listed if isinstance(listed, dict) else read
    return [alone] if isinstance(alone, dict) else []


def _whole_entries(answer: str) -> list[_Entry]:
    found: list[_Entry] = []
    begin = _LIST.match(answer)
    place = begin.end() if begin else len(answer)
    while answer[place : place + 1] == "{":
        try:
            entry, end = _JSON.raw_decode(answer, place)
        except ValueError:
            break
        found.append(entry)
        between = _BETWEEN.match(answer, end)
        place = between.end() if between else end
    return found


def _texts(entry: _Entry) -> _Texts:
    """The members as text; what is nested, as JSON."""
    return {_sound(name): member if member is None else _sound(member) for name, member in entry.items()}


def _sound(member: Any) -> str:
    """*member* as text without halves of characters, which no table can hold."""
    text = member if isinstance(member, str) else _compact(member)
    return text.encode("utf-8", "replace").decode("utf-8")


def _compact(member: Any) -> str:
    return json.dumps(member, ensure_ascii=False, separators=(",", ":"))


def _told(entry: _Entry, at: int | None) -> list[Row]:
    told = _texts(entry)
    common = {"at": at, "text": _compact(told)[:_QUOTED]}
    client = told.get("clientid") or told.get("client_id")
    if client is None:
        return _counters(entry, told, common)
    if told.get("topic") is None:
        return [_client(client, told, common)]
    about = {"client_id": client, "topic": told["topic"], "value": real(told.get("qos"))}
    return [EVENTS.row(**common, system="mqtt", kind="client-subscribed", **about)]


def _client(client: str, told: _Texts, common: Mapping[str, Any]) -> Row:
    def either(one: str, other: str) -> str | None:
        return told.get(one) if told.get(one) is not None else told.get(other)

    return CLIENTS.row(
        **common,
        system="mqtt",
        client_id=client,
        peer=filled(":".join(filter(None, (either("ip_address", "ipaddress"), told.get("port"))))),
        connected=(told.get("connected") or "").lower() or None,
        clean=(told.get("clean_start") or "").lower() or None,
        expiry=whole(either("expiry_interval", "session_expiry_interval")),
        queued=whole(either("mqueue_len", "mqueue_length")),
        dropped=whole(told.get("mqueue_dropped")),
    )


def _counters(entry: _Entry, told: _Texts, common: Mapping[str, Any]) -> list[Row]:
    """Counters of a node, or of a rule, whose names begin with ``rule.``."""
    of_rule = told.get("sql") is not None or told.get("rawsql") is not None
    named = {"node": told.get("node"), "rule": told.get("id") if of_rule else None}
    labels = {name: word for name, word in named.items() if word}
    nested = entry.get("metrics")
    counted = _texts(nested) if isinstance(nested, dict) else told
    return [
        METRICS.row(**common, name=f"emqx.rule.{name}" if of_rule else f"emqx.{name}", labels=labels, value=value)
        for name, text in counted.items()
        if (value := real(text)) is not None and (of_rule or "." in name or "_" in name)
    ]
