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
# # What does a way to commit cost, and what does a crash leave?
#
# A consumer that commits after each poll can wait for the answer, not wait, wait only at the end, or leave it to the
# client. This study needs no material: without a broker it shows figures that were recorded once, and says so.
# Name a broker in the next cell and run all to measure there. The study makes a topic of its own, deletes it, and
# touches nothing else.

# %% tags=["parameters"]
bootstrap: str = ""  # "broker-1:9092" measures there; empty shows what was recorded
options: dict = {}  # what else a client needs to connect, such as {"security.protocol": "SSL"}
records: int = 100_000  # how many are written and read
poll_records: int = 500  # max.poll.records
record_bytes: int = 100  # size of each
work_seconds: float = 0.012  # time that the consumer sleeps for each poll, as its work
interval_ms: int = 1000  # auto.commit.interval.ms
runs: int = 3  # how often each way is measured
waiting: int = 1200  # records that were handed to other threads and that none had begun, for the last table
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
# ## What does each way cost, and what does it leave?
#
# *Expected* is the model: polls as long as without any commit, and for `sync` one round trip more for each.
# For the crash a process dies without closing anything when it has worked off a poll and not committed it; then another
# member of the group reads on. The model gives the most that can be handed out again, wherever the crash falls, if each
# answer takes as long as the average: where one comes later, more is handed out again.

# %%
costs(study)

# %%
commits_study.ways(study)

# %% [markdown]
# ## And where polls are faster than commits?
#
# Commits that nobody waits for are answered one after the other. Where a poll takes less time than an answer, they fall
# behind: the loop is fast, and a crash hands out again all that was not answered. Even where the average answer is in
# time, a single one that is late by a few milliseconds is worth thousands of records.

# %%
costs(studies[-1])

# %%
commits_study.source(studies[-1])

# %%
commits_study.ways(studies[-1])

# %% [markdown]
# ## The field study
#
# A study in the field measured 4.58 s for 100,000 records with a synchronous and 3.09 s with an asynchronous commit for
# each poll. With 500 records a poll these are 200 polls; the difference, 1.49 s, is 200 round trips of 7.45 ms, and it
# says nothing else: a poll took 15.5 ms without it.

# %%
commits_study.field()

# %%
by_round_trip(FIELD)

# %% [markdown]
# ## What is lost, and what is handled twice?
#
# A loop that works off its polls itself loses nothing, it only repeats. Where records are handed to other threads a
# commit says nothing of the work: what waits there is lost, and after a stop in good order all of it, without any lag.

# %%
commits_study.ends(FIELD, waiting)

# %% tags=["hide"]
rows = [{"study": one.told, **asdict(run)} for one in studies for run in one.rows]
Path(output).parent.mkdir(parents=True, exist_ok=True)
Path(output).write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")

# %% tags=["hide"]
assert [round(loop_seconds(FIELD, way), 6) for way in (Way.SYNC, Way.ASYNC)] == [4.58, 3.09]
assert len(json.loads(Path(output).read_text(encoding="utf-8"))) == sum(len(one.rows) for one in studies)
