"""Titles and courses: what it cost and why, in words that do not say more than is known."""

import re
import string
from dataclasses import replace

import pytest
from report_example import at, diagnosis, facts, oversize, split_loop

from mqlab import words
from mqlab.catalogue import INCIDENTS
from mqlab.commands import read_toml
from mqlab.diagnosis import Verdict
from mqlab.facts import Facts
from mqlab.findings import Certainty, Change, Severity
from mqlab.headline import counted, headline
from mqlab.hypotheses import Hypothesis
from mqlab.notes import IncidentNotes
from mqlab.reporting.course import course

LOST = replace(
    split_loop(), incident="unclean-election-loss", subject="payments.events", facts={}, ledger=None,
    measures={"lost_records": 4310.0},
)  # fmt: skip


def title(*found, **changes):
    return headline(replace(diagnosis(*found), **changes))


def test_a_title_tells_the_cost_and_the_cause():
    assert title(LOST) == "4,310 acknowledged records of payments.events lost: a broker that was out of sync took over"
    assert counted(diagnosis(LOST)) == {"lost_records"}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"measures": {"lost_records": 1.0}},
            "1 acknowledged record of payments.events lost: a broker that was out of sync took over",
        ),
        (
            {"measures": {"lost_records": 5.0, "lost_records_least": 4.0, "lost_records_most": 9.0}},
            "4 to 9 acknowledged records of payments.events lost: a broker that was out of sync took over",
        ),
        (
            {"certainty": Certainty.LIKELY},
            "4,310 acknowledged records of payments.events lost; likely cause: a broker that was out of sync took over",
        ),
        ({"measures": {}}, "A broker that was out of sync took over"),
        ({"measures": {"lost_records": 0.0}}, "A broker that was out of sync took over"),
        ({"measures": {}, "certainty": Certainty.LIKELY}, "Most likely: a broker that was out of sync took over"),
        ({"certainty": Certainty.POSSIBLE}, "A risk, no incident: a broker that was out of sync took over"),
        ({"measures": {}, "severity": Severity.NOTICE}, "No incident: a broker that was out of sync took over"),
    ],
)
def test_a_title_says_no_more_than_is_known(changes, told):
    assert title(replace(LOST, **changes)) == told


def test_records_that_different_producers_lost_are_added_up_and_names_that_differ_are_left_out():
    one = replace(oversize(), measures={"rejected_records": 90.0}, subject="doc-svc -> documents")
    other = replace(one, id="other", measures={"rejected_records": 64.0}, subject="scan-svc -> documents")

    assert title(one, other) == "154 records of documents refused: single records were above a limit on their size"


def test_a_name_of_four_kilobytes_is_cut_and_braces_in_it_mean_nothing():
    told = title(replace(LOST, subject="{lost_records}" + "x" * 4000))

    assert "{lost_records}" in told
    assert len(told) < 200


def test_without_a_finding_the_title_says_that_nothing_is_wrong_or_what_is_most_likely():
    weighed = Hypothesis("disk-full", 0.8, (), (), (), (), ())
    verdict = Verdict("undetermined", None, "", (), (weighed,))

    assert title().startswith("Nothing wrong found in 7.57 min of ")
    assert title(verdict=verdict) == "Undetermined; most likely storage was full or could not be written"
    assert title(verdict=replace(verdict, hypotheses=())) == "Undetermined: 1 symptom that no finding explains"
    assert title(verdict=replace(verdict, hypotheses=()), symptoms=()).startswith("Undetermined: the material")


def test_a_class_without_templates_is_told_by_its_name():
    assert title(replace(LOST, incident="outbox-stuck")) == "Outbox stuck"


def test_what_somebody_wrote_is_the_title():
    assert headline(diagnosis(LOST), IncidentNotes(title="Friday's outage")) == "Friday's outage"


@pytest.mark.parametrize("slug", INCIDENTS)
def test_titles_of_a_class_show_only_what_findings_have_and_the_mechanism_can_be_told_without(slug):
    room = slug if slug in words.rooms() else "known-errors"
    texts = words.catalogue(room, words.ENGLISH)
    slots = {
        name.removesuffix("?")
        for key in ("title-cost", "title-cause", "onset")
        for template in re.findall(r"\{.*\}", repr(texts.get(key, "")))
        for _, name, _, _ in string.Formatter().parse(template)
        if name
    }
    known = {
        "subject",
        "owner",
        "topic",
        "group",
        "lasting",
        "means",
        "who",
        "compression_type",
        "incident",
        "went_back",
        "dead",
    }
    assert slots <= known | read_toml("measures.toml")["measures"].keys()
    assert words.seen(room, "title-cause", {"incident": slug})
    assert texts["onset"]


def parts(*found, changes=()):
    return [(one.name, one.at, one.text, one.href, one.inferred) for one in course(facts(), diagnosis(*found), changes)]


SIZE = Change(at("12:23:20").timestamp(), "producer mqtt-bridge batch.size", "1638400", "16384", ())


def test_a_course_has_what_began_and_the_change_that_ended_it():
    assert parts(replace(split_loop(), cure=SIZE), changes=(SIZE,)) == [
        ("effect", "12:20:44", "the first batch is split", "#F1", False),
        ("end", "12:23:16", f"the last sign of it; changed at 12:23:20: {SIZE.what}: 1638400 → 16384", "#C1", True),
    ]  # fmt: skip


def test_a_change_shortly_before_is_an_inferred_trigger_and_one_that_is_far_or_of_others_is_none():
    began = split_loop().started_at.timestamp()
    bare = replace(split_loop(), facts={}, cure=None, subject="mqtt-bridge -> plant-telemetry", ongoing=True)
    near, far = replace(SIZE, at=began - 60), replace(SIZE, at=began - 600)
    other = replace(near, what="producer other batch.size")
    unrelated = replace(near, what="producer mqtt-bridge client.rack")

    assert parts(bare, changes=(far, other, near))[0] == (
        "trigger", "12:19:44", "producer mqtt-bridge batch.size: 1638400 → 16384", "#C3", True,
    )  # fmt: skip
    assert [one[0] for one in parts(bare, changes=(far, other, unrelated))] == ["effect", "end"]
    assert parts(bare)[-1][2] == "still open when the material ends"


def test_without_a_leading_finding_there_is_no_course():
    assert course(Facts(), diagnosis(), ()) == ()
