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
# The messages of one Kafka topic on their way: sent, acknowledged, stored, handled, committed. What is missing between
# two stages was lost or is pending; if the material does not show which, this notebook says so.
# Set `paths` in the next cell and run all cells, or run `mqlab report PATH`, which does both.

# %% tags=["parameters"]
paths: str = "kafka-delivery-04"  # a folder, file, glob or archive, or a list of these; or the name of a sample
options: dict = {}  # options of mqlab.open_capture: {"since": "2026-11-21T12:20Z", "group": "billing"}
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
# ## Was anything lost or duplicated?
#
# All Kafka topics for which the material shows single messages, or whose log was truncated. The sections below show one
# of them: the topic that lost most, otherwise the one with most duplicates. Choose another with `topic` in the first
# cell or `--topic`.

# %%
delivery_tables.topics(audits(facts))

# %%
delivery_tables.answer(view)

# %% [markdown] tags=["delivery-loss-and-duplication"]
# ## How far did the messages get?
#
# Each bar is what arrived at a stage; beside it is what did not arrive, and why. *Pending* is not a loss: it has not
# been read yet. A group may have handled more than the log holds, if it read records that the log lost later. In the
# table, *stored* counts what the log holds or held, *committed at* is an offset, *≥* a sum over the partitions that the
# material covers, and *unknown* what no ledger records, for which there may be a harmless reason.

# %%
capture.plot.delivery()

# %%
delivery_tables.way(view)

# %% [markdown] tags=["delivery-loss-and-duplication"]
# ## Which messages were lost, and why?
#
# The log lost a message if it was acknowledged and is no longer there: another message has its offset, a later leader's
# log began below it, or a dump does not contain it. A group lost a message if it committed past it and none of its
# ledgers records it. Gaps of compaction and transaction markers are not messages.

# %%
delivery_tables.lost(view)

# %% [markdown] tags=["acks1-failover-loss", "unclean-election-loss", "under-min-isr"]
# ## Who led the partitions, and where did each log end?
#
# One lane per replica: thick while it was leader, thin while it was in sync. If a new leader's log ended below its
# predecessor's, the difference is lost; a replica that comes back truncates its log to where the new leader began.

# %%
capture.plot.replicas()

# %%
delivery_tables.replicas(view)

# %% [markdown] tags=["acks1-failover-loss", "unclean-election-loss"]
# ## What happened to the offsets?
#
# Offsets over time, of the partition that lost most. Messages at the same height got the same offset: the log lost the
# first of them. Dots are snapshots; nothing is known in between.

# %%
capture.plot.failover()

# %% [markdown] tags=["commit-before-process-loss", "offset-reset-loss", "retention-loss", "reprocess-duplicates"]
# ## How far had the groups read?
#
# Records below the committed offset were handled, or are lost to the group; records from it on are pending. Below the
# log start offset nothing is left to read.

# %%
delivery_tables.positions(facts, view)

# %%
delivery_tables.skips(facts, view)

# %% [markdown] tags=["reprocess-duplicates", "producer-duplicates"]
# ## What was duplicated?
#
# In the log, one message id at two offsets: the producer retried a request whose answer got lost. In a group, one
# offset handled more than once: it was not committed before its partition went to another member.

# %%
delivery_tables.doubled(view)

# %% [markdown] tags=["delivery-loss-and-duplication"]
# ## What could the settings lose or duplicate?
#
# The records that each setting on the path puts at risk per event, at the observed rates. It does not mean that it
# happened.

# %%
delivery_tables.risks(facts)

# %% [markdown] tags=["delivery-loss-and-duplication"]
# ## What is missing to be certain?

# %%
delivery_tables.missing(view)

# %% tags=["hide"] jupyter={"source_hidden": true}
told = audit_json.dumps(audits(facts))
Path(output).parent.mkdir(parents=True, exist_ok=True)
Path(output).write_text(told, encoding="utf-8")

# %% tags=["hide"]
assert view.audit is None or view.audit in audits(facts)
assert json.loads(Path(output).read_text(encoding="utf-8")) == json.loads(told)
