"""The workspace is incremental: only what is new is read, and no line counts twice."""

import gc
import io
import os
import shutil
import stat
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from workspace_material import AT, LINE, PARTS, copied, write

from mqlab import jsonout
from mqlab.cache import batches, dependence, reading, storage
from mqlab.capture import open_capture
from mqlab.errors import WorkspaceError
from mqlab.spark import guest
from mqlab.tables import EVENTS, POSITIONS, VOLUME

DAY = 86_400


@pytest.fixture
def bench(spark, tmp_path, monkeypatch):
    """Open the material and say which files were read."""
    assert spark is not None
    asked = []

    def spying(fresh, *how, real=reading._read):
        asked.extend(source.path for source in fresh)
        return real(fresh, *how)

    monkeypatch.setattr(reading, "_read", spying)

    def opened(*paths, workspace="workspace"):
        asked.clear()
        given = [str(path) for path in paths or (tmp_path / "m",)]
        capture = open_capture(given, workspace=str(tmp_path / workspace))
        return capture, sorted(asked)

    def same_as_untouched(capture, *paths):
        untouched, read = opened(*paths, workspace="untouched")
        shutil.rmtree(tmp_path / "untouched")
        return bool(read) and jsonout.dumps(capture.diagnosis) == jsonout.dumps(untouched.diagnosis)

    material = copied(tmp_path / "m")
    return SimpleNamespace(
        open=opened, same_as_untouched=same_as_untouched, material=material, cache=tmp_path / "workspace"
    )


def lines_of(capture):
    return {c.source: c.lines for c in capture.facts.coverage}


def kept(cache, what):
    """Names of the batches or entries in the workspace."""
    return sorted(path.name for path in cache.glob({"batches": "scan-*", "entries": "material-*"}[what]))


def aged(path, days):
    long_ago = path.stat().st_mtime - days * DAY
    os.utime(path, (long_ago, long_ago))


def test_the_same_material_needs_no_spark_and_notes_do_not_count_as_material(bench, monkeypatch):
    first, read = bench.open()
    monkeypatch.setattr(guest, "tune", lambda *_: pytest.fail("a session was started"))
    (bench.material / "incident.yml").write_text("title: again\n")
    again, nothing = bench.open()

    assert (read, nothing) == (sorted(PARTS), [])
    assert jsonout.dumps(again.diagnosis) == jsonout.dumps(first.diagnosis)
    assert again.notes.title == "again"


def test_only_new_and_grown_files_are_read_and_no_line_counts_twice(bench):
    before, _ = bench.open()
    with (bench.material / "logs/server.log").open("ab") as log:
        log.write(LINE)
    write(bench.material / "logs/controller.log", LINE * 3)
    after, read = bench.open()

    assert read == ["logs/controller.log", "logs/server.log"]
    assert lines_of(after) == {
        **lines_of(before),
        "logs/controller.log": 3,
        "logs/server.log": lines_of(before)["logs/server.log"] + 1,
    }
    assert bench.same_as_untouched(after)


def test_a_rotated_log_is_not_read_again_but_a_table_whose_name_tells_another_moment_is(bench):
    bench.open()
    log, table = bench.material / "logs/server.log", bench.material / PARTS[-1]
    log.rename(log.with_name("server.log.2026-11-21-12"))
    write(log, LINE * 2)
    table.rename(table.with_name("groups.20261121T121130Z.txt"))
    after, read = bench.open()

    assert read == ["logs/server.log", "offsets/groups.20261121T121130Z.txt"]
    assert bench.same_as_untouched(after)
    moments = {row["source"]: row["at"] for row in after.table(POSITIONS).collect()}
    assert [(name, str(at)) for name, at in moments.items()] == [
        ("offsets/groups.20261121T121130Z.txt", "2026-11-21 12:11:30")
    ]


def test_copies_are_counted_one_by_one_and_a_removed_one_no_more(bench):
    write(bench.material / "a.log", LINE * 5)
    bench.open()
    for name in ("b.log", "c.log"):
        write(bench.material / name, LINE * 5)
    three, copies = bench.open()
    (bench.material / "b.log").unlink()
    two, nothing = bench.open()

    assert [lines_of(three)[name] for name in ("a.log", "b.log", "c.log")] == [5, 5, 5]
    assert (len(copies), nothing) == (2, [])
    assert {name: n for name, n in lines_of(two).items() if name.endswith(".log") and "/" not in name} == {
        "a.log": 5,
        "c.log": 5,
    }
    assert bench.same_as_untouched(two)


