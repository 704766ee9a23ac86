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
# # Who is connected, what waits for whom, and where did messages stay?
#
# Brokers of MQTT: connections of clients and how they ended, sessions that are kept for those who are away, share
# groups, and the way of messages from published to received, over a bridge where there is one.
# Change the next cell and run all, or run `mqlab report PATH`, which fills it in.

# %% tags=["parameters"]
paths: str = "mqtt-session-01"  # a folder, file, glob or archive, or a list of these; or the name of a sample
options: dict = {}  # whatever mqlab.open_capture takes: {"since": "2026-11-21T12:20Z", "group": "billing"}
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
# One row per client id. Many connections from two addresses are two devices with one id; many from one address with
# lengths that hardly vary point to a timer, such as a keep-alive or an idle limit, other lengths to a network.

# %%
mqtt_tables.peers(facts)

# %%
capture.plot.connection_lengths()

# %% [markdown] tags=["client-id-takeover", "reconnect-flaky-link"]
# ## Who used this client id, and when?
#
# One row per address, or per port where there is one address only. Two devices that throw each other out take turns;
# a device with a bad link comes back after its old connection was dead.

# %%
capture.plot.takeovers()

# %% [markdown] tags=["persistent-session-diversion", "session-queue-growth", "session-queue-drop", "redelivery-storm"]
# ## For whom does the broker keep messages?
#
# A session that is not clean outlives its connection, and goes on to get messages. In a share group it gets its share,
# where the broker deals to members that are away: mosquitto and EMQX do, HiveMQ does not.

# %%
mqtt_tables.away(facts)

# %%
mqtt_tables.shares(facts)

# %%
capture.plot.sessions()

# %% [markdown] tags=["persistent-session-diversion", "session-queue-drop", "acl-silent-drop", "bridge-loop"]
# ## Why did receivers get fewer messages than were published?
#
# What ledgers note as published for a receiver, what is known to be lost or kept on the way, and what it noted.
# Each reason is counted from somewhere else than the receiver's ledger where that is possible, so what is left over
# tells whether the reasons suffice. An interval is given where a number was not counted.

# %%
capture.plot.receivers()

# %%
mqtt_tables.losses(facts)

# %% [markdown] tags=["persistent-session-diversion", "session-queue-drop", "acl-silent-drop", "bridge-loop"]
# ## How far did messages get, over the bridge and behind it?
#
# Stages that messages reach one after the other, and where those are that did not reach the next one.

# %%
mqtt_tables.way(facts)

# %% [markdown] tags=["undetermined", "mqtt-sessions-and-limits"]
# ## What left its own level first?
#
# Rates and gauges that changed against what they had been, by time. The change lies between two samples, so changes
# whose intervals overlap may have come in either order.

# %%
mqtt_tables.first_risers(facts)

# %% [markdown] tags=["notebook"]
# ## What is the loudest log full of?
#
# The shapes of line that carry most of its bytes, over time.

# %%
capture.plot.line_shapes()

# %% tags=["hide"] jupyter={"source_hidden": true}
listed = mqtt_tables.peers(facts).reset_index(names="client id").astype(str).to_dict("records")
Path(output).parent.mkdir(parents=True, exist_ok=True)
Path(output).write_text(json.dumps(listed, ensure_ascii=False), encoding="utf-8")

# %% tags=["hide"]
assert sum(int(row["connections"]) for row in listed) <= sum(connection.count for connection in told)
assert json.loads(Path(output).read_text(encoding="utf-8")) == listed
