"""What a capture says of itself."""

from mqlab.formats import capture_manifest as loader
from mqlab.gather.manifest import Manifest
from mqlab.tables import EVENTS


def test_what_was_not_answered_is_an_error_of_a_tool(loaded, classes):
    manifest = Manifest("kafka", {"interval": 5})
    manifest.failed("latest offsets", "t [0]: Broker: Not leader for partition")
    manifest.questions["latest offsets"].failed_at = "2026-11-22T10:00:20.123Z"
    with manifest.asking("groups"):
        pass
    document = manifest.text().replace("\n", "")
    said = "latest offsets: t [0]: Broker: Not leader for partition"
    assert loaded(loader, EVENTS, "line at system kind reason", document) == [
        (None, "10:00:20", "kafka", "tool-error", said)
    ]
    assert classes(loader, document[:-1]) == [None]
    assert classes(loader, '{"schema": "mqlab.capture/1", "questions": 7}') == [None]