def test_a_part_of_the_material_and_other_paths_start_from_the_workspace(bench):
    bench.open()
    part, nothing = bench.open(bench.material / "logs", bench.material / "clients/edge-gw.log")

    assert nothing == []
    assert set(lines_of(part)) == {"edge-gw.log", "logs/server.log"}
    assert part.table(VOLUME).where("source NOT LIKE '%.log'").count() == 0
    assert bench.same_as_untouched(part, bench.material / "logs", bench.material / "clients/edge-gw.log")


def test_a_file_that_two_batches_hold_counts_once(bench, monkeypatch):
    with monkeypatch.context() as alone:
        alone.setattr(batches, "finished", lambda *_: [])
        bench.open(bench.material / "logs")
        bench.open(bench.material / "logs", bench.material / "metrics")
        bench.open(bench.material / "metrics", bench.material / "configs")
    whole, read = bench.open()

    assert len(kept(bench.cache, "batches")) == 4
    assert read == [PARTS[0], PARTS[-1]]
    assert len(whole.places.batches) == 3
    assert bench.same_as_untouched(whole)


def test_what_other_code_read_is_read_again(bench, monkeypatch):
    before, _ = bench.open()
    monkeypatch.setattr(dependence, "version", lambda parts: f"another {len(parts)}")
    after, read = bench.open()

    assert read == sorted(PARTS)
    assert jsonout.dumps(after.diagnosis) == jsonout.dumps(before.diagnosis)


def test_a_file_that_grows_while_it_is_read_is_told_and_read_again(bench, monkeypatch):
    log = bench.material / "logs/server.log"
    with monkeypatch.context() as growing:

        def late(*arguments, real=reading.job.read):
            found = real(*arguments)
            with log.open("ab") as file:
                file.write(LINE * 7)
            return found

        growing.setattr(reading.job, "read", late)
        first, _ = bench.open()
    second, read = bench.open()

    assert [c.problem for c in first.facts.coverage if c.problem] == [reading.CHANGED]
    assert read == ["logs/server.log"]
    assert lines_of(second)["logs/server.log"] == lines_of(first)["logs/server.log"] + 7
    assert bench.same_as_untouched(second)


def test_a_file_that_grew_before_it_was_read_counts_under_no_earlier_state(bench, monkeypatch):
    log = bench.material / "logs/server.log"
    before = log.read_bytes()
    with monkeypatch.context() as growing:

        def early(*arguments, real=reading.job.read):
            with log.open("ab") as file:
                file.write(LINE * 7)
            return real(*arguments)

        growing.setattr(reading.job, "read", early)
        at = log.stat().st_mtime
        first, _ = bench.open()
    write(log, before, at)
    second, read = bench.open()

    assert [c.source for c in first.facts.coverage if c.problem] == ["logs/server.log"]
    assert read == ["logs/server.log"]
    assert bench.same_as_untouched(second)


@pytest.mark.parametrize("index", [None, b"", b'{"links": [', b"[]"], ids=["none", "empty", "half", "other"])
def test_a_batch_without_a_whole_index_counts_for_nothing_and_goes(bench, index):
    capture, _ = bench.open()
    (batch,) = kept(bench.cache, "batches")
    expected = jsonout.dumps(capture.diagnosis)
    del capture
    gc.collect()
    (bench.cache / batch / "index.json").unlink()
    if index is not None:
        (bench.cache / batch / "index.json").write_bytes(index)
        (bench.cache / kept(bench.cache, "entries")[0]).unlink()
    again, read = bench.open()

    assert read == sorted(PARTS)
    assert jsonout.dumps(again.diagnosis) == expected
    assert batch in kept(bench.cache, "batches") or index is None


@pytest.mark.parametrize("content", [b"", b"\x1f\x8b\x08", b"{}"], ids=["empty", "half", "other"])
def test_a_damaged_entry_is_made_again_without_reading(bench, content):
    first, _ = bench.open()
    (entry,) = kept(bench.cache, "entries")
    (bench.cache / entry).write_bytes(content or (bench.cache / entry).read_bytes()[:-40])
    again, read = bench.open()

    assert read == []
    assert jsonout.dumps(again.diagnosis) == jsonout.dumps(first.diagnosis)
    assert kept(bench.cache, "entries") == [entry]


