"""Classes that lines tell by themselves, however little else there is: what only one mechanism prints, again and again.

Rules weigh many kinds of evidence, and of a few lines most of it is missing. Where a rule could not decide and a sign
of its class came ``REPEATED`` times about one client, group or topic, the class is likely all the same. Which signs
those are, and how far apart lines stand that tell of several events, is ``alone`` in the catalogue.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from mqlab.catalogue import INCIDENTS
from mqlab.facts import Episode, Facts, span
from mqlab.findings import Certainty, Finding, Result, Severity, finding
from mqlab.known_errors import words
from mqlab.shared.actors import base_name, goes_on
from mqlab.symptoms.unexplained import abnormal, explained, trouble
from mqlab.words import room

say = room("strong-signs")

REPEATED = 3
"""Events from which it is no single hand-over, disturbance or release."""
WITHIN = 3600.0
"""Seconds within which so many come: what is further apart are disturbances or releases, one after the other."""
_SHOWN = 4


def likely(facts: Facts, results: Mapping[str, Result]) -> Iterator[Finding]:
    """A finding for each subject of a class that its rule neither found nor rejected, and that lines tell alone."""
    findings = [f for r in results.values() for f in r.findings if f.certainty > Certainty.POSSIBLE]
    for slug, incident in INCIDENTS.items():
        answer = results.get(slug, Result())
        if answer.findings or answer.rejected:
            continue
        for sign, apart in incident.alone.items():
            kind, _, reason = sign.partition(": ")
            classes = [other for other in trouble().get(kind, ()) if other != slug]
            told = [e for e in facts.of_kind(kind) if reason in (e.reason or "") and abnormal(facts, e)]
            by_subject: dict[str, list[Episode]] = defaultdict(list)
            for e in told:
                if not explained(e.first_at, findings, classes):
                    by_subject[e.client_id or e.group or e.topic or base_name(e.source)].append(e)
            for subject, own in sorted(by_subject.items()):
                if times := _times(own, apart):
                    yield _finding(facts, slug, sign, subject, own, times)


def _times(episodes: Sequence[Episode], apart: float) -> int:
    """Events that lines tell of, those closer together than *apart* being one; lines without a moment count each.

    0 where they are too few, or too far apart from each other.
    """
    undated = sum(e.count for e in episodes if e.first_at is None)
    moments: list[float] = []
    for at in sorted({at for e in episodes for at in (e.first_at, e.last_at) if at is not None}):
        if not moments or at - moments[-1] >= apart:
            moments.append(at)
    dense = any(last - first <= WITHIN for first, last in zip(moments, moments[REPEATED - 1 :], strict=False))
    return undated + len(moments) if dense or undated >= REPEATED else 0


def _finding(facts: Facts, slug: str, sign: str, subject: str, own: Sequence[Episode], times: int) -> Finding:
    texts = INCIDENTS[slug]
    since, until = span(at for e in own for at in (e.first_at, e.last_at))
    means = words()[sign]
    lines = sum(e.count for e in own)
    return finding(
        slug,
        subject,
        Certainty.LIKELY,
        (since, until),
        severity=Severity.WARNING,
        ongoing=goes_on(facts, {e.source for e in own}, until),
        statement=say("statement", subject=subject, sign=means, lines=lines, since=since, until=until),
        measures={"events": times, "lines": lines},
        evidence=[e.first.because(means) for e in own[:_SHOWN]],
        mitigate=texts.mitigate,
        remedy=texts.fix,
        verify=texts.verify,
    )
