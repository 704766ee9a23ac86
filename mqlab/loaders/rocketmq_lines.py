r"""What ``mqadmin`` prints, line by line: the shapes of its rows, and which table or section each line stands in.

A header's names begin with ``#`` and may hold one space, so a header is cut at ``#``; rows are cut at white space and
never by position, since rows and headers are not equally wide. The group of a table is, in this order, what its own
cells say, ``consumerGroup``, the retry topic ``%RETRY%<group>``, the command above it, and the file's name
``consumerProgress-<group>…``.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from mqlab.loaders import console
from mqlab.sql import filled, group, matches

_MOMENT = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:,\d+)?"
_VERSION = r"V\d\w*|HIGHER_VERSION"
_NUMBER = r"-?\d+(?:\.\d+)?(?:E-?\d+)?"

HEADS = {
    "queues": r"#Topic\s+(?:#Group\s+)?#Broker Name\s+#QID\s+#Broker Offset",
    "offsets": r"#Topic\s+#Broker Name\s+#QID\s+#Consumer Offset",
    "topic": r"#Broker Name\s+#QID\s+#Min Offset",
    "details": r"#Topic\s+#Broker Name\s+#QID\s+#ProcessQueueInfo",
    "speeds": r"#Topic\s+#Pull RT",
    "groups": r"#Group\s+#Count",
    "connections": r"#ClientId\s+#ClientAddr",
    "subscriptions": r"#Topic\s+#SubExpression",
    "running": r"#Index\s+#ClientId",
    "stats": r"#Topic\s+#Consumer Group\s+#Accumulation",
    "clusters": r"#Cluster Name\s+#Broker Name\s+#BID",
    "totals": r"#Cluster Name\s+#Broker Name\s+#In",
    "routes": r"#ClusterName\s+#BrokerName\s+#BrokerAddrs",
    "resets": r"#brokerName\s+#queueId\s+#offset",
}
"""Header of each table, by what its rows are about."""
SECTIONS = r"^\s*#((?:Consumer|User Consume) [\w& ]+?)#\s*$"
"""``#Consumer Properties#`` and the other parts of what one consumer says about itself."""
PROPERTIES = r"^\s*#Consumer Properties#"
_ANY = "|".join(HEADS.values())
HEADER = rf"(?:^\s*|!!!)(?:{_ANY})"
_STARTS = (
    rf"{PROPERTIES}|^=+\s*(?:Master|Slave|NameServer)|(?:^\s*|!!!)(?:"
    + "|".join(HEADS[name] for name in HEADS if name not in ("subscriptions", "offsets", "details", "speeds"))
    + ")"
)

