"""A standalone Spark cluster and a Spark Connect server on loopback, from the installed PySpark."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.request import urlopen

import pyspark

from mqlab.errors import ClusterError
from mqlab.spark import clusters, jvm

HOME = Path(pyspark.__file__).parent
DEADLINE = 180.0
_QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData"
_DEPLOY = "org.apache.spark.deploy"
_SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def environment(conf, **more):
    """The environment of a process that runs on loopback, with Spark's files in the folder *conf*."""
    ours = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_", "MQLAB_"))}
    own = {
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_CONF_DIR": str(conf),
        "SPARK_HOME": str(HOME),
        "PYSPARK_PYTHON": sys.executable,
    }
    return ours | own | {"JAVA_HOME": str(jvm.scripts_home(jvm.java()))} | more


@contextmanager
def process(command, env, log):
    """A process group of its own that ends with the block, whatever happens in it."""
    with log.open("wb") as out:
        started = subprocess.Popen(command, env=env, stdout=out, stderr=out, cwd=log.parent, start_new_session=True)
    try:
        yield started
    finally:
        with suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)
        started.wait(30)


def until(ready, what, processes):
    """Wait until *ready* is true; fail when the deadline passes or a process ends."""
    end = time.monotonic() + DEADLINE
    while not ready():
        assert time.monotonic() < end, f"no {what} within {DEADLINE:.0f} s"
        assert all(p.poll() is None for p in processes), f"no {what}: a process ended"
        time.sleep(0.2)


def workers(port):
    with suppress(OSError, ValueError), urlopen(f"http://127.0.0.1:{port}/json/", timeout=5) as page:
        return json.load(page)["aliveworkers"]
    return 0


def answers(address):
    try:
        clusters.ensure_answers(address)
    except ClusterError:
        return False
    return True


@contextmanager
def standalone_and_connect(folder):
    """(master, remote): addresses of a master with two workers of one core, and of a Connect server of its own."""
    for name in ("work1", "work2", "warehouse"):
        (folder / name).mkdir()
    env = environment(folder, SPARK_DAEMON_MEMORY="512m", SPARK_DAEMON_JAVA_OPTS=_QUICK)
    class_command = [str(HOME / "bin" / "spark-class")]
    port, web, connect = free_port(), free_port(), free_port()
    master, remote = f"spark://127.0.0.1:{port}", f"sc://127.0.0.1:{connect}"
    server = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": connect,
        "spark.ui.enabled": "false",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": _QUICK,
        "spark.sql.files.maxPartitionBytes": 200_000,
        "spark.sql.warehouse.dir": folder / "warehouse",
    }
    submit = [str(HOME / "bin" / "spark-submit"), "--class", _SERVER, "--master", "local[2]"]
    submit += [part for key, value in server.items() for part in ("--conf", f"{key}={value}")]
    head = [f"{_DEPLOY}.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", str(web)]
    hand = [f"{_DEPLOY}.worker.Worker", "--host", "127.0.0.1", "-c", "1", "-m", "1g", "--webui-port", "0"]
    with ExitStack() as stack:
        run = [stack.enter_context(process([*class_command, *head], env, folder / "master.log"))]
        run.append(stack.enter_context(process(submit, environment(folder), folder / "connect.log")))
        until(lambda: answers(master), "master", run)
        for name in ("work1", "work2"):
            command = [*class_command, *hand, "-d", str(folder / name), master]
            run.append(stack.enter_context(process(command, env, folder / f"{name}.log")))
        until(lambda: workers(web) == 2, "two workers", run)
        until(lambda: answers(remote), "Connect server", run)
        yield master, remote
