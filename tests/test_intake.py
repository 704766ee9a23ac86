import bz2
import gzip
import io
import lzma
import os
import socket
import tarfile
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
import zstandard

from mqlab.errors import NoSuchPathError, NothingReadableError, UnsafeArchiveError
from mqlab.formats.base import Spec
from mqlab.intake import gather
from mqlab.material import days, remote
from mqlab.sources import Envelope, Reading, Role

LOG = "[2026-11-21 12:18:43,427] INFO started (kafka.server.KafkaServer)\n"
TEXT = LOG.encode() * 3


def form(name, reading, start):
    spec = Spec(name, Role.LOG, (), reading=reading)
    return SimpleNamespace(FORMAT=spec, recognise=lambda head: head.text.startswith(start))


FORMATS = (
    form("kafka-log", Reading.LOG, "[2026"),
    form("zoned-log", Reading.LOG, "2026-11-21T12:18:43Z"),
    form("groups", Reading.TABLE, "GROUP"),
    form("document", Reading.DOCUMENT, '{"'),
)


@pytest.fixture
def material(tmp_path):
    folder = tmp_path / "material"
    folder.mkdir()
    return folder


@pytest.fixture
def take(tmp_path):
    def gathered(*paths):
        sources = gather([str(path) for path in paths], tmp_path / "scratch", FORMATS)
        return {source.path: source for source in sources}

    return gathered


def write(folder, name, content=TEXT):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def tar_of(members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(content), 1795263523
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def text_of(source):
    with remote.opened(source.location) as stream:
        return stream.read()


def test_a_folder_gives_its_files_by_path(material, tmp_path):
    write(material, "logs/server.log")
    write(material, "b.txt", b"GROUP TOPIC\n")
    write(material, "a.json", b'{"status":1}')
    write(material, "odd", b"something else\n")
    write(material, "empty", b"")
    write(material, "db", b"a\0b")
    sources = gather([str(material)], tmp_path / "scratch", FORMATS)

    assert [(s.path, s.format, s.reading) for s in sources] == [
        ("a.json", "document", Reading.DOCUMENT),
        ("b.txt", "groups", Reading.TABLE),
        ("db", "binary", Reading.COUNT),
        ("empty", "empty", Reading.COUNT),
        ("logs/server.log", "kafka-log", Reading.LOG),
        ("odd", "unrecognised", Reading.COUNT),
    ]


def test_a_single_file_is_cited_by_its_base_name(material, take):
    path = write(material, "logs/server.log")
    source = take(path)["server.log"]

    assert (source.location, source.size, source.modified) == (str(path), len(TEXT), path.stat().st_mtime)


def test_several_arguments_prefix_their_base_name(material, take):
    write(material, "logs/server.log")
    extra = write(material, "extra.log")

    assert take(material / "logs", extra).keys() == {"logs/server.log", "extra.log"}


def test_arguments_of_one_base_name_are_told_apart(material, take):
    write(material, "node1/logs/server.log")
    write(material, "node2/logs/server.log")

    assert take(material / "node1/logs", material / "node2/logs").keys() == {
        "node1/logs/server.log",
        "node2/logs/server.log",
    }


def test_a_file_given_twice_is_read_once(material, take):
    path = write(material, "server.log")

    assert len(take(material, path, path)) == 1


def test_a_glob_that_the_shell_left_alone_is_expanded(material, take):
    write(material, "a/server.log")
    write(material, "b/server.log")
    write(material, "b/other.txt")

    assert take(f"{material}/**/*.log").keys() == {"a/server.log", "b/server.log"}


def test_a_file_whose_name_looks_like_a_glob_is_itself(material, take):
    path = write(material, "server[1]*.log")

    assert take(path).keys() == {"server[1]*.log"}


def test_a_path_that_does_not_exist_is_an_error(material, take):
    with pytest.raises(NoSuchPathError):
        take(material / "nothing")


def test_material_without_content_is_an_error(material, take):
    write(material, "empty", b"")
    with pytest.raises(NothingReadableError):
        take(material)


HOSTILE = [
    "new\nline.log",
    "quo\"te'.log",
    "<script>alert(1)<.log",
    "_under",
    ".hidden",
    "{a,b}*?[x].log",
    "x\x1b[31m",
    " space ",
    "-",
    "\udcff\udcfe.log",
    "ünïcode 日志.log",
]


def test_hostile_names_are_read(material, take):
    for name in HOSTILE:
        write(material, name)
    sources = take(material)

    assert sources.keys() == {*HOSTILE[:9], "\\xff\\xfe.log", HOSTILE[10]}
    assert all(source.format == "kafka-log" for source in sources.values())
    assert {text_of(source) for source in sources.values()} == {TEXT}


def test_the_users_notes_and_housekeeping_files_are_no_sources(material, take):
    for name in ("incident.yml", ".git/config", ".DS_Store", "server.log", "sub/incident.yml"):
        write(material, name)

    assert take(material).keys() == {"server.log", "sub/incident.yml"}


def test_links_are_not_followed_out_of_the_folder_or_in_circles(material, take, tmp_path):
    outside = write(tmp_path, "outside.log")
    write(material, "server.log")
    (material / "out.log").symlink_to(outside)
    (material / "in.log").symlink_to(material / "server.log")
    (material / "up").symlink_to(tmp_path)
    (material / "round").symlink_to(material)
    (material / "dangling").symlink_to(material / "gone")
    sources = take(material)

    assert {path: s.format for path, s in sources.items()} == {
        "server.log": "kafka-log",
        "out.log": "unreadable",
        "up": "unreadable",
        "dangling": "unreadable",
    }


def test_pipes_and_sockets_are_listed_as_unreadable(material, take, monkeypatch):
    write(material, "server.log")
    os.mkfifo(material / "fifo")
    monkeypatch.chdir(material)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        sources = take(material)

    assert [sources[name].format for name in ("fifo", "socket")] == ["unreadable"] * 2
    assert "pipe" in sources["fifo"].problem


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_listed_as_unreadable(material, take):
    write(material, "server.log")
    write(material, "secret.log").chmod(0)

    assert take(material)["secret.log"].problem == "Permission denied."


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("server.log.gz", gzip.compress),
        ("server.log.bz2", bz2.compress),
        ("server.log.xz", lzma.compress),
        ("server.log.zst", zstandard.ZstdCompressor().compress),
        ("server.log", gzip.compress),
        ("misnamed.bz2", gzip.compress),
    ],
)
def test_compressed_files_are_read_where_they_are_whatever_their_names(material, take, name, pack):
    path = write(material, name, pack(TEXT))
    source = take(path)[name]

    assert (source.location, source.packed, source.size) == (str(path), True, len(pack(TEXT)))
    assert (text_of(source), source.format, source.problem) == (TEXT, "kafka-log", None)


