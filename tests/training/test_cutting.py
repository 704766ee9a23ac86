"""What of a file was known at a moment."""

import gzip
import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_reading import opened

from mqlab.training import cutting
from mqlab.training.cutting import How, Known

SAMPLES = Path(__file__).parents[2] / "data" / "samples"
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC).timestamp()


def stamp(seconds):
    return f"{datetime.fromtimestamp(NOON + seconds, UTC):%Y-%m-%d %H:%M:%S},000"


def line(seconds, text="Preparing to rebalance group billing"):
    return f"[{stamp(seconds)}] INFO [GroupCoordinator 1]: {text}\n"


def written(folder, name, content):
    file = Path(folder) / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def indexed(folder, name, content, zones=None, later=None):
    """The file, and how it becomes known."""
    file = written(folder, name, content)
    return file, cutting.index(Path(folder), zones or {}, later or {})[name]


def prometheus(*seconds):
    points = [[NOON + s, str(s)] for s in seconds]
    series = [{"metric": {"__name__": "up", "instance": "b:1"}, "values": points}]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": series}})


# None is a line without a moment, such as one of a stack trace
LOGS = st.lists(st.none() | st.integers(0, 900), min_size=1, max_size=40).filter(any)
MOMENTS = st.integers(-10, 910)


@settings(max_examples=25, deadline=None)
@given(LOGS, MOMENTS, MOMENTS)
def test_a_log_only_grows_by_whole_lines_and_never_shows_what_was_written_later(seconds, one, other):
    with TemporaryDirectory() as folder:
        lines = ["\tat kafka.Group.run\n" if at is None else line(at) for at in seconds]
        file, known = indexed(folder, "logs/server.log", "".join(lines))
        earlier, later = (cutting.cut(file, known, NOON + at) or b"" for at in sorted((one, other)))

        assert later.startswith(earlier)
        assert file.read_bytes().startswith(later)
        assert later.endswith(b"\n") or not later
        shown = seconds[: later.count(b"\n")]
        assert all(at <= max(one, other) for at in shown if at is not None)
        assert cutting.cut(file, known, NOON + 900) == file.read_bytes()


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 900), min_size=1, max_size=30, unique=True).map(sorted), MOMENTS)
def test_an_export_of_metrics_holds_the_samples_up_to_the_moment(seconds, now):
    with TemporaryDirectory() as folder:
        file, known = indexed(folder, "metrics/up.json", prometheus(*seconds))
        there = [at for at in seconds if at <= now]

        assert cutting.cut(file, known, NOON + now) == (prometheus(*there).encode() if there else None)


def test_what_belongs_to_a_line_comes_with_it(tmp_path):
    file, known = indexed(tmp_path, "logs/server.log", line(0) + line(5) + "java.io.IOException\n\tat x\n" + line(9))

    assert cutting.cut(file, known, NOON + 5).endswith(b"IOException\n\tat x\n")


def test_a_last_line_without_an_end_is_there_at_the_end(tmp_path):
    file, known = indexed(tmp_path, "logs/server.log", line(0) + line(5).rstrip("\n"))

    assert cutting.cut(file, known, NOON + 5) == file.read_bytes()


def test_a_compressed_ledger_stays_compressed(tmp_path):
    rows = [f"{(NOON + s) * 1000:.0f},orders,0,{s},SB-{s}\n" for s in range(60)]
    ledger = "ts_ms,topic,partition,offset,key\n" + "".join(rows)
    file, known = indexed(tmp_path, "clients/processed.csv.gz", gzip.compress(ledger.encode()))

    part = cutting.cut(file, known, NOON + 9.5)

    assert gzip.decompress(part).decode() == ledger[: ledger.index("SB-10") - len(rows[10]) + len("SB-10\n")]


def test_a_log_in_local_time_is_cut_in_utc(tmp_path):
    file, known = indexed(
        tmp_path, "logs/server.log", "".join(line(8 * 3600 + s) for s in range(10)), {"logs/server.log": "+08:00"}
    )

    assert cutting.cut(file, known, NOON + 4).count(b"\n") == 5


def test_the_zone_of_a_log_is_found_where_its_format_fixes_it(tmp_path):
    text = "".join(
        f"2026-11-21 20:00:{s:02d} INFO ClientManageThread_1 - NETTY EVENT. remove channel\n" for s in range(10)
    )
    _, known = indexed(tmp_path, "logs/broker.log", text)

    assert known.since == NOON


