"""The same records take more bytes than before, because somebody encodes them differently.

Fires: the topic's ``compression.type`` makes brokers store and send something else than the producer sent, and each
reader receives a multiple of what came in; or a producer's bytes per record rose while its payload did not, after its
compression or batching changed, by no more than headers or lost compression can add.
Quiet: more readers (fan-out), larger payloads, fewer records, repeats and splits, consumers that start later than
producers, a burst in which in and out grow together, key = value as it always was.
"""

from __future__ import annotations

from mqlab.facts import Facts
from mqlab.findings import CLEAR, Result
from mqlab.shared import flows
from mqlab.traffic import batching, encoding

INCIDENT = "format-inflation"
SYSTEMS: tuple[str, ...] = ("kafka",)


def detect(facts: Facts) -> Result:
    """Findings for brokers that re-encode, and for producers that became wasteful."""
    findings, risks = [], []
    for setting in encoding.settings(facts):
        found = encoding.measured(facts, setting)
        if found is None:
            risks.append(encoding.risk(setting, INCIDENT))
        else:
            findings.append(encoding.finding(facts, found, INCIDENT))
    for client in batching.producers(facts):
        waste = batching.measured(facts, client)
        if waste is not None:
            findings.append(batching.finding(facts, waste, INCIDENT))
    if findings or risks:
        named = {f.subject for f in findings}
        return Result((*findings, *{r.id: r for r in risks if r.subject not in named}.values()))
    if not facts.named("producer.record_sends") and not flows.flows(facts):
        return Result(missing=("bytes in and out of brokers, or producer metrics",))
    if facts.of_kind("batch-split"):
        return Result(rejected="the bytes that left beyond the accepted ones were rejected, not stored in another form")
    return _unseen(facts)


def _unseen(facts: Facts) -> Result:
    """Not checked where bytes per record rose and nothing tells the size of the payload; else clear."""
    if any(batching.unseen(facts, client) for client in batching.producers(facts)):
        return Result(missing=("the size of records before compression: producer record-size-avg",))
    return CLEAR
