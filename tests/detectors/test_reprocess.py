"""Records that a group handled twice: whose ledgers count, and what is behind it."""

import pytest
from facts_builder import at, facts, log, settings
from kafka_builder import GROUP, client, coordinator, held
from message_builder import fates
from said import told

from mqlab.detectors.reprocess_duplicates import detect, say
from mqlab.facts import Position
from mqlab.findings import Certainty, Severity
from mqlab.kafka.member_ledgers import ledgers
from mqlab.kafka.redelivery import commit_gap, extra, repeats
from mqlab.kafka.rows import Behind, Trigger
from mqlab.rows import Batch, Client, Delivery, Tally
from mqlab.words import room

TOPIC = "invoices"
A, B = "clients/a-processed.csv", "clients/b-processed.csv"
LOG = log("logs/server.log", "kafka-broker-log")


def handled(when, messages, *sources, queue="0", topic=TOPIC, times=()):
    """*messages*, first handled within ten seconds, that these ledgers note, at these seconds where they are known."""
    tallies = [Tally(at(when), "processed", topic, queue, messages, s, 2) for s in sources]
    return [*tallies, Delivery(at(when), topic, queue, tuple(sorted(sources)), messages, tuple(map(at, times)))]


def members(*names, group=GROUP):
    """``--members`` at the start."""
    return [Client(at(0), "kafka", group, n, "10.0.0.1", None, None, "offsets/members.txt", 3, n) for n in names]


def commits(*moments, queue="0"):
    """A dump of commits: the offset is ten times the second."""
    return [
        Position(at(s), GROUP, TOPIC, queue, 10 * s, None, None, None, None, None, "offsets/dump.txt", s, "")
        for s in moments
    ]


JOINED = (
    "10:00:00 new {a1}\n10:00:01 preparing 0 Adding new member {a1} with group instance id None\n10:00:04 stable 1 2"
)
KILLED = coordinator(
    f"{JOINED}\n10:02:00 expired {{a1}}\n10:02:00 preparing 1 removing member {{a1}} on heartbeat expiration\n"
    "10:02:01 stable 2 1"
)
SCALED = coordinator(
    f"{JOINED}\n10:02:00 new {{c1}}\n"
    "10:02:00 preparing 1 Adding new member {c1} with group instance id None\n10:02:03 stable 2 3"
)


def found(*rows):
    """(severity, certainty, extra copies) of each finding; else why it was rejected, what is missing, or clear."""
    result = detect(facts(*rows))
    if result.findings:
        return [(f.severity, f.certainty, f.measures["duplicated_records"]) for f in result.findings]
    return result.rejected or result.missing or "clear"


def after(repeats, trigger, behind=None, **more):
    """What the statement says of repeats after a kind of change."""
    return say("after", repeats=repeats, change=room("rebalances")("what", trigger=trigger, behind=behind), **more)


MEMBERS = members("a", "b")
MANY = [handled(50, 900, A), handled(110, 900, A, B)]


def test_records_of_two_members_before_a_change_were_handed_out_again():
    assert found(MEMBERS, SCALED, *MANY, commits(100), LOG) == [(Severity.CRITICAL, Certainty.PROVEN, 900)]
    (finding,) = detect(facts(MEMBERS, SCALED, *MANY, LOG)).findings
    assert finding.subject == "billing/invoices"
    assert finding.started_at.timestamp() == at(123)
    assert finding.measures["records_handled"] == 1800
    assert told(finding.statement).items() >= {"repeated_records": 900, "records_handled": 1800}.items()
    assert finding.evidence[0].text.startswith("Preparing to rebalance group billing")


TWICE = coordinator(
    f"{JOINED}\n10:02:00 expired {{a1}}\n10:02:00 preparing 1 removing member {{a1}} on heartbeat expiration\n"
    "10:02:01 stable 2 1\n10:02:07 new {c1}\n"
    "10:02:07 preparing 2 Adding new member {c1} with group instance id None\n10:02:08 stable 3 2"
)


def test_what_is_handled_again_follows_the_last_change_before_that_and_ends_with_it():
    again = [handled(50, 900, A), handled(110, 40, A, B, times=(115, 124)), handled(120, 8, A, B, times=(126, 151))]
    (finding,) = detect(facts(MEMBERS, TWICE, *again, LOG)).findings
    assert told(finding.statement)["after"] == [
        after(40, Trigger.HEARTBEAT_EXPIRY),
        after(8, Trigger.JOIN, Behind.START),
    ]
    assert (finding.started_at.timestamp(), finding.ended_at.timestamp()) == (at(124), at(151))


