"""The same bytes come out of a standalone cluster and of Spark Connect as of one core of this machine."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import cluster
import nbformat
import papermill
import pytest
from py4j.protocol import Py4JError
from test_guest import said_of, visited

from mqlab.errors import ClusterError
from mqlab.spark import clusters

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "data" / "samples" / "kafka-amp-17"
BLOCK = 150_000
"""Bytes that the workers read at once: many blocks of the large log, and others than the Connect server's."""
SETTINGS = f"""\
spark.executor.memory 512m
spark.executor.extraJavaOptions -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
spark.driver.memory = 1g
spark.driver.extraJavaOptions: -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
spark.ui.enabled false
spark.sql.files.maxPartitionBytes {BLOCK}
"""
KINDS = (
    "INFO [Log partition=orders-{n}, dir=/d] Rolled new log segment at offset {n}000 in 3 ms. (kafka.log.Log)",
    "WARN [RequestSendThread controllerId=1] Controller 1's connection to broker 2:9092 was unsuccessful (kafka.c)",
    "INFO [GroupCoordinator 1]: Preparing to rebalance group g{n} in state PreparingRebalance with old generation {n} "
    "(__consumer_offsets-7) (reason: removing member m-{n} on heartbeat expiration) (kafka.GroupCoordinator)",
    "ERROR [ReplicaManager broker=1] Error processing append operation on partition orders-{n} (kafka.server)\n"
    "java.lang.IllegalStateException: {n}\n\tat kafka.log.Log.append(Log.scala:{n})",
)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A broker's log of some megabytes."""
    folder = tmp_path_factory.mktemp("large")
    start = datetime(2026, 11, 21, 12, tzinfo=UTC)
    with (folder / "server.log").open("w") as log:
        for number in range(12_000):
            at = start + timedelta(milliseconds=70 * number)
            kind = 2 if number % 997 == 0 else 3 if number % 401 == 0 else number % 2
            log.write(f"[{at:%Y-%m-%d %H:%M:%S},{number % 1000:03d}] {KINDS[kind].format(n=number % 50)}\n")
    assert (folder / "server.log").stat().st_size > 8 * BLOCK
    return folder


@pytest.fixture(scope="module")
def conf(tmp_path_factory):
    """Spark's own configuration files."""
    folder = tmp_path_factory.mktemp("conf")
    (folder / "spark-defaults.conf").write_text(SETTINGS)
    return folder


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with cluster.standalone_and_connect(tmp_path_factory.mktemp("cluster")) as addresses:
        yield addresses


def mqlab(env, *arguments, timeout=300):
    """Run the command line in a process of its own: one process holds one kind of session."""
    command = [sys.executable, "-m", "mqlab.cli", *map(str, arguments)]
    return subprocess.run(command, env=env, capture_output=True, timeout=timeout, check=False, cwd=ROOT)


@pytest.fixture(scope="module")
def here(tmp_path_factory, large):
    """What one core of this machine says."""
    folder = tmp_path_factory.mktemp("here")
    env = cluster.environment(folder)
    done = mqlab(env, "triage", SAMPLE, large, "--format", "json", "--master", "local[1]", "--workspace", folder / "w")
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.mark.parametrize("where", ["standalone", "connect"])
def test_the_bytes_are_the_same_wherever_spark_runs(tmp_path, where, large, conf, here, running):
    master, remote = running
    env = cluster.environment(conf, **({"SPARK_REMOTE": remote} if where == "connect" else {}))
    chosen = {"standalone": ["--master", master], "connect": []}[where]
    done = mqlab(env, "triage", SAMPLE, large, "--format", "json", "--workspace", tmp_path / "w", *chosen)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout == here


def test_a_connect_session_of_odd_settings_stays_as_it_was_and_hears_the_same(tmp_path, large, here, running):
    _, remote = running
    changed, told = visited(remote, tmp_path / "w", SAMPLE, large)

    assert changed == {}
    assert told.pop("json").encode() == here
    assert told == said_of("sc://127.0.0.1", tmp_path / "w", "12:00")


