"""Material that was gathered twice is read once; equal observations of different moments and owners stay apart."""

import bz2
import gzip
import io
import itertools
import lzma
import os
import tarfile
import zipfile

import pytest
import zstandard
from plain_reading import opened

from mqlab.formats.registry import FORMATS
from mqlab.intake import gather
from mqlab.material.names import copied_name, rotated_name
from mqlab.verdict import diagnose

LOG = "".join(
    f"[2026-11-21 12:20:{n:02},{n}01] INFO [GroupCoordinator 1]: Stabilized group g{n} generation {n} "
    "(__consumer_offsets-1) with 2 members (kafka.coordinator.group.GroupCoordinator)\n"
    for n in range(10, 50)
).encode()
GROUPS = (
    b"GROUP  TOPIC   PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  HOST       CLIENT-ID\n"
    b"sinks  orders  0          17              19              2    c-1-x        /10.0.0.1  c-1\n"
)
SETTINGS = b"broker.rack=a\nlog.dirs=/data\nnum.partitions=3\n"
AT = 1_795_263_523


def ledger(rows, fine=True):
    lines = [f"2026-11-22T07:{n // 60:02}:{n % 60:02}.{n % 997 + 1:03}Z" for n in range(rows)]
    dated = [line if fine else f"{line[:19]}Z" for line in lines]
    return "\n".join(["ts,key,partition,offset", *(f"{at},k{n},0,{n}" for n, at in enumerate(dated))]).encode() + b"\n"


@pytest.fixture
def take(tmp_path):
    """(path, the path that it is a copy of) of what is read twice, from files with their content."""
    count = itertools.count()

    def taken(files, *paths):
        top = tmp_path / f"m{next(count)}"
        for name, content in files.items():
            place = top / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
            os.utime(place, (AT, AT))
        given = [str(top / path) for path in paths] or [str(top)]
        sources = gather(given, tmp_path / f"s{next(count)}", FORMATS)
        assert {s.copy_of for s in sources} - {None} <= {s.path for s in sources if s.format != "copy"}
        return {s.path: s.copy_of for s in sources if s.format == "copy"}

    return taken


def tarred(files, top=""):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(f"{top}{name}")
            info.size, info.mtime = len(content), AT
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return out.getvalue()


@pytest.mark.parametrize(
    "name",
    [
        "server.log.bak",
        "server.log~",
        "server (1).log",
        "Copy of server.log",
        "server - 副本.log",
        "saved/x",
        "b/server.log",
    ],
)
def test_a_log_under_any_other_name_is_a_copy(take, name):
    assert take({"logs/server.log": LOG, f"logs/{name}": LOG}) == {f"logs/{name}": "logs/server.log"}


@pytest.mark.parametrize(
    "packed", [gzip.compress, bz2.compress, lzma.compress, zstandard.ZstdCompressor().compress]
)  # fmt: skip
def test_compression_makes_no_other_file(take, packed):
    large = LOG * 200
    assert take({"server.log": large, "old.log.z": packed(large)}) == {"old.log.z": "server.log"}


@pytest.mark.parametrize("times", [1, 200, 2000])
def test_the_ends_of_lines_make_no_other_file(take, times):
    large = LOG * times
    windows = large.replace(b"\n", b"\r\n")
    assert take({"a/server.log": large, "b/server.log": windows}) == {"b/server.log": "a/server.log"}
    assert take({"a/server.log": large, "b/server.log": windows[:-2] + b"X\r\n"}) == {}


def test_files_that_differ_behind_their_beginning_are_no_copies(take):
    large = LOG * 200
    assert take({"a.log": large, "b.log": large[:-2] + b"X\n", "c.log": gzip.compress(large[:-2] + b"Y\n")}) == {}


CAPTURE = {
    "logs/server.log": LOG,
    "configs/server.properties": SETTINGS,
    "groups.20261121T122000Z.txt": GROUPS,
    "clients/w/consumed.csv": ledger(120),
    "notes.txt": b"hello\n",
    "up.json": b'{"status":"success","data":{"resultType":"matrix","result":[]}}\n',
}