def test_lines_without_a_year_are_in_that_of_the_others(tmp_path):
    written(tmp_path, "logs/server.log", line(0) + line(60))
    syslog = "".join(f"Nov 21 12:00:{s:02d} gw-1 paho[812]: reconnecting\n" for s in range(10))
    file, known = indexed(tmp_path, "clients/gateway.log", syslog)

    assert cutting.cut(file, known, NOON + 4).count(b"\n") == 5


def test_the_output_of_a_command_is_there_as_a_whole_from_its_moment_on(tmp_path):
    name = "clients/ss-established.20261121T120030Z.txt"
    file, known = indexed(tmp_path, name, "State Recv-Q Send-Q Local Address:Port Peer Address:Port\n")

    assert cutting.cut(file, known, NOON + 29) is None
    assert cutting.cut(file, known, NOON + 30) == file.read_bytes()


def test_configuration_was_always_there_unless_somebody_knows_better(tmp_path):
    written(tmp_path, "configs/new.properties", "acks=all\n")
    file, known = indexed(tmp_path, "configs/old.properties", "acks=1\n", later={"configs/new.properties": iso(60)})
    new = cutting.index(tmp_path, {}, {"configs/new.properties": iso(60)})["configs/new.properties"]

    assert cutting.cut(file, known, NOON - 3600) == b"acks=1\n"
    assert cutting.cut(tmp_path / "configs/new.properties", new, NOON + 59) is None
    assert cutting.cut(tmp_path / "configs/new.properties", new, NOON + 60) == b"acks=all\n"


def iso(seconds):
    return datetime.fromtimestamp(NOON + seconds, UTC).isoformat()


def test_a_brokers_own_file_without_a_moment_holds_what_it_held_at_the_end(tmp_path):
    written(tmp_path, "logs/server.log", line(0) + line(60))
    name = "store/consumerOffset.json"
    _, known = indexed(tmp_path, name, '{"offsetTable":{"orders@billing":{0:12,1:14}}}')

    assert (known.how, known.since) == (How.TAKEN, NOON + 60)


def test_a_paste_is_there_as_a_whole_when_its_last_line_was_written(tmp_path):
    console = "$ tail server.log\n" + line(0) + line(7) + "$ kafka-topics.sh --describe --topic orders\n"
    file, known = indexed(tmp_path, "notes.txt", console * 2)

    assert cutting.cut(file, known, NOON + 6) is None
    assert cutting.cut(file, known, NOON + 7) == file.read_bytes()


def test_a_long_log_keeps_few_marks_and_loses_nothing(tmp_path):
    file, known = indexed(tmp_path, "logs/server.log", "".join(line(s) for s in range(2000)))
    half = cutting.cut(file, known, NOON + 1000)

    assert len(known.marks.split()) <= cutting.MARKS
    assert half.count(b"\n") == pytest.approx(1000, abs=2000 / cutting.MARKS + 1)
    assert cutting.cut(file, known, NOON + 2000) == file.read_bytes()


def test_what_is_known_is_plain_json(tmp_path):
    _, known = indexed(tmp_path, "logs/server.log", line(0) + line(5))

    assert Known(**json.loads(json.dumps(asdict(known)))) == known


def test_a_line_is_known_from_the_moment_it_was_written(tmp_path):
    file, known = indexed(tmp_path, "logs/server.log", line(0) + line(5, "group is dead") + line(9))

    assert cutting.known_from(file, known, "is dead") == NOON + 5


@pytest.mark.parametrize("name", ["mqtt-takeover-01", "kafka-amp-13", "rocketmq-04"])
def test_mqlab_reads_no_later_moment_in_a_capture_that_was_cut(name, tmp_path):
    base = SAMPLES / name
    known = cutting.index(base, {}, {})
    begin, end = cutting.span(known)
    until = begin + (end - begin) / 2
    for file, one in known.items():
        if (data := cutting.cut(base / file, one, until)) is not None:
            written(tmp_path / "material", file, data)

    facts = opened([tmp_path / "material"], tmp_path / "scratch")

    moments = {
        *((row.source, row.last_at) for row in facts.episodes),
        *((row.source, at) for row in facts.series for at, _ in row.points),
        *((row.source, row.at) for row in (*facts.positions, *facts.clients, *facts.tallies, *facts.receipts)),
    }
    assert len(moments) > 20
    assert [row for row in moments if row[1] is not None and row[1] > until + 0.001] == []
    assert [row for row in facts.coverage if row.problem] == []
