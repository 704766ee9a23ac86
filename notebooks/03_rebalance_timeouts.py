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
# # Why does the group rebalance, and what does it cost?
#
# One consumer group of Kafka: its members and how their lives ended, each rebalance with its trigger, how long polls
# took against what may pass between two, and what waits.
# Change the next cell and run all, or run `mqlab report PATH`, which fills it in.

# %% tags=["parameters"]
paths: str = "kafka-rebalance-01"  # a folder, file, glob or archive, or a list of these; or the name of a sample
options: dict = {}  # whatever mqlab.open_capture takes: {"since": "2026-11-21T12:20Z", "group": "billing"}
output: str = "build/rebalances.json"  # where the table of rebalances goes
sliders: bool = True  # a report has none: they need a running kernel

# %%
import json
from functools import partial
from pathlib import Path

import mqlab
from mqlab import frames
from mqlab.figures.polls import poll_sliders
from mqlab.views import kafka_tables, scenarios
from mqlab.views.kafka_group import rebalance_view

capture = mqlab.open_capture(paths, **options)
facts, diagnosis = capture.facts, capture.diagnosis
view = rebalance_view(facts, diagnosis, capture.options.group, capture.options.topic)

# %% [markdown] tags=["slow-consumer", "consumer-offline"]
# ## Which consumer groups are there?
#
# All groups of Kafka that the material tells of. The sections below are about one: the one of the finding, else the one
# with most trouble. Name another with `group` in the first cell or `--group`.

# %%
kafka_tables.groups(facts)

# %%
kafka_tables.overview(view)

# %% [markdown] tags=["rebalance-and-stalled-consumption", "static-member-fenced"]
# ## Who was in the group when, and how did it end?
#
# One lane per member, one bar per life: from its join to its leave, under one member id. The mark at the end says how
# it ended. Bands are rebalances with their generation: from the start until all had their partitions again. In a loop
# the same lane has many short bars; in a deploy each lane ends once, in good order, and comes again.

# %%
capture.plot.members(view.group)

# %%
kafka_tables.ends(view)

# %% [markdown] tags=["rebalance-and-stalled-consumption", "static-member-fenced"]
# ## What triggered each rebalance?
#
# The trigger is what the coordinator saw; behind it is what happened to the member. A member that left because it
# polled too late joins again with its next poll, and that join is a rebalance too: so in a loop most of them look like
# joins. Follow-ups of cooperative rebalances are no trouble. *inferred* says that no line names it and from what it is
# concluded.

# %%
kafka_tables.triggers(view)

# %%
kafka_tables.rebalances(view)

# %% [markdown] tags=["poll-interval-exceeded"]
# ## How long did polls take, and how long may they?
#
# Each mark is a poll that an application says it worked off, at the moment when it was done; short ones of ten seconds
# share one. Beside them, how many records came in polls of which length. A poll above the dashed line is too late: the
# client leaves the group, and the commit of the whole poll fails.

# %%
capture.plot.poll_times(view.group)

# %%
kafka_tables.polls(view)

# %%
kafka_tables.settings(facts, view)

# %% [markdown] tags=["poll-interval-exceeded"]
# ## Which settings would have been enough?
#
# Records of a poll times the time of one record must be less than `max.poll.interval.ms`. The mark is where the group
# was: half of the records were faster, and one in a hundred slower than its upper end. Whoever is in the coloured area
# is too late whenever a poll is full. The time of one record is the mean of its poll, so single records may be slower
# than shown.

# %%
capture.plot.feasibility(view.group)

# %%
kafka_tables.enough(view)

# %% [markdown] tags=["poll-interval-exceeded"]
# ## What if the settings had been others?
#
# The recorded polls once more, in a simulation of the group with one setting changed at a time; in brackets between
# which bounds it lies. The replay of what was says how far to trust it. `mqlab what-if --set` answers for any other
# setting.

# %%
scenarios.trials(facts, view)

# %%
scenarios.assumptions(facts, view)

# %% tags=["hide"]
asked = partial(scenarios.answered, facts, view)
poll_sliders(asked(), asked) if sliders else None

# %% [markdown] tags=["rebalance-and-stalled-consumption"]
# ## What waits, and for how long?
#
# Lag of each partition: the end minus the committed offset, never a printed column. A committed offset that stands
# still while others move is either a poll that never ends in a commit, or a record that cannot be worked off.
# The verdicts are those of Burrow's rules. How long the next record waits lies between two bounds; *≥* says that the
# samples do not reach back to it.

# %%
capture.plot.lag(view.group)

# %%
kafka_tables.partitions(facts, view)

# %% [markdown] tags=["rebalance-and-stalled-consumption", "static-member-fenced", "reprocess-duplicates"]
# ## What did the rebalances cost?
#
# While a group rebalances in the classic protocol nobody works. Records of a poll whose commit failed are handed out
# again, to whoever has the partition then: what they do must not hurt when it is done twice.

# %%
capture.plot.rebalances(view.group)

# %% [markdown] tags=["notebook"]
# ## What is to be done?

# %%
frames.repair(view.finding, "kafka", view.group)

# %% tags=["hide"] jupyter={"source_hidden": true}
listed = kafka_tables.rebalances(view).reset_index(names="UTC").astype(str).to_dict("records")
Path(output).parent.mkdir(parents=True, exist_ok=True)
Path(output).write_text(json.dumps({"group": view.group, "rebalances": listed}, ensure_ascii=False), encoding="utf-8")

# %% tags=["hide"]
assert len(listed) <= len(view.history)
assert json.loads(Path(output).read_text(encoding="utf-8"))["rebalances"] == listed