def behind(*rows):
    """(trigger, behind, records) by change, and how many follow none."""
    (known,) = repeats(facts(MEMBERS, LOG, *rows))
    told = [(c.what.values["trigger"].value, c.what.values["behind"], n) for c, n in known.by_change.items()]
    return [(trigger, cause and cause.value, n) for trigger, cause, n in told], known.extra - sum(n for *_, n in told)


EXPELLED = coordinator(
    f"{JOINED}\n10:02:00 expired {{b1}}\n10:02:00 preparing 1 removing member {{b1}} on heartbeat expiration\n"
    "10:02:02 stable 2 1\n10:02:12.9 new {b2}\n"
    "10:02:12.9 preparing 2 Adding new member {b2} with group instance id None\n10:02:15 stable 3 2"
)


def test_who_was_expelled_and_does_not_know_it_comes_second_to_the_member_that_was_handed_the_records():
    late = handled(110, 900, A, B, times=(123, 126))
    assert behind(EXPELLED, late) == ([("heartbeat-expiry", None, 900)], 0)
    assert behind(EXPELLED, handled(110, 900, A, times=(123, 126))) == ([], 0)


GOT_A = client("a", "10:00:04.1 got invoices-1\n10:02:02.1 got invoices-0, invoices-1\n10:02:15.1 got invoices-1")
GOT_B = client("b", "10:00:04.1 got invoices-0\n10:02:15.2 got invoices-0")


@pytest.mark.parametrize(
    ("again", "whose"),
    [
        (132.4, "heartbeat-expiry"),  # b, woken up, works off what it polled before it was expelled
        (134.5, "heartbeat-expiry"),  # still so while the rebalance runs that it asked for itself
        (135.3, "join"),  # from its own assignment on
    ],
)
def test_a_member_that_is_out_of_the_group_works_off_its_old_poll(again, whose):
    woken = handled(110, 4, A, B, times=(122.3, again))
    assert [(trigger, n) for trigger, _, n in behind(EXPELLED, GOT_A, GOT_B, woken)[0]] == [(whose, 4)]


def test_what_something_cost_is_what_was_handled_then_before_or_again():
    known = facts(MEMBERS, LOG, EXPELLED, GOT_A, GOT_B, handled(110, 4, A, B, times=(122.3, 132.4)))
    assert [extra(known, GROUP, at(a), at(b)) for a, b in ((122.9, 125), (125, 140), (123, 130), (60, 110))] == [
        4,
        4,
        0,
        0,
    ]
    assert extra(known, GROUP, at(100), at(140), without=[at(120)]) == 0


def test_a_change_after_which_nobody_was_left_hands_nothing_out():
    emptied = coordinator(
        f"{JOINED}\n10:02:00 left {{a1}}\n10:02:00 preparing 1 removing member {{a1}} on LeaveGroup\n"
        "10:02:00 empty 2\n10:02:09 new {c1}\n"
        "10:02:09 preparing 2 Adding new member {c1} with group instance id None\n10:02:12 stable 3 1"
    )
    late = handled(110, 7, A, B, times=(112.5, 121.5)), handled(110, 9, A, B, times=(112.5, 133.5))
    assert behind(emptied, *late) == ([("join", "start", 9)], 7)
    assert behind(emptied, handled(110, 9, A, B)) == ([("join", "start", 9)], 0)


def test_only_its_own_assignment_hands_a_member_something_out():
    others = (
        client("a", "10:00:04.1 got invoices-0\n10:02:03.1 got invoices-1"),
        client("b", "10:00:04.1 got invoices-1"),
    )
    assert behind(SCALED, *others, handled(110, 5, A, A, times=(112.5, 130.5))) == ([], 5)
    own = client("a", "10:00:04.1 got invoices-0\n10:02:03.1 got invoices-0, invoices-1")
    assert behind(SCALED, *own, handled(110, 5, A, A, times=(112.5, 130.5))) == ([("join", "start", 5)], 0)


SCALED_LATE = (
    "\n10:02:00 new {c1}\n10:02:00 preparing 1 Adding new member {c1} with group instance id None\n"
    "10:02:03.1 stable 2 3"
)


@pytest.mark.parametrize(("again", "of_it"), [(123.0, 5), (122.0, 0), (122.9, 0), (123.2, 5)])
def test_only_ledgers_to_the_second_may_tell_a_time_early(again, of_it):
    changed = coordinator(JOINED + SCALED_LATE)
    assert behind(changed, handled(110, 5, A, B, times=(112, again)))[1] == 5 - of_it


