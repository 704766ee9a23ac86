"""The story of the report: every sentence from the diagnosis or from people, nothing invented."""

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest
from report_example import at, diagnosis, example, oversize, split_loop

from mqlab.diagnosis import NotChecked
from mqlab.facts import Episode, Facts
from mqlab.findings import Change, Evidence, Moment, Severity
from mqlab.headline import cause
from mqlab.mqtt.chain_stages import Chain, Stage, Step
from mqlab.notes import Action, Cost, HumanEvent, IncidentNotes
from mqlab.reporting import chronology, course
from mqlab.reporting.evidence import dossiers
from mqlab.reporting.story import story
from mqlab.symptoms.deaths import Death
from mqlab.words import room


def told(result=None, notes=None, known=None):
    own_facts, own = example()
    result = own if result is None else result
    return story(known or own_facts, result, notes or IncidentNotes(), dossiers(result))


def links(found):
    return [(link.role, link.text, link.href, link.inferred) for link in found.causes]


def test_each_link_of_the_chain_has_its_proof():
    loop = replace(split_loop(), measures={"excess_bytes": 658042000})
    noise = replace(oversize(), incident="log-explosion", started_at=loop.started_at)
    before = replace(noise, started_at=loop.started_at - timedelta(seconds=11))

    assert f"log-explosion: {cause('log-explosion')}" not in {
        text for _, text, *_ in links(told(diagnosis(loop, before)))
    }
    assert links(told(diagnosis(loop, noise))) == [
        ("Mechanism", cause(loop.incident), "#F1", False),
        ("Setting", "max.message.bytes = 1048588 (topic plant-telemetry): the limit", "#F1-e2", False),
        ("Consequence", f"log-explosion: {cause('log-explosion')}", "#F2", False),
    ]  # fmt: skip


def test_what_brings_the_incident_about_is_its_cause_though_only_the_cause_knows_that():
    full = replace(split_loop(), incident="session-queue-drop", subject="historian", explains=(), follows=())
    slow = replace(full, incident="slow-consumer", explains=("session-queue-drop",))
    assert (full.comes_of(slow), slow.brings(full), slow.comes_of(full)) == (True, True, False)
    assert not full.comes_of(replace(slow, subject="billing"))
    both = replace(full, explains=("slow-consumer",))
    assert not both.comes_of(slow)


def test_what_has_its_cause_in_common_with_the_lead_was_not_brought_about_by_it():
    lost = replace(split_loop(), incident="commit-before-process-loss", explains=("session-timeout",), follows=())
    silent = replace(lost, incident="session-timeout", explains=())
    assert lost.brings(silent)
    assert not replace(lost, beside=("session-timeout",)).brings(silent)


def test_lines_of_one_second_stand_in_the_order_of_their_log():
    def event(kind, line):
        place = Evidence("b.log", line, kind)
        return Episode(kind, "b.log", 1, at("12:20:50").timestamp(), at("12:20:50").timestamp(), place, place)

    known = replace(example()[0], episodes=(event("broker-started", 10), event("broker-stopped", 9)))
    rows = [one for row in told(known=known).chronology.told for one in row.happened if one.place.startswith("b.log")]
    assert [one.place for one in rows] == ["b.log:9", "b.log:10"]


def test_a_change_of_whom_the_finding_names_is_an_inferred_trigger_and_no_other_is():
    loop = replace(split_loop(), facts={}, subject="mqtt-bridge -> plant-telemetry")
    near = Change(at("12:20:40").timestamp(), "producer mqtt-bridge batch.size", "16384", "1638400")
    found = replace(diagnosis(loop), changes=(near,))

    assert links(told(found))[0] == (
        "Trigger",
        "12:20:40 producer mqtt-bridge batch.size: 16384 → 1638400",
        "#C1",
        True,
    )
    for other in (
        replace(near, what="producer other-client linger.ms"),
        replace(near, at=at("12:10:00").timestamp()),
        replace(near, before=None),
    ):
        assert "Trigger" not in {role for role, *_ in links(told(replace(found, changes=(other,))))}


