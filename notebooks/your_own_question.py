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
# # Your own question
#
# Typical questions, one line each. `capture` is the result of `mqlab.open_capture`; press Tab after `capture.` and
# `capture.plot.` to see the rest. docs/tables.md describes the columns.

# %% tags=["parameters"]
paths: str = "kafka-rebalance-01"  # a folder, file, glob or archive, or a list of these; or the name of a sample
options: dict = {}  # options of mqlab.open_capture: {"since": "2026-11-21T12:20Z", "group": "billing"}

# %%
import mqlab

capture = mqlab.open_capture(paths, **options)
capture

# %% [markdown]
# ## What proves it?

# %%
capture.show("F1") if capture.findings else "Nothing was found."

# %%
first = capture.findings[0].evidence[0] if capture.findings else None
capture.lines(first.source, first.line, around=5) if first and first.line else "No line."

# %% [markdown]
# ## What happened around then?

# %%
since, until = capture.diagnosis.material.window
capture.between(since, until).head(20)

# %% [markdown]
# ## Which events are there, and who wrote them?

# %%
capture.sql("select kind, node, count(*) as events from events group by kind, node order by events desc").limit(
    20
).toPandas()

# %%
capture.events.where("kind = 'rebalance-started'").groupBy("group", "reason").count().toPandas()

# %% [markdown]
# ## How far behind was the group?

# %%
place = next(((p.group, p.topic) for p in capture.facts.positions if p.group), None)
capture.lag(*place).tail() if place else "No positions."

# %%
capture.plot.lag()

# %% [markdown]
# ## How was it configured?

# %%
capture.settings.where("key = 'max.poll.interval.ms'").select("at", "owner", "value", "source", "line").toPandas()

# %% [markdown]
# ## What do the ledgers record, by party?

# %%
capture.ledger.groupBy("role", "party").count().toPandas()

# %% [markdown]
# ## How do I look at a part of the material?

# %%
middle = (since + until) / 2 if since else None
capture.where(until=middle)

# %% tags=["hide"] jupyter={"source_hidden": true}
assert capture.sizes()["events"] == capture.events.count()