def test_what_was_handled_again_before_any_change_of_members_is_of_none():
    copies = [
        handled(50, 900, A),
        handled(60, 300, A, A, B, times=(61, 62, 130)),
        handled(60, 500, A, A, times=(61, 62)),
    ]
    (finding,) = detect(facts(MEMBERS, KILLED, *copies, LOG)).findings
    assert finding.certainty is Certainty.LIKELY
    assert told(finding.statement)["after"] == [after(300, Trigger.HEARTBEAT_EXPIRY)]


def test_each_time_beyond_the_first_counts():
    assert found(MEMBERS, SCALED, handled(110, 300, A, A, B), LOG)[0][2] == 600


def test_copies_after_an_expiry_are_the_consequence_of_another_class():
    assert found(MEMBERS, KILLED, *MANY, LOG) == [(Severity.WARNING, Certainty.PROVEN, 900)]


def test_what_a_group_repeats_that_commits_after_each_poll_is_a_notice():
    assert found(MEMBERS, SCALED, handled(110, 20, A, B), LOG) == [(Severity.NOTICE, Certainty.PROVEN, 20)]


def test_a_few_after_a_leave_that_nobody_explains_are_no_crash():
    gone = coordinator(
        f"{JOINED}\n10:02:00 left {{a1}}\n10:02:00 preparing 1 removing member {{a1}} on LeaveGroup\n"
        "10:02:01 stable 2 1"
    )
    assert found(MEMBERS, gone, handled(110, 20, A, B), LOG) == [(Severity.NOTICE, Certainty.PROVEN, 20)]
    assert found(MEMBERS, gone, *MANY, LOG) == [(Severity.CRITICAL, Certainty.PROVEN, 900)]
    small = [Batch(at(90), "a", GROUP, 1, 5, 1.0, 1.0, 5, "clients/a.log", 9, "processed 5 records in 1.0 s")]
    assert found(MEMBERS, SCALED, handled(110, 20, A, B), small, LOG)[0][0] is Severity.CRITICAL


def test_repeats_of_a_log_that_went_back_may_be_copies_of_its_producer():
    table = f"queue from to at over handled\n0 0 99 10:01:50 no {A}+{B}\n0 0 9 10:01:40 {{}} {A}"
    own = members("a", "b"), SCALED, handled(110, 100, A, B), LOG
    for over, at_most in (("yes", True), ("no", False)):
        gone = fates(table.format(over), topic=TOPIC)
        (finding,) = detect(facts(*own, gone)).findings
        assert told(finding.statement)["after"] == [after(100, Trigger.JOIN, Behind.START, at_most=at_most)]
        again = [place.why for place in finding.evidence if place.why.key == "handled-again"]
        assert {why.values["at_most"] for why in again} == {at_most}


def test_what_was_committed_long_before_the_change_was_not_handed_out_for_it():
    rewound = [handled(20, 900, A, B), commits(60, 100)]
    assert found(MEMBERS, SCALED, *rewound, LOG) == [(Severity.CRITICAL, Certainty.LIKELY, 900)]


def listed(**offsets):
    """Listings of the group: committed offset by second (``s112=2000``), by another command with ``t``."""
    rows = [(int(second[1:]), {"s": "groups", "t": "members"}[second[0]], offset) for second, offset in offsets.items()]
    return [
        Position(at(s), GROUP, TOPIC, "0", offset, 3000, None, None, None, None, f"offsets/{name}.{s}.txt", 2, "")
        for s, name, offset in rows
    ]


@pytest.mark.parametrize(
    ("listings", "forgotten"),
    [
        (listed(s60=900, s112=2000, s124=1100), 900),
        (listed(s60=900, s112=1500, s124=1100), 400),  # no more than what lies between the two offsets
        (listed(s60=900, s112=1100, s124=1100, s140=2000), 0),  # a crash: what was handled had not been committed
        (listed(s60=900, t118=1200, s124=1100), 0),  # within one snapshot: two commands, in whatever order
        (listed(s60=900, s118=1200, s124=1100), 100),  # the same command again
        (listed(s60=900, s90=400, s112=1100, s124=1100), 0),  # it went back before they were handled at all
        (listed(s60=900, s112=1100, s130=2000, s150=900), 0),  # and after they were handled again
        (commits(60, 112, 124), 0),
        ((), 0),
    ],
)
def test_records_whose_commits_were_lost_had_been_committed(listings, forgotten):
    (finding,) = detect(facts(MEMBERS, KILLED, *MANY, listings, LOG)).findings
    own = finding.statement.values
    assert own["forgotten"] == forgotten
    assert bool(own["fallen"]) is bool(forgotten)
    assert finding.mitigate.values["outside"] is (2 * forgotten <= 900)
    assert [e.why.key for e in finding.evidence][:2] == ["committed", "went-back"] or not forgotten