@pytest.mark.parametrize(("group", "weight"), [("billing", 2), ("other", 3)])
def test_what_was_done_to_the_group_of_the_finding_before_it_stands_in_the_timeline(group, weight):
    loop = replace(split_loop(), subject="billing/orders")
    stop = Change(at("12:10:00").timestamp(), room("changes")("group", group=group), None, "stopped")
    rows = told(replace(diagnosis(loop), changes=(stop,))).chronology
    own = [one for row in (*rows.told, *rows.rest) for one in row.happened if one.href == "#C1"]

    assert [one.weight for one in own] == [weight]


def test_each_moment_is_told_once():
    people = IncidentNotes(detected=at("12:21:40"), events=(HumanEvent(at("12:22:10"), "pager fires"),))
    rows = told(notes=people).chronology
    every = [(one.at, one.text) for row in (*rows.told, *rows.rest) for one in row.happened]

    assert len(every) == len(set(every))
    assert [(row.happened[0].mark, row.happened[0].href) for row in rows.told if row.happened[0].mark] == [
        ("onset", "#F1"), ("detected", ""), ("end", "#F1"), ("mitigated", "#C1"),
    ]  # fmt: skip
    assert rows.moment("mitigated") == at("12:23:20").timestamp()


def test_what_people_wrote_beats_what_is_inferred():
    rows = told(notes=IncidentNotes(mitigated=at("12:30:00"))).chronology

    assert rows.moment("mitigated") == at("12:30:00").timestamp()


def test_copies_that_only_the_way_of_the_messages_counts_are_an_impact_once():
    stages = (
        Stage(Step.TAKEN, "b1", 900, 900, 900, "ids", again=7),
        Stage(Step.HANDLED, "etl", 900, 900, 900, "ids", again=941),
    )
    copied = replace(diagnosis(split_loop()), chains=(Chain("kafka", "orders", ("b1",), "ids", stages, ()),))
    texts = [effect.text for effect in told(copied).impact]
    assert [text for text in texts if "too many" in text] == ["941 copies too many in the ledgers of etl"]
    repeats = replace(split_loop(), incident="reprocess-duplicates", measures={"duplicated_records": 941})
    counted = replace(copied, findings=(*copied.findings, repeats))
    assert not any("too many" in effect.text for effect in told(counted).impact)


def test_impact_is_told_in_the_users_terms_and_money_by_the_rates_of_people():
    rates = Cost("EUR", per_lost_message=2.0, per_minute=40.0, per_gigabyte=1.0)
    lost = replace(oversize(), measures={"lost_records": 3})
    shown = told(diagnosis(split_loop(), lost), IncidentNotes(cost=rates, impact="Orders came late")).impact

    assert [(one.text, one.href) for one in shown[:3]] == [
        ("Orders came late", ""),
        ("3 messages were lost", "#F2-lost_records"),
        ("658 MB of excess traffic", "#F1-excess_bytes"),
    ]
    assert (shown[-1].text, shown[-1].how) == (
        "It cost about 108.51 EUR",
        "3 lost messages × 2 + 2.55 minutes × 40 + 0.658 GB × 1, by the rates of incident.yml",
    )


def test_a_notice_costs_nothing():
    notice = replace(oversize(), incident="fan-out", severity=Severity.NOTICE)

    assert told(diagnosis(notice), IncidentNotes(cost=Cost("EUR", per_minute=40.0))).impact == ()


def test_lines_that_stood_in_logs_before_people_noticed_are_counted_against_the_alarm():
    people = IncidentNotes(detected=at("12:22:44.201"), mitigated=at("12:23:20"))
    shown = told(notes=people).noticed

    assert shown.badly == (
        "Nobody noticed it for 120 s.",
        "Logs showed it 114 s before people noticed: batch-split at 12:20:49 UTC, clients/bridge.log:117.",
    )
    assert shown.well[0] == "It was mitigated 35.8 s after it was noticed."


@pytest.mark.parametrize(
    ("seconds", "asked"), [(-30, 1), (30, 0), (3600, 1)], ids=["before", "meanwhile", "long after"]
)
def test_trouble_that_may_have_come_of_the_incident_is_no_open_question(seconds, asked):
    loop = split_loop()
    symptom = room("symptoms")(
        "crash", at=loop.started_at.timestamp() + seconds, who="a", since=0.0, place="server.log:1"
    )
    shown = told(replace(diagnosis(loop), symptoms=(symptom,))).questions

    assert sum(symptom in one.text for one in shown) == asked


