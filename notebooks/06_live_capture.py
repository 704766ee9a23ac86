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
# # Collect data from a running broker
#
# What a postmortem needs is gone an hour later: who was in which group, how far each group had read, what was
# configured. `mqlab capture` collects it while it is there, and changes nothing at the brokers; `docs/capture.md` lists
# every call and the rights it needs. This notebook shows a recorded capture of Kafka 3.9. With `start_lab` it starts a
# broker on this machine and captures that; with `bootstrap` it captures your brokers.

# %% tags=["parameters"]
paths: str = ""  # the capture to look at, or a new folder to collect into; empty: a recorded one, or build/bundle
options: dict = {}  # options of mqlab.open_capture
bootstrap: str = ""  # "kafka-1:9092": collect from there, into paths
start_lab: bool = False  # start a broker of the lab first (needs Maven and a JDK), and stop it at the end
seconds: int = 60  # how long to collect

# %%
import json
from pathlib import Path

from confluent_kafka import Consumer, Producer

import mqlab
from mqlab import bundled
from mqlab.cli import commands
from mqlab.lab import kafka_admin, keeper
from mqlab.lab.home import Home, default_home
from mqlab.lab.scenario import Topic
from mqlab.shared.table import Table

# %% [markdown]
# ## A broker to ask
#
# In a shell: `mqlab lab up kafka:3.9`. It listens on loopback only and ends with `mqlab lab down`. A reader that takes
# 300 of 1,000 orders leaves a lag to find.

# %%
if start_lab:
    commands(["lab", "up", "kafka:3.9"], standalone_mode=False)
    bootstrap = keeper.state(Home(default_home()))["kafka"]
    kafka_admin.make_topics(bootstrap, [Topic("orders", partitions=2)], 1)
    feeder, reader = (
        Producer({"bootstrap.servers": bootstrap}),
        Consumer({"bootstrap.servers": bootstrap, "group.id": "billing", "auto.offset.reset": "earliest"}),
    )
    reader.subscribe(["orders"])
    for number in range(1000):
        feeder.produce("orders", f"order {number}")
    feeder.flush()
    reader.consume(300, timeout=30)
    reader.commit(asynchronous=False)
bootstrap or "No broker was named: this is the recorded capture."

# %% [markdown]
# ## Collect
#
# In a shell: `mqlab capture kafka --bootstrap kafka-1:9092 -o bundle/`, with `--config client.properties` if the
# brokers require a login.

# %%
paths = paths or ("build/bundle" if bootstrap else str(bundled.recorded()))
if bootstrap:
    asked = ["--bootstrap", bootstrap, "--interval", "10", "--duration", str(seconds), "-o", paths]
    commands(["capture", "kafka", *asked], standalone_mode=False)
manifest = json.loads(Path(paths, "manifest.json").read_text())
Table(manifest["questions"])[["what", "times", "failed", "first_at", "last_at", "seconds"]]

# %% [markdown]
# ## What mqlab finds
#
# A bundle is material like any other.

# %%
capture = mqlab.open_capture(paths, **options)
capture

# %%
capture.plot.lag()

# %% [markdown]
# ## Who was there, and what was set

# %%
capture.clients.select("at", "group", "client_id", "peer").orderBy("at", "group").limit(10).toPandas()

# %%
capture.settings.select("owner", "key", "value").distinct().orderBy("owner", "key").limit(20).toPandas()

# %% [markdown]
# ## Share it
#
# `mqlab redact bundle/ -o shareable.tar.zst` writes a copy without names, addresses and payloads, and says whether the
# verdict is still the same.

# %%
if start_lab:
    reader.close()
    del feeder
    commands(["lab", "down"], standalone_mode=False)

# %% tags=["hide"] jupyter={"source_hidden": true}
assert manifest["schema"] == "mqlab.capture/1"
assert capture.sizes()["positions"] > 0