QUEUE = (
    r"^\s*\S+(?:\s+\S+){0,2}\s+\d+(?:\s+-?\d+){1,2}(?:\s+(?!\d{4}-)[\w.:%-]+|\s+N/A)?(?:\s+-?\d+){0,2}"
    rf"(?:\s+(?:N/A|{_MOMENT}))?\s*$"
)
"""One queue: its topic (and group), broker, number and offsets."""
DETAIL = r"^\s*(\S+)\s+(\S+)\s+(\d+)\s+(?:Pop)?ProcessQueueInfo \["
SPEED = rf"^\s*(\S+)\s+({_NUMBER})\s+({_NUMBER})\s+({_NUMBER})\s+({_NUMBER})\s+({_NUMBER})\s+\d+\s*$"
SUBSCRIBED = r"^\d{3} Topic: (\S+)\s+ClassFilter: \S+\s+SubExpression: (.*?)\s*$"
MEMBERS = rf"^\s*(\S+)\s+(\d+)\s+(OFFLINE|{_VERSION})(?:\s+([A-Z]\w*)\s+([A-Z]\w*))?\s+({_NUMBER})\s+(-?\d+)\s*$"
CONNECTION = rf"^\s*(?!\d{{4}}\s)(\S.*?)\s+/?(\S+:\d+)\s+([A-Z_]+)\s+({_VERSION})\s*$"
PRODUCER = rf"^\s*\d{{4}}\s+(\S.*?)\s+/?(\S+:\d+)\s+([A-Z_]+)\s+({_VERSION})\s*$"
SUBSCRIPTION = r"^\s*([%|\w-]+)\s+(\*|[\w-]+(?:\s*\|\|\s*[\w-]+)*|.*(?:[=<>]|\b(?i:IN|IS|BETWEEN|NOT)\b).*?)\s*$"
RUNNING = rf"^\s*\d+\s+(\S.*?)\s+({_VERSION})\s+(\d+)/\S.*$"
STATS = rf"^\s*(\S+)\s+(\S+)\s+(-?\d+)\s+({_NUMBER})\s+({_NUMBER})\s+(-?\d+)\s+(-?\d+)\s*$"
UNREAD = rf"^\s*(\S+)\s+(-?\d+)\s+({_NUMBER})\s+(-?\d+)\s+NO_CONSUMER\s*$"
CLUSTER = rf"^\s*(\S+)\s+(\S+)\s+\d+\s+(\S+:\d+)\s+(?:(\w+)\s+)?({_NUMBER})\([^)]*\)\s+({_NUMBER})\([^)]*\)(.*)$"
ROUTE = r"^\s*(\S+)\s+(\S+)\s+\{.*\}\s+(\d+)\s+(\d+)\s+(\S+)\s*$"
PAIR = r"^(?:(\S+)\s+)?([A-Za-z_][\w./-]*?)\s*:(?: (.*?))?\s*$"
BROKER_PAIR = r"^([A-Za-z][\w.]*)\s*=(?:\s{2}(.*?))?\s*$"
"""``getBrokerConfig`` parts key and value by two spaces on either side."""
SERVER = r"^=+\s*(?:Master|Slave|NameServer): *(\S+?)\s*=+\s*$"
FOOTER = (
    r"^\s*(Consume TPS|Diff Total|Consume Diff Total|Consume Inflight Total|Topic Put TPS): *"
    rf"({_NUMBER})\s*$"
)
MODEL = r"^\s*(ConsumeType|MessageModel|ConsumeFromWhere): *(\w+)\s*$"
STUCK = (
    r"^\s*(\S.*?) MessageQueue \[topic=([^,\]]+), brokerName=([^,\]]+), queueId=(\d+)\] "
    r"(?:can't lock for a while, |can't consume for a while, maybe blocked, |unlock )(\d+)"
)
MISMATCH = r"^\s*WARN: Different subscription in the same group of consumer"
CONFIRMED = r"^\s*(Topic|SubscriptionGroup)Config ?[\[{](.*)[\]}]\s*$"
REMARKS = (
    r"^Below is subscription:|^\s*Same subscription in the same group of consumer|^\s*Rebalance OK|^\s*Total:"
    r"|^\s*(?:create|update|delete|set|wipe|clean)\b.*\bsuccess|^(?:start|rollback) .*offset by specified"
    r"|\bTID: \d+ STATE: [A-Z_]+|^\S.*\s[\w.$]+\((?:[\w$]+(?:\.\w+)?:-?\d+|Native Method|Unknown Source)\)\s*$"
)
"""Titles, conclusions and stacks; that "Rebalance OK" says nothing, since the tool prints it always."""

TOPIC = r"\bmqadmin\b.*\s(?:-t|--topic)[ =]+['\"]?([^\s'\"]+)"
_CLIENT = r"\bmqadmin\b.*\s(?:-i|--clientId)[ =]+['\"]?([^\s'\"]+)"
_BROKER = r"\bmqadmin\b.*\s(?:-b|--brokerAddr)[ =]+['\"]?([^\s'\"]+)"
_RETRY = r"(?:^\s*|^\d{3} Topic: )%RETRY%([\w|-]+)"
_OWN_GROUP = r"^consumerGroup\s*: (\S+)"
_NAMES = r"#(.*\S)"
_BLOCK = "PARTITION BY source, block"


