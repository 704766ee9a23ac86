# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # What does each way to commit cost, and what does a crash leave behind?
#
# A consumer that commits after each poll can wait for the answer, not wait, wait only at the end, or leave the commit
# to the client. This study needs no material: without a broker it shows recorded figures, and says so. Name a broker in
# the next cell and run all cells to measure there. The study creates a topic of its own, deletes it, and touches
# nothing else.

# %% tags=["parameters"]
bootstrap: str = ""  # "broker-1:9092" measures there; empty shows what was recorded
options: dict = {}  # further client settings to connect, such as {"security.protocol": "SSL"}
records: int = 100_000  # how many to write and read
poll_records: int = 500  # max.poll.records
record_bytes: int = 100  # size of each
work_seconds: float = 0.012  # time that the consumer sleeps for each poll, as its work
interval_ms: int = 1000  # auto.commit.interval.ms
runs: int = 3  # how often each way is measured
waiting: int = 1200  # records queued for other threads and not started, for the last table
output: str = "build/commit_study.json"  # where the measured rows go

# %%
import json
from dataclasses import asdict
from pathlib import Path

from mqlab.commits import bench
from mqlab.commits import study as commits_study
from mqlab.commits.study import FIELD, recorded
from mqlab.figures.commits import by_round_trip, costs
from mqlab.models.commits import Way, loop_seconds

plan = bench.Plan(bootstrap, records, poll_records, record_bytes, work_seconds, interval_ms, runs, options)
bench.intent(plan) if bootstrap else "No broker was given: the figures below were recorded once."

# %%
studies = (bench.measure(plan),) if bootstrap else recorded()
study = studies[0]
commits_study.source(study)

# %% [markdown]
# ## What does each way cost, and what does it leave behind?
#
# *Expected* is the model: polls as long as without any commit, and for `sync` one more round trip each. For the crash,
# a process dies without closing anything, after it has handled a poll and before it commits; then another member of the
# group reads on. The model gives the largest number that can be handed out again, wherever the crash falls, if each
# answer takes as long as the average; a late answer means more.

# %%
costs(study)

# %%
commits_study.ways(study)

# %% [markdown]
# ## What if polls are faster than commits?
#
# Asynchronous commits are answered one after the other. If a poll takes less time than an answer, they fall behind: the
# loop is fast, but after a crash everything without an answer is handed out again. Even if the average answer is in
# time, a single answer that is late by a few milliseconds costs thousands of records.

# %%
costs(studies[-1])

# %%
commits_study.source(studies[-1])

# %%
commits_study.ways(studies[-1])

# %% [markdown]
# ## The field study
#
# A field study measured 4.58 s for 100,000 records with a synchronous and 3.09 s with an asynchronous commit after each
# poll. With 500 records per poll these are 200 polls; the difference, 1.49 s, is 200 round trips of 7.45 ms and nothing
# else: without it, a poll took 15.5 ms.

# %%
commits_study.field()

# %%
by_round_trip(FIELD)

# %% [markdown]
# ## What is lost, and what is handled twice?
#
# A loop that handles its polls itself loses nothing, it only repeats. If records are handed to other threads, a commit
# does not mean that the work was done: records queued there are lost in a crash, and after a clean stop all of them,
# without any lag.

# %%
commits_study.ends(FIELD, waiting)

# %% tags=["hide"]
rows = [{"study": one.told, **asdict(run)} for one in studies for run in one.rows]
Path(output).parent.mkdir(parents=True, exist_ok=True)
Path(output).write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")

# %% tags=["hide"]
assert [round(loop_seconds(FIELD, way), 6) for way in (Way.SYNC, Way.ASYNC)] == [4.58, 3.09]
assert len(json.loads(Path(output).read_text(encoding="utf-8"))) == sum(len(one.rows) for one in studies)
