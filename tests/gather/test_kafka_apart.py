"""Kafka is asked by a process of its own, which the client library may end."""

import os
from datetime import UTC, datetime

from mqlab.gather import kafka_apart
from mqlab.gather.bundle import Bundle
from mqlab.gather.kafka_apart import Apart
from mqlab.gather.kafka_client import BETWEEN_TRIES
from mqlab.gather.manifest import Manifest
from mqlab.gather.schedule import Tick, Wanted

AT = datetime(2026, 11, 23, 17, 0, tzinfo=UTC)


def dying(line, _reached, _wanted, bundle, errors):
    """Ends as the library does at the first tick, and answers at others."""
    tick, manifest = line.recv()
    bundle.write("kafka/topics-describe.txt", "Topic: orders\n")
    if tick.first:
        errors.write_text("python: rdkafka_queue.h:1086: Assertion failed.\n")
        os.abort()
    manifest.facts = {"topics": 1}
    line.send(manifest)


def test_a_library_that_ends_its_process_is_noted_and_asked_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(kafka_apart, "_serve", dying)
    paused = []
    monkeypatch.setattr(kafka_apart, "sleep", paused.append)
    bundle = Bundle(tmp_path / "b", Manifest("kafka", {}))
    apart = Apart({}, Wanted(), bundle)
    apart(Tick(AT, first=True, last=False))
    (question,) = bundle.manifest.questions.values()
    assert question.because.endswith("it was started anew (python: rdkafka_queue.h:1086: Assertion failed.)")
    assert bundle.manifest.files == 1
    apart(Tick(AT, first=False, last=True))
    assert bundle.manifest.facts == {"topics": 1}
    assert [round(each) for each in paused] == [0, round(BETWEEN_TRIES)], "a process anew connects anew"
    assert bundle.manifest.questions == {"cluster and topics": question}
