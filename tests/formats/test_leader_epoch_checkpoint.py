"""Files in which brokers keep the beginnings of leader epochs."""

import pytest

from mqlab import intake
from mqlab.formats import leader_epoch_checkpoint as loader
from mqlab.formats.base import Head
from mqlab.tables import EVENTS

TEXT = "0\n2\n0 0\n2 1032\n"
CELLS = "line kind system topic queue value reason"


@pytest.mark.parametrize(
    "name", ["my-orders.v2-10.leader-epoch-checkpoint", "leader-epoch-checkpoint.my-orders.v2-10.x"]
)
def test_each_epoch_is_an_event_of_its_partition(loaded, name):
    assert loaded(loader, EVENTS, CELLS, TEXT, name=name) == [
        (3, "leader-epoch", "kafka", "my-orders.v2", "10", 0.0, "0"),
        (4, "leader-epoch", "kafka", "my-orders.v2", "10", 1032.0, "2"),
    ]


def test_without_a_folder_the_partition_is_not_told(loaded):
    assert loaded(loader, EVENTS, "topic queue value", TEXT, name="leader-epoch-checkpoint") == [
        (None, None, 0.0), (None, None, 1032.0),
    ]  # fmt: skip


def test_the_folder_of_a_file_rides_in_its_link(tmp_path):
    folder = tmp_path / "kafka-1" / "orders-0"
    folder.mkdir(parents=True)
    (folder / "leader-epoch-checkpoint").write_text(TEXT)
    (source,) = intake.gather([str(tmp_path)], tmp_path / "unpacked", [loader])
    assert (source.format, source.link.split(".", 3)[3]) == (loader.FORMAT.name, "orders-0.leader-epoch-checkpoint")


def test_every_line_has_a_class(classes):
    assert classes(loader, TEXT + "cut") == ["noise", "noise", "data", "data", None]


def test_a_file_is_known_by_its_content_and_its_name():
    def known(text, name="leader-epoch-checkpoint"):
        return loader.recognise(Head(name, text, len(text)))

    assert known(TEXT)
    assert known("0\n0\n")
    assert not known("0\n3\n0 0\n2 1032\n")
    assert not known("0\n1\norders 0 1032\n", "replication-offset-checkpoint")
    assert not known(TEXT, "numbers.txt")
    assert not known("1\n1\n0 0\n")
    assert not known(f"0\n{'9' * 5000}\n0 0\n")
