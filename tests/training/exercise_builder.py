"""A small capture with its key, sealed as an exercise, for tests of what learners and instructors do."""

import json

from mqlab.training import attempt, locks, sealing
from mqlab.training.keys import Truth

SECRET = b"0" * 32
SAID = {
    "12:00:00": "Dynamic member with unknown member id joins group shop in Empty state.",
    "12:00:30": "Member c-1 in group shop has failed, removing it from the group",
    "12:00:31": "Preparing to rebalance group shop in state PreparingRebalance",
    "12:05:00": "Member c-1 in group shop has failed, removing it from the group",
}
COORDINATOR = "[GroupCoordinator 1]: {} (kafka.coordinator.group.GroupCoordinator)"
LOG = "".join(f"[2026-11-21 {at},000] INFO {COORDINATOR.format(text)}\n" for at, text in SAID.items())
KEY = {
    "title": "A shop that stutters",
    "chapter": "rebalances",
    "level": 1,
    "minutes": 15,
    "story": "Orders of the shop come late since noon.",
    "alarm": "2026-11-21T12:01:00Z",
    "starts_in": {
        "right": "consumer",
        "because": "Its heartbeats stop.",
        "wrong": {"broker": "It answers.", "nowhere": "A member is expelled."},
        "hints": ["Who is removed?"],
    },
    "since": {
        "question": "Since when?", "at": "2026-11-21T12:00:30Z", "seconds": 10, "because": "The first expulsion.",
        "wrong": [{"at": "2026-11-21T12:05:00Z", "because": "That is the second one."}],
    },
    "mechanism": {
        "because": "The heartbeats of a member stop.",
        "wrong": {"poll-interval-exceeded": "Then it would leave by itself.", "rolling-restart": "Nobody stops."},
        "partial": {"group-churn": "It comes of it."},
    },
    "line": {
        "proof": [{"file": "server.log", "contains": "has failed, removing it", "because": "An expulsion."}],
        "near": [{"file": "server.log", "contains": "Preparing to rebalance", "because": "An effect."}],
    },
    "amount": {
        "question": "How many expulsions?", "value": 2, "unit": "expulsions", "within": 0, "because": "Two lines.",
        "wrong": [{"value": 1, "because": "There is a second one."}],
    },
    "repair": {
        "right": {
            "do": "Raise session.timeout.ms.", "side_effect": "A dead member is noticed later.", "because": "Yes.",
        },
        "wrong": [{"do": "Restart the broker.", "because": "It is fine."}],
        "side_effects": [{"effect": "More heartbeats.", "because": "Fewer, if anything."}],
    },
    "order": [{"look": "server.log", "call": "capture.events", "shows": "Expulsions."}],
    "timeline": [{"at": "2026-11-21T12:00:30Z", "what": "c-1 is removed.", "file": "server.log", "line": 2}],
    "lesson": {"text": "Look at who ends a membership."},
}  # fmt: skip


def cheap(monkeypatch):
    """Tries that cost next to nothing."""
    monkeypatch.setattr(locks, "COST", 2)
    monkeypatch.setattr(locks, "_CHEAP", 2)


def truth(folder, **changed):
    """The capture in *folder*, which is made, with its key."""
    base = folder / "samples" / "shop-01"
    base.mkdir(parents=True, exist_ok=True)
    (base / "server.log").write_text(LOG)
    (base / "server.properties").write_text("broker.id=1\n")
    return Truth(base, "session-timeout", KEY | changed)


def exercise(folder, number="01", **changed):
    """The exercise about it."""
    return sealing.exercise_of(number, truth(folder, **changed), SECRET)


def a_set(folder, **changed):
    """A set of one exercise in a folder of its own, with the key's file."""
    chosen = folder / "set"
    chosen.mkdir(exist_ok=True)
    (chosen / "01.json").write_text(exercise(folder, **changed).dumps())
    return chosen


def started(folder, learner="ada", rolled_back=False, **changed):
    """An attempt at it in a folder of its own."""
    one = exercise(folder, **changed)
    return attempt.start(one, folder / "samples" / "shop-01", folder / "attempts" / learner, learner, rolled_back)


ANSWERS = {
    "starts_in": "consumer", "since": "12:00:33", "mechanism": "session-timeout", "line": "server.log:4",
    "amount": "2", "repair": "Raise session.timeout.ms.", "side_effect": "A dead member is noticed later.",
}  # fmt: skip


def answered(one):
    """*one* with everything answered rightly."""
    for name, text in ANSWERS.items():
        one.answer(text, name)
    return one


def entries(one):
    """What the journal of an attempt holds, without moments."""
    rows = map(json.loads, one.journal.path.read_text().splitlines())
    return [{name: value for name, value in row.items() if name != "at"} for row in rows]