@pytest.mark.parametrize(
    "damage",
    [lambda _: b"", lambda rows: rows[:200], lambda rows: rows[:4] + bytes(len(rows) - 4)],
    ids=["empty", "cut", "zeros"],
)
def test_rows_that_cannot_be_read_any_more_are_read_from_the_material_again(bench, damage):
    first, _ = bench.open()
    (entry,), (batch,) = kept(bench.cache, "entries"), kept(bench.cache, "batches")
    for part in (bench.cache / batch / "rows").glob("*/*.parquet"):
        part.write_bytes(damage(part.read_bytes()))
    (bench.cache / entry).unlink()
    write(bench.material / "more.log", LINE)
    again, read = bench.open()

    assert read == sorted([*PARTS, "more.log"])
    assert lines_of(again) == {**lines_of(first), "more.log": 1}


def test_a_workspace_may_be_emptied_at_any_time(bench):
    first, _ = bench.open()
    for name in kept(bench.cache, "batches"):
        shutil.rmtree(bench.cache / name)
    again, read = bench.open()
    shutil.rmtree(bench.cache)
    third, once_more = bench.open()

    assert read == once_more == sorted(PARTS)
    assert {jsonout.dumps(c.diagnosis) for c in (again, third)} == {jsonout.dumps(first.diagnosis)}


def test_material_that_grows_has_one_entry_and_rows_that_no_entry_needs_go(bench):
    for n in range(1, 4):
        write(bench.material / "grows.log", LINE * n, AT + n)
        capture, _ = bench.open(bench.material / "grows.log")
        assert lines_of(capture) == {"grows.log": n}
        del capture
        gc.collect()

    assert (len(kept(bench.cache, "entries")), len(kept(bench.cache, "batches"))) == (1, 1)


def test_an_open_capture_keeps_its_rows_while_others_go_on(bench):
    write(bench.material / "grows.log", LINE * 2)
    early, _ = bench.open(bench.material / "grows.log")
    write(bench.material / "grows.log", LINE * 3, AT + 1)
    late, _ = bench.open(bench.material / "grows.log")
    del late
    gc.collect()

    assert early.table(EVENTS).count() == 2
    assert len(kept(bench.cache, "batches")) == 2


def test_what_was_not_used_for_a_month_goes_and_what_was_used_stays(bench):
    for name in ("old", "used", "new"):
        write(bench.material / name / "server.log", LINE * len(name) + name.encode())
    for name in ("old", "used"):
        bench.open(bench.material / name)
    gc.collect()
    for path in (*bench.cache.glob("material-*"), *bench.cache.glob("scan-*/index.json")):
        aged(path, 31)
    used = bench.open(bench.material / "used")[0].places.batches
    fresh = bench.open(bench.material / "new")[0].places.batches

    assert kept(bench.cache, "batches") == sorted([*used, *fresh])
    assert len(kept(bench.cache, "entries")) == 2


def test_standard_input_leaves_nothing_once_it_is_closed(bench, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LINE * 3)))
    capture, read = bench.open("-")
    assert read == ["-"]
    assert capture.table(EVENTS).count() == 3
    del capture
    gc.collect()

    assert [path.name for path in bench.cache.iterdir() if path.is_dir() or "material" in path.name] == []


def test_archives_are_unpacked_for_as_long_as_they_are_read(bench, tmp_path):
    packed = shutil.make_archive(str(tmp_path / "bundle"), "gztar", bench.material)
    capture, read = bench.open(packed)
    gone = [source.location for source in capture.sources]
    with capture.readable() as sources:
        found = {source.path for source in sources if Path(source.location).exists()}

    assert len(found) == len(read) == len(PARTS)
    assert not any(Path(location).exists() for location in gone)
    assert bench.open()[1] == []


def test_a_workspace_that_fills_up_is_told_by_its_name(bench, monkeypatch):
    def full(*_):
        raise RuntimeError("from the worker: OSError: [Errno 28] Error writing bytes: No space left on device")

    monkeypatch.setattr(reading.job, "read", full)
    with pytest.raises(WorkspaceError, match="workspace cannot be used: No space left on device"):
        bench.open()


def test_nobody_else_may_look(bench):
    bench.open()
    written = [bench.cache, *bench.cache.rglob("*")]
    others = stat.S_IRWXG | stat.S_IRWXO

    assert {path.name for path in written if path.stat().st_mode & others} == set()
    assert {path.name.split("-")[0] for path in written} > {"scan", "material", "rows", "index.json"}


def test_what_cannot_be_put_in_place_leaves_nothing(tmp_path):
    (tmp_path / "entry").mkdir()

    with pytest.raises(OSError, match="entry"):
        storage.put(tmp_path / "entry", b"x", by_way_of=tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["entry"]