@pytest.mark.parametrize(
    ("name", "archive"),
    [
        ("cap.tar.gz", tarred(CAPTURE, "cap/")),
        ("cap.tgz", tarred(CAPTURE, "./")),
        ("copy.zip", zipped({f"cap/{name}": content for name, content in CAPTURE.items()})),
        ("x/other.zip", zipped(CAPTURE)),
    ],
)
def test_all_of_a_folder_is_read_once_beside_its_archive(take, name, archive):
    files = {f"cap/{path}": content for path, content in CAPTURE.items()} | {name: archive}
    copies = take(files)
    assert sorted(copies.values()) == sorted(f"cap/{path}" for path in CAPTURE)
    assert all(path.startswith(f"{name}!/") for path in copies)


def test_which_copy_is_read_does_not_depend_on_the_order_of_paths(take):
    files = {f"{top}/{path}": content for path, content in CAPTURE.items() for top in ("mon", "tue")}
    assert take(files, "mon", "tue") == take(files, "tue", "mon") == {f"tue/{p}": f"mon/{p}" for p in CAPTURE}


def test_equal_outputs_of_different_moments_are_observations_each(take):
    files = {f"groups.2026112{day}T122000Z.txt": GROUPS for day in (1, 2)} | {
        f"2026-11-2{day}T12-20-00Z/lag.txt": GROUPS for day in (1, 2)
    }
    assert take(files) == {}


def test_the_name_that_tells_the_moment_is_read(take):
    names = ("groups.20261121T122000Z.txt", "groups.20261121T122000Z.txt.bak", "a/b/groups.20261121T122000Z.txt")
    assert take(dict.fromkeys(names[:2], GROUPS)) == {names[1]: names[0]}
    assert take(dict.fromkeys(names[1:], GROUPS)) == {}


def test_equal_settings_and_outputs_of_two_hosts_are_facts_of_both(take):
    own = {"a": LOG, "b": LOG.replace(b"Coordinator 1", b"Coordinator 2")}
    files = {f"host-{host}/{name}": content for host in own for name, content in (("server.properties", SETTINGS),
             ("groups.txt", GROUPS), ("server.log", own[host]), ("empty.csv", b""))}  # fmt: skip
    assert take(files) == {}
    shared = {f"host-{host}/client.log": LOG.replace(b"GroupCoordinator", b"Consumer") for host in own}
    assert take(files | shared) == {"host-b/client.log": "host-a/client.log"}


def test_a_few_lines_that_two_brokers_print_at_their_start_are_of_both(take):
    start = LOG[: LOG.index(b"\n") + 1]
    assert take({"east/mosquitto.log": start, "west/mosquitto.log": start}) == {}


@pytest.mark.parametrize(
    ("one", "other", "content", "is_copy"),
    [
        ("w1/consumed.csv", "w2/consumed.csv", ledger(200), True),
        ("w1/consumed.csv", "w2/consumed.csv", ledger(200, fine=False), False),
        ("w1/consumed.csv", "w2/consumed.csv", ledger(50), False),
        (
            "w1/consumed.csv",
            "w2/consumed.csv",
            b"".join(
                line + b"\n" for row in ledger(200).splitlines()[1:] for line in (row + b"%d" % n for n in range(90))
            ),
            True,
        ),
        ("w1-consumed.csv", "w2-consumed.csv", ledger(200), False),
        ("w1-consumed.csv", "w1-consumed (2).csv", ledger(3), True),
        ("w1/consumed.csv", "backup/w1/consumed.csv", ledger(3), True),
    ],
    ids=["fine moments", "whole seconds", "few rows", "many of one moment", "two parties", "a download", "a backup"],
)
def test_equal_ledgers_are_one_where_two_processes_cannot_have_written_them(take, one, other, content, is_copy):
    assert bool(take({one: content, other: content})) is is_copy


