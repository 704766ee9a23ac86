"""Answers of a cluster as Kafka's own tools print them, which mqlab reads (``mqlab.formats.kafka_…``).

Sample lines of each are in the modules of these formats.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from confluent_kafka.admin import (
    ClusterMetadata,
    ConfigEntry,
    ConfigSource,
    ConsumerGroupDescription,
    MemberDescription,
)

from mqlab.gather.kafka import Groups, Offsets, Place, Settings

_STATES = {"PREPARING_REBALANCING": "PreparingRebalance", "COMPLETING_REBALANCING": "CompletingRebalance"}
"""States that the client calls otherwise than the tools; Assigning and Reconciling are UNKNOWN to it."""


def topics_describe(metadata: ClusterMetadata, settings: Settings) -> str:
    """As ``kafka-topics.sh --describe``, with the settings that topics were given."""
    lines = []
    for name, topic in sorted(metadata.topics.items()):
        given = ",".join(
            f"{entry.name}={entry.value}"
            for entry in settings.get(("topic", name), {}).values()
            if _source(entry) is ConfigSource.DYNAMIC_TOPIC_CONFIG and not entry.is_sensitive
        )
        replicas = max((len(one.replicas) for one in topic.partitions.values()), default=0)
        lines.append(
            f"Topic: {name}\tPartitionCount: {len(topic.partitions)}\tReplicationFactor: {replicas}\tConfigs: {given}"
        )
        for number, one in sorted(topic.partitions.items()):
            leader = "none" if one.leader < 0 else one.leader
            lines.append(
                f"\tTopic: {name}\tPartition: {number}\tLeader: {leader}"
                f"\tReplicas: {_commas(one.replicas)}\tIsr: {_commas(one.isrs)}"
            )
    return _text(lines)


def configs_describe(settings: Settings) -> str:
    """As ``kafka-configs.sh --describe --all``: all settings of brokers, and those of topics that are no defaults."""
    lines = []
    for (scope, name), entries in sorted(settings.items()):
        shown = [entry for _, entry in sorted(entries.items()) if scope == "broker" or not _is_default(entry)]
        lines += [f"All configs for {scope} {name} are:", *map(_entry, shown)]
    return _text(lines)


def groups_state(groups: Sequence[ConsumerGroupDescription]) -> str:
    """As ``kafka-consumer-groups.sh --describe --state``."""
    rows = []
    for group in groups:
        state = _STATES.get(group.state.name, group.state.name.capitalize())
        at = group.coordinator
        coordinator = f"{at.host}:{at.port} ({at.id})" if at and at.host else ":-1 (-1)"
        rows.append((group.group_id, coordinator, group.partition_assignor or "-", state, str(len(group.members))))
    return _table(("GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS"), rows)


def groups_members(groups: Sequence[ConsumerGroupDescription]) -> str:
    """As ``kafka-consumer-groups.sh --describe --members --verbose`` prints them up to 3.7."""
    rows: list[tuple[str, ...]] = []
    for group in groups:
        for member in group.members:
            held = _held(member)
            shares = ", ".join(f"{topic}({_commas(numbers)})" for topic, numbers in _by_topic(held).items()) or "-"
            count = str(len(held))
            instance = member.group_instance_id or "-"
            rows.append((group.group_id, member.member_id, instance, _host(member), member.client_id, count, shares))
    header: tuple[str, ...]
    header = ("GROUP", "CONSUMER-ID", "GROUP-INSTANCE-ID", "HOST", "CLIENT-ID", "#PARTITIONS", "ASSIGNMENT")
    if all(row[2] == "-" for row in rows):
        header, rows = header[:2] + header[3:], [row[:2] + row[3:] for row in rows]
    return _table(header, rows)


def groups_describe(groups: Groups, ends: Offsets) -> str:
    """As ``kafka-consumer-groups.sh --describe --offsets``: each partition that is committed or held."""
    rows = []
    owners = {
        (group.group_id, place): member
        for group in groups.described
        for member in group.members
        for place in _held(member)
    }
    places = {(group, place) for group, offsets in groups.committed.items() for place in offsets}
    for group_id, place in sorted(places | owners.keys()):
        committed, end = groups.committed.get(group_id, {}).get(place), ends.get(place)
        lag = None if committed is None or end is None else max(0, end - committed)
        member = owners.get((group_id, place))
        who = (member.member_id, _host(member), member.client_id) if member else ("-", "-", "-")
        cells = (_known(each) for each in (committed, end, lag))
        rows.append((group_id, place[0], str(place[1]), *cells, *who))
    header = ("GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG")
    return _table((*header, "CONSUMER-ID", "HOST", "CLIENT-ID"), rows)


def get_offsets(offsets: Offsets) -> str:
    """As ``kafka-get-offsets.sh``; which moment was asked for, the file's name says."""
    return _text(f"{topic}:{number}:{offset}" for (topic, number), offset in sorted(offsets.items()))


def open_transactions(ends: Offsets, stable: Offsets) -> str:
    """How many offsets of each partition lie behind its last stable one, as brokers export that; empty where none does.

    The stable offsets were read after the ends: a transaction that ended in between does not count.
    """
    behind = {place: end - stable[place] for place, end in ends.items() if stable.get(place, end) < end}
    name = "kafka_cluster_partition_laststableoffsetlag"
    lines = [f'{name}{{topic="{topic}",partition="{number}"}} {lag}' for (topic, number), lag in sorted(behind.items())]
    return _text([f"# TYPE {name} gauge", *lines]) if lines else ""


def _held(member: MemberDescription) -> list[Place]:
    return sorted((one.topic, one.partition) for one in member.assignment.topic_partitions)


def _by_topic(places: Iterable[Place]) -> Mapping[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for topic, number in places:
        found[topic].append(number)
    return found


def _host(member: MemberDescription) -> str:
    return member.host if member.host.startswith("/") else f"/{member.host}"


def _is_default(entry: ConfigEntry) -> bool:
    return entry.is_default or _source(entry) is ConfigSource.DEFAULT_CONFIG


def _source(entry: ConfigEntry) -> ConfigSource:
    """Where a value comes from: the client gives a number where its types promise a name."""
    return ConfigSource(entry.source)


def _entry(entry: ConfigEntry) -> str:
    value = "null" if entry.is_sensitive or entry.value is None else entry.value
    # The tool repeats a value under the source that it comes from, and below it what it hides.
    hidden = [entry, *(one for one in entry.synonyms.values() if _source(one) is not _source(entry))]
    synonyms = ", ".join(
        f"{_source(one).name}:{one.name}={'null' if entry.is_sensitive else one.value}" for one in hidden
    )
    sensitive = str(bool(entry.is_sensitive)).lower()
    return f"  {entry.name}={value} sensitive={sensitive} synonyms={{{synonyms}}}"


def _known(number: int | None) -> str:
    return "-" if number is None else str(number)


def _commas(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    return _text(_padded(row, widths) for row in (header, *rows))


def _padded(row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