def test_actions_of_people_come_before_those_of_other_findings_and_are_not_suggested_again():
    mine = Action("Chunk payloads or raise the limit on topic and consumers.", "Maria", at("12:00:00").date(), "done")
    shown = told(notes=IncidentNotes(actions=(mine,))).actions

    assert [(one.what[:12], one.owner, one.due, one.status, one.href) for one in shown] == [
        ("Chunk payloa", "Maria", "2026-11-21", "done", ""),
        ("Send large p", "", "", "", "#F2"),
    ]


def test_what_helps_at_once_is_suggested_for_all_that_is_not_known_to_be_over():
    first = [
        next(
            iter(
                told(
                    diagnosis(
                        split_loop(),
                        replace(oversize(), mitigate="Stop it.", **{"ended_at": split_loop().ended_at} | state),
                    )
                ).actions
            )
        ).what
        == "Stop it."
        for state in (
            {"ongoing": True},
            {"ongoing": False, "over": False},
            {"ongoing": False, "ended_at": None},
            {"ongoing": False, "over": True},
        )
    ]
    assert first == [True, True, True, False]


def test_questions_are_those_that_matter_here_and_one_line_for_people():
    loss = NotChecked("acks1-failover-loss", ("what the bridge sent",), ("export the ledger",))
    other = NotChecked("client-id-takeover", ("the broker's log",), ())
    absent = NotChecked("bridge-loop", ("material of MQTT",), ())
    shown = told(replace(diagnosis(split_loop()), not_checked=(loss, other, absent), gaps=())).questions

    assert [(one.text, one.fetch) for one in shown] == [
        ("Was there acks1-failover-loss too? The material lacks what the bridge sent", "export the ledger"),
        ("For people, in incident.yml: who was affected (impact), when it was noticed (detected), when it was resolved "
         "(resolved), who does what until when (actions), what went well (went_well)", ""),
    ]  # fmt: skip


def test_what_may_be_behind_what_was_found_is_a_question_with_what_would_settle_it():
    maybe = SimpleNamespace(incident="fan-out", settle=(SimpleNamespace(missing="the groups", fetch="list them"),))
    found = diagnosis(split_loop())
    shown = told(replace(found, verdict=replace(found.verdict, hypotheses=(maybe,)))).questions

    assert (shown[0].text, shown[0].fetch) == ("Was it fan-out? To tell: the groups", "list them")


def test_what_two_findings_count_of_one_harm_is_told_once():
    cause = replace(oversize(), incident="poll-interval-exceeded", explains=("reprocess-duplicates",),
                    measures={"duplicated_records": 9, "peak_lag": 7, "pending_records": 5})  # fmt: skip
    copies = replace(oversize(), incident="reprocess-duplicates", measures={"duplicated_records": 1})
    others = replace(oversize(), incident="producer-duplicates", subject="shop", measures={"duplicated_records": 1})
    shown = told(diagnosis(cause, copies, others)).impact

    assert [one.text for one in shown[:3]] == [
        "9 duplicates", "1 duplicate (shop)", "lag reached 7 messages",
    ]  # fmt: skip


@pytest.mark.parametrize(("incident", "told_"), [("acks1-failover-loss", False), ("slow-consumer", True)])
def test_what_waits_at_the_end_is_no_effect_of_what_the_log_lost_at_one_moment(incident, told_):
    lost = replace(split_loop(), incident=incident, measures={"lost_records": 3, "pending_records": 9})
    shown = [one.href.rpartition("-")[2] for one in told(diagnosis(lost)).impact]
    assert ("pending_records" in shown) is told_


