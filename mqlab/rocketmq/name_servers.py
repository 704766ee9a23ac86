"""Which addresses are name servers: those that settings name, and whoever listens at their own port."""

from __future__ import annotations

import re

from mqlab.facts import Facts
from mqlab.memo import per_facts

_PORT = ":9876"
"""Where name servers listen by default (NamesrvStartup)."""
_SETTING = "namesrvaddr"


def is_name_server(facts: Facts, peer: str | None) -> bool:
    """*peer* is an address of a name server; of one that no settings name, only by its port."""
    return peer is not None and (peer in _named(facts) or peer.endswith(_PORT))


@per_facts
def _named(facts: Facts) -> frozenset[str]:
    own = (one.value for one in facts.settings if one.key.lower() == _SETTING)
    return frozenset(address for value in own for address in re.split(r"[;,\s]+", value or "") if address)
