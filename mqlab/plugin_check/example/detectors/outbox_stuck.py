"""A relay takes payments into its outbox and forwards none of them.

Fires: three looks in a row, over a minute at least, at which the outbox of one relay holds more than before, and no
word that it was empty since.
Quiet: an outbox that shrinks between two looks or was empty after them, as during a deploy; a relay that says nothing.
"""

from mqlab.facts import Episode, Facts
from mqlab.findings import CLEAR, Certainty, Finding, Result, finding
from mqlab.shared.actors import base_name
from mqlab.shared.wording import clock
from mqlab.units import counted

INCIDENT = "outbox-stuck"
SYSTEMS = ("kafka", "rocketmq", "mqtt")

LOOKS = 3
SECONDS = 60.0
"""The relay empties its outbox every 10 s: six times in vain."""


def detect(facts: Facts) -> Result:
    """One finding for each relay that is stuck at the end of the material."""
    if not any(source.software == "relay" for source in facts.coverage):
        return Result(missing=("a log of the relay",))
    said = [e for e in facts.of_kind("outbox-holds", "outbox-empty") if e.first_at is not None]
    by_relay: dict[str, list[Episode]] = {}
    for episode in sorted(said, key=lambda e: e.first_at or 0.0):
        by_relay.setdefault(episode.node or base_name(episode.source), []).append(episode)
    found = [_finding(relay, looks) for relay, every in by_relay.items() if (looks := _growing(every))]
    return Result(tuple(found)) if found else CLEAR


def _growing(every: list[Episode]) -> list[Episode]:
    """The last looks, as long as each holds more than the one before; nothing where they are too few."""
    looks: list[Episode] = []
    for episode in every:
        grows = looks and (episode.value_max or 0) > (looks[-1].value_max or 0)
        looks = [] if episode.kind == "outbox-empty" else [*looks, episode] if grows else [episode]
    enough = len(looks) >= LOOKS and (looks[-1].last_at or 0) - (looks[0].first_at or 0) >= SECONDS
    return looks if enough else []


def _finding(relay: str, looks: list[Episode]) -> Finding:
    first, last = looks[0], looks[-1]
    payments = last.value_max or 0.0
    return finding(
        INCIDENT,
        relay,
        Certainty.LIKELY,
        (first.first_at, last.last_at),
        ongoing=True,
        statement=f"{relay} forwards nothing: its outbox grew at every look from {clock(first.first_at)} to "
        f"{clock(last.last_at)} UTC. {counted(payments, 'payment')} wait in it.",
        measures={"payments": payments, "looks": float(len(looks))},
        evidence=(first.first.because("the outbox begins to grow"), last.last.because("it still grows")),
        mitigate="Restart the relay: it takes its outbox up where it stopped; side effect: payments may be sent twice.",
        remedy="Let the relay end when it cannot forward for a minute, so that it is restarted at once.",
        verify="`relayctl status` shows an outbox that shrinks.",
    )
