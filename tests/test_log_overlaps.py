"""Logs that have lines in common, because they were rotated or gathered once more, are read once."""

import gzip

import pytest
from plain_reading import opened

from mqlab.formats.registry import FORMATS
from mqlab.intake import gather
from mqlab.verdict import diagnose


def lines(since, until, node=1):
    """Lines of a coordinator, one a second: groups that prepare to rebalance."""
    return "".join(
        f"[2026-11-21 12:{n // 60:02}:{n % 60:02},{n % 1000:03}] INFO [GroupCoordinator {node}]: Preparing to "
        f"rebalance group g{n % 7} in state PreparingRebalance with old generation {n} (__consumer_offsets-1) (reason: "
        f"Adding new member c-{n} with group instance id None) (kafka.coordinator.group.GroupCoordinator)\n"
        for n in range(since, until)
    ).encode()


@pytest.fixture
def read(tmp_path):
    """(path, bytes read, lines left out, who has them) of logs that are cut, and (starts of rebalances, material)."""

    def reading(files):
        for name, content in files.items():
            place = tmp_path / "m" / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        sources = gather([str(tmp_path / "m")], tmp_path / "s1", FORMATS)
        facts = opened([tmp_path / "m"], tmp_path / "s2")
        told = diagnose(facts).material
        assert told.lines == told.data_lines + told.noise_lines + told.rejected_lines
        cut = {s.path: (s.until, s.copied, s.copy_of) for s in sources if s.until is not None}
        return cut, sum(e.count for e in facts.of_kind("rebalance-started")), told

    return reading


def test_what_the_end_of_a_log_and_the_next_one_share_counts_once(read):
    files = {"server.log.1": lines(0, 600), "server.log": lines(400, 1000)}
    cut, count, told = read(files)
    assert cut == {"server.log.1": (len(lines(0, 400)), 200, "server.log")}
    assert count == 1000
    assert (told.lines, told.bytes) == (1200, sum(map(len, files.values())))
    assert told.copies == {"server.log.1": ("server.log", 200)}


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gz"])
@pytest.mark.parametrize(("since", "until"), [(0, 300), (200, 500), (700, 1000)])
def test_a_part_of_a_log_is_not_read_again(read, since, until, pack):
    cut, count, told = read({"server.log": lines(0, 1000), "part.log": pack(lines(since, until))})
    assert cut == {"part.log": (0, until - since, "server.log")}
    assert count == 1000
    assert told.noise_lines == until - since


def test_lines_that_were_cut_where_files_begin_or_end_do_not_hide_what_they_share(read):
    torn_end, torn_begin = lines(0, 600)[:-40], lines(400, 1000)[120:]
    cut, count, _ = read({"server.log.1": torn_end, "server.log": torn_begin})
    assert cut == {"server.log.1": (len(lines(0, 401)), 199, "server.log")}
    assert count == 1000


def test_three_logs_of_which_each_overlaps_the_next_count_once(read):
    parts = {"server.log.2": (0, 500), "server.log.1": (300, 800), "server.log": (450, 1000)}
    cut, count, _ = read({name: lines(*part) for name, part in parts.items()})
    assert {name: who for name, (_, _, who) in cut.items()} == {
        "server.log.2": "server.log.1",
        "server.log.1": "server.log",
    }
    assert count == 1000


def test_a_log_of_several_splits_is_cut_within_one_of_them(read, monkeypatch):
    monkeypatch.setattr("mqlab.kernel.splits.SIZE", 50_000)
    cut, count, _ = read({"server.log.1": lines(0, 600), "server.log": lines(400, 1000)})
    assert count == 1000
    assert [copied for _, copied, _ in cut.values()] == [200]


def test_logs_of_two_nodes_stay_as_they_are(read):
    cut, count, _ = read({"n1/server.log": lines(0, 500), "n2/server.log": lines(0, 500, node=2)})
    assert (cut, count) == ({}, 1000)


def test_logs_that_differ_in_the_midst_of_what_they_share_stay_as_they_are(read):
    other = lines(400, 500) + lines(500, 501, node=2) + lines(501, 1000)
    cut, count, _ = read({"a/server.log": lines(0, 600), "b/server.log": other})
    assert (cut, count) == ({}, 1200)


def test_a_few_equal_lines_are_an_overlap_of_one_log_only(read):
    ends = lines(0, 503), lines(500, 1000)
    assert read({"server.log.1": ends[0], "server.log": ends[1]})[0].keys() == {"server.log.1"}


def test_a_few_equal_lines_of_logs_in_two_folders_are_of_both(read):
    ends = lines(0, 503), lines(500, 1000)
    assert read({"a/server.log": ends[0], "b/server.log": ends[1]})[0] == {}


def test_a_log_that_begins_within_a_record_is_laid_beside_the_other_one(read):
    trace = b"".join(b"\tat org.apache.kafka.Some.method%d(Some.java)\n" % n for n in range(9))
    files = {"server.log.1": lines(0, 1) + trace + lines(1, 300), "server.log": trace[-90:] + lines(1, 900)}
    assert read(files)[:2] == (
        {"server.log.1": (len(files["server.log.1"]) - len(trace[-90:] + lines(1, 300)), 301, "server.log")},
        900,
    )
