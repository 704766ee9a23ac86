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
# One Kafka consumer group: when its members joined and how they left, each rebalance with its trigger, how long polls
# took and how long they may take, and the lag.
# Set `paths` in the next cell and run all cells, or run `mqlab report PATH`, which does both.

# %% tags=["parameters"]
paths: str = "kafka-rebalance-01"  # a folder, file, glob or archive, or a list of these; or the name of a sample
options: dict = {}  # options of mqlab.open_capture: {"since": "2026-11-21T12:20Z", "group": "billing"}
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
# All Kafka groups in the material. The sections below show one of them: the group of the finding, otherwise the one
# with the most trouble. Choose another with `group` in the first cell or `--group`.

# %%
kafka_tables.groups(facts)

# %%
kafka_tables.overview(view)

# %% [markdown] tags=["rebalance-and-stalled-consumption", "static-member-fenced"]
# ## Who was in the group when, and how did each member leave?
#
# One lane per member, one bar for each time in the group: from join to leave, under one member id. The mark at the end
# of a bar shows how it ended. Bands are rebalances with their generation: from the start until all members had
# partitions again. In a rebalance loop one lane has many short bars; in a deployment each member leaves once, in order,
# and joins again.

# %%
capture.plot.members(view.group)

# %%
kafka_tables.ends(view)

# %% [markdown] tags=["rebalance-and-stalled-consumption", "static-member-fenced"]
# ## What triggered each rebalance?
#
# The trigger is what the coordinator saw; the cause is what happened to the member. A member that left because it
# polled too late joins again with its next poll, and that join starts another rebalance: in a loop most rebalances
# therefore look like joins. Follow-up rebalances of the cooperative protocol are normal. *inferred*: no line says so;
# the table names the evidence.

# %%
kafka_tables.triggers(view)

# %%
kafka_tables.rebalances(view)

# %% [markdown] tags=["poll-interval-exceeded"]
# ## How long did polls take, and how long may they take?
#
# Each mark is a poll that an application reports as handled, at the moment when it finished; short polls within ten
# seconds share one mark. Beside them: how many records were in polls of which length. A poll above the dashed line is
# too late: the client leaves the group, and the commit of the whole poll fails.

# %%
capture.plot.poll_times(view.group)

# %%
kafka_tables.polls(view)

# %%
kafka_tables.settings(facts, view)

# %% [markdown] tags=["poll-interval-exceeded"]
# ## Which settings would have been enough?
#
# Records per poll times the time per record must be less than `max.poll.interval.ms`. The mark shows the group: half of
# the records were faster, and one in a hundred was slower than its upper end. In the coloured area every full poll is
# too late. The time per record is the mean of its poll, so single records may be slower than shown.

# %%
capture.plot.feasibility(view.group)

# %%
kafka_tables.enough(view)

# %% [markdown] tags=["poll-interval-exceeded"]
# ## What if the settings had been different?
#
# The recorded polls in a simulation of the group, with one setting changed at a time; bounds in brackets. The replay of
# the actual settings shows how far to trust it. `mqlab what-if --set` answers for any other setting.

# %%
scenarios.trials(facts, view)

# %%
scenarios.assumptions(facts, view)

# %% tags=["hide"]
asked = partial(scenarios.answered, facts, view)
poll_sliders(asked(), asked) if sliders else None

# %% [markdown] tags=["rebalance-and-stalled-consumption"]
# ## How large is the lag, and how old?
#
# Lag per partition: log end offset minus committed offset, never a printed column. A committed offset that stands still
# while others move means either a poll that is never committed or a record that cannot be handled. The verdicts follow
# Burrow's rules. The age of the oldest pending record lies between two bounds; *≥* means that the samples do not reach
# back to it.

# %%
capture.plot.lag(view.group)

# %%
kafka_tables.partitions(facts, view)

# %% [markdown] tags=["rebalance-and-stalled-consumption", "static-member-fenced", "reprocess-duplicates"]
# ## What did the rebalances cost?
#
# While a group rebalances with the classic protocol, no member works. Records of a poll whose commit failed are handed
# out again, to whoever owns the partition then: their processing must be idempotent.

# %%
capture.plot.rebalances(view.group)

# %% [markdown] tags=["notebook"]
# ## What to do?

# %%
frames.repair(view.finding, "kafka", view.group)

# %% tags=["hide"] jupyter={"source_hidden": true}
listed = kafka_tables.rebalances(view).reset_index(names="UTC").astype(str).to_dict("records")
Path(output).parent.mkdir(parents=True, exist_ok=True)
Path(output).write_text(json.dumps({"group": view.group, "rebalances": listed}, ensure_ascii=False), encoding="utf-8")

# %% tags=["hide"]
assert len(listed) <= len(view.history)
assert json.loads(Path(output).read_text(encoding="utf-8"))["rebalances"] == listed
