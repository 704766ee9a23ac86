"""``config.xml`` of HiveMQ → SETTINGS of scope broker.

Sample lines::

    <hivemq>
        <listeners>
            <tcp-listener><port>1883</port><bind-address>10.104.0.4</bind-address></tcp-listener>
        </listeners>
        <mqtt>
            <queued-messages>
                <max-queue-size>300</max-queue-size>
                <strategy>discard-oldest</strategy>
            </queued-messages>

Keys are the names of elements that hold a word on one line: ``max-queue-size``, ``strategy``, ``port``. The file is
read line by line and by no parser of XML, so that no entity is ever resolved. Values of passwords and secrets are not
kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.secrets import MASK
from mqlab.sources import Reading
from mqlab.sql import group, matches, quoted
from mqlab.tables import SETTINGS, Table

FORMAT = "hivemq-conf"
TABLES: tuple[Table, ...] = (SETTINGS,)
READING = Reading.TABLE

_ROOT = re.compile(r"^\s*<hivemq(?: [^<>]*)?>", re.MULTILINE)
_VALUE = r"<([a-z][\w.-]{0,80})>\s*([^<>\s][^<>]*?)\s*</[a-z][\w.-]{0,80}>"
_MARKUP = r"^\s*(?:</?[\w.!?-]|<!--|-->|$)"
_SECRET = r"(?i)(?:password|secret|token)"


def recognise(head: Head) -> bool:
    """True for a document whose outermost element is ``hivemq``."""
    return head.text.lstrip("\ufeff \t\r\n").startswith("<") and _ROOT.search(head.text) is not None


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One row an element with a value, in the order of the file."""
    told = rows.selectExpr(
        "source", "line", "text", "at", f"explode(regexp_extract_all(plain, {quoted(_VALUE)}, 0)) AS element"
    )
    key = group("element", _VALUE)
    columns = {
        "scope": "'broker'",
        "origin": "'file'",
        "key": key,
        "value": f"CASE WHEN {matches(key, _SECRET)} THEN '{MASK}' ELSE {group('element', _VALUE, 2)} END",
    }
    return {SETTINGS: SETTINGS.rows(told, columns)}


def line_class(text: str) -> str:
    """Elements with values are data; what only begins or ends an element, comments and blank lines are noise."""
    line = console.plain(text)
    return f"CASE WHEN {matches(line, _VALUE)} THEN 'data' WHEN {matches(line, _MARKUP)} THEN 'noise' END"
