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
# # Did we lose messages, or handle some twice?
#
# The messages of one topic of Kafka on their way: sent, acknowledged, stored, handled, committed. What is missing
# between two stages was lost, or only waits; where the material does not say which, this notebook says so.
# Change the next cell and run all, or run `mqlab report PATH`, which fills it in.

# %% tags=["parameters"]
paths: str = "kafka-delivery-04"  # a folder, file, glob or archive, or a list of these; or the name of a sample
options: dict = {}  # whatever mqlab.open_capture takes: {"since": "2026-11-21T12:20Z", "group": "billing"}
output: str = "build/audit.json"  # where the audit goes

# %%
import json
from pathlib import Path

import mqlab
from mqlab.delivery.audit import audits
from mqlab.views import audit_json, delivery_tables
from mqlab.views.delivery import audit_view

capture = mqlab.open_capture(paths, **options)
facts = capture.facts
view = audit_view(facts, capture.options.topic)

# %% [markdown] tags=["delivery-loss-and-duplication", "oversize-record-rejected"]
# ## Was anything lost or doubled?
#
# All topics of Kafka of which the material tells single messages, or whose log went back. The sections below are about
# one: the one that lost most, else doubled most. Name another with `topic` in the first cell or `--topic`.

# %%
delivery_tables.topics(audits(facts))

# %%
delivery_tables.answer(view)

# %% [markdown] tags=["delivery-loss-and-duplication"]
# ## How far did the messages get?
#
# Each bar is what arrived at a stage; beside it stands what did not, and why. *Pending* is no loss: it was only not
# read yet. A group may have handled more than the log keeps: it read what the log lost afterwards.
# In the table, *stored* counts what the log holds or has held, *committed at* is an offset, *≥* a sum of those
# partitions of which the material says it, *unknown* what no ledger notes though it might be none's fault.

# %%
capture.plot.delivery()

# %%
delivery_tables.way(view)

# %% [markdown] tags=["delivery-loss-and-duplication"]
# ## Which messages were lost, and by what?
#
# A message is lost by the log where it was acknowledged and is there no more: its place was given to another one, a
# later leader began below it, or a dump does not hold it. It is lost by a group where the group committed past it and
# none of its ledgers notes it. Gaps of compaction and markers of transactions are no messages.

# %%
delivery_tables.lost(view)

# %% [markdown] tags=["acks1-failover-loss", "unclean-election-loss", "under-min-isr"]
# ## Who led the partitions, and where did each log end?
#
# One lane per replica: a thick bar while it led, a thin one while it was in sync. Where a new leader's log ended below
# that of its predecessor, the difference is gone; a replica that comes back cuts its log to where the new leader began.

# %%
capture.plot.replicas()

# %%
delivery_tables.replicas(view)

# %% [markdown] tags=["acks1-failover-loss", "unclean-election-loss"]
# ## What happened to the offsets?
#
# Offsets of the partition that lost most, by time. Messages at the same height were given the same offset: the log
# forgot the first of them. Dots are what snapshots saw; nothing is known in between.

# %%
capture.plot.failover()

# %% [markdown] tags=["commit-before-process-loss", "offset-reset-loss", "retention-loss", "reprocess-duplicates"]
# ## Where did the groups stand?
#
# What lies behind the position was handled, or is lost to the group; what lies at it or after it waits. Below the log
# start nothing is left to read.

# %%
delivery_tables.positions(facts, view)

# %%
delivery_tables.skips(facts, view)

# %% [markdown] tags=["reprocess-duplicates", "producer-duplicates"]
# ## What was doubled?
#
# In the log one id stands at two places: a request was repeated whose answer got lost. In a group one place was handled
# more than once: its commit did not come before its partition was given to another member.

# %%
delivery_tables.doubled(view)

# %% [markdown] tags=["delivery-loss-and-duplication"]
# ## What may the settings lose or double?
#
# What each setting of the way makes possible each time it comes to that, in records at the observed rates. None of it
# says that it happened.

# %%
delivery_tables.risks(facts)

# %% [markdown] tags=["delivery-loss-and-duplication"]
# ## What is missing for certainty?

# %%
delivery_tables.missing(view)

# %% tags=["hide"] jupyter={"source_hidden": true}
told = audit_json.dumps(audits(facts))
Path(output).parent.mkdir(parents=True, exist_ok=True)
Path(output).write_text(told, encoding="utf-8")

# %% tags=["hide"]
assert view.audit is None or view.audit in audits(facts)
assert json.loads(Path(output).read_text(encoding="utf-8")) == json.loads(told)