@pytest.mark.parametrize(
    ("high", "title", "again"), [(2000, "the committed offset went back", False), (1200, None, True)]
)
def test_what_a_group_had_committed_was_handed_out_again_since_its_offset_went_back(high, title, again):
    (finding,) = detect(facts(MEMBERS, KILLED, *MANY, listed(s60=900, s112=high, s124=1100), LOG)).findings
    assert finding.facts.get("went back") == title
    assert ("handed out again" in str(finding.statement)) is again
    assert "  " not in str(finding.statement)


def test_copies_without_any_change_are_likely_only():
    assert found(MEMBERS, handled(110, 900, A, B), commits(100), LOG) == [(Severity.CRITICAL, Certainty.LIKELY, 900)]


def test_copies_of_which_nothing_but_ledgers_tells_cannot_be_judged():
    assert found(MEMBERS, handled(110, 900, A, B), LOG) == (say("no-changes"),)


def test_one_member_that_notes_a_record_twice_without_a_change_is_its_own_retry():
    assert found(MEMBERS, handled(110, 900, A, A), LOG) == say("own-retries")


def test_two_groups_that_read_one_topic_are_no_copies():
    both = [members("a"), members("b", group="audit")]
    assert found(*both, SCALED, *MANY, LOG) == "clear"


def test_ledgers_are_those_of_the_longest_fitting_client_of_the_group():
    rows = [members("app", "app-1"), members("app-10", group="audit"), settings(
        "at owner key value\n10:00 app-2 group.id billing", scope="consumer")]  # fmt: skip
    sources = ["clients/app-1-processed.csv", "clients/app-10-processed.csv", "app-2/out.csv", "clients/other.csv"]
    known = facts(*rows, *(Tally(at(0), "processed", TOPIC, "0", 1, s, 2) for s in sources))
    assert ledgers(known, GROUP) == {"clients/app-1-processed.csv", "app-2/out.csv"}
    assert ledgers(known, "audit") == {"clients/app-10-processed.csv"}


def test_ledgers_without_copies_are_clear():
    assert found(MEMBERS, SCALED, handled(50, 900, A), handled(110, 900, B), LOG) == "clear"


def test_without_ledgers_a_group_that_was_handed_over_cannot_be_judged_and_one_that_was_not_is_clear():
    assert found(MEMBERS, SCALED, held(4, ("{a1}", "0")), LOG) == (say("no-ledgers"),)
    assert found(MEMBERS, coordinator(JOINED), LOG) == "clear"


def test_commits_on_a_timer_only_are_told():
    rows = facts(MEMBERS, SCALED, *MANY, commits(60, 75, 90, 105), LOG)
    assert commit_gap(rows, GROUP, TOPIC) == 15
    (finding,) = detect(rows).findings
    assert finding.measures["commit_interval_seconds"] == pytest.approx(15)


CRASHED = (coordinator(f"{JOINED}\n10:02:00 expired {{a1}}\n10:02:00 preparing 1 removing member {{a1}} on heartbeat "
                       "expiration\n10:02:01 stable 2 1"),
           client("a", "10:00:00 starting\n10:00:04 joined 1 {a1} range\n10:01:50 exited 137"))  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "helps"),
    [
        ((KILLED, *MANY), {"outside"}),
        ((KILLED, *MANY, commits(60, 62, 64, 66)), {"outside", "promptly"}),
        ((SCALED, *MANY), set()),
        ((SCALED, *MANY, commits(60, 62, 64, 66)), {"promptly"}),
        ((SCALED, *MANY, commits(60, 75, 90, 105)), set()),
        ((CRASHED, *MANY), {"killed"}),
    ],
)
def test_a_commit_is_advised_only_to_who_could_have_made_it(rows, helps):
    (finding,) = detect(facts(MEMBERS, LOG, *rows)).findings
    assert {name for name in ("outside", "killed", "promptly") if finding.mitigate.values[name]} == helps
