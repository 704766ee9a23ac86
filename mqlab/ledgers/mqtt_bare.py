"""What the columns of a ledger about messages of MQTT are where none has a name.

Sample rows::

    1795341253841	fan/1/rpm	f1r00001	1795341253847
    1795330840224,d1-000001,doors/1/event,1,ok
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mqlab.ledgers.moments import MOMENT
from mqlab.ledgers.mqtt_cells import LEVEL, LEVELS, are_ids, are_topics, are_words
from mqlab.ledgers.named import all_match, key_of

_ANSWER = re.compile(r"(?i)ok|n?ack(?:ed)?|success|pending|failed|fail|error|refused|timeout")


def places(rows: Sequence[Sequence[str]]) -> tuple[dict[str, str], str | None] | None:
    """Places of the fields in rows without names, and the role; None where these are no messages of MQTT.

    They are where one column is a topic with levels and another one tells messages apart: by a word, unless a third one
    is a QoS. Which of two flags is which, and what a second moment is, nothing tells; answers are the publisher's.
    """
    cells = list(zip(*rows, strict=True))
    moments = [n for n, column in enumerate(cells) if all_match(MOMENT, column)]
    topics = [n for n, column in enumerate(cells) if all_match(LEVELS, column)]
    levels = [n for n, column in enumerate(cells) if all_match(LEVEL, column)]
    if not (moments and len(topics) == 1) or any(topic.startswith("$SYS") for topic in cells[topics[0]]):
        return None
    answers = [n for n, column in enumerate(cells) if all_match(_ANSWER, column)]
    found = {"time": moments[0], "topic": topics[0]}
    found |= {"status": answers[0]} if len(answers) == 1 else {}
    found |= {"qos": levels[0]} if len(levels) == 1 else {}
    free = [n for n in range(len(cells)) if n not in {*moments, *topics, *levels, *answers}]
    key = key_of([""] * len(cells), cells, found, free)
    if key is None:
        return None
    plain = are_ids(cells[key]) and are_topics(cells[topics[0]]) and are_words(cells, moments)
    if not levels and not plain:
        return None
    return {field: str(n) for field, n in {**found, "key": key}.items()}, "sent" if "status" in found else None
