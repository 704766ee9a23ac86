"""How many bytes a second a configured limit lets through, in the notations of proxies and brokers.

Sources: nginx ``ngx_parse_size`` (k and m are powers of 1024); EMQX 4.x ``rate_limit.conn_bytes_in = 100KB,10s``
(capacity and interval; KB is 1024) and 5.x ``bytes_rate = "1MB/s"``, ``"300KB/5m"``; HiveMQ
``incoming-bandwidth-throttling`` (bytes per second).
"""

from __future__ import annotations

import re

_LIMIT = re.compile(r"\s*\"?(\d+(?:\.\d+)?)\s*([kKmMgG]?)[bB]?\s*(?:[,/]\s*(\d*)\s*(ms|s|m|h|d))?\"?\s*")
_POWER = {"": 1.0, "k": 1024.0, "m": 1024.0**2, "g": 1024.0**3}
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def bytes_per_second(text: str) -> float | None:
    """The rate of ``10k``, ``100KB,10s`` or ``1MB/s``; None for what is no limit, such as ``infinity`` and ``0``."""
    found = _LIMIT.fullmatch(text)
    if found is None:
        return None
    amount, unit, often, interval = found.groups()
    seconds = float(often or 1) * _SECONDS[interval or "s"]
    rate = float(amount) * _POWER[unit.lower()] / seconds if seconds else 0.0
    return rate or None
