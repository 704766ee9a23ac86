"""From what detectors say to one diagnosis: exactly one place for every class, and the verdict."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from mqlab import __version__, hypotheses, scope, selfcheck, settings_audit, strong_signs, words
from mqlab.catalogue import INCIDENTS
from mqlab.changes import changes
from mqlab.clocks.offsets import ERROR
from mqlab.detectors import DETECTORS
from mqlab.diagnosis import DISMISSED, Diagnosis, Material, NotChecked, Rejected, Verdict
from mqlab.facts import Facts, span
from mqlab.findings import Certainty, Finding, Result, Severity
from mqlab.hypotheses import Hypothesis
from mqlab.logs import explosion
from mqlab.marks import WORDED, complaints, worded
from mqlab.mqtt.chain import ways
from mqlab.mqtt.chain_apart import explained
from mqlab.narrowing import narrowed
from mqlab.precedence import as_seen, ended_by, ordered, ordered_by_weight
from mqlab.repairs import after_its_end, with_repairs
from mqlab.rows import Coverage, Passage
from mqlab.shared.reach import is_excerpt
from mqlab.sources import COPY
from mqlab.symptoms import change_points
from mqlab.symptoms.deaths import deaths
from mqlab.symptoms.unexplained import CRASHED, UNHEARD, Symptom, trouble, unexplained
from mqlab.units import is_dateless
from mqlab.words import Text, listed

say = words.room("verdict")

_ERRORS = ("ERROR", "FATAL")
_BACKLOG = "backlog-"
"""How kinds of marks begin that tell of queues."""


def diagnose(facts: Facts, dismissed: Sequence[str] = ()) -> Diagnosis:
    """The diagnosis of *facts*; findings whose id people *dismissed* leave the findings, not the material."""
    facts = ordered(facts)
    present = scope.systems(facts)
    results = {d.INCIDENT: scope.asked(d, facts, present) for d in DETECTORS}
    results = _with_strong_signs(facts, results)
    results = _with_risks(facts, results)
    happened = changes(facts)
    kept = [f for r in results.values() for f in r.findings if f.id not in dismissed]
    settled = explosion.settled(facts, kept, trouble())
    material = _material(facts)
    seen = [selfcheck.from_first(as_seen(ended_by(f, happened), facts, material.window), facts) for f in settled]
    told = [with_repairs(f, happened, material.window[1]) for f in seen]
    sure, withdrawn = selfcheck.findings_checked(facts, told, material.window)
    results = _without_withdrawn(results, told, sure)
    findings = ordered_by_weight([after_its_end(f) for f in sure])
    left = unexplained(facts, findings, {slug for slug, r in results.items() if r.rejected})
    verdict = _weighed(_verdict(findings, left, facts, results), findings, left, facts, results)
    results = _without_doubted(facts, results, {h.incident for h in verdict.hypotheses})
    whole = Diagnosis(
        version=__version__,
        material=material,
        verdict=verdict,
        findings=findings,
        rejected=_rejected(results, findings),
        clear=tuple(slug for slug, r in sorted(results.items()) if _is_clear(r)),
        not_checked=_not_checked(facts, results, present),
        changes=tuple(replace(c, at=None) if c.at and is_dateless(c.at) else c for c in happened),
        symptoms=tuple([s.text for s in left if s.kind != UNHEARD][:5]),
        gaps=_gaps(facts, findings),
        chains=explained(ways(facts), [f for f in findings if _of_mqtt(f)]),
        risers=change_points.risers_beside(facts, next(iter(findings), None)) if "mqtt" in present else (),
        withdrawn=withdrawn,
    )
    return selfcheck.checked(whole, facts)


def diagnose_within(
    facts: Facts, since: float | None, until: float | None, dismissed: Sequence[str] = ()
) -> tuple[Facts, Diagnosis]:
    """The part of *facts* within a time, and its diagnosis, which clears nothing that *facts* show in that time."""
    part = narrowed(facts, since, until, None, None, None)
    told = diagnose(part, dismissed)
    if part.whole:
        return part, told
    here = {f.incident for f in told.findings}
    cut = [f for f in diagnose(facts, dismissed).findings if f.incident not in here and _lasts_into(f, since, until)]
    slugs = {f.incident for f in cut}
    unchecked = (NotChecked(slug, (say("outside"),), ()) for slug in sorted(slugs))
    serious = [f for f in cut if f.severity > Severity.NOTICE]
    lead = any(f.severity > Severity.NOTICE for f in told.findings)
    return part, replace(
        told,
        verdict=told.verdict if lead or not serious else _cut_off(serious, told.verdict),
        rejected=tuple(r for r in told.rejected if r.incident not in slugs),
        clear=tuple(slug for slug in told.clear if slug not in slugs),
        not_checked=(*(n for n in told.not_checked if n.incident not in slugs), *unchecked),
    )


def _lasts_into(finding: Finding, since: float | None, until: float | None) -> bool:
    begins = finding.started_at.timestamp() if finding.started_at else None
    ends = finding.ended_at.timestamp() if finding.ended_at and not finding.ongoing else None
    return (ends is None or since is None or ends >= since) and (begins is None or until is None or begins <= until)


def _cut_off(findings: Sequence[Finding], verdict: Verdict) -> Verdict:
    """Of *findings* that only the whole material shows."""
    shown = [say("of-subject", incident=f.incident, subject=f.subject) for f in findings]
    return Verdict("undetermined", None, say("cut-off", findings=shown), verdict.also)


def _with_strong_signs(facts: Facts, results: dict[str, Result]) -> dict[str, Result]:
    """*results* with what lines tell by themselves, for classes of which their rules could not decide."""
    every = dict(results)
    for finding in strong_signs.likely(facts, results):
        every[finding.incident] = replace(
            every[finding.incident], findings=(*every[finding.incident].findings, finding)
        )
    return every


def _with_risks(facts: Facts, results: dict[str, Result]) -> dict[str, Result]:
    """*results* with what settings alone make possible, for classes of which nothing else was found."""
    every = dict(results)
    for finding in settings_audit.risks(facts):
        found = every.get(finding.incident, Result(missing=(scope.say("no-rule"),)))
        serious = any(f.certainty > Certainty.POSSIBLE for f in found.findings)
        if not serious and not found.rejected:
            every[finding.incident] = replace(found, findings=(*found.findings, finding))
    return every


def _without_withdrawn(
    results: dict[str, Result], told: Sequence[Finding], sure: Sequence[Finding]
) -> dict[str, Result]:
    """*results* in which no class is found of which no finding of those *told* is *sure*."""
    gone = {f.incident for f in told} - {f.incident for f in sure}
    return results | {slug: Result(missing=INCIDENTS[slug].needs) for slug in gone}


def _without_doubted(facts: Facts, results: dict[str, Result], maybe: Collection[str]) -> dict[str, Result]:
    """*results* in which no class is clear or ruled out that it *maybe* is, and none clear of which lines complain.

    Of an excerpt it needs the rest; else its rule read what it needs, and a sign is there all the same.
    """
    doubted = {slug for slug in results.keys() & maybe if not (results[slug].findings or results[slug].missing)}
    complained = {mark.kind.removeprefix(WORDED) for mark in worded(facts)}
    doubted |= {slug for slug in results.keys() & complained if _is_clear(results[slug])}
    part = is_excerpt(facts)
    open_ = {slug: say("doubted", because=results[slug].rejected) for slug in doubted}
    return results | {slug: Result(missing=INCIDENTS[slug].needs if part else (open_[slug],)) for slug in doubted}


def _is_doubted(result: Result) -> bool:
    """Its rule has read what it needs: no command fetches what would settle it."""
    return any(isinstance(one, Text) and (one.room, one.key) == ("verdict", "doubted") for one in result.missing)


def _of_mqtt(found: Finding) -> bool:
    known = INCIDENTS.get(found.incident)
    return known is not None and tuple(known.systems) == ("mqtt",)


def _is_clear(result: Result) -> bool:
    return not (result.findings or result.rejected or result.missing)


def _rejected(results: dict[str, Result], findings: Sequence[Finding]) -> tuple[Rejected, ...]:
    """Classes that were disproved, and those whose findings people dismissed."""
    found = {f.incident for f in findings}
    because = {slug: r.rejected for slug, r in results.items() if r.rejected and not r.findings}
    because |= {slug: DISMISSED for slug, r in results.items() if r.findings and slug not in found}
    return tuple(Rejected(slug, because[slug] or "") for slug in sorted(because))


def _verdict(findings: Sequence[Finding], left: Sequence[Symptom], facts: Facts, results: dict[str, Result]) -> Verdict:
    serious = [f for f in findings if f.severity > Severity.NOTICE]
    if serious:
        lead = serious[0]
        return Verdict(lead.incident, lead.certainty, lead.statement, tuple(f.id for f in findings if f is not lead))
    also = tuple(f.id for f in findings)
    if left:
        open_ = [s for s in left if s.kind != UNHEARD]
        told = say("unexplained", symptoms=len(open_), first=open_[0].text) if open_ else ""
        return Verdict("undetermined", None, told, also)
    # Queues that stand still are symptoms of their own, where they do so for long enough.
    seen = [m for m in hypotheses.traced(facts, findings) if m.kind in trouble() and not m.kind.startswith(_BACKLOG)]
    known = scope.enough(facts, results) and not seen
    visible = _benign(findings, whole=not known)
    if visible is not None:
        others = tuple(f.id for f in findings if f is not visible)
        statement = listed([visible.statement, *(() if known else (say("not-all"),))], " ")
        return Verdict(visible.incident, visible.certainty, statement, others)
    if not known:
        because = say("not-enough", why=seen[0].text if seen else _why_not(facts))
        return Verdict("undetermined", None, because, also)
    clear = sum(_is_clear(r) for r in results.values())
    errors = sorted((s.source, s.first_line, s.lines) for s in facts.shapes if s.level in _ERRORS)
    place = f"{errors[0][0]}:{errors[0][1]}" if errors else None
    told = say(
        "healthy",
        clear=clear,
        errors=sum(lines for *_, lines in errors),
        place=place,
        traffic=change_points.traffic(facts),
    )
    return Verdict("healthy", None, told, also)


def _weighed(
    verdict: Verdict, findings: Sequence[Finding], left: Sequence[Symptom], facts: Facts, results: dict[str, Result]
) -> Verdict:
    """An undetermined *verdict* with what it may be, first of all; another with what may be behind it or come of it."""
    if verdict.incident != "undetermined":
        serious = any(f.severity > Severity.NOTICE for f in findings)
        present = scope.systems(facts)
        return replace(verdict, hypotheses=hypotheses.beside(facts, findings, results, present)) if serious else verdict
    ranked = hypotheses.hypotheses(facts, findings, left, results, scope.systems(facts))
    unheard = [say("unheard", symptom=s.text) for s in left if s.kind == UNHEARD]
    told = (
        *_died(facts, left),
        *unheard,
        hypotheses.sentence(ranked),
        scope.ungathered(facts),
        _read(facts, ranked),
        "" if ranked and left else verdict.statement,
    )
    return replace(verdict, statement=listed(filter(None, told), " "), hypotheses=ranked)


def _died(facts: Facts, left: Sequence[Symptom]) -> Iterator[str]:
    """That brokers died and came back is sure, whatever may be behind it."""
    moments = {s.at for s in left if s.kind == CRASHED}
    if own := [one for one in deaths(facts) if one.back in moments]:
        names = sorted({one.who for one in own})
        yield say("died", who=names, times=len(own), several=len(own) > 1, since=own[0].since, back=own[0].back)


def _read(facts: Facts, ranked: Sequence[Hypothesis]) -> str:
    """Whose lines these are, and which of them complain, where nothing tells what it may be."""
    loud = complaints(facts)
    if ranked or not loud:
        return scope.read(facts)
    place = f"{loud[0].source}:{loud[0].first_line}  {loud[0].shape.strip()[:120]}"
    return listed(
        filter(
            None, (scope.read(facts), say("complaints", kinds=len({(s.shape, s.level) for s in loud}), place=place))
        ),
        " ",
    )


def _why_not(facts: Facts) -> str:
    files = scope.unread(facts)
    if not files and not scope.systems(facts):
        return say("no-broker" if scope.anything(facts) else "no-format")
    if damaged := scope.damaged(facts):
        doubtful = {c.source for c in facts.coverage if c.copied}
        return say("doubtful" if doubtful.issuperset(damaged) else "damaged", files=damaged)
    if not files:
        return say("unchecked")
    return say("unread", file=files[0].source, more=len(files) - 1 or None, lines=sum(c.lines for c in files))


def _benign(findings: Sequence[Finding], *, whole: bool) -> Finding | None:
    """The leading finding that explains a visible change; a *whole* one hides no class that was not checked."""
    likely = [f for f in findings if f.certainty > Certainty.POSSIBLE]
    seen = {f.incident for f in likely if INCIDENTS[f.incident].visible}
    allowed = [f for f in likely if INCIDENTS[f.incident].whole or not whole]
    return next((f for f in allowed if _explains_a_change(f, seen)), None)


def _explains_a_change(finding: Finding, seen: Collection[str]) -> bool:
    """A benign class that everybody sees, the cause of one that was seen, or one with rebalances or a peak of lag."""
    visible = {"peak_lag", "rebalances"} & set(finding.measures)
    return bool({finding.incident, *finding.explains} & set(seen) or visible)


def _not_checked(facts: Facts, results: dict[str, Result], present: frozenset[str]) -> tuple[NotChecked, ...]:
    found = []
    for slug, incident in sorted(INCIDENTS.items()):
        result = results.get(slug, Result(missing=(scope.say("no-rule"),)))
        here = [s for s in incident.systems if s in present]
        unread = [scope.SYSTEMS[s] for s in incident.elsewhere if s in present]
        if result.findings or result.rejected or not result.missing:
            continue
        if here or (len(scope.RULES.get(slug, ())) == len(scope.SYSTEMS) and scope.logs(facts)):
            if _is_doubted(result):
                found.append(NotChecked(slug, result.missing, ()))
                continue
            fetch = incident.fetch_on(here[0], scope.broker_products(facts), result.missing) if here else ()
            found.append(NotChecked(slug, result.missing, fetch or incident.fetch))
        elif unread:
            found.append(NotChecked(slug, (scope.say("no-rule-on", systems=unread),), ()))
    found += [
        NotChecked(s, (say("no-material", system=name),), ()) for s, name in scope.SYSTEMS.items() if s not in present
    ]
    return tuple(found)


def _material(facts: Facts) -> Material:
    coverage = facts.coverage
    times: list[float | None] = [at for c in coverage for at in (c.first_at, c.last_at)]
    for spans in (facts.episodes, facts.flows, facts.topic_flows, facts.fates):
        times += [at for row in spans for at in (row.first_at, row.last_at)]
    times += [p.at for p in facts.positions] + [t.at for t in facts.tallies] + [d.at for d in facts.deliveries]
    times += [s.points[n][0] for s in facts.series if s.points for n in (0, -1)]
    times += [s.first_at for v in facts.volumes for s in v.shapes]
    return Material(
        files=len({c.source for c in coverage}),
        bytes=sum(c.bytes for c in coverage),
        lines=sum(c.lines for c in coverage),
        data_lines=sum(c.data for c in coverage),
        noise_lines=sum(c.noise for c in coverage),
        rejected_lines=sum(c.rejected for c in coverage),
        unrecognised=tuple(c.source for c in coverage if c.format in ("unrecognised", "binary", "unreadable")),
        window=span(at for at in times if at is not None and not is_dateless(at)),
        time_zones={c.source: say("zone", zone=c.zone, why=c.zone_why) for c in coverage if c.role.is_log},
        copies={c.source: (c.copy_of, c.copied) for c in coverage if c.copy_of},
    )


def _gaps(facts: Facts, findings: Sequence[Finding]) -> tuple[str, ...]:
    found = [*_copies(facts), *(gap for f in findings if f.ledger for gap in f.ledger.gaps)]
    for series in facts.named("up"):
        missed = sum(1 for _, v in series.points if v < 1)
        if missed:
            instance = series.labels.get("instance", "?")
            found.append(say("scrapes", instance=instance, failed=missed, scrapes=len(series.points)))
    found += [say("file", file=c.source, problem=c.problem) for c in facts.coverage if c.problem]
    found += [_dateless(facts, c) for c in facts.coverage if c.dateless]
    found += [_before_sent(p) for p in facts.passages if p.least < -ERROR]
    return tuple(dict.fromkeys(found))


def _dateless(facts: Facts, log: Coverage) -> str:
    """Of a *log*, or of samples, whose lines show the time only."""
    sampled = (s.points[0][0] for s in facts.series if s.source == log.source and s.points)
    first = next(sampled, None) if log.first_at is None else log.first_at
    return say("no-date" if first is None or is_dateless(first) else "taken-date", file=log.source)


def _before_sent(passage: Passage) -> str:
    """Of two ledgers whose clocks contradict each other, and of which nothing tells which one is off."""
    seconds, names = -passage.least, {"sender": passage.sender, "receiver": passage.receiver}
    return say("before-sent", seconds=seconds, median=passage.median, messages=passage.messages, **names)


def _copies(facts: Facts) -> Iterator[str]:
    """Which material was there twice: whole files in one sentence, parts of files in one each."""
    whole = [c for c in facts.coverage if c.format == COPY]
    for one in whole[:1]:
        if whole[1:]:
            yield say("copies", files=len(whole), file=one.source.rpartition("/")[2])
        else:
            yield say("copy", file=one.source, of=one.copy_of)
    for one in facts.coverage:
        if one.copied and one.format != COPY and not one.problem:
            yield say("copied", file=one.source, copied=one.copied, of=one.copy_of)
