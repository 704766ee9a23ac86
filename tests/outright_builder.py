"""Errors that are said outright, for tests of their rules: lines of the table, and what the rule of a class finds."""

import pytest
from facts_builder import episode, facts, log

from mqlab.detectors.known_errors import EXPLAINS, RULES
from mqlab.known_errors import known_errors

RULE = {rule.INCIDENT: rule for rule in RULES}
LEAD = {slug: next(e for e in known_errors().values() if e.incident == slug) for slug in EXPLAINS}
each_class = pytest.mark.parametrize("slug", EXPLAINS)
TOLD = {
    "mqtt-login-refused": "not-authorized",
    "mqtt-client-garbled": "protocol-error",
    "mqtt-protocol-error": "frame-too-large",
}
"""Reasons that signatures give to events of which only some are the error."""
BEATS = known_errors()["kraft-heartbeat-lost"]
LOG = log("clients/app.log", "application-log", "10:00", "11:00")


def said(error, when, count=1, *, until=None, text="", **more):
    """*count* lines of a known error of the table."""
    more = {"reason": TOLD.get(error.name)} | more
    return episode(error.kind, when, count=count, until=until, text=text or error.sample, system=error.system, **more)


def again(error, start, seconds, **more):
    """One line every ten seconds."""
    return [said(error, start + n, **more) for n in range(0, seconds, 10)]


def found(slug, *rows):
    """The only finding of a class; None where it is clear."""
    result = RULE[slug].detect(facts(*rows))
    assert (result.missing, result.rejected) == ((), None)
    return result.findings[0] if result.findings else None


def lasting(slug):
    """An error of the class that does not end a process by itself, else its first."""
    own = [e for e in known_errors().values() if e.incident == slug]
    return next((e for e in own if not (e.fatal or e.where or e.vague or e.again)), own[0])


def beats(*moments, error="REQUEST_TIMED_OUT"):
    """Heartbeats of a broker that its controllers refuse."""
    text = f"WARN [BrokerLifecycleManager id=1] Broker 1 sent a heartbeat request but received error {error}."
    return [said(BEATS, when, source="logs/server.log", reason=error, text=text) for when in moments]


def dial(when, client="till-3", source="clients/app.log"):
    """A client cannot reach its broker."""
    return said(known_errors()["go-dial-failed"], when, source=source, client_id=client, peer="10.9.0.2:1883")


each_that_may_pass = pytest.mark.parametrize("slug", [slug for slug in EXPLAINS if not lasting(slug).fatal])