def test_a_notebook_asks_the_tables_of_a_connect_server(tmp_path, running, monkeypatch):
    _, remote = running
    for name in ("SPARK_HOME", "SPARK_CONF_DIR", "SPARK_REMOTE"):
        monkeypatch.delenv(name, raising=False)
    given = {"paths": str(SAMPLE), "remote": remote, "workspace": str(tmp_path / "w"), "dig_deeper": True}
    papermill.execute_notebook(
        str(ROOT / "notebooks" / "00_triage.ipynb"),
        str(tmp_path / "done.ipynb"),
        given | {"output": str(tmp_path / "findings.json")},
        progress_bar=False,
        kernel_name="python3",
        cwd=str(ROOT),
        execution_timeout=300,
    )
    done = nbformat.read(tmp_path / "done.ipynb", as_version=4)
    printed = "".join(out.get("text", "") for cell in done.cells for out in cell.get("outputs", []))
    assert "|kind" in printed


@pytest.mark.parametrize(
    ("arguments", "env", "said"),
    [
        (["--master", "spark://127.0.0.1:9"], {}, "spark://127.0.0.1:9 cannot be used: 127.0.0.1:9 does not answer"),
        ([], {"SPARK_REMOTE": "sc://127.0.0.1:9/;token=geheim"}, "sc://127.0.0.1:9 cannot be used"),
        ([], {"SPARK_REMOTE": "sc://no-host.invalid"}, "sc://no-host.invalid cannot be used"),
        (["--master", "spark://127.0.0.1"], {}, "it names no host and port"),
    ],
)
def test_an_address_where_nobody_answers_is_one_sentence(tmp_path, arguments, env, said):
    done = mqlab(
        cluster.environment(tmp_path, **env), "triage", SAMPLE, "--workspace", tmp_path / "w", *arguments, timeout=120
    )
    assert (done.returncode, done.stdout) == (64, b"")
    assert said in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1
    assert b"geheim" not in done.stderr


def test_the_master_of_spark_defaults_is_used(tmp_path):
    (tmp_path / "spark-defaults.conf").write_text("# ours\nspark.master\tspark://127.0.0.1:9\n")
    done = mqlab(cluster.environment(tmp_path), "triage", SAMPLE, "--workspace", tmp_path / "w", timeout=120)
    assert done.returncode == 64
    assert b"spark://127.0.0.1:9 cannot be used" in done.stderr


def test_what_was_asked_for_wins_over_the_environment_and_that_over_the_files(tmp_path, monkeypatch):
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    assert clusters.chosen(None, None) == (None, None)
    (tmp_path / "spark-defaults.conf").write_text(SETTINGS + "spark.master spark://files:7077\n")
    assert clusters.chosen(None, None) == ("spark://files:7077", None)
    monkeypatch.setenv("SPARK_REMOTE", "sc://environment")
    assert clusters.chosen(None, None) == (None, "sc://environment")
    assert clusters.chosen("local[2]", "sc://asked") == (None, "sc://asked")
    assert clusters.chosen("local[2]", None) == ("local[2]", None)
    assert clusters.defaults()["spark.driver.memory"] == "1g"


@pytest.mark.parametrize(
    ("said", "because"),
    [
        ("", "Py4JError"),
        ("An error occurred while calling o9.parquet.\n: java.lang.IllegalStateException: gone.\n\tat x", "gone"),
        ("Job aborted: java.io.FileNotFoundException: File file:/w/links/a.txt does not exist\n\tat x",
         "its workers do not see file:/w/links/a.txt; material"),
        ("[FAILED_READ_FILE.FILE_NOT_EXIST] Error reading file file:///w/a.txt. File does not exist.",
         "its workers do not see file:///w/a.txt; material"),
    ],
)  # fmt: skip
def test_what_stops_a_cluster_is_one_sentence_and_here_it_stays_a_bug(monkeypatch, said, because):
    for name in ("SPARK_REMOTE", "SPARK_CONF_DIR", "SPARK_HOME"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ClusterError) as raised, clusters.told("spark://h:7077", None):
        raise Py4JError(said)
    assert because in str(raised.value)
    assert "\n" not in str(raised.value)
    for master in (None, "local[2]"):
        with pytest.raises(Py4JError), clusters.told(master, None):
            raise Py4JError(said)


def test_a_server_that_speaks_something_else_is_given_up(monkeypatch):
    monkeypatch.setattr(clusters, "_READY", 0.5)
    with cluster.socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"sc://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(ClusterError, match="no Spark Connect server answers there"):
            clusters.ensure_answers(address)