def test_plain_text_that_calls_itself_gz_is_plain_text(material, take):
    source = take(write(material, "server.log.gz"))["server.log.gz"]

    assert (text_of(source), source.packed) == (TEXT, False)


def test_a_cut_file_is_recognised_by_what_can_be_read(material, take):
    noise = b"".join(LOG.encode() + os.urandom(60).hex().encode() + b"\n" for _ in range(9000))
    for suffix, pack in ((".gz", gzip.compress), (".xz", lzma.compress), (".zst", zstandard.compress)):
        write(material, f"server.log{suffix}", pack(noise)[:400_000])

    assert {source.format for source in take(material).values()} == {"kafka-log"}


def test_a_file_that_is_nothing_but_damage_is_unreadable(material, take):
    write(material, "server.log")
    write(material, "broken.gz", b"\x1f\x8b\x08damaged from the start")

    assert take(material)["broken.gz"].format == "unreadable"


def test_utf16_is_transcoded_and_a_utf8_mark_is_no_text(material, take):
    write(material, "wide.log", TEXT.decode().encode("utf-16"))
    write(material, "wider.log.gz", gzip.compress(TEXT.decode().encode("utf-16")))
    write(material, "marked.log", b"\xef\xbb\xbf" + TEXT)
    sources = take(material)

    assert {s.format for s in sources.values()} == {"kafka-log"}
    assert text_of(sources["wide.log"]) == text_of(sources["wider.log.gz"]) == TEXT


def test_an_archive_gives_its_members_with_their_own_times(material, take):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as out:
        out.writestr("client.log", TEXT)
    members = {
        "./logs/server.log": TEXT,
        "logs/old.log.gz": gzip.compress(TEXT),
        "inner.zip": inner.getvalue(),
        "../x": TEXT,
    }
    sources = take(write(material, "bundle.tar.gz", tar_of(members)))

    assert {path: s.format for path, s in sources.items()} == {
        "bundle.tar.gz!/../x": "unreadable",
        "bundle.tar.gz!/inner.zip!/client.log": "kafka-log",
        "bundle.tar.gz!/logs/old.log.gz": "kafka-log",
        "bundle.tar.gz!/logs/server.log": "kafka-log",
    }
    assert sources["bundle.tar.gz!/logs/server.log"].modified == 1795263523
    assert text_of(sources["bundle.tar.gz!/logs/old.log.gz"]) == TEXT


def test_archives_are_opened_two_levels_deep(material, take):
    bundle = tar_of({"a.log": TEXT})
    for _ in range(3):
        bundle = tar_of({"next.tgz": bundle, "b.log": TEXT})
    sources = take(write(material, "top.tgz", bundle))

    assert sources["top.tgz!/next.tgz!/b.log"].format == "kafka-log"
    assert sources["top.tgz!/next.tgz!/next.tgz"].format == "unreadable"


def test_a_bomb_alone_is_an_error_and_beside_a_log_an_unreadable_source(material, take):
    bomb = write(material, "bomb.zip", b"")
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as out, out.open("zeros", "w", force_zip64=True) as member:
        for _ in range(110):
            member.write(bytes(1 << 20))
    with pytest.raises(UnsafeArchiveError):
        take(bomb)
    write(material, "server.log")

    assert take(material)["bomb.zip"].format == "unreadable"


