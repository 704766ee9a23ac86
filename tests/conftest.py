"""One Spark session for all tests of a process: small, silent, and with the settings that mqlab's own session has."""

import os
import re
import sys

import pytest
from hypothesis import settings
from pyspark.sql import SparkSession
from xdist.scheduler import LoadFileScheduling

from mqlab.spark import jvm

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
"""A machine that is busy fails no test."""


class ByFileAndSample(LoadFileScheduling):
    """Tests of one file run in one process, but each sample of ``test_samples`` may run in another."""

    def _split_scope(self, nodeid):
        sample = re.search(r"test_samples\.py::\w+\[((?:kafka|rocketmq|mqtt)(?:-[a-z]+)*-\d+)", nodeid)
        return sample[1] if sample else super()._split_scope(nodeid)


def pytest_collection_modifyitems(items):
    """Files of slow tests come first: one that begins last would keep a single process busy at the end."""
    slow = {item.path for item in items if item.get_closest_marker("slow") or item.path.suffix == ".ipynb"}
    items.sort(key=lambda item: item.path not in slow)


def pytest_xdist_make_scheduler(config, log):
    """How tests are dealt to processes, where there are several: in their order, not by their number."""
    config.option.loadscopereorder = False
    return ByFileAndSample(config, log)


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """A local session of one core, with the settings that mqlab gives its own for small material."""
    settings = {
        **jvm.local(0, None),
        **jvm.SQL,
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
    }
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[1]").appName("mqlab-tests")
    for key, value in settings.items():
        builder = builder.config(key, value)
    with jvm.connecting(None):
        session = builder.getOrCreate()
    yield session
    session.stop()
