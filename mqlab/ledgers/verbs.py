"""Words in lines of applications: what was done with a message, and what a line about no message says.

Sample lines::

    … Acked id=17 partition=0 offset=33
    … processed 500 records up to orders-0@33
    … could not handle CL00300 at claims.in-0@96

Verbs count only in forms that say that something is over: ``sending`` begins what ``sent`` ends.
"""

from __future__ import annotations

import re

VERBS = {
    "sent": ("sent", "produced", "published", "emitted"),
    "acked": ("acked", "ack", "acknowledged", "confirmed", "puback"),
    "received": ("received", "recv", "got", "read", "polled", "fetched"),
    "consumed": ("consumed",),
    "processed": (
        *("processed", "handled", "done", "finished", "completed", "stored", "saved", "persisted", "written", "wrote"),
        *("inserted", "upserted", "updated", "indexed", "applied", "executed", "imported", "loaded", "archived"),
        *("paid", "billed", "charged", "booked", "settled", "shipped", "mailed", "emailed", "notified", "printed"),
        *("rendered", "enriched", "scored", "validated", "converted", "transformed"),
    ),
    "failed": ("failed", "undelivered", "refused"),
}
"""Verbs by the role that they tell, whatever their case."""
ROLE_OF = {verb: role for role, verbs in VERBS.items() for verb in verbs}
HANDLED = ("received", "consumed", "processed")
"""Stages of one message at one receiver; the last one of them counts."""
PUT = frozenset({*VERBS["sent"], "delivered", "appended", "forwarded", "enqueued", "stored", "written", "wrote"})
"""Verbs of putting a record somewhere."""
INTO = frozenset({"to", "into"})
"""Between such a verb and a place: the record was put there, which only its acknowledgement tells."""
TELLERS = re.compile(r"(?i)msg|message|event|action|op|operation|stage|what|type|kind")
"""Names under which a logger writes what happened."""
NOT_ONE = frozenset({
    *("commit", "commits", "committed", "committing", "position", "positions", "seek", "seeking", "sought", "reset"),
    *("resetting", "checkpoint", "checkpointed", "watermark", "lag", "assigned", "assignment", "revoked", "resumed"),
    *("resuming", "paused", "fetching", "rebalance", "truncated", "truncating", "segment", "snapshot", "until", "up"),
    *("records", "messages", "events", "rows", "items", "msgs", "documents", "docs", "jobs", "tasks", "batch"),
    *("partitions", "offsets", "replica", "replicas", "isr", "leader", "controller", "correlation", "metadata"),
    *("total", "far", "through", "earliest", "latest", "beginning", "end", "next", "last", "first", "between"),
})  # fmt: skip
"""Words of lines about positions, or about many messages at once."""
NOT_ONE_NAMES = re.compile(
    r"(?i)(?:.*(?:end|start|committed|current|first|last|base|next|begin|low|high)_?offset|lag|.*watermark|hw|leo|"
    r"generation(?:_?id)?|member_?id|count|records|messages|total|batch(?:_?size)?|from|until|group_?instance_?id)"
)
"""Names of values in such lines."""
NEGATIVE = (
    r"(?i)\b(?:not|cannot|can't|couldn't|unable|fail\w*|undelivered|error\w*|\w*exception|reject\w*|skip\w*|dropp\w*"
    r"|discard\w*|ignor\w*|retry\w*|retri\w*|invalid|timed out|time-?out|refus\w*|abort\w*|duplicate[ds]?"
    r"|dead.?letter\w*)\b"
)
"""Words that say that it was not done, or in another way."""
PAYLOADS = r"(?:(?:record|message|msg)_?)?(?:value|payload|body|content|data|headers)"
"""Names of what is never kept."""
HARMLESS = (
    r"(?i)(?:\w*retr\w*\"?[ \t]?[=:][ \t]?\d*"
    r"|\w*(?:err|error|exception|fail\w*|duplicates?|skip\w*|drop\w*|reject\w*)(?:[ \t]?=|\"[ \t]?:)"
    r"[ \t]?\"?(?:null|none|nil|false|no|0)?\"?)(?:[\s,;})\]]|$)"
    rf"|(?i:(?:^|[^\w.])\"?{PAYLOADS}\"?[ \t]?[=:].*$)"
)
"""Negative words that are but names over nothing, and what a record holds, whatever it says."""


def words(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return re.findall(r"[a-z][a-z'-]*", text.lower())
