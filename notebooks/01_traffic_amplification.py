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
# # Why does more go out than comes in?
#
# From bytes in to bytes out, cause by cause, and the unexplained rest.
# Set `paths` in the next cell and run all cells, or run `mqlab report PATH`, which does both.

# %% tags=["parameters"]
paths: str = "kafka-amp-17"  # a folder, file, glob or archive, or a list of these; or the name of a sample
options: dict = {}  # options of mqlab.open_capture: {"since": "2026-11-21T12:20Z", "group": "billing"}
output: str = "build/traffic.json"  # where the findings about traffic go
burst_records: int = 20  # what-if: messages in the burst
burst_payload: int = None  # what-if: bytes per message; None: a size that loops
link_bytes_per_second: int = 12_500_000  # capacity of the link; this is 100 Mbit/s
heap_bytes: int = 512 * 1024 * 1024  # memory of the producing process

# %%
import json
from dataclasses import replace
from pathlib import Path

import mqlab
from mqlab import frames, jsonout
from mqlab.models.producer import Link
from mqlab.scenarios import batch_settings

capture = mqlab.open_capture(paths, **options)
facts, diagnosis = capture.facts, capture.diagnosis
about_traffic = [finding for finding in diagnosis.findings if finding.ledger] or list(diagnosis.findings)
finding = next(iter(about_traffic), None)
bytes_ledger = finding.ledger if finding else None
host = bytes_ledger.host if bytes_ledger else None

# %% [markdown] tags=["traffic-amplification"]
# ## When did traffic change?
#
# Rates in and out, and below them the bytes out per byte in. Rates come from counters, so a change lies somewhere
# between two samples: the band is that interval.

# %%
capture.plot.traffic()

# %% [markdown] tags=["traffic-amplification"]
# ## Where did the bytes come from?
#
# Each stage with its bounds. The hatched bar is the unexplained rest; it may be negative if stages overlap or a counter
# lost its last seconds in a crash.

# %%
capture.plot.waterfall()

# %% tags=["hide"]
frames.ledger(finding)

# %% [markdown] tags=["batch-split-loop", "retry-amplification", "oversize-record-rejected"]
# ## Who sent it, and to which partition?
#
# One row per client and topic-partition. A batch that is split into itself stays on its partition; retries because of
# an unhealthy broker would spread over all of them.

# %%
capture.plot.senders()

# %% [markdown] tags=["batch-split-loop"]
# ## Does each split cost memory?
#
# Clients 2.1.0 to 2.3.0 leak a buffer with every split (KAFKA-8325): the heap grows in a straight line with the splits
# until the process runs out of memory.

# %%
capture.plot.memory()

# %% [markdown] tags=["batch-split-loop", "oversize-record-rejected", "retry-amplification"]
# ## Which settings matter?
#
# A value that a process printed takes precedence over a file: files often show the state after the repair.

# %%
frames.settings(facts)

# %% [markdown] tags=["batch-split-loop"]
# ## What would have been sent with another setting?
#
# A calculation by the rules of the client, checked against real runs; not a measurement of this incident. The burst,
# the link and the heap are set in the first cell. `ends` says what stopped the loop.

# %%
producer = batch_settings.configured_producer(facts, finding)
assumed = replace(producer, heap_bytes=heap_bytes) if producer else None
batch_settings.trials(assumed, Link(link_bytes_per_second), records=burst_records, payload=burst_payload)

# %% tags=["hide"] jupyter={"source_hidden": true}
written = jsonout.diagnosis_json(replace(diagnosis, findings=tuple(about_traffic)))
Path(output).parent.mkdir(parents=True, exist_ok=True)
Path(output).write_text(json.dumps(written["findings"], ensure_ascii=False, indent=2), encoding="utf-8")

# %% tags=["hide"]
assert json.loads(Path(output).read_text(encoding="utf-8")) == written["findings"]
assert bytes_ledger is None or sum(stage.bytes for stage in bytes_ledger.stages) == bytes_ledger.bytes_out