def test_samples_that_name_their_instance_are_one_whatever_the_file(take):
    values = ",".join(f'[{AT + 15 * n},"{n}"]' for n in range(20))
    begin, end = '{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"up"', "]}]}}"
    labels = ("", ',"instance":"b-1:9404"')
    of_nobody, of_one = (f'{begin}{label}}},"values":[{values}{end}'.encode() for label in labels)
    assert take({"a/up.json": of_nobody, "b/up.json": of_nobody}) == {}
    assert take({"a/up.json": of_one, "b/xs.json": of_one}) == {"b/xs.json": "a/up.json"}


def test_lines_and_bytes_of_a_copy_are_noise_and_it_is_said(tmp_path):
    (tmp_path / "m").mkdir()
    for name in ("server.log", "server.log.bak", "server.log.old"):
        (tmp_path / "m" / name).write_bytes(LOG)
    diagnosis = diagnose(opened([tmp_path / "m"], tmp_path / "scratch"))
    told = diagnosis.material
    assert (told.files, told.bytes, told.lines) == (3, 3 * len(LOG), 120)
    assert (told.data_lines, told.noise_lines, told.rejected_lines) == (40, 80, 0)
    assert told.copies == {"server.log.bak": ("server.log", 40), "server.log.old": ("server.log", 40)}
    assert diagnosis.gaps[0] == ("2 files are copies and were not read again, such as server.log.bak")


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("a.csv", "a.csv"), ("a.csv.gz", "a.csv"), ("a.csv.bak", "a.csv"), ("a.csv.bak2.gz", "a.csv"),
        ("a (1).csv", "a.csv"), ("a.csv (2)", "a.csv"), ("a - Copy.csv", "a.csv"), ("a-copy2.csv", "a.csv"),
        ("Copy of a.csv", "a.csv"), ("a的副本.csv", "a.csv"), ("a.csv~", "a.csv"), (".bak", ".bak"),
        ("received-backup.csv", "received-backup.csv"), ("old-received.csv", "old-received.csv"),
        ("a.conf.before-0823", "a.conf"), ("a.conf.prev", "a.conf"), ("a.pre.conf", "a.pre.conf"),
        ("worker-2.csv", "worker-2.csv"), ("copy.csv", "copy.csv"),
    ],
)  # fmt: skip
def test_what_copying_adds_to_a_name_is_known(name, plain):
    assert copied_name(name) == plain


@pytest.mark.parametrize(
    ("name", "log"),
    [
        ("a.csv.1", "a.csv"), ("a.csv.2026-11-22", "a.csv"), ("a-2026-11-22.csv", "a.csv"), ("a.jsonl.3.gz", "a.jsonl"),
        ("a.1.csv", "a.1.csv"), ("worker-1.csv", "worker-1.csv"),
    ],
)  # fmt: skip
def test_files_of_one_rotated_ledger_have_one_name(name, log):
    assert rotated_name(name) == log


def test_rows_that_may_be_of_two_processes_count_once_and_leave_the_answer_open(tmp_path):
    for name in ("x", "y"):
        (tmp_path / "m" / name).mkdir(parents=True)
        (tmp_path / "m" / name / "consumed.csv").write_bytes(ledger(200, fine=False))
    facts = opened([tmp_path / "m"], tmp_path / "scratch")
    assert [(one.source, one.messages) for one in facts.parts] == [("x/consumed.csv", 200)]
    assert facts.unread == {"y/consumed.csv": float("inf")}
    assert diagnose(facts).gaps == (
        "y/consumed.csv: Some of its rows are also in x/consumed.csv. Whether it is a copy or another process noted "
        "the same cannot be told, so they count once.",
    )


def test_samples_of_one_name_in_two_folders_are_one_and_under_two_names_are_two(tmp_path):
    at = [f"2026-11-21T12:{n // 60:02d}:{n % 60:02d}+0000" for n in range(120)]
    lines = [f"{moment} $SYS/broker/messages/received {n * n}\n" for n, moment in enumerate(at)]
    for name in ("east/sys-topics.log", "again/sys-topics.log", "west/sys-west.log"):
        (tmp_path / "m" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "m" / name).write_text("".join(lines))
    told = diagnose(opened([tmp_path / "m"], tmp_path / "scratch")).material

    assert [path.rpartition("/")[2] for path in told.copies] == ["sys-topics.log"]
