"""Sessions with Kafka's tools whose answers tell nothing that is counted."""

import pytest

from mqlab.formats import kafka_tools as loader
from mqlab.formats.base import Head
from mqlab.tables import EVENTS

SESSION = """ana@box:~/kafka$ bin/kafka-topics.sh --list --bootstrap-server localhost:9092
quickstart
Error while executing topic command : Topic 'quickstart' already exists.
"""
STATUS = '{"name":"sink","connector":{"state":"RUNNING"},"tasks":[{"id":0,"state":"FAILED"}],"type":"sink"}'


def head(text):
    return Head("paste.txt", text, len(text))


@pytest.mark.parametrize(
    "text",
    [
        SESSION,
        STATUS,
        "^CProcessed a total of 3 messages",
        "100 records sent, 33.3 records/sec (0.03 MB/sec)",
        "> kcat -b b-1:9092 -L",
    ],
)
def test_commands_and_answers_of_the_tools_tell_it(text):
    assert loader.recognise(head(text))


@pytest.mark.parametrize(
    "text", ["kafka-1 is down", "the kafka-topics tool", STATUS.replace('"id"', '"trace":"x","id"')]
)
def test_prose_and_a_status_with_a_trace_are_none(text):
    assert not loader.recognise(head(text))


def test_what_a_tool_complains_of_and_tasks_that_failed_are_events(loaded):
    columns = "line kind reason"
    complaint = "Error while executing topic command : Topic 'quickstart' already exists."
    assert loaded(loader, EVENTS, columns, SESSION) == [(3, "tool-error", complaint)]
    assert loaded(loader, EVENTS, columns, STATUS) == [(1, "task-killed", None)]