def test_how_long_it_lasted_is_one_value_to_its_last_sign_and_rebalances_are_of_its_own_time():
    loop = replace(split_loop(), ongoing=True)
    other = replace(oversize(), incident="session-timeout", measures={"rebalances": 2})
    unseen = replace(loop, ended_at=None)

    assert "It lasted at least 153 s" in [one.text for one in told(diagnosis(loop, other)).impact]
    assert not any("lasted" in one.text or "rebalance" in one.text for one in told(diagnosis(unseen, other)).impact)
    leads = replace(loop, measures={"rebalances": 2})
    assert "2 rebalances" in [one.text for one in told(diagnosis(leads)).impact]


def test_a_death_that_no_line_tells_is_a_moment_and_marked_as_inferred(monkeypatch):
    died = Death("broker 2", "broker", at("12:21:00").timestamp(), at("12:21:30").timestamp(), "silent", ())
    monkeypatch.setattr(chronology, "deaths", lambda _: (died,))
    row = next(row for row in told().chronology.told if row.at == died.since)

    assert [(one.text, one.inferred) for one in row.happened] == [("broker 2: silent", True)]


@pytest.mark.parametrize(
    ("second", "text"),
    [
        (0, "broker 1 (alive until 12:20:30 at least) and broker 2 (alive until 12:20:30 at least) fell silent"),
        (5, "broker 1 (alive until 12:20:30 at least) and broker 2 (alive until 12:20:35 at least) fell silent"),
    ],
)
def test_brokers_that_fell_silent_each_have_their_own_moment(monkeypatch, second, text):
    began, ends = at("12:20:30").timestamp(), at("12:30:00").timestamp()
    died = [Death(who, "broker", began + later, ends, "", ()) for who, later in (("broker 1", 0), ("broker 2", second))]
    monkeypatch.setattr(course, "deaths", lambda _: died)
    lost = replace(split_loop(), incident="acks1-failover-loss", subject="orders/0")

    trigger = course.course(Facts(), diagnosis(lost), ())[0]
    assert (trigger.name, trigger.at, trigger.text) == ("trigger", "", text)


def test_of_one_change_made_in_several_places_the_first_is_the_trigger():
    loop = replace(split_loop(), subject="a, b")
    began = loop.started_at.timestamp()
    made = [
        Change(began - before, f"producer {who} batch.size", "1", value)
        for before, who, value in ((5, "b", "9"), (30, "a", "9"), (40, "a", "2"))
    ]
    steps = course.course(Facts(), diagnosis(loop), made)
    assert (steps[0].name, steps[0].href) == ("trigger", "#C2")


def test_a_broker_that_fell_silent_after_the_onset_did_not_set_it_off(monkeypatch):
    lost = replace(split_loop(), incident="acks1-failover-loss", subject="orders/0")
    later = Death("broker 1", "broker", lost.started_at.timestamp() + 60, lost.ended_at.timestamp(), "", ())
    monkeypatch.setattr(course, "deaths", lambda _: [later])
    assert "trigger" not in {step.name for step in course.course(Facts(), diagnosis(lost), ())}


def test_what_brought_the_incident_about_is_its_cause_and_no_consequence():
    loop = replace(split_loop(), measures={"excess_bytes": 658042000}, explains=("log-explosion",))
    gone = replace(oversize(), incident="consumer-offline", statement="Nobody was there.", subject=loop.subject)
    away = replace(gone, started_at=loop.started_at - timedelta(seconds=60))
    after = replace(gone, started_at=loop.ended_at + timedelta(seconds=60))
    led = replace(loop, explains=("consumer-offline",), follows=("consumer-offline",))

    behind = ("Cause", f"consumer-offline: {cause('consumer-offline')}", "#F2", False)
    assert links(told(diagnosis(led, away)))[0] == behind
    other = replace(away, subject="billing/orders")
    for besides in (other, after):
        assert "consumer-offline" not in str(links(told(diagnosis(led, besides))))


def test_a_take_over_is_a_moment_and_does_not_last_from_the_first_lost_record_on():
    loss = replace(
        oversize(), incident="acks1-failover-loss", severity=Severity.CRITICAL, facts={"who": "topic orders"}
    )
    loss = replace(loss, started_at=at("12:04:33"), ended_at=at("12:05:50"), ongoing=False)
    known = replace(loss, moments=(Moment(at("12:05:47"), "took over"),))
    for one in (known, loss):
        assert "lasted" not in str(told(diagnosis(one)).impact)
