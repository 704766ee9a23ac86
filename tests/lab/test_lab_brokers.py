"""How brokers and loads are set up, without any of them; one run end to end where Maven has fetched a broker before."""

import re
import shutil
import tomllib
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from mqlab.cli import commands
from mqlab.lab import distributions
from mqlab.lab.brokers.base import Wanted
from mqlab.lab.brokers.registry import BUILDERS
from mqlab.lab.distributions import Distribution, known, pom
from mqlab.lab.errors import MissingToolError
from mqlab.lab.home import Home, default_home
from mqlab.lab.launching import command_of, written_settings
from mqlab.lab.loads.registry import KINDS
from mqlab.lab.scenario import Load


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A lab whose distributions are empty folders, and whose programs are where nobody looks."""
    monkeypatch.setattr(distributions, "tool", lambda name, *_: f"/bin/{name}")
    for name in known():
        (tmp_path / "dist" / name / "lib").mkdir(parents=True)
        (tmp_path / "dist" / name / "complete").touch()
    (tmp_path / "dist" / "jmx-exporter" / "lib" / "jmx_prometheus_javaagent-1.jar").touch()
    return Home(tmp_path)


def settings(path):
    return dict(line.split("=", 1) for line in path.read_text().splitlines())


def test_three_nodes_of_kafka_are_one_quorum_on_loopback(home):
    made = BUILDERS["kafka"](Wanted("kafka", "3.9", 3, settings={"compression.type": "zstd"}), home, 17000)
    own = settings(made.configs["server-2.properties"])
    assert made.address == "127.0.0.1:17000,127.0.0.1:17001,127.0.0.1:17002"
    assert own["listeners"] == "PLAINTEXT://127.0.0.1:17001,CONTROLLER://127.0.0.1:17021"
    assert own["controller.quorum.voters"] == "1@127.0.0.1:17020,2@127.0.0.1:17021,3@127.0.0.1:17022"
    assert (own["offsets.topic.replication.factor"], own["compression.type"]) == ("3", "zstd")
    assert [command.name for command in made.prepared] == [f"kafka-{n}-format" for n in (1, 2, 3)]


def test_kafka_2_8_has_a_zookeeper_that_starts_first(home):
    made = BUILDERS["kafka"](Wanted("kafka", "2.8"), home, 17000)
    assert [node.name for node in made.nodes] == ["zookeeper", "kafka-1"]
    assert settings(made.configs["server.properties"])["zookeeper.connect"] == "127.0.0.1:17090"
    assert made.prepared == []


def test_an_exporter_has_a_port_only_where_metrics_are_wanted(home):
    with_it = BUILDERS["kafka"](Wanted("kafka", "4.1", metrics=True), home, 17000).nodes[0]
    assert with_it.metrics_port == 17050
    assert any("javaagent" in word for word in with_it.command.words)
    without = BUILDERS["kafka"](Wanted("kafka", "4.1"), home, 17000).nodes[0]
    assert without.metrics_port is None
    assert not any("javaagent" in word for word in without.command.words)


def test_a_setting_of_mosquitto_with_several_lines_is_written_once_a_line(home, monkeypatch):
    monkeypatch.setattr("mqlab.lab.brokers.mosquitto.tool", lambda *_: "/bin/mosquitto")
    made = BUILDERS["mosquitto"](Wanted("mosquitto", "", settings={"topic": "a/#\nb/#"}), home, 17000)
    lines = made.configs["mosquitto.conf"].read_text().splitlines()
    assert "listener 17000 127.0.0.1" in lines
    assert lines[-2:] == ["topic a/#", "topic b/#"]


@pytest.mark.parametrize("software", ["rocketmq", "hivemq"])
def test_other_brokers_listen_on_loopback_only(home, monkeypatch, software):
    monkeypatch.setattr("mqlab.lab.brokers.hivemq.compiled", lambda *_: Path("/classes"))
    version = {"rocketmq": "4.9", "hivemq": "2025"}[software]
    made = BUILDERS[software](Wanted(software, version), home, 17000)
    assert all("127.0.0.1" in path.read_text() for path in made.configs.values())


def test_no_registry_is_written_down():
    every = [
        path for path in Path(distributions.__file__).parent.rglob("*") if path.suffix in (".py", ".toml", ".java")
    ]
    hosts = [path.name for path in every if "repo1." in path.read_text() or "repository>" in path.read_text()]
    assert hosts == []
    assert "<artifactId>kafka-clients</artifactId><version>3.9.1</version>" in pom("kafka-clients-3.9")


def test_a_missing_tool_is_told_with_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(distributions.shutil, "which", lambda *_, **__: None)
    with pytest.raises(MissingToolError, match=r"The lab needs mvn for kafka-4.1: install Maven"):
        distributions.fetched("kafka-4.1", tmp_path)
    with pytest.raises(MissingToolError, match="The lab needs javac"):
        distributions.compiled("Feeder", Distribution("kafka-clients-3.9", tmp_path))


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.main])
def test_java_loads_get_their_options_as_words(home, monkeypatch, name):
    monkeypatch.setattr("mqlab.lab.launching.compiled", lambda *_: home.root)
    load = Load("l", name, "kafka", 0, {"topic": "t", "client": {"batch.size": 5}})
    words = command_of(load, "127.0.0.1:17000", home.root, home).words
    assert {"name=l", "topic=t", "client.batch.size=5", "address=127.0.0.1:17000"} <= set(words)


def test_a_client_leaves_the_settings_that_its_machine_would_have(tmp_path):
    load = Load("w-1", "kafka-consumer", "kafka", 0, {"group": "g", "client": {"max.poll.interval.ms": 10000}})
    written_settings(load, tmp_path)
    own = settings(tmp_path / "w-1" / "consumer.properties")
    assert own == {"client.id": "w-1", "max.poll.interval.ms": "10000", "group.id": "g"}


def test_the_verb_is_imported_only_when_it_is_asked_for():
    import subprocess
    import sys

    code = "import sys; from mqlab.cli import commands; sys.exit(any(m.startswith('mqlab.lab') for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    listed = CliRunner().invoke(commands, ["lab", "--help"]).output
    names = ("up", "run", "status", "logs", "down", "destroy", "verify", "list")
    assert [name for name in names if f"  {name} " not in listed] == []


def test_scenarios_are_listed_by_two_names_of_which_help_shows_one():
    told = [CliRunner().invoke(commands, ["lab", name], standalone_mode=False).output for name in ("list", "scenarios")]
    assert "slow-consumer " in told[0]
    assert told[0] == told[1]
    assert "scenarios" not in commands.get_command(click.Context(commands), "lab").list_commands(None)


@pytest.mark.parametrize("words", [[], ["--yes"]])
def test_where_no_lab_is_nothing_is_asked_and_nothing_removed(tmp_path, words):
    done = CliRunner().invoke(commands, ["lab", "destroy", "--home", str(tmp_path), *words], input="y\n")
    assert (str(done.exception), done.output) == (f"{tmp_path} is not a lab's folder: nothing was removed.", "")
    assert list(tmp_path.iterdir()) == []


def test_a_lab_that_cannot_be_removed_is_not_asked_about(tmp_path):
    root = Home(tmp_path / "lab").made().root
    root.chmod(0o777)
    done = CliRunner().invoke(commands, ["lab", "destroy", "--home", str(root)], input="y\n")
    assert "cannot be removed: other users can write there" in str(done.exception)
    assert done.output == ""


@pytest.mark.parametrize(("answer", "end"), [("n", "nothing was removed"), ("y", "removed [3-9] B")])
def test_a_lab_goes_when_its_user_says_so(tmp_path, answer, end):
    root = Home(tmp_path / "lab").made().root
    (root / "runs").write_text("abc")
    done = CliRunner().invoke(commands, ["lab", "destroy", "--home", str(root)], input=f"{answer}\n")
    asked, said = done.output.splitlines()
    assert asked == f"Remove {root} with everything in it (3 B)? [y/N]: {answer}"
    assert re.fullmatch(end, said)
    assert root.exists() is (answer == "n")


@pytest.mark.slow
@pytest.mark.skipif(
    not (default_home() / "dist" / "kafka-3.9" / "complete").exists() or shutil.which("javac") is None,
    reason="no Kafka 3.9 was fetched here before: `mqlab lab up kafka:3.9` does",
)
def test_a_short_run_leaves_a_capture_and_the_truth(tmp_path):
    from mqlab.lab import running
    from mqlab.lab.scenario import read

    text = """
        title = "A healthy group"
        incident = "healthy"
        notebook = "03_rebalance_timeouts"
        seconds = 15
        [[brokers]]
        software = "kafka"
        version = "3.9"
        [[topics]]
        name = "t"
        [[loads]]
        name = "feeder"
        kind = "kafka-producer"
        topic = "t"
        [[loads]]
        name = "worker"
        kind = "kafka-consumer"
        group = "g"
        topics = ["t"]
    """
    home = Home(tmp_path / "lab").made()
    home.dist.symlink_to(default_home() / "dist")
    played = running.play(read("short", tomllib.loads(text)), home, 27000, lambda _: None)
    assert {path.name for path in played.capture.iterdir()} == {"clients", "configs", "kafka", "logs"}
    assert played.books.acked()
    assert home.holder() is None
    assert home.entries() == []