def test_a_cut_archive_keeps_its_readable_members_and_is_listed_itself(material, take):
    bundle = tar_of({"a.log": TEXT, "noise": os.urandom(300_000), "b.log": TEXT})
    sources = take(write(material, "bundle.tgz", bundle[:150_000]))

    assert sources["bundle.tgz!/a.log"].format == "kafka-log"
    assert "damaged" in sources["bundle.tgz"].problem


def test_standard_input_is_read_from_a_copy(take, monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(gzip.compress(TEXT))))
    source = take("-")["-"]

    assert (text_of(source), source.format, source.modified) == (TEXT, "kafka-log", None)


def test_an_envelope_is_peeled_before_the_format_is_asked_for(material, take):
    source = take(write(material, "pod.log", b"kafka-1  | " + LOG.encode() + b"kafka-1  | \tacks = 1\n"))["pod.log"]

    assert (source.format, source.envelope) == ("kafka-log", Envelope.COMPOSE)


def test_a_moment_is_taken_from_the_name_or_the_folder_above(material, take):
    write(material, "groups.20261121T121918Z.txt", b"GROUP\n")
    write(material, "1795265983439/10.20.0.83@7#1730233147601", b"GROUP\n")
    write(material, "server.log.2026-11-21-11")
    sources = take(material)

    assert [s.snapshot_at for s in sources.values()] == [1795265983.439, 1795263558.0, None]


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("2026-11-21T12:18:43Z up", True),
        ("2026-11-21T12:18:43.427+0800 up", True),
        ("1795261711: mosquitto version 2.0.11 starting", True),
        ('{"status":"success","values":[[1795263709.554,"0"]]}', True),
        ("[2026-11-21 12:18:43,427] INFO at 1795263709554", False),
        ("2026-11-21 21:00:20 INFO X - begin time:1795266020451", False),
        ("log.segment.bytes = 1073741824", False),
        ("plain", False),
    ],
)
def test_the_zone_is_written_where_a_lines_own_text_says_so(material, take, line, written):
    assert take(write(material, "x", f"{line}\n".encode() * 3))["x"].zone_written is written


def test_the_users_files_are_left_alone(material, take):
    for name, content in {"a.log.zst": zstandard.ZstdCompressor().compress(TEXT), "b.tgz": tar_of({"x": TEXT})}.items():
        write(material, name, content)
    before = {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in material.iterdir()}
    take(material)

    assert {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in material.iterdir()} == before


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_of_one_name_have_paths_of_their_own_and_one_base_name(material, take):
    with zipfile.ZipFile(material / "b.zip", "w") as packed:
        for line in (b"GROUP a\n", b"GROUP b\n"):
            packed.writestr("d/groups.txt", line)
    sources = take(material)

    assert {path: (source.name, text_of(source)) for path, source in sources.items()} == {
        "b.zip!/d/groups.txt": ("groups.txt", b"GROUP a\n"),
        "b.zip!/d/groups.txt (2)": ("groups.txt", b"GROUP b\n"),
    }


TABLE = b"GROUP TOPIC PARTITION\n"


def test_an_hour_alone_is_of_the_day_of_the_logs(material, take):
    write(material, "server.log", b"[2026-11-21 12:18:43,427] INFO x\n[2026-11-21 12:30:00,000] INFO y\n")
    names = {"check_122459.txt": "12:24:59", "123401-groups.txt": "12:34:01", "ticket-044459.txt": None}
    for name in names:
        write(material, name, TABLE)
    found = take(material)

    def clock(moment):
        return moment and datetime.fromtimestamp(moment, UTC).strftime("%H:%M:%S")

    assert {name: clock(found[name].snapshot_at) for name in names} == names
    headings = {b"===== 12:20:00 UTC\n### 12:25:00Z kafka-consumer-groups.sh\n": "2026-11-21"}
    headings |= {b'[3,1,16,"## 12:20:00 UTC",""]\n': "2026-11-21", b"12:20:00\n": "2026-11-21"}
    headings |= {b"===== 12:20:00 UTC\n===== 17:20:00 UTC\n": None, b"12:20:00 UTC 3\n": None}
    for number, text in enumerate(headings):
        place = write(material, f"headed-{number}.txt", TABLE + text)
        bare = replace(found["ticket-044459.txt"], path=place.name, location=str(place))
        (_, one) = days.dated([found["server.log"], bare])
        assert (one.snapshot_at, one.day) == (None, headings[text])
        assert (one.link == bare.link) is (one.day is None)


def test_an_hour_alone_has_no_day_beside_logs_of_two(material, take):
    write(material, "server.log", b"[2026-11-21 12:18:43,427] INFO x\n[2026-11-22 12:30:00,000] INFO y\n")
    write(material, "check_122459.txt", TABLE + b"===== 12:20:00 UTC\n")
    found = take(material)["check_122459.txt"]
    assert (found.snapshot_at, found.day) == (None, None)
