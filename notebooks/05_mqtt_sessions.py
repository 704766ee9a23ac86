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
# # Who is connected, what is queued for whom, and where did messages stop?
#
# MQTT brokers: connections of clients and how they ended, sessions kept for clients that are offline, share groups, and
# the path of messages from published to received, also over a bridge.
# Set `paths` in the next cell and run all cells, or run `mqlab report PATH`, which does both.

# %% tags=["parameters"]
paths: str = "mqtt-session-01"  # a folder, file, glob or archive, or a list of these; or the name of a sample
options: dict = {}  # options of mqlab.open_capture: {"since": "2026-11-21T12:20Z", "group": "billing"}
output: str = "build/connections.json"  # where the table of client ids goes

# %%
import json
from pathlib import Path

import mqlab
from mqlab.mqtt.connections import connections
from mqlab.views import mqtt_tables

capture = mqlab.open_capture(paths, **options)
facts, diagnosis = capture.facts, capture.diagnosis
told = connections(facts)

# %% [markdown] tags=["client-id-takeover", "reconnect-storm", "reconnect-flaky-link", "rate-limit-flapping"]
# ## Who connects to the broker, from where, and how long do they stay?
#
# One row per client id. Many connections from two addresses are two devices with one client id. Many connections from
# one address point to a timer, such as a keep-alive or an idle limit, if their lengths hardly vary, otherwise to the
# network.

# %%
mqtt_tables.peers(facts)

# %%
capture.plot.connection_lengths()

# %% [markdown] tags=["client-id-takeover", "reconnect-flaky-link"]
# ## Who used this client id, and when?
#
# One row per address, or per port if there is only one address. Two devices with one client id disconnect each other in
# turns; a device on a bad link comes back after its old connection was dead.

# %%
capture.plot.takeovers()

# %% [markdown] tags=["persistent-session-diversion", "session-queue-growth", "session-queue-drop", "redelivery-storm"]
# ## For whom does the broker keep messages?
#
# A session that is not clean outlives its connection and continues to receive messages. In a share group it also gets
# its share, if the broker gives messages to members that are offline: mosquitto and EMQX do, HiveMQ does not.

# %%
mqtt_tables.away(facts)

# %%
mqtt_tables.shares(facts)

# %%
capture.plot.sessions()

# %% [markdown] tags=["persistent-session-diversion", "session-queue-drop", "acl-silent-drop", "bridge-loop"]
# ## Why did receivers get fewer messages than were published?
#
# What the ledgers record as published for a receiver, what was lost or kept on the way, and what the receiver recorded.
# If possible, each reason is counted from a source other than the receiver's ledger, so the rest shows whether the
# reasons are sufficient. Figures that were not counted are intervals.

# %%
capture.plot.receivers()

# %%
mqtt_tables.losses(facts)

# %% [markdown] tags=["persistent-session-diversion", "session-queue-drop", "acl-silent-drop", "bridge-loop"]
# ## How far did messages get, across the bridge and beyond?
#
# The stages that messages pass one after the other, and where those are that did not reach the next stage.

# %%
mqtt_tables.way(facts)

# %% [markdown] tags=["undetermined", "mqtt-sessions-and-limits"]
# ## What changed first?
#
# Rates and gauges that left their earlier level, by time. A change lies between two samples, so if two intervals
# overlap, either change may have come first.

# %%
mqtt_tables.first_risers(facts)

# %% [markdown] tags=["notebook"]
# ## What fills the largest log?
#
# The line shapes that make up most of its bytes, over time.

# %%
capture.plot.line_shapes()

# %% tags=["hide"] jupyter={"source_hidden": true}
listed = mqtt_tables.peers(facts).reset_index(names="client id").astype(str).to_dict("records")
Path(output).parent.mkdir(parents=True, exist_ok=True)
Path(output).write_text(json.dumps(listed, ensure_ascii=False), encoding="utf-8")

# %% tags=["hide"]
assert sum(int(row["connections"]) for row in listed) <= sum(connection.count for connection in told)
assert json.loads(Path(output).read_text(encoding="utf-8")) == listed
