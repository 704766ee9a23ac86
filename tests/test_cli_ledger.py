"""``--ledger map.toml`` on the command line, with what anybody may put into a ledger: markup, formulas, long names."""

import hashlib
import json
import sys

import pytest

from mqlab import cli
from mqlab.capture import open_capture
from mqlab.tables import LEDGER

pytestmark = pytest.mark.slow

KEYS = ["<script>alert(1)</script>", "=HYPERLINK(1)", "@SUM(1+9)", "-2+3", "k" * 4096, "\x1b[31mred", "a b", "ünï-日本"]
MAP = r"""
[[ledger]]
files = "exports/*-out.dat"
role = "acked"
topic = "orders"
party = "<b>gate</b>"
separator = "|"
header = false
key = 0
partition = 1
offset = 2
time = 3

[[ledger]]
files = "worker-*.log"
role = "processed"
group = "=workers"
pattern = 'did <(?P<key>[^\x00]+)> from (?P<topic>[\w.-]+)/(?P<partition>\d+)/(?P<offset>\d+)'
"""


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    folder = tmp_path_factory.mktemp("material")
    (folder / "exports").mkdir()
    rows = [f"{key}|0|{n}|2026-11-22 12:00:0{n}.123\n" for n, key in enumerate(KEYS)]
    (folder / "exports" / "gate-out.dat").write_text("".join(rows), encoding="utf-8")
    lines = [f"2026-11-22 12:01:0{n},123 INFO w did <{key}> from orders/0/{n}\n" for n, key in enumerate(KEYS[:-1])]
    lines += ["2026-11-22 12:02:00,000 INFO w is idle\n", "no moment, did <x> from orders/0/y\n"]
    (folder / "worker-1.log").write_text("".join(lines), encoding="utf-8")
    (folder / "map.toml").write_text(MAP, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def workspace(spark, tmp_path_factory):
    assert spark is not None
    return tmp_path_factory.mktemp("workspace")


@pytest.fixture
def run(monkeypatch, capfdbinary, workspace, material):
    """Run the command line on the material; gives (exit code, output, errors)."""

    def running(verb, *arguments):
        given = [verb, str(material / "exports"), str(material / "worker-1.log"), *map(str, arguments)]
        monkeypatch.setenv("MQLAB_WORKSPACE", str(workspace))
        monkeypatch.setattr(sys, "argv", ["mqlab", *given])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capfdbinary.readouterr()
        return ended.value.code, out.decode(), err.decode()

    return running


def hashed(key):
    return f"{len(key)}:{hashlib.sha256(key.encode()).hexdigest()[:32]}" if len(key) > 200 else key


def test_the_audit_counts_what_the_map_says(run, material):
    code, out, _ = run("audit", "--ledger", material / "map.toml", "--format", "json")
    (topic,) = json.loads(out)["topics"]
    assert (code, topic["topic"], topic["doubled"], topic["losses"]) == (0, "orders", [], [])
    assert [(row["partition"], row["acknowledged"], row["lost"]) for row in topic["partitions"]] == [("0", 8, 0)]


def test_the_screen_shows_it_and_nothing_of_a_terminal(run, material):
    code, out, _ = run("audit", "--ledger", material / "map.toml")
    assert code == 0
    assert "orders" in out
    assert "\x1b" not in out


def test_each_cell_is_kept_as_it_stands(material, workspace):
    paths, given = [str(material / "exports"), str(material / "worker-1.log")], str(material / "map.toml")
    capture = open_capture(paths, workspace=str(workspace), ledger=given)
    kept = capture.table(LEDGER).select("role", "party", "group", "topic", "queue", "offset", "key", "told")
    acked = [("acked", "<b>gate</b>", None, "orders", "0", n, hashed(key), "map") for n, key in enumerate(KEYS)]
    done = [
        ("processed", "worker-1", "=workers", "orders", "0", n, hashed(key), "map") for n, key in enumerate(KEYS[:-1])
    ]
    assert sorted(map(tuple, kept.collect()), key=repr) == sorted([*acked, *done], key=repr)
    (log,) = [c for c in capture.facts.coverage if c.source == "worker-1.log"]
    assert (log.format, log.lines, log.data, log.noise) == ("application-log", 9, 7, 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[ledger]]\nfiles = '*'\nrole = 'sent'\npattern = '('\n", "number 1 has a pattern that is not a valid regex"),
        ("[[ledger]]\nfiles = '*'\nrole = 'sent'\npattern = 'x'\n", "needs a group for key in its pattern"),
        ("[[ledger]]\nfiles = '*'\nrole = 'read'\n", "has the role 'read'; roles are sent, acked"),
        ("ledger", "it is not valid TOML"),
    ],
)
def test_a_mistake_in_the_map_is_one_sentence(run, tmp_path, text, said):
    (tmp_path / "map.toml").write_text(text)
    code, out, err = run("audit", "--ledger", tmp_path / "map.toml")
    assert (code, out) == (64, "")
    assert said in err
    assert len(err.strip().splitlines()) == 1


def test_a_map_that_is_not_there_is_one_sentence(run, tmp_path):
    code, out, err = run("triage", "--ledger", tmp_path / "none.toml")
    assert (code, out) == (64, "")
    assert "No such file" in err
