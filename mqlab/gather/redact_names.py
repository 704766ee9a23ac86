"""The names in a capture: what mqlab's own tables say, and what lines say that no table holds.

A name has a kind: topic, group, client, host, user, address or party (who keeps a ledger or a log). What libraries and
brokers make of names is taken apart: ``consumer-billing-1-<uuid>`` names the group billing, ``%RETRY%billing`` too,
``10.0.0.7@order-sync-1`` an address and an instance.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from ipaddress import ip_address
from itertools import chain
from pathlib import PurePosixPath

import polars as pl

from mqlab.capture import Capture
from mqlab.gather.redact_pseudonyms import can_change
from mqlab.gather.redact_words import is_given, is_software
from mqlab.sources import Role

Names = dict[str, set[str]]
"""By kind."""

_COLUMNS = {
    "topic": "topic", "group": "group", "client_id": "client", "member_id": "client", "party": "party",
    "node": "host", "cluster": "host", "peer": "host",
}  # fmt: skip
_OWNERS = {"topic": "topic", "producer": "client", "consumer": "client", "session": "client"}
_SETTINGS = {
    "client.id": "client", "group.id": "group", "group.instance.id": "client", "transactional.id": "client",
    "application.id": "group", "brokername": "host", "brokerclustername": "host", "host.name": "host",
    "brokerip1": "host", "brokerip2": "host",
}  # fmt: skip
_ENDPOINTS = re.compile(r"(?:servers|listeners|connect|voters|namesrvaddr|addresses|broker|host|instance)$", re.I)
_LABELS = {
    "topic": "topic", "topic_name": "topic", "topicname": "topic", "group": "group", "consumergroup": "group",
    "consumer_group": "group", "group_id": "group", "groupid": "group", "client_id": "client", "clientid": "client",
    "client": "client", "localaddr": "client", "instance": "host", "host": "host", "hostname": "host",
    "nodename": "host", "broker": "host", "brokername": "host", "brokerip": "host", "brokerhost": "host",
    "caddr": "host", "clientaddr": "host", "node": "host", "pod": "host", "kubernetes_pod_name": "host",
    "cluster": "host", "username": "user", "user": "user", "principal": "user",
}  # fmt: skip

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_VALUE = r"""[\"'\[(<]*(?:User:)?(?:CN=)?(?P<{0}>[^\s\"',;&?\]\[(){{}}<>|=]{{2,255}})"""
_NAMED = re.compile(
    r"(?i)(?<![a-z0-9])(?:"
    rf"topic[._-]?(?:name)?[\"']?\s?[=:]\s?{_VALUE.format('topic')}"
    rf"|(?:consumer[._-]?)?group[._-]?(?:id|name)?[\"']?\s?[=:]\s?{_VALUE.format('group')}"
    rf"|(?:client|transactional|(?:group[._-]?)?instance)[._-]?id[\"']?\s?[=:]\s?{_VALUE.format('client')}"
    rf"|(?:user[._-]?name|principal|User)[\"']?\s?[=:]\s?{_VALUE.format('user')}"
    rf"|(?:host[._-]?name|host|broker[._-]?name)[\"']?\s?[=:]\s?{_VALUE.format('host')}"
    r"|partitions?[=: ] ?\[?(?P<placed>[\w.-]{2,249})-\d{1,5}(?![\w.-])"
    r"|\w*://(?:[^\s/@\"']{1,200}@)?(?P<url>[\w.-]{2,255})"
    r"|(?:servers|listeners|connect|voters|namesrvaddr|addr)[\"']?\s?[=:]\s?[\[\"']?(?P<several>[\w.\-:@/,; ]+:\d{2,5})"
    r"|(?P<beside>[a-z][\w.-]{1,253})/\d{1,3}(?:\.\d{1,3}){3}:\d"
    r"|(?P<mail>[\w.+-]{1,64}(?:@|%40)[\w-]{1,63}(?:\.[\w-]{1,63})+)"
    r"|(?:/(?:home|users)/|\\\\?users\\\\?)(?P<home>[\w.-]{2,64})"
    rf"|(?:pod|container|namespace|node|service[._-]?account|tenant|customer|account|owner|author|operator|contact|login|email"
    rf"|opened[._-]?by|assignee|engineer|reported[._-]?by|serial|cn|ou|uid)(?:[._-]?(?:id|name))?[\"']?\s?[=:]\s?{_VALUE.format('keyed')}"
    r"|(?:customer|account|acct|card|phone|mobile|tel|telephone|imei|imsi|msisdn|iban|ssn|电话|手机|手机号|联系)"
    r"(?:[._-]?(?:id|no|nr|number))?[\"']?\s?(?:[=:#]|at|on)?\s?[\"']?(?P<number>\d{6,20})(?!\w)"
    r"|\(id[ :#]{1,2}(?P<ident>\d{6,20})(?!\w)|arn:[\w-]+:[\w-]*:[\w-]*:(?P<cloud>\d{12})"
    r"|(?P<label>[a-z]{1,16}[-_]\d{6,15})(?!\w))"
)
_LIKELY = re.sub(
    r"\(\?!(?:\[[^\]]*\]|\\w)\)", "",
    re.sub(r"\{(\d),\d{2,3}\}", r"{\1,}", _NAMED.pattern).replace("(?<![a-z0-9])", "(?:^|[^a-z0-9])"),
)  # fmt: skip
"""What ``_NAMED`` may find, for an engine that is fast and looks neither back nor ahead."""
_KINDS = {
    "url": "host", "beside": "host", "placed": "topic", "mail": "user", "home": "user", "keyed": "user",
    "cloud": "number", "ident": "number",
}  # fmt: skip
_MOMENT = re.compile(r"1[5-9]\d{8}(?:\d{3}|\d{6}|\d{9})?")
_PORT = re.compile(r"(?<=[^:]):\d{1,5}$")


def of_capture(capture: Capture) -> Names:
    """The names that the tables of *capture* hold, and those of files of clients and applications."""
    found: Names = defaultdict(set)
    for table, files in capture.places.files.items():
        rows = pl.read_parquet([capture.cache / name for name in files])
        for column, kind in _COLUMNS.items():
            if column in rows.columns:
                _add(found, kind, rows[column].drop_nulls().unique())
        if further := _FURTHER.get(table):
            further(found, rows)
    for coverage in capture.facts.coverage:
        path = PurePosixPath(coverage.source)
        if coverage.role.is_log:
            _add(found, "party", (part for part in path.parts[:-1] if not part.endswith("!")))
        if coverage.role in (Role.CLIENT_LOG, Role.APPLICATION_LOG):
            _add(found, "party", (re.sub(r"[-_.]\d{8}.*", "", path.name.split(".")[0]),))
    return found


def in_text(text: str) -> Iterator[tuple[str, str]]:
    """(kind, name) of what lines say by key."""
    lines = pl.Series(text.encode("utf-8", "replace").decode().split("\n"), dtype=pl.String)
    likely = lines.str.extract_all(_LIKELY).explode(empty_as_null=False).drop_nulls().unique(maintain_order=True)
    for found in chain.from_iterable(map(_NAMED.finditer, likely)):
        kind = str(found.lastgroup)
        if kind == "several":
            yield from (("host", host) for host in _hosts(found["several"]))
        elif kind in ("label", "keyed") and (number := re.fullmatch(r"(?:([A-Za-z]+)[-_])?(\d{6,20})", found[kind])):
            known = _MOMENT.fullmatch(number[2]) or (number[1] and is_software(number[1]))
            yield from () if known else (("number", number[2]),)
        elif kind != "label":
            yield _KINDS.get(kind, kind), found[kind]


def is_address(text: str) -> bool:
    """Whether *text* is an address of a host or of its network card, and not of this host for itself."""
    if re.fullmatch(r"(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}", text):
        return True
    try:
        return bool(re.search(r"[.:].*[.:]", text)) and not ip_address(text).is_loopback
    except ValueError:
        return False


def below(topics: Collection[str]) -> re.Pattern[str] | None:
    """A pattern of all topics and filters below the first levels of those *topics* that have levels."""
    firsts = sorted({topic.split("/")[0] for topic in topics if "/" in topic} - {"", "+", "#", "$SYS", "$share"})
    if not firsts:
        return None
    return re.compile(rf"(?<![\w/.$-])(?:{'|'.join(map(re.escape, firsts))})(?:/[^\s\"',;|()\[\]{{}}<>/]*)+")


def settled(found: Mapping[str, Iterable[str]]) -> Names:
    """Every name once, of the first kind that has it, taken apart, without those that tell nothing of anybody.

    A party is what a file is called: where that is made of words of the software only, and holds nobody's name, it is
    nobody.
    """
    kept: Names = defaultdict(set)
    seen: set[str] = set()
    for kind in ("topic", "group", "client", "host", "user", "address", "number", "party"):
        for name in sorted({part for told in found.get(kind, ()) for part in _parts(kind, told)}):
            nobody = kind == "party" and all(map(is_software, re.findall(r"[^\W_]+", name)))
            nobody = nobody and not any(f"-{other}-" in f"-{name}-" for other in kept["client"] | kept["group"])
            if name not in seen and not nobody and not is_given(name) and can_change(name) and len(name) > 1:
                kept["address" if is_address(name) else kind].add(name)
                seen.add(name)
    numbered = {name for name in seen if (stem := re.sub(r"-\d{1,4}$", "", name)) != name and stem in kept["topic"]}
    return {kind: names - numbered for kind, names in kept.items()}


def _add(found: Names, kind: str, names: Iterable[object]) -> None:
    found[kind].update(str(name).strip() for name in names if str(name).strip())


def _add_queues(found: Names, rows: pl.DataFrame) -> None:
    queues = rows["queue"].drop_nulls().cast(pl.String).unique()
    _add(found, "host", (queue.rpartition("/")[0] for queue in queues if "/" in queue))


def _add_subscriptions(found: Names, rows: pl.DataFrame) -> None:
    told = rows["subscription"].drop_nulls().unique()
    _add(found, "topic", (each.partition(":")[0] for text in told for each in text.split(";")))


def _add_labels(found: Names, rows: pl.DataFrame) -> None:
    for labels in rows["labels"].unique().drop_nulls():
        for key, value in _pairs(labels):
            if kind := _LABELS.get(re.sub(r"[-.]", "_", key).lower()):
                _add(found, kind, value.split(","))


def _add_settings(found: Names, rows: pl.DataFrame) -> None:
    for scope, owner, key, value in rows.select("scope", "owner", "key", "value").unique().iter_rows():
        if owner and (kind := _OWNERS.get(scope or "")):
            found[kind].add(owner)
        if value and (own := _SETTINGS.get((key or "").lower())):
            found[own].add(value)
        elif value and _ENDPOINTS.search(key or ""):
            found["host"].update(_hosts(value))


_FURTHER: Mapping[str, Callable[[Names, pl.DataFrame], None]] = {
    "settings": _add_settings, "metrics": _add_labels, "clients": _add_subscriptions, "positions": _add_queues,
    "assignments": _add_queues, "events": _add_queues, "ledger": _add_queues,
}  # fmt: skip
"""What names stand in other columns of a table."""


def _pairs(labels: object) -> Iterator[tuple[str, str]]:
    """Keys and values of a map as Parquet gives it."""
    if isinstance(labels, dict):
        yield from ((str(key), str(value)) for key, value in labels.items() if value is not None)
    elif isinstance(labels, Iterable):
        yield from ((str(pair["key"]), str(pair["value"])) for pair in labels if pair["value"] is not None)


def _hosts(text: str) -> Iterator[str]:
    for place in re.split(r"[,;\s]+", text):
        host = place.rpartition("@")[2].rpartition("://")[2].split("/")[0]
        yield _PORT.sub("", host).strip("[]")


def _parts(kind: str, told: str) -> Iterator[str]:
    """What of *told* somebody chose."""
    name = told.removeprefix("/").removeprefix("User:").replace("%40", "@")
    if kind == "number":
        yield name
        return
    if kind in ("client", "party", "user"):
        name = re.sub(rf"-{_UUID}$", "", name) if not re.fullmatch(_UUID, name) else name
        for part in name.split("@") if "@" in name else (name,):
            yield from _of_client(part)
        return
    if kind == "host":  # ipv4#10.0.0.7:9092 of librdkafka, emqx@10.0.0.7 of Erlang
        yield from re.split(r"[@#]", re.sub(r"^ipv[46]#", "", _PORT.sub("", name)).strip("[]"))
        return
    if kind == "topic" and name.startswith("$share/"):
        _, group, name = [*name.split("/", 2), ""][:3]
        yield group
    named = re.sub(r"^%(?:RETRY|DLQ)%", "", name)
    yield from named.split("@") if kind in ("topic", "group") and "/" not in named else (named,)


def _of_client(part: str) -> Iterator[str]:
    if re.fullmatch(r"\d{1,7}(?:#-?\d+)?", part):
        return
    own = re.fullmatch(r"consumer-(.+)-\d+", part)
    yield own[1] if own else part
