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
# One RocketMQ consumer group: its processes, their client ids, the queues they hold, and the backlog. Two processes
# with one client id take the same queues, and nobody reads the queues that are left over.
# Set `paths` in the next cell and run all cells, or run `mqlab report PATH`, which does both.

# %% tags=["parameters"]
paths: str = "rocketmq-dup-01"  # a folder, file, glob or archive, or a list of these; or the name of a sample
options: dict = {}  # options of mqlab.open_capture: {"since": "2026-11-21T12:20Z", "group": "billing"}
output: str = "build/queues.json"  # where the table of owners goes
store_writes: float = None  # drain plan: writes per second that the store takes, measured
store_load: float = 0  # writes per second of its normal load, without this group
store_reserve: float = 0.3  # share of the capacity that stays free
response_seconds: float = None  # the listener's time per message; None: as measured by the clients
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
# ## Who was in the group, and with which client id?
#
# One bar per process, from start to end, with its client id and, if the id does not contain it, its address. A red bar
# is a process whose client id another process used at the same time. That alone is not a fault: a dead connection stays
# listed for two minutes, and in broadcast mode duplicate client ids do no harm.

# %%
rocketmq_tables.overview(facts, view)

# %%
capture.plot.members(view.group)

# %%
rocketmq_tables.people(view)

# %% [markdown] tags=["duplicate-client-id", "subscription-mismatch", "poison-pill-stall", "consumer-offline"]
# ## Who owns which queue?
#
# Each client computes its own queues: it sorts all client ids of the group and looks up its own position. Processes
# with one client id find the same position and take the same queues; the positions that are left over belong to nobody.
# Colours show the result of this rule. `✓`: the process itself names the queue, in its log or when asked; `≠`: it names
# another. `offset moves: no`: messages came in and nobody read them.

# %%
capture.plot.ownership(view.group)

# %%
rocketmq_tables.shares(view.panels)

# %% [markdown] tags=["duplicate-client-id", "subscription-mismatch", "rebalance-and-stalled-consumption"]
# ## Where is the backlog?
#
# Lag per queue, and below it the total inflow and the total progress of the offsets. A queue that nobody reads grows
# exactly as fast as it is written to (the dotted line), while its neighbours keep up. With slow processes, all of their
# queues grow.

# %%
capture.plot.lag(view.group)

# %%
rocketmq_tables.waiting(facts, view)

# %% [markdown] tags=["duplicate-client-id"]
# ## What if each process had its own client id?
#
# The same processes and queues by the same rule: a calculation, not a measurement. It shows how much of the group's
# work was useful.

# %%
ownership((view.during, view.unique)) if view.unique else empty("No client id is shared: nothing to compare.")

# %%
rocketmq_tables.capacity(view)

# %% [markdown] tags=["duplicate-client-id", "subscription-mismatch", "slow-consumer", "reprocess-duplicates"]
# ## What did it cost?
#
# Messages in the backlog are not lost until retention deletes them. Duplicates are counted from the applications'
# ledgers if there are any; otherwise they are estimated from the inflow.

# %%
rocketmq_tables.costs(facts, view)

# %%
rocketmq_tables.repeats(view)

# %% [markdown] tags=["notebook"]
# ## How do you fix it, and how do you verify the fix?
#
# `"Rebalance OK"` from `mqadmin consumerStatus` proves nothing here: it is always printed.

# %%
frames.repair(view.finding, "rocketmq", view.group)

# %%
rocketmq_tables.identities(facts, view)

# %% [markdown] tags=["duplicate-client-id", "slow-consumer", "consumer-offline", "backlog-drain"]
# ## How long does the backlog take to drain?
#
# Once every queue has an owner, the backlog flows into the systems behind the consumers. The figure shows what was
# measured, and how long the queues' owners should take. Give the limits of the store in the first cell, or to `mqlab
# drain`, and the plan shows how fast it is safe to drain.

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
