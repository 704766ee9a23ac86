"""What cannot be true is withdrawn, and nothing else is."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from facts_builder import at, episode, log, positions, settings
from facts_builder import facts as about
from report_example import diagnosis, facts, split_loop

from mqlab import jsonout, words
from mqlab.delivery.rows import Audit, Doubled, GroupRow, LogRow, Loss, Outcome, Side
from mqlab.detectors import DETECTORS
from mqlab.diagnosis import NotChecked, Rejected, Verdict, Withdrawn
from mqlab.findings import Change, Result, Severity
from mqlab.hypotheses import Hypothesis
from mqlab.mqtt.chain_stages import Chain, Gap, Stage, Step, Whereabouts
from mqlab.screen import screen
from mqlab.selfcheck import checked, findings_checked, from_first
from mqlab.units import moment
from mqlab.verdict import diagnose

FINDING = replace(split_loop(), measures={}, over=False)
FACTS = facts()
DIAGNOSIS = diagnosis(FINDING)
OTHER = "slow-consumer"
"""A class that the diagnosis calls clear."""


def left(**changed):
    """The diagnosis of a finding that is otherwise, after it has checked itself."""
    return checked(diagnosis(replace(FINDING, **changed)), FACTS)


def rules(told):
    """Each withdrawal as rule and what was taken back."""
    return [(one.rule, one.what) for one in told.withdrawn]


def test_a_diagnosis_of_one_piece_stays_as_it_is():
    assert checked(DIAGNOSIS, FACTS) is DIAGNOSIS


@pytest.mark.parametrize(
    ("measures", "rule", "name"),
    [
        ({"lost_records": 5, "lost_records_low": 6}, "bounds", "lost_records"),
        ({"lost_records_low": 6, "lost_records_high": 5}, "bounds", "lost_records"),
        ({"lost_records": 5, "published_messages": 4}, "parts", "lost_records"),
        ({"lost_records": 5, "lost_records_low": 5, "published_messages": 4}, "parts", "lost_records"),
        ({"excess_bytes": -1}, "below-zero", "excess_bytes"),
        ({"excess_bytes": 1, "excess_bytes_low": -1}, "below-zero", "excess_bytes_low"),
    ],
)
def test_a_number_that_does_not_fit_goes_with_its_bounds(measures, rule, name):
    told = left(measures={**measures, "split_count": 3})

    assert rules(told) == [(rule, name)]
    assert {"split_count"} <= set(told.findings[0].measures) <= {"split_count", "published_messages"}


@pytest.mark.parametrize(
    "measures",
    [
        {"lost_records": 5, "lost_records_low": 4, "published_messages": 4, "published_messages_high": 6},
        {"lost_records_least": 3, "lost_records": 4, "lost_records_most": 4},
        {"lag_growth_per_second": -3},
        {"bytes_rejected": 5},
    ],
)
def test_numbers_whose_bounds_allow_it_stay(measures):
    assert left(measures=measures).withdrawn == ()


def test_the_clause_that_tells_a_withdrawn_number_goes_with_it(monkeypatch):
    texts = {"statement": ["It lost.", "{lost} of {sent} are gone."]}
    monkeypatch.setattr(words, "catalogue", lambda *_: texts)
    said = words.Text("own", "statement", {"lost": 5, "sent": 4})
    monkeypatch.setattr("mqlab.selfcheck.amounts.say", lambda *_, **__: "")

    told = left(statement=said, measures={"lost": 5, "lost_low": 6})

    assert (said, told.findings[0].statement) == ("It lost. 5 of 4 are gone.", "It lost.")


@pytest.mark.parametrize(
    ("stage", "is_told"),
    [({}, True), ({"low": 10**12}, False), ({"bytes": 1}, False), ({"bytes": -1, "low": -1}, False)],
)
def test_a_ledger_that_does_not_add_up_goes(stage, is_told):
    ledger = split_loop().ledger
    first, *others = ledger.stages
    told = left(ledger=replace(ledger, stages=(replace(first, **stage), *others)))

    assert told.findings[0].ledger is not None if is_told else rules(told) == [("ledger", "ledger")]


def test_an_end_before_the_begin_goes_and_what_ended_it():
    told = left(ended_at=FINDING.started_at - timedelta(seconds=1), cure=Change(None, "app", "1", "2"))
    only = told.findings[0]

    assert rules(told) == [("order", "ended_at")]
    assert (only.ended_at, only.over, only.cure) == (None, False, None)


@pytest.mark.parametrize(
    ("name", "days", "found"), [("started_at", -1, 1), ("ended_at", 1, 1), ("started_at", 0, 0), ("ended_at", 0, 0)]
)
def test_what_lies_outside_of_the_material_goes(name, days, found):
    told = left(**{name: getattr(FINDING, name) + timedelta(days=days)})

    assert rules(told) == [("window", name)] * found
    assert (getattr(told.findings[0], name) is None) is bool(found)


SPLITS = [episode("batch-split", when, line=number) for number, when in enumerate((0, 60, 70, 80))]
CITED = replace(
    split_loop(),
    measures={},
    started_at=moment(at(0)),
    ended_at=moment(at(80)),
    evidence=(SPLITS[0].first,),
    over=False,
    cure=None,
)


def of(finding, *rows, first="10:00", last="10:30"):
    """A finding about these facts after the self-check, and its withdrawals."""
    read = about(log(first=first, last=last), *rows)
    (told,), gone = findings_checked(read, [finding], (at("09:00"), at("11:00")))
    return told, [(one.rule, one.what) for one in gone]


@pytest.mark.parametrize(
    ("name", "when", "found"),
    [
        ("started_at", "09:59:49", 1),
        ("started_at", "09:59:51", 0),
        ("ended_at", "10:30:12", 1),
        ("ended_at", "10:30:10", 0),
    ],
)
def test_a_finding_lies_within_its_own_sources(name, when, found):
    other = log("other.log", first="09:00", last="10:59")
    told, gone = of(replace(CITED, **{name: moment(at(when))}), SPLITS, other)

    assert gone == [("sources", name)] * found
    assert (getattr(told, name) is None) is bool(found)


def test_a_snapshot_is_one_of_many():
    taken = ("10:00:00", "10:20:00")
    files = [replace(log(f"groups.{when}.txt", "kafka-consumer-groups"), first_at=None, last_at=None) for when in taken]
    rows = positions("\n".join(("at group topic queue committed end", *(f"{when} g t 0 1 2" for when in taken))))
    cited = replace(CITED, evidence=(rows[0].evidence,), ended_at=moment(at("10:20:00")))

    assert of(cited, files, rows)[1] == []
    assert of(cited, files[:1], rows[:1])[1] == [("sources", "ended_at")]


@pytest.mark.parametrize(
    ("more", "seen"),
    [
        ({"when": 100}, 100),
        ({"when": 100, "source": "other.log", "client_id": "app"}, 80),
        ({"when": 85}, 80),
        ({"when": 200}, 80),
        ({"when": 100, "client_id": "other"}, 80),
        ({"when": 100, "kind": "record-too-large"}, 80),
    ],
    ids=["goes on", "of a named client", "at once", "after a longer pause", "of another client", "of another kind"],
)
def test_an_end_is_not_before_the_last_line_that_tells_of_it(more, seen):
    again = episode(
        more.pop("kind", "batch-split"), more.pop("when"), more.pop("source", "clients/app.log"), line=9, **more
    )
    told, gone = of(CITED, SPLITS, again)

    assert (told.ended_at, gone) == (moment(at(seen)), [("later", "ended_at")] * (seen > 80))


def test_a_client_is_heard_in_every_source():
    named = [replace(one, client_id="app") for one in SPLITS]
    again = episode("batch-split", 100, "logs/server.log", line=9, client_id="app")

    assert of(CITED, named, again)[0].ended_at == moment(at(100))


@pytest.mark.parametrize(("last", "over"), [("10:30", True), ("10:01", False)])
def test_it_is_over_where_a_source_goes_on_without_it(last, over):
    told, gone = of(replace(CITED, over=True), SPLITS, last=last)

    assert (told.over, gone) == (over, [] if over else [("ended", "over")])


def test_what_goes_on_is_asked_for_no_end():
    told, gone = of(replace(CITED, ongoing=True), SPLITS, episode("batch-split", 100, line=9))

    assert (told.ended_at, gone) == (CITED.ended_at, [])


@pytest.mark.parametrize(
    ("measures", "name"),
    [
        ({"bytes_out": 100, "bytes_in": 10, "amplification_factor": 12}, "amplification_factor"),
        ({"bytes_out": 100, "bytes_in": 10, "amplification_factor": 10.5}, None),
        ({"bytes_out": 100, "bytes_in": 10, "bytes_in_low": 8, "amplification_factor": 12}, None),
        ({"amplification_factor": 12, "bytes_in": 0, "bytes_out": 100}, None),
        ({"produced_per_second": 50, "consumed_per_second": 30, "lag_growth_per_second": 30}, "lag_growth_per_second"),
        ({"produced_per_second": 50, "consumed_per_second": 30, "lag_growth_per_second": 19}, None),
        ({"produced_per_second": 50, "lag_growth_per_second": 30}, None),
        ({"peak_lag": 900, "pending_records": 100, "drained_per_second": 10, "drain_seconds": 95}, "drain_seconds"),
        ({"peak_lag": 900, "pending_records": 100, "drained_per_second": 10, "drain_seconds": 83}, None),
    ],
)
def test_a_rate_times_a_time_is_about_the_amount(measures, name):
    assert rules(left(measures=measures)) == ([("products", name)] if name else [])


@pytest.mark.parametrize(
    ("records", "gone"), [(300, ["p50_record_seconds"]), (200, ["p50_record_seconds", "p99_record_seconds"]), (500, [])]
)
def test_what_is_not_beyond_the_limit_is_not_why_it_came_too_late(records, gone):
    each = {"p50_record_seconds": 0.0582, "p99_record_seconds": 0.1}
    told = left(measures={**each, "records_per_poll": records, "poll_interval_seconds": 25})

    assert rules(told) == [("too-late", name) for name in gone]


def log_row(sent, acked):
    return LogRow("plant-telemetry", "0", sent, acked, None, None, None, None, 0, 0, None, None)


@pytest.mark.parametrize(
    ("sent", "acked", "failed", "held"),
    [(12, 2, 11, False), (12, 2, 10, True), (None, 2, 11, True), (12, None, 11, True)],
)
def test_no_more_failed_than_was_sent_and_not_acknowledged(monkeypatch, sent, acked, failed, held):
    audit = Audit("plant-telemetry", Outcome.UNKNOWN, "", (log_row(sent, acked),), (), (), (), ())
    monkeypatch.setattr("mqlab.selfcheck.amounts.audits", lambda _: [audit])
    told = left(measures={"failed_records": failed}, facts={"topic": "plant-telemetry"})

    assert rules(told) == ([] if held else [("failed", "failed_records")])


@pytest.mark.parametrize(
    ("members", "known"),
    [
        (2, [{"client_id": "a"}, {"client_id": "b"}]),
        (2, [{"member_id": "a-474aa4c9-affd-4dea-81be-7978f70b0a62"}, {"client_id": "b"}]),
        (2, []),
        (1, [{"member_id": "a-474aa4c9-affd-4dea-81be-7978f70b0a62"}] * 2),
    ],
)
def test_a_member_that_comes_back_under_another_id_counts_once(members, known):
    lines = [episode("join-completed", 5, line=number, group="shop", **one) for number, one in enumerate(known)]
    held = replace(CITED, subject="shop/orders", measures={"members": members})

    assert of(held, lines)[1] == []
    assert of(replace(held, measures={"members": members + 1}), lines)[1] == [("counted-once", "members")] * bool(known)


@pytest.mark.parametrize(
    ("event", "stays"),
    [
        ({"kind": "process-exit", "left": 1}, False),
        ({"kind": "process-exit", "left": 143}, True),
        ({"kind": "process-exit", "left": 1, "source": "other.log"}, True),
        ({"kind": "out-of-memory"}, False),
        ({"kind": "out-of-memory", "when": 500}, True),
        ({"kind": "static-member-fenced", "source": "other.log", "group": "shop"}, False),
        ({"kind": "static-member-fenced", "source": "other.log", "group": "mail"}, True),
    ],
)
def test_what_was_killed_is_no_release(event, stays):
    line = episode(event.pop("kind"), event.pop("when", 40), event.pop("source", "clients/app.log"), line=7, **event)
    found = replace(CITED, incident="rolling-restart", subject="shop", severity=Severity.NOTICE)
    kept, gone = findings_checked(about(log(), line), [found], (at("09:00"), at("11:00")))

    assert ([one.rule for one in gone], len(kept)) == (([], 1) if stays else (["benign"], 0))


@pytest.mark.parametrize(
    ("incident", "event", "severity"),
    [
        ("reconnect-flaky-link", {"kind": "out-of-memory"}, Severity.WARNING),
        ("reconnect-flaky-link", {"kind": "error:os-no-space"}, Severity.WARNING),
        ("reconnect-flaky-link", {"kind": "process-exit", "left": 143}, Severity.NOTICE),
        ("reconnect-flaky-link", {"kind": "connection-lost"}, Severity.NOTICE),
        ("session-timeout", {"kind": "out-of-memory"}, Severity.NOTICE),
    ],
)
def test_what_is_no_fault_breaks_nothing(incident, event, severity):
    line = episode(event.pop("kind"), 40, "clients/app.log", line=7, **event)
    found = replace(CITED, incident=incident, severity=Severity.NOTICE)
    (kept,), gone = findings_checked(about(log(), line), [found], (at("09:00"), at("11:00")))

    assert kept.severity is severity
    assert [(one.rule, one.what) for one in gone] == [("benign", "severity")] * (severity is Severity.WARNING)


def test_what_is_no_fault_loses_nothing():
    calm = replace(CITED, incident="reconnect-flaky-link", severity=Severity.NOTICE)
    assert of(replace(calm, measures={"lost_records": 3}))[1] == [("benign", "severity")]
    assert of(replace(calm, measures={"lost_records": 0, "losses": 3}))[1] == []


@pytest.mark.parametrize(("when", "gone"), [("09:59:49", True), ("09:59:51", False), ("10:01", False), (None, False)])
def test_what_ended_it_is_not_before_it(when, gone):
    change = Change(None if when is None else at(when), "app", "1", "2")
    told, found = of(replace(CITED, cure=change))

    assert (told.cure is None, found) == (gone, [("cure", "cure")] * gone)


OFFLINE = replace(CITED, incident="consumer-offline", subject="shop/orders", ended_at=moment(at(600)))


def moves(first, second):
    return positions(f"""
        at       group topic  queue committed end
        10:02:00 shop  orders 0     {first}   900
        10:04:00 shop  orders 0     {second}  900
    """)


@pytest.mark.parametrize(
    ("rows", "heard"),
    [
        ([episode("join-completed", 300, group="shop")], True),
        ([episode("join-completed", 300, group="mail")], False),
        ([episode("join-completed", 598, group="shop")], False),
        ([moves(5, 9)], True),
        ([moves(5, 5)], False),
        ([moves(5, 9), episode("offsets-set", 200, group="shop")], False),
    ],
)
def test_a_group_without_members_is_not_heard(rows, heard):
    told, gone = of(OFFLINE, *rows)

    assert (told.started_at is None, gone) == (heard, [("silent", "started_at")] * heard)


def test_no_more_clients_than_any_source_names():
    known = [episode("client-connected", 5, client_id=name) for name in ("a", "b")]
    held = replace(CITED, measures={"clients": 2})

    assert of(held, known)[1] == []
    assert of(replace(held, measures={"clients": 3}), known)[1] == [("counted-once", "clients")]
    assert of(replace(held, measures={"clients": 3}))[1] == []


@pytest.mark.parametrize(
    ("handled", "pending", "verdict"), [(80, 20, "healthy"), (80, None, "healthy"), (80, 0, "undetermined")]
)
def test_ledgers_close_for_each_partition(monkeypatch, handled, pending, verdict):
    log_row = LogRow("t", "0", 100, 100, None, None, None, 100, 0, 0, 0, 100)
    group = GroupRow("g", "t", "0", handled, None, handled, pending, 0, 0, 0)
    audit = Audit("t", Outcome.COMPLETE, "", (log_row,), (group,), (), (), ())
    monkeypatch.setattr("mqlab.selfcheck.classes.audits", lambda _: (audit,))
    calm = replace(diagnosis(), findings=(), verdict=Verdict("healthy", None, "", ()), clear=("retention-loss",))

    told = checked(calm, FACTS)
    assert told.verdict.incident == verdict
    assert ("retention-loss" in told.clear) is (verdict == "healthy")


def test_a_class_whose_finding_is_withdrawn_was_not_checked(monkeypatch):
    found = replace(CITED, incident="rolling-restart", subject="shop", severity=Severity.NOTICE)
    rule = [one for one in DETECTORS if one.INCIDENT == "rolling-restart"]
    monkeypatch.setattr("mqlab.verdict.DETECTORS", rule)
    monkeypatch.setattr(rule[0], "detect", lambda _: Result((found,)))
    told = diagnose(about(log(form="kafka-broker-log"), episode("out-of-memory", 40)))

    assert (tuple(told.findings), told.verdict.incident) == ((), "undetermined")
    assert "rolling-restart" in {one.incident for one in told.not_checked}
    assert [one.rule for one in told.withdrawn] == ["benign"]


def loss(incident, many, side=Side.GROUP):
    return Loss(incident, side, "t", "0", "g", many, many, many, None, None, None, None, "")


def doubled(incident, many, queue="0"):
    return Doubled(incident, Side.GROUP, "t", queue, "g", many, many, many, many, None, None, "")


def counting(monkeypatch, *rows, **changed):
    """The diagnosis, otherwise, beside an audit that counts these."""
    losses = tuple(row for row in rows if isinstance(row, Loss))
    copies = tuple(row for row in rows if isinstance(row, Doubled))
    audit = Audit("t", Outcome.UNKNOWN, "", (), (), losses, copies, ())
    monkeypatch.setattr("mqlab.selfcheck.classes.audits", lambda _: [audit])
    return checked(replace(DIAGNOSIS, **changed), FACTS)


@pytest.mark.parametrize(
    ("row", "gone"),
    [
        (loss("retention-loss", 3), True),
        (loss("retention-loss", 0), False),
        (loss("unclean-election-loss", 3), False),
        (doubled("retention-loss", 3), True),
    ],
)
@pytest.mark.parametrize("where", ["clear", "rejected"])
def test_what_the_audit_counts_is_neither_clear_nor_ruled_out(monkeypatch, row, gone, where):
    places = {"clear": (), "rejected": ()}
    places[where] = ("retention-loss",) if where == "clear" else (Rejected("retention-loss", ""),)
    told = counting(monkeypatch, row, **places)

    assert [(one.rule, one.claim, one.what) for one in told.withdrawn] == [("counted", "retention-loss", where)] * gone
    assert ("retention-loss" in {one.incident for one in told.not_checked}) is gone


@pytest.mark.parametrize(
    ("side", "open_"),
    [(Side.LOG, {"producer-duplicates"}), (Side.GROUP, {"producer-duplicates", "reprocess-duplicates"})],
)
def test_copies_in_a_log_leave_open_who_stored_them_and_no_group_handled_a_place_twice(monkeypatch, side, open_):
    both = ("producer-duplicates", "reprocess-duplicates")
    told = counting(monkeypatch, replace(doubled(None, 3), side=side), findings=(), clear=both)
    assert {one.claim for one in told.withdrawn} == open_


COPIES = Stage(Step.HANDLED, "g", 5, 5, 5, "", again=941)
DROPPED = Gap(Step.ACKNOWLEDGED, Step.TAKEN, Whereabouts.DROPPED, "", 7, 7, 7, "")


def test_nothing_is_healthy_where_messages_went_nobody_knows_where(monkeypatch):
    for many, verdict in ((10, "undetermined"), (9, "healthy")):
        gap = replace(DROPPED, where=Whereabouts.UNKNOWN, messages=many, low=many, high=many)
        way = Chain("kafka", "t", (), "ids", stages=(), gaps=(gap,))
        healthy = Verdict("healthy", None, "", ())
        told = counting(monkeypatch, clear=("session-timeout",), chains=(way,), findings=(), verdict=healthy)
        assert (told.verdict.incident, told.clear) == (verdict, ("session-timeout",))


@pytest.mark.parametrize(
    ("ways", "measures", "gone"),
    [
        ({"stages": (COPIES,), "gaps": ()}, {}, ["reprocess-duplicates"]),
        ({"stages": (COPIES,), "gaps": ()}, {"duplicated_records": 941}, []),
        ({"stages": (replace(COPIES, again=0),), "gaps": ()}, {}, []),
        ({"stages": (), "gaps": (DROPPED,)}, {}, ["session-queue-drop"]),
        ({"stages": (), "gaps": (DROPPED,)}, {"dropped_messages": 7}, []),
        ({"stages": (), "gaps": (replace(DROPPED, where=Whereabouts.UNKNOWN),)}, {}, []),
    ],
)
def test_nothing_is_clear_that_is_known_by_what_no_finding_counts(monkeypatch, ways, measures, gone):
    clear = ("reprocess-duplicates", "retention-loss", "session-queue-drop", "session-timeout")
    way = Chain("kafka", "t", (), "ids", **ways)
    told = counting(monkeypatch, clear=clear, chains=(way,), findings=(replace(FINDING, measures=measures),))

    assert [one.claim for one in told.withdrawn] == gone
    assert set(told.clear) == set(clear) - set(gone)


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (loss(None, 3), "undetermined"),
        (loss(None, 0), "healthy"),
        (loss(None, 3, Side.PRODUCER), "healthy"),
        (doubled(None, 3, "b/0"), "undetermined"),
    ],
)
def test_nothing_is_healthy_beside_a_loss_that_no_finding_counts(monkeypatch, row, verdict):
    calm = Verdict("healthy", None, "Nothing was found.", ())
    told = counting(monkeypatch, row, findings=(), verdict=calm)

    assert told.verdict.incident == verdict
    assert counting(monkeypatch, row, findings=()).verdict == DIAGNOSIS.verdict


@pytest.mark.parametrize(
    ("before", "after", "stays"),
    [(None, "4", False), (None, "5", True), ("5", "4", True), (None, None, True)],
)
def test_a_topic_that_is_created_with_what_was_in_force_is_no_change(before, after, stays):
    what = words.room("changes")("topic", topic="shop", key="max.message.bytes")
    change = Change(at("10:00:10"), what, before, after)
    read = about(settings("at owner key value\n10:00:01 shop max.message.bytes 4", scope="topic"))
    told = checked(replace(DIAGNOSIS, changes=(change,)), read)

    assert tuple(told.changes) == ((change,) if stays else ())


MAYBE = Verdict("undetermined", None, "It may be.", (), (Hypothesis(OTHER, 0.5, (), (), (), (), ()),))


@pytest.mark.parametrize(
    ("changed", "claim", "what"),
    [
        ({"clear": (FINDING.incident,)}, FINDING.incident, "clear"),
        ({"rejected": (Rejected(FINDING.incident, ""),)}, FINDING.incident, "rejected"),
        ({"not_checked": (NotChecked(FINDING.incident, (), ()),)}, FINDING.incident, "not_checked"),
        ({"clear": (OTHER,), "rejected": (Rejected(OTHER, ""),)}, OTHER, "clear"),
        ({"clear": (OTHER,), "not_checked": (NotChecked(OTHER, (), ()),)}, OTHER, "clear"),
        ({"clear": (), "rejected": (Rejected(OTHER, ""),), "verdict": MAYBE}, OTHER, "rejected"),
        ({"clear": (OTHER,), "verdict": MAYBE}, OTHER, "clear"),
    ],
)
def test_a_class_has_one_place(changed, claim, what):
    told = checked(replace(DIAGNOSIS, **changed), FACTS)
    places = [
        *(one.incident for one in told.findings),
        *told.clear,
        *(one.incident for one in (*told.rejected, *told.not_checked)),
    ]

    assert [(one.claim, one.what) for one in told.withdrawn] == [(claim, what)]
    assert places.count(claim) == 1
    assert (claim in told.clear) is False


def test_what_stays_the_same_is_no_change():
    other = Change(None, "producer app acks", "1", "1")
    told = checked(replace(DIAGNOSIS, changes=(*DIAGNOSIS.changes, other)), FACTS)

    assert [(one.rule, one.claim) for one in told.withdrawn] == [("same", other.what)]
    assert tuple(told.changes) == tuple(DIAGNOSIS.changes)


def test_what_was_withdrawn_is_in_the_document_and_one_quiet_line():
    told = left(measures={"lost_records": 5, "published_messages": 4})
    line = f"{FINDING.id} lost_records: at least 5 of at most 4 published_messages"

    assert json.loads(jsonout.dumps(told))["withdrawn"] == [
        {
            "rule": "parts",
            "claim": FINDING.id,
            "what": "lost_records",
            "because": "at least 5 of at most 4 published_messages",
        }
    ]
    assert "WITHDRAWN" not in screen(told, ["x"])
    assert line in " ".join(screen(told, ["x"], why=True).split())


def test_what_was_withdrawn_before_stays_told():
    before = Withdrawn("parts", "a", "b", "c")
    told = checked(replace(DIAGNOSIS, clear=(FINDING.incident,), withdrawn=(before,)), FACTS)

    assert [one.rule for one in told.withdrawn] == ["parts", "place"]


@pytest.mark.parametrize(
    ("begin", "first"), [("09:59:55", "10:00"), ("09:59:49", "09:59:49"), ("10:00:05", "10:00:05")]
)
def test_what_is_counted_by_ten_seconds_begins_no_earlier_than_its_source(begin, first):
    text = words.Text("session-queue-drop", "statement", {"state": "slow", "subject": "a", "since": moment(at(begin))})
    told = from_first(replace(CITED, started_at=moment(at(begin)), statement=text), about(log(), *SPLITS))
    assert told.started_at == told.statement.values["since"] == moment(at(first))


def test_what_is_counted_by_ten_seconds_begins_no_earlier_than_its_broker():
    start = episode("broker-starting", 5, "mosquitto.log")
    for begin, first in (("10:00:00", "10:00:05"), ("10:00:10", "10:00:10")):
        told = from_first(replace(CITED, started_at=moment(at(begin))), about(log(), start, *SPLITS))
        assert told.started_at == moment(at(first))
    earlier = episode("broker-starting", -600, "other.log")
    told = from_first(replace(CITED, started_at=moment(at(0))), about(log(), start, earlier, *SPLITS))
    assert told.started_at == moment(at(0)), "another broker ran"
