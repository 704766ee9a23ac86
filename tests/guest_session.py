"""Somebody's own Spark session with settings of all kinds, and what mqlab leaves of it: run as a process of its own.

    guest_session.py (ADDRESS | local[2]) WORKSPACE PATH...

It prints, as JSON, how all was before, what was different after each step, and what mqlab said.
"""

import json
import os
import signal
import sys
import threading
import warnings

from pyspark.core.rdd import RDD
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import mqlab
from mqlab import jsonout
from mqlab.errors import MqlabError

ODD = {
    "spark.sql.session.timeZone": "Asia/Shanghai",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "3",
    "spark.sql.caseSensitive": "true",
    "spark.sql.files.ignoreMissingFiles": "true",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
    "spark.sql.parquet.datetimeRebaseModeInRead": "LEGACY",
    "spark.sql.parser.quotedRegexColumnNames": "true",
    "spark.sql.sources.default": "csv",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
}

address, workspace, *paths = sys.argv[1:]
builder = SparkSession.builder.appName("theirs")
if address.startswith("sc://"):
    builder = builder.remote(address)
else:
    builder = (
        builder.master(address).config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    )
spark = builder.getOrCreate()
for key, value in ODD.items():
    spark.conf.set(key, value)
asked = spark.sql("SELECT timestamp_ltz'2026-01-01 00:00:00Z' AS at")
asked.createOrReplaceTempView("events")


def state():
    """All of the session and of the process that mqlab could have changed."""
    held = {
        "settings": dict(spark.conf.getAll),
        "environment": dict(os.environ),
        "is active": SparkSession.getActiveSession() is spark,
        "views": [table.name for table in spark.catalog.listTables()],
        "database": [spark.catalog.currentCatalog(), spark.catalog.currentDatabase()],
        "answers": [asked._show_string(), spark.table("events")._show_string()],
        "path": list(sys.path),
        "interrupt": repr(signal.getsignal(signal.SIGINT)),
        "warnings": repr(warnings.filters),
    }
    if address.startswith("sc://"):
        return held
    context = spark.sparkContext
    return held | {
        "context": sorted(context.getConf().getAll()),
        "workers": [context.pythonExec, context.environment, context._python_includes, context.listFiles],
        "RDD": repr(RDD.toDF),
    }


def interrupting(step):
    if step == "thinning":
        raise KeyboardInterrupt


def tables(capture):
    """Each table's rows, with moments as numbers."""
    found = {}
    for name in ("events", "volume"):
        rows = getattr(capture, name)
        told = rows.select([F.unix_micros("at").alias("at"), *(c for c in rows.columns if c != "at")]).collect()
        found[name] = sorted(json.dumps(row.asDict(), sort_keys=True) for row in told)
    return found


def said(**options):
    try:
        mqlab.open_capture(paths, workspace=f"{workspace}/said", **options)
    except (MqlabError, KeyboardInterrupt) as error:
        return type(error).__name__, str(error)
    return None


mqlab.open_capture  # noqa: B018 - imported before anything is compared
before, changed, told = state(), {}, {}


def compare(step):
    now = state()
    changed.update({f"{step}: {name}": now[name] for name in before if now[name] != before[name]})


capture = mqlab.open_capture(paths, workspace=workspace)
compare("read")
told["json"], told["tables"] = jsonout.dumps(capture.diagnosis), tables(capture)
told["lives in"] = [capture.spark() is spark, capture.events.sparkSession is spark]
joined = capture.events.join(spark.createDataFrame([("kafka",)], "system string"), "system")
told["joined"] = joined.count() > 0
told["sql"] = capture.sql("SELECT date_format(min(at), 'HH:mm') AS at FROM events").collect()[0]["at"]
told["between"] = f"{capture.between(0, 2e9)['at'].min():%H:%M}"
compare("asked")
told["interrupted"] = said(progress=interrupting)
compare("interrupted")
given, paths = paths, [f"{workspace}/nothing"]
told["nothing"] = said()
compare("nothing")
paths = given
told["another"] = said(master="local[2]")
compare("another")
another = threading.Thread(target=lambda: told.update(thread=said()))
another.start()
another.join()
compare("thread")
spark.stop()
told["stopped"] = said(spark=spark)
if not address.startswith("sc://"):
    environment = dict(os.environ)
    own = mqlab.open_capture(paths, workspace=f"{workspace}/own")
    told["own"] = [jsonout.dumps(own.diagnosis) == told["json"], tables(own) == told["tables"]]
    told["own leaves"] = {k: v for k, v in os.environ.items() if environment.get(k) != v}
sys.stdout.write(json.dumps({"changed": changed, "told": told | {"tables": None}}))