def placed(rows: DataFrame) -> DataFrame:
    """*rows* with where each stands.

    ``kind`` and ``header``: of the table above; ``section``: of a consumer's own words; ``block``: number of the
    command's answer; ``group``, ``topic``, ``client`` and ``broker``: what the answer is about, as far as it is told.
    """
    heads = [f"WHEN {matches('plain', regex)} THEN '{name}'" for name, regex in HEADS.items()]
    told = {
        "kind": f"CASE {' '.join(heads)} END",
        "part": filled(group("plain", SECTIONS)),
        "begins": f"CAST({matches('plain', _STARTS)} AS INT)",
        "told_topic": filled(group("plain", TOPIC)),
        "told_client": filled(group("plain", _CLIENT)),
        "told_broker": f"coalesce({filled(group('plain', _BROKER))}, {filled(group('plain', SERVER))})",
        "own_group": filled(group("plain", _OWN_GROUP)),
        "retry": filled(group("plain", _RETRY)),
    }
    lines = rows.selectExpr("*", *[f"{value} AS {name}" for name, value in told.items()])
    header = f"CASE WHEN kind IS NOT NULL THEN split({group('plain', _NAMES)}, '\\\\s*#') END"
    standing = lines.selectExpr(
        "source", "line", "text", "plain", "name", "at", "named", "own_group", "retry",
        f"{console.nearest_above('coalesce(kind, part)')} AS kind",
        f"{console.nearest_above(header)} AS header",
        f"{console.nearest_above('part')} AS section",
        f"sum(begins) OVER ({console.IN_ORDER} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS block",
        f"{console.nearest_above('told_topic')} AS told_topic",
        f"{console.nearest_above('told_client')} AS told_client",
        f"{console.nearest_above('told_broker')} AS told_broker",
    )  # fmt: skip
    return _about(standing)


def _about(standing: DataFrame) -> DataFrame:
    """Groups, topics, clients and brokers, also from what the whole answer and the file's name say."""
    shortest = f"min(CASE WHEN retry IS NOT NULL THEN struct(length(retry), retry) END) OVER ({_BLOCK})"
    known = standing.selectExpr(
        "*",
        f"max(own_group) OVER ({_BLOCK}) AS own",
        f"{shortest}.retry AS retried",
        f"coalesce(named, {console.named_after(console.CONSUMERS)}) AS said",
        f"max({_property('clientIP')}) OVER ({_BLOCK}) AS ip",
        f"max({_property('instanceName')}) OVER ({_BLOCK}) AS instance",
        f"max({_property('unitName')}) OVER ({_BLOCK}) AS unit",
    )
    # A retry topic of POP ends in the topic that it belongs to, and nothing parts that from the group.
    group_of = "CASE WHEN retried = said OR startswith(retried, concat(said, '_')) THEN said ELSE retried END"
    return known.selectExpr(
        "source", "line", "text", "plain", "at", "kind", "header", "section", "block",
        f"coalesce(own, {group_of}, said) AS `group`",
        f"coalesce(told_topic, {console.named_after('topic[-_]?(?:status|route)')}) AS topic",
        f"coalesce(told_client, concat(ip, '@', instance, coalesce(concat('@', unit), '')), {_client_in('name')}) "
        "AS client",
        f"coalesce(told_broker, {console.named_after('(?:get[-_]?)?broker[-_]?(?:status|config)')}) AS broker",
    )  # fmt: skip


def cell(name: str) -> str:
    """SQL: the cell of a named column of the table in force, ``tokens`` being the row's words; else null."""
    return f"get(tokens, CAST(array_position(header, '{name}') - 1 AS INT))"


def words(text: str) -> str:
    """SQL: the words of a row."""
    return f"split(trim({text}), '\\\\s+')"


def _property(key: str) -> str:
    return filled(group("plain", rf"^{key}\s*: (\S+)\s*$"))


def _client_in(name: str) -> str:
    """The client id in a file's name, whose ``@`` and ``#`` may have become ``_`` on the way."""
    shape = r"^(\d+(?:\.\d+){3})[@_](.+?)(?:[#_](\d{10,19}))?(?:\.txt|\.gz|\.bz2)*$"
    nano = filled(group(name, shape, 3))
    whole = f"concat({group(name, shape, 1)}, '@', {group(name, shape, 2)}, coalesce(concat('#', {nano}), ''))"
    return f"CASE WHEN {matches(name, shape)} THEN {whole} END"
