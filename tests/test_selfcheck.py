"""What cannot be true is withdrawn, and nothing else is."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from facts_builder import at, episode, log, positions
from facts_builder import facts as about
from report_example import diagnosis, facts, split_loop

from mqlab import jsonout, words
from mqlab.diagnosis import NotChecked, Rejected, Verdict, Withdrawn
from mqlab.findings import Change
from mqlab.hypotheses import Hypothesis
from mqlab.screen import screen
from mqlab.selfcheck import checked, findings_checked
from mqlab.units import moment

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
        ("ended_at", "10:31:11", 1),
        ("ended_at", "10:31", 0),
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
