"""How full the disks of RocketMQ brokers were, by ``brokerStatus`` and ``clusterList``."""

from __future__ import annotations

from mqlab import words
from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.shared.wording import sample

say = words.room("known-errors")

_LIMIT, _KEY = 0.90, "diskSpaceWarningLevelRatio"
"""Share of a disk from which a broker refuses to store messages (MessageStoreConfig), and the setting in percent."""
_RATIO = "rocketmq.broker.disk_ratio"


def still_full(facts: Facts, since: float | None) -> tuple[float, Evidence] | None:
    """The last sample after *since*, and when it was, where every disk was too full then to store messages."""
    limits = {float(s.value) / 100 for s in facts.settings if s.key == _KEY and s.value.isdigit()}
    limit = min(limits, default=_LIMIT)
    last = [(*one.points[-1], one) for one in facts.named(_RATIO) if one.points]
    if since is None or not last or any(at <= since or ratio < limit for at, ratio, _ in last):
        return None
    at, _, series = max(last, key=lambda entry: entry[0])
    return at, sample(facts, series, at, say("disk"))
