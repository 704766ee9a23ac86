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
# # Who reads which queue?
#
# One consumer group of RocketMQ: its processes, their client ids, the queues they hold, and what waits. Two processes
# with one id take the same queues, and other queues are read by nobody.
# Change the next cell and run all, or run `mqlab report PATH`, which fills it in.

# %% tags=["parameters"]
paths: str = "rocketmq-dup-01"  # a folder, file, glob or archive, or a list of these; or the name of a sample
options: dict = {}  # whatever mqlab.open_capture takes: {"since": "2026-11-21T12:20Z", "group": "billing"}
output: str = "build/queues.json"  # where the table of owners goes
store_writes: float = None  # drain plan: writes per second that the store takes, measured
store_load: float = 0  # writes per second of its normal load, without this group
store_reserve: float = 0.3  # share of the capacity that stays free
response_seconds: float = None  # what the listener takes for one message; None: what the clients measured
sliders: bool = True  # a report has none: they need a running kernel

# %%
import json
from functools import partial
from pathlib import Path

import mqlab
from mqlab import frames
from mqlab.figures.drain import drain, drain_sliders
from mqlab.figures.rocketmq_group import ownership
from mqlab.figures.style import empty
from mqlab.scenarios.drain import Request
from mqlab.views import rocketmq_tables, scenarios
from mqlab.views.rocketmq_group import group_view

capture = mqlab.open_capture(paths, **options)
facts, diagnosis = capture.facts, capture.diagnosis
view = group_view(facts, diagnosis, capture.options.group, capture.options.topic)

# %% [markdown] tags=["duplicate-client-id", "subscription-mismatch", "rebalance-and-stalled-consumption"]
# ## Who was in the group, with which id?
#
# One bar per process, from when it came to when it went, with its client id and, where the id does not say it, its
# address. A red bar is a process whose id another one had at the same time. That alone is no fault: a dead connection
# stays listed for two minutes, and in broadcast mode duplicate ids do no harm.

# %%
rocketmq_tables.overview(facts, view)

# %%
capture.plot.members(view.group)

# %%
rocketmq_tables.people(view)

# %% [markdown] tags=["duplicate-client-id", "subscription-mismatch", "poison-pill-stall", "consumer-offline"]
# ## Which queue belongs to whom?
#
# Each client works out for itself which queues are its own: it sorts all ids of the group and looks up its own place.
# Processes with one id find the same place and take the same queues; the places that are left over belong to nobody.
# Coloured is what this rule gives. `✓` says that the process itself names the queue, in its log or when asked; `≠`
# that it says otherwise. `offset moves: no` means that messages came in and nobody read them.

# %%
capture.plot.ownership(view.group)

# %%
rocketmq_tables.shares(view.panels)

# %% [markdown] tags=["duplicate-client-id", "subscription-mismatch", "rebalance-and-stalled-consumption"]
# ## What waits, and where?
#
# Lag of each queue, and below it what comes in and by how much offsets move, over all of them. A queue that nobody
# reads grows exactly as fast as it is written to, the dotted line, while its neighbours keep up. Slow processes let
# all of their queues grow.

# %%
capture.plot.lag(view.group)

# %%
rocketmq_tables.waiting(facts, view)

# %% [markdown] tags=["duplicate-client-id"]
# ## What if each process had an id of its own?
#
# The same processes and queues by the same rule: a calculation, not a measurement. It shows how much of the group's
# work was of use.

# %%
ownership((view.during, view.unique)) if view.unique else empty("No ID is shared.")

# %%
rocketmq_tables.capacity(view)

# %% [markdown] tags=["duplicate-client-id", "subscription-mismatch", "slow-consumer", "reprocess-duplicates"]
# ## What did it cost?
#
# Messages that wait are not lost until retention deletes them. Repeats are counted in the ledgers of the
# applications where there are any; otherwise they are estimated from what came in.

# %%
rocketmq_tables.costs(facts, view)

# %%
rocketmq_tables.repeats(view)

# %% [markdown] tags=["notebook"]
# ## How is it repaired, and how do you see that it worked?
#
# `"Rebalance OK"` of `mqadmin consumerStatus` says nothing here: it is printed in any case.

# %%
frames.repair(view.finding, "rocketmq", view.group)

# %%
rocketmq_tables.identities(facts, view)

# %% [markdown] tags=["duplicate-client-id", "slow-consumer", "consumer-offline", "backlog-drain"]
# ## How long does the backlog take?
#
# Once every queue has an owner, the backlog flows into whatever is behind the consumers. Drawn is what was measured,
# and what the queues' owners should need. Give the store's numbers in the first cell, or to `mqlab drain`, and the
# plan says how fast it may be drained.

# %%
request = Request(
    group=view.group,
    capacity=store_writes,
    load=store_load,
    reserve=store_reserve,
    response_time=response_seconds,
)
found = scenarios.drain_answer(facts, request)
drain(found) if found else empty("The backlog, or the time per message, is not in the material.")

# %%
scenarios.drain_plan(found)

# %% tags=["hide"]
drain_sliders(found, request, partial(scenarios.drain_answer, facts)) if sliders else None

# %% tags=["hide"] jupyter={"source_hidden": true}
shares = rocketmq_tables.shares(view.panels).reset_index(names="when").to_dict("records")
Path(output).parent.mkdir(parents=True, exist_ok=True)
Path(output).write_text(json.dumps({"group": view.group, "shares": shares}, ensure_ascii=False), encoding="utf-8")

# %% tags=["hide"]
assert all(panel.shares for panel in view.panels)
assert json.loads(Path(output).read_text(encoding="utf-8"))["shares"] == shares
