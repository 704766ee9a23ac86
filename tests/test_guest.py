"""In somebody's session mqlab is a guest: whatever that is set to, the answer is the same, and it stays as it was."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

import mqlab
from mqlab.errors import NoSuchPathError, SessionError
from mqlab.spark import clusters, guest, session

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "data" / "samples" / "kafka-amp-05"
QUICK = {"SPARK_SUBMIT_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""Of a JVM that lives for a minute: the better compiler would cost more than it saves."""
ANOTHER = "master or remote name another Spark; leave them out to use this one, or stop it first."


def visited(address, workspace, *paths, **environment):
    """What ``guest_session.py`` saw: (what was changed, what was said)."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "guest_session.py"), address, str(workspace), *map(str, paths)],
        env=os.environ | QUICK | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    answer = json.loads(done.stdout)
    return answer["changed"], answer["told"]


def said_of(place, workspace, first):
    """What is said of a session at *place*, whose material has its first event at *first* (UTC)."""
    here = f"The Spark session of this process ({place}) cannot be used"
    return {
        "tables": None,
        "lives in": [True, True],
        "joined": True,
        "sql": first,
        "between": first,
        "interrupted": ["KeyboardInterrupt", ""],
        "nothing": ["NoSuchPathError", str(NoSuchPathError(f"{workspace}/nothing"))],
        "another": ["SessionError", f"{here}: {ANOTHER}"],
        "thread": None,
        "stopped": ["SessionError", f"{here}: it was stopped; start a new one and open the capture again."],
    }


@pytest.mark.slow
def test_a_classic_session_of_odd_settings_stays_as_it_was_and_hears_what_mqlabs_own_says(tmp_path, monkeypatch):
    for name in ("PYSPARK_PYTHON", "SPARK_REMOTE", "SPARK_LOCAL_IP"):
        monkeypatch.delenv(name, raising=False)
    lacks_polars = tmp_path / "bin" / "python3"
    lacks_polars.parent.mkdir()
    lacks_polars.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    lacks_polars.chmod(0o700)
    path = f"{lacks_polars.parent}{os.pathsep}{os.environ['PATH']}"

    changed, told = visited("local[2]", tmp_path / "w", SAMPLE, PATH=path)

    assert changed == {}
    assert told.pop("json").startswith("{")
    assert told == said_of("local[2]", tmp_path / "w", "11:59") | {"own": [True, True], "own leaves": {}}


def test_the_session_of_this_process_is_used_and_another_kind_beside_it_is_refused(spark, tmp_path):
    assert spark not in session.OWN
    assert guest.host(None, None, None) is spark
    assert guest.host(spark, None, None) is spark
    for asked in ({"master": "local[2]"}, {"remote": "sc://elsewhere"}):
        with pytest.raises(SessionError, match="master or remote name another Spark"):
            mqlab.open_capture(SAMPLE, workspace=str(tmp_path), **asked)


def test_what_mqlab_made_is_its_own(spark, monkeypatch):
    monkeypatch.setattr(session, "OWN", own := {spark})
    monkeypatch.setattr(guest, "OWN", own)

    assert guest.host(None, "local[2]", None) is None
    assert guest.host(spark, None, None) is None


def test_functions_are_for_the_kind_of_session_that_is_asked_and_for_the_others_again_afterwards(spark, monkeypatch):
    monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")
    with guest.spoken_to(spark):
        assert "SPARK_CONNECT_MODE_ENABLED" not in os.environ
    assert os.environ["SPARK_CONNECT_MODE_ENABLED"] == "1"


def test_an_interrupt_or_an_error_leaves_the_workers_of_the_session_as_they_were(spark):
    context = spark.sparkContext
    before = context.pythonExec, context.environment, list(sys.path)

    def interrupted():
        with guest.beside(spark) as start:
            assert start(1).conf.get("spark.sql.parser.quotedRegexColumnNames") == "false"
            assert start(1) is start(1) is not spark
            assert context.environment != before[1]
            raise KeyboardInterrupt

    spark.conf.set("spark.sql.parser.quotedRegexColumnNames", "true")
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert spark.conf.get("spark.sql.parser.quotedRegexColumnNames") == "true"
    spark.conf.unset("spark.sql.parser.quotedRegexColumnNames")
    assert (context.pythonExec, context.environment, list(sys.path)) == before
    assert SparkSession.getActiveSession() is spark


@pytest.mark.parametrize(
    ("said", "missing"),
    [
        ("ModuleNotFoundError: No module named 'polars'", "its workers lack polars: install it"),
        ("[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.9", "its workers run another Python"),
    ],
)
def test_what_workers_of_this_machine_lack_is_a_sentence(spark, monkeypatch, said, missing):
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    with pytest.raises(SessionError, match=missing), guest.beside(spark):
        raise PySparkRuntimeError(said)
    with pytest.raises(SessionError, match=missing), clusters.told("local[2]", None):
        raise PySparkRuntimeError(said)
