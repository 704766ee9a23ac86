"""Settings in what ``mqadmin`` prints → SETTINGS.

Of consumers: their own ``#Consumer Properties#``, owned by the client id, and what consumerConnection says of the
group. Of brokers: getBrokerConfig, and the version in brokerStatus and clusterList. Of topics and groups: topicRoute
-l and what updateTopic and updateSubGroup confirm. Secrets are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from mqlab.formats import rocketmq_lines as shapes
from mqlab.formats.rocketmq_lines import Place
from mqlab.tables import SETTINGS, Row

_SECRET = re.compile(r"(?i)password|passwd|secret|accesskey|token|credential")
_FIELD = re.compile(r"(?P<key>[\w.]+)=(?P<value>[^,\[\]{}]*)", re.ASCII)
_OWNER = re.compile(r"\b(?:topicName|groupName)=(?P<name>[^,\]}]+)", re.ASCII)


class _Setting(NamedTuple):
    scope: str
    owner: str | None
    key: str
    value: str | None
    origin: str = "describe"


def rows(place: Place) -> Iterator[Row]:
    """One row a value."""
    for setting in _settings(place):
        if not _SECRET.search(setting.key):
            yield SETTINGS.row(at=place.at, **setting._asdict())


def _settings(place: Place) -> Iterator[_Setting]:
    if model := shapes.MODEL.search(place.plain):
        key = model["key"]
        yield _Setting("consumer", place.group, key[0].lower() + key[1:], model["value"], "printed")
    elif confirmed := shapes.CONFIRMED.search(place.plain):
        yield from _confirmed(confirmed)
    elif place.kind == "Consumer Properties":
        if pair := shapes.PAIR.search(place.plain):
            yield _Setting("consumer", place.client, pair["key"], pair["value"] or "", "printed")
    elif place.kind == "routes" and (route := shapes.ROUTE.search(place.plain)):
        for key in ("readQueueNums", "writeQueueNums", "perm"):
            yield _Setting("topic", place.topic, f"{route['broker']}.{key}", route[key])
    else:
        yield from _of_broker(place)


def _confirmed(confirmed: re.Match[str]) -> Iterator[_Setting]:
    """Every ``key=value`` of what is confirmed, owned by the topic or group that it names."""
    owner = _OWNER.search(confirmed["fields"])
    scope = "topic" if confirmed["what"] == "Topic" else "group"
    for key, value in _FIELD.findall(confirmed["fields"]):
        yield _Setting(scope, owner["name"] if owner else None, key, value)


def _of_broker(place: Place) -> Iterator[_Setting]:
    """What getBrokerConfig lists, and the version that brokerStatus and clusterList tell."""
    pair = shapes.PAIR.search(place.plain)
    if place.section is None and pair and pair["key"] == "brokerVersionDesc":
        yield _Setting("broker", pair["address"] or place.broker, "brokerVersion", pair["value"] or "")
    elif place.kind == "clusters" and (listed := shapes.CLUSTER.search(place.plain)) and listed["version"]:
        yield _Setting("broker", listed["broker"], "brokerVersion", listed["version"])
    elif place.kind is None and (pair := shapes.BROKER_PAIR.search(place.plain)):
        yield _Setting("broker", place.broker, pair["key"], pair["value"] or "")
