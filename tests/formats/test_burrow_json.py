"""Burrow's answers about groups."""

import json

from mqlab.formats import burrow_json as loader
from mqlab.formats.base import Head
from mqlab.tables import EVENTS, POSITIONS


def commit(offset, seconds, lag):
    """A commit of Burrow's window."""
    return {"offset": offset, "timestamp": 1795263300000 + 1000 * seconds, "observedAt": 0, "lag": lag}


PARTITIONS = [
    {"topic": "t", "partition": 0, "owner": "/10.0.0.1", "client_id": "c-1", "status": "STOP",
     "start": commit(5, 1, 1), "end": commit(9, 61, None), "current_lag": 3, "complete": 1},
    {"topic": "t", "partition": 1, "owner": "", "client_id": "", "status": "OK", "start": None, "end": None,
     "current_lag": 0, "complete": 1},
    {"topic": "t", "partition": 2, "status": "OK", "start": commit(7, 2, None), "end": commit(8, 3, 0)},
]  # fmt: skip
ANSWER = {
    "error": False, "message": "consumer status returned",
    "status": {"cluster": "c", "group": "g", "status": "ERR", "complete": 1, "partitions": PARTITIONS,
               "partition_count": 3, "maxlag": PARTITIONS[0], "totallag": 3},
    "request": {"url": "/v3/kafka/c/consumer/g/lag", "host": "b"},
}  # fmt: skip
LINE = json.dumps(ANSWER, separators=(",", ":"))
NONE = '{"error":true,"message":"cluster or consumer not found","request":{"url":"/v3/kafka/c/consumer/x/lag"}}'
COLUMNS = "at group topic queue committed end client_id"
POINTS = [
    ("12:15:01", "g", "t", "0", 5, 6, None),
    ("12:16:01", "g", "t", "0", 9, 12, None),
    ("12:15:02", "g", "t", "2", 7, None, None),
    ("12:15:03", "g", "t", "2", 8, 8, None),
]


def read(loaded, text):
    """Positions in the order of partitions and moments."""
    return sorted(loaded(loader, POSITIONS, COLUMNS, text), key=lambda r: (r[3], r[0]))


def test_the_first_and_the_last_commit_are_positions(loaded):
    assert read(loaded, LINE) == POINTS


def test_an_answer_may_be_laid_out_over_many_lines(loaded):
    assert read(loaded, json.dumps(ANSWER, indent=2)) == POINTS


def test_several_answers_may_be_laid_out(loaded):
    spread = json.dumps(ANSWER, indent=2)
    text = f"{spread}\nSat Nov 21 12:00:00 UTC 2026\n{spread}"
    second = len(spread.split("\n")) + 2
    assert [line for (line,) in loaded(loader, POSITIONS, "line", text)] == [1] * 4 + [second] * 4


def test_each_line_may_be_an_answer(loaded):
    text = "\n".join((LINE, NONE, LINE))
    assert [line for (line,) in loaded(loader, POSITIONS, "line", text)] == [1] * 4 + [3] * 4
    assert loaded(loader, EVENTS, "line kind reason", text) == [(2, "tool-error", "cluster or consumer not found")]


def test_partitions_before_a_cut_are_kept(loaded):
    assert read(loaded, LINE[: LINE.index('"complete":1}', LINE.index('"partition":1'))] + "…") == POINTS[:2]
    assert read(loaded, LINE[: LINE.index(',"timestamp":', LINE.index('"partition":2'))] + "…") == POINTS[:2]


def test_every_line_has_a_class(classes):
    assert classes(loader, f"{LINE}\n{NONE}\n\nwhat") == ["data", "data", "noise", None]
    assert set(classes(loader, json.dumps(ANSWER, indent=2))) == {"data"}


def test_answers_about_groups_are_recognised():
    for text in (LINE, NONE, json.dumps(ANSWER, indent=4), LINE.replace("consumer status", "consumer group status")):
        assert loader.recognise(Head("x", text, len(text)))
    for text in ('{"error":false,"message":"cluster list returned","clusters":["c"]}', '{"status":"success"}', "{}"):
        assert not loader.recognise(Head("x", text, len(text)))


def test_answers_of_other_shapes_say_nothing(tables, classes):
    start = '{"error":false,"message":"consumer lag returned","status":'
    rests = (
        "[" * 8000,
        "7}",
        '{"partitions":7}}',
        '{"partitions":[7,null,{"start":{"offset":"5"},"end":{"offset":true}}]}}',
    )
    text = "\n".join(start + rest for rest in rests)
    assert tables(loader, text) == {}
    assert classes(loader, text) == ["data"] * 4


def test_half_a_character_is_written_as_a_question_mark(loaded):
    text = LINE.replace('"group":"g"', '"group":"g\\ud800"')
    assert {group for (group,) in loaded(loader, POSITIONS, "group", text)} == {"g?"}
