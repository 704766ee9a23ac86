"""Lists, help, suggestions and completion: what people meet before they have any material."""

import os
import pty
import re
import subprocess
import sys
from contextlib import suppress

import click
import pytest
from click.testing import CliRunner

from mqlab import cli
from mqlab.catalogue import INCIDENTS
from mqlab.errors import UnknownIncidentError
from mqlab.screens import listings
from mqlab.verbs.explaining import alike, explained


def said(*words, **environment):
    return CliRunner().invoke(cli.commands, words, prog_name="mqlab", env=environment, standalone_mode=False).output


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("unclean", "unclean-election-loss"),
        ("uncleen", "unclean-election-loss"),
        ("out of sync", "unclean-election-loss"),
        ("batch-splitloop", "batch-split-loop"),
        ("tls failed", "kafka-client-tls-failed"),
    ],
)
def test_a_part_of_a_name_words_of_a_title_and_a_near_miss_are_understood(asked, meant):
    assert meant in alike(asked)


def test_what_cannot_be_explained_says_what_was_meant_or_where_to_look():
    with pytest.raises(UnknownIncidentError, match=r"Did you mean unclean-election-loss \(An out-of-sync replica"):
        explained("unclean")
    with pytest.raises(UnknownIncidentError, match="`mqlab incidents` lists the classes"):
        explained("xqzzt")


def test_a_checklist_alone_lists_what_there_is():
    assert re.findall(r"^mqlab checklist (\w+) +\d+ commands$", said("checklist"), re.MULTILINE) == [
        "kafka", "rocketmq", "mqtt",
    ]  # fmt: skip


def test_classes_stand_below_their_families_and_benign_ones_are_marked():
    out = said("incidents")

    assert out.startswith("Traffic amplification\n  batch-split-loop ")
    assert re.search(r"^  fan-out +Several groups read the same topic \(benign\)$", out, re.MULTILINE)
    assert all(f"\n  {slug} " in out for slug in INCIDENTS)


def test_formats_stand_below_the_system_whose_files_look_so():
    kafka = said("formats").partition("\n\nRocketMQ\n")[0]

    assert kafka.startswith("Kafka\n")
    assert re.search(r"^  kafka-consumer-groups +\S.*ConsumerOffsetChecker +positions$", kafka, re.MULTILINE)
    assert "mosquitto-log" not in kafka


@pytest.mark.parametrize("columns", [80, 160])
def test_a_list_is_no_wider_than_the_terminal(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    plain = re.sub("\x1b\\[[0-9;]*m", "", listings.listing({"Family": [("slug", "words " * 30, "tables")]}))

    assert max(map(len, plain.splitlines())) in range(columns - 10, columns + 1)
    assert ("tables" in plain) == (columns == 160)


PAGE = """## a-name

It is `so`, and so on, for more words than fit (kafka).

### Do now

1. Read what was written before you write what others will have to read
- x
    kafka-topics.sh --bootstrap-server "$BOOTSTRAP" --describe --topic orders
"""
READ = """a-name

  It is `so`, and so on, for more words
  than fit (kafka).

Do now

  1. Read what was written before you
     write what others will have to read
  - x
    kafka-topics.sh --bootstrap-server "$BOOTSTRAP" --describe --topic orders
"""


def test_a_page_is_read_without_marks_and_its_commands_stay_on_a_line(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    assert listings.page(PAGE) == READ
    painted = listings.page(PAGE, colour=True)
    assert re.sub("\x1b\\[[0-9;]*m", "", painted) == READ
    assert painted.startswith("\x1b[1ma-name\x1b[0m\n\n  It is \x1b[36m`so`\x1b[0m, and")


def test_an_explanation_in_a_pipe_is_plain_text():
    out = said("explain", "slow-consumer")

    assert out.startswith(
        "slow-consumer\n\n  The consumer is slower than the producer (kafka, rocketmq, mqtt).\n\nWhat happens\n"
    )
    assert not re.search(r"^#|\x1b", out, re.MULTILINE)
    assert max(len(line) for line in out.splitlines() if not line.startswith("    ")) <= 118


@pytest.mark.parametrize("words", [["incidents"], ["formats"], ["explain", "slow-consumer"]])
def test_a_terminal_gets_colours_and_no_escapes_of_them(words):
    held, terminal = pty.openpty()
    process = subprocess.Popen([sys.executable, "-m", "mqlab", *words], stdout=terminal)
    os.close(terminal)
    shown = b""
    with suppress(OSError):
        while more := os.read(held, 1 << 16):
            shown += more
    os.close(held)

    assert process.wait() == 0
    assert b"\x1b[1m" in shown
    assert b"u001b" not in shown


def test_help_has_each_verb_below_one_heading_on_a_line_of_its_own():
    every = cli.commands.list_commands(click.Context(cli.commands))
    below = [name for names in cli.commands.headings.values() for name in names]
    assert sorted(below) == sorted(every)

    listed = said("--help", COLUMNS="80").partition("\nAnswer:\n")[2].splitlines()
    lines = [line for line in listed if line.startswith("  ")]
    assert [line.split()[0] for line in lines] == below
    assert [line for line in lines if not re.fullmatch(r"  \S+ +[A-Z].*\.", line)] == []


@pytest.mark.parametrize(
    ("verb", "own", "shared"),
    [
        (("triage",), "--why", "--log-tz"),
        (("drain",), "--inflow", "--ledger"),
        (("report",), "--exit-code", "--workspace"),
        (("capture", "kafka"), "--bootstrap", "--prometheus"),
        (("lab", "run"), "--exit-code", "--ports"),
        (("train", "start"), "--roll-back", "--samples"),
    ],
)
def test_help_lists_a_verbs_own_options_before_those_it_shares(verb, own, shared):
    before, _, behind = said(*verb, "--help").partition("\nOptions of ")

    assert own in before
    assert shared not in before
    assert shared in behind


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shells_completion_says_where_it_belongs(shell):
    out = said("completion", shell)

    assert re.match(
        rf"# To enable completion in every new shell, add this line to ~/\S*{shell}\S*.*:  .*mqlab completion {shell}",
        out,
    )
    assert f"_MQLAB_COMPLETE={shell}_complete" in out


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("mqlab tria", "triage"),
        ("mqlab explain uncl", "unclean-election-loss"),
        ("mqlab triage --log", "--log-tz"),
        ("mqlab no", "notebook"),
        ("mqlab notebook copy 03", "03_rebalance_timeouts"),
        ("mqlab de", "demo"),
        ("mqlab notebook open --no", "--notebook"),
        ("mqlab demo --sample kafka-amp-1", "kafka-amp-17"),
        ("mqlab lab li", "list"),
    ],
)
def test_verbs_options_and_names_of_classes_are_completed(words, offered):
    asked = {"_MQLAB_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}

    assert f"plain,{offered}" in said(**asked).splitlines()


def test_completion_imports_neither_spark_nor_what_reads():
    code = (
        "import sys; from click.testing import CliRunner; from mqlab import cli\n"
        "asked = {'_MQLAB_COMPLETE': 'bash_complete', 'COMP_WORDS': 'mqlab ', 'COMP_CWORD': '1'}\n"
        "out = CliRunner().invoke(cli.commands, [], prog_name='mqlab', env=asked).output\n"
        "sys.exit(str({'pyspark.sql', 'polars', 'pandas', 'numpy'} & set(sys.modules) or '') or 'train' not in out)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("verb", cli.LATER)
def test_what_a_verb_is_for_is_said_alike_before_it_is_imported(verb):
    assert " ".join(said(verb, "--help").split()).partition(cli.LATER[verb][1])[1]
