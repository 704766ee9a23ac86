"""The delivery audit as people read it, and as programs do."""

import json
from dataclasses import replace

import pytest
from audit_builder import FAILOVER, HOSTILE, MIXED, SETTINGS_ONLY, audit, losses, risk
from facts_builder import at, facts, settings

from mqlab.commands import commands
from mqlab.delivery.path import bounded
from mqlab.delivery.rows import Outcome
from mqlab.facts import Facts
from mqlab.screens.audit import audit_exit_code as exit_code
from mqlab.screens.audit import audit_screen
from mqlab.screens.rows import coloured
from mqlab.units import iso, parse_zone
from mqlab.views.audit_json import dumps, nothing
from mqlab.words import room


def lines(*audits):
    return audit_screen(audits).splitlines()


def test_a_topic_with_losses_tells_its_verdict_the_way_of_its_messages_and_who_lost_them():
    assert (
        audit_screen((FAILOVER,))
        == """\
LOST  orders
1,562 of 33,002 acknowledged messages are lost. The other 4,440 that the sink lacks only wait.
PATH     to group sink
         partition    sent  acknowledged  stored  handled  committed at          log   lost  pending  doubled
         0          11,002        11,002  11,002    5,035         5,035   0 to 9,440  1,562    4,405        0
         1          11,000        11,000  11,000   11,000        11,000  0 to 11,000      0        0        0
         2          11,000        11,000  11,000   10,965        10,965  0 to 11,000      0       35        0
         all        33,002        33,002  33,002   27,000                             1,562    4,440        0
LOST     acks1-failover-loss: 1,562 in the log, acknowledged 10:04:32 to 10:04:38
           counted: another id was acknowledged later at the same place
           partition 0: 1,562 at offsets 1,032 to 2,593   clients/acked.csv:10
"""
    )


def test_what_is_not_told_is_a_dash_and_sums_of_what_is_told_in_part_are_lower_bounds():
    assert [line.strip() for line in lines(MIXED)[7:12]] == [
        "PATH     to group billing",
        "partition   sent  acknowledged  failed  stored  handled  committed at   lost  pending  doubled  unknown",
        "0            500           490      10       –      380           490  ~ 110        0        0        0",
        "1              –             –       –   ≥ 510        –             –      –        –        7        3",
        "all        ≥ 500         ≥ 490    ≥ 10   ≥ 510    ≥ 380                ~ 110      ≥ 0        7        3",
    ]


@pytest.mark.parametrize(("least", "most", "told"), [(9, 9, "9"), (4, 9, "≤ 9"), (9, 12, "≥ 9"), (4, 12, "~ 9")])
def test_a_number_of_losses_that_was_not_counted_has_its_sign_in_the_table(least, most, told):
    log = """
        queue  sent  acked  failed  failed_stored  unanswered  stored  lost  doubled  start  end
        0      -     -      -       -              -           -       9     0        -      -
        1      -     -      -       -              -           -       0     0        -      -
    """
    lost = losses(f"queue incident records offsets since until least most\n0 x 9 1..9 10:00 10:01 {least} {most}")
    first, _, whole = lines(audit(log, losses=lost))[4:7]
    assert [" ".join(line.split("–")[-2].split()) for line in (first, whole)] == [told, told]


def test_losses_that_were_estimated_tell_their_interval_and_what_was_doubled_stands_apart():
    assert lines(MIXED)[12:] == [
        "LOST     retention-loss: about 110 (≥ 100, ≤ 120) by group billing, acknowledged 10:00:00 to 10:01:00",
        "           counted: by ids",
        "           partition 0: about 110 (≥ 100, ≤ 120) at offsets 10 to 119   clients/acked.csv:10",
        "         not explained by this audit: ≥ 4 (≤ 9) by group billing",
        "           counted: by ids",
        "           partition 0: ≥ 4 (≤ 9)   clients/acked.csv:10",
        "DOUBLED  producer-duplicates: 7 in the log, 10:02:00 to 10:03:00",
        "           counted: by ids; 6 messages more than once",
        "           partition 1: 7   clients/processed.csv:21",
        "MISSING  a dump of the log",
    ]


def test_material_that_cannot_say_says_so_and_what_is_missing():
    assert lines(SETTINGS_ONLY)[:4] == [
        "CANNOT SAY  payments",
        "This material cannot say whether messages were lost: nobody's ledger tells which were acknowledged.",
        "MISSING  the producers' ledger of acknowledged ids with partition and offset: the exact number",
        "         state-change.log and controller.log of every broker: whether the log went back",
    ]


def test_at_the_end_stands_each_command_that_fetches_what_is_missing_once():
    shown = lines(SETTINGS_ONLY, replace(SETTINGS_ONLY, topic="refunds"))
    fetch = [commands()[name].line for name in ("kafka-client-ledger", "kafka-broker-logs")]
    assert shown[-2:] == [f"FETCH    {fetch[0]}", f"         {fetch[1]}"]
    assert [line for line in shown[:-2] if "LEDGER" in line] == []


def test_topics_with_losses_come_first_and_those_with_nothing_lost_last():
    every = (audit(topic="a"), SETTINGS_ONLY, FAILOVER, MIXED)
    heads = {f"{outcome.value.upper()}  {one.topic}" for outcome in Outcome for one in every}
    assert [line for line in lines(*every) if line in heads] == [
        f"LOST AND DOUBLED  {HOSTILE}",
        "LOST  orders",
        "CANNOT SAY  payments",
        "NOTHING LOST  a",
    ]


def test_parts_that_were_counted_in_different_ways_say_so_one_by_one():
    two = losses(
        "queue incident records offsets since until\n0 retention-loss 2 1..2 10:00 10:00\n1 retention-loss 3 1..3 - -"
    )
    shown = lines(audit(losses=(two[0], replace(two[1], how="offsets"))))
    assert shown[2:] == [
        "LOST     retention-loss: 5 in the log, acknowledged 10:00:00",
        "           partition 0: 2 at offsets 1 to 2; counted: by ids   clients/acked.csv:10",
        "           partition 1: 3 at offsets 1 to 3; counted: offsets   clients/acked.csv:11",
    ]


def test_what_a_producer_was_told_of_as_failed_is_not_lost_by_a_log():
    failed = losses(
        "queue incident records offsets since until\n0 oversize-record-rejected 3 - 10:00 10:01", side="producer"
    )
    assert lines(audit(losses=failed, outcome="nothing lost"))[2:4] == [
        "FAILED   oversize-record-rejected: 3 at the producer, 10:00:00 to 10:01:00",
        "           counted: by ids",
    ]


def test_on_a_terminal_the_verdict_has_a_colour_and_labels_are_bold():
    text = coloured(audit_screen((FAILOVER,))).splitlines()
    assert text[0] == "\x1b[31m\x1b[1mLOST\x1b[0m  orders"
    assert text[2] == "\x1b[1mPATH\x1b[0m     to group sink"
    assert text[3].startswith("         partition")


@pytest.mark.parametrize(
    ("audits", "code"),
    [((FAILOVER, SETTINGS_ONLY), 2), ((SETTINGS_ONLY, audit()), 1), ((audit(),), 0), ((), 1)],
)
def test_the_exit_code_tells_losses_from_what_nobody_knows(audits, code):
    assert exit_code(audits) == code


def test_what_settings_may_lose_stands_after_the_topics():
    told = (
        risk("acks", "1", "producer gateway", high=12_696),
        risk("enable.auto.commit", "true", "consumer sink-1", records=529, high=1558),
        risk("retention.ms", "40000", "group billing on orders", due=7200, low=10, high=20),
        risk("min.insync.replicas", "1", "topic orders"),
    )
    shown = audit_screen((audit(),), risks=told).splitlines()
    assert [line.strip() for line in shown[3:]] == [
        "RISKS    acks=1 of producer gateway: records are lost",
        "each time up to 12,696 records; as it stands   clients/gateway.log:2",
        "enable.auto.commit=true of consumer sink-1: records are lost",
        "each time about 529 records (≤ 1,558); as it stands   clients/sink-1.log:2",
        "retention.ms=40000 of group billing on orders: records are lost",
        "each time 10 to 20 records, in 2.00 h at this pace; as it stands   clients/orders.log:2",
        "min.insync.replicas=1 of topic orders: records are lost",
        "how many is unknown; as it stands   clients/orders.log:2",
    ]


def test_risks_stand_in_json_with_their_bounds():
    (told,) = json.loads(dumps((), "why", [risk("acks", "1", "producer gateway", high=12_696, due=1.23456)]))["risks"]
    assert told == {
        "setting": "acks",
        "owner": "producer gateway",
        "value": "1",
        "effective": "as it stands",
        "may": "records are lost",
        "incident": "acks1-failover-loss",
        "records": None,
        "at_least": 0,
        "at_most": 12_696,
        "how": "rate × time",
        "due_seconds": 1.235,
        "evidence": [{"source": "clients/gateway.log", "line": 2, "text": "acks = 1"}],
    }


def test_material_without_kafka_is_told_in_one_clear_sentence():
    told = room("audit-json")("no-kafka")
    assert audit_screen((), because=nothing(Facts())) == f"{told}\n"


def test_material_without_ledgers_says_why_it_cannot_say_and_what_to_fetch():
    kafka = facts(settings("at owner key value\n- t acks 1"))
    fetch = [commands()[name].line for name in ("kafka-client-ledger", "kafka-keys", "kafka-broker-logs")]
    shown = audit_screen((), because=nothing(kafka)).splitlines()
    assert " ".join(shown[:2]) == (
        "This material cannot say whether messages were lost: no ledger tells what was acknowledged or handled, "
        "no dump tells which ids are in the log, and the logs of the brokers do not say that a partition went back."
    )
    assert shown[2:] == [
        f"FETCH    {fetch[0]}",
        f"         {fetch[1]}",
        f"         {fetch[2]}",
    ]
    assert "messages of orders were lost" in nothing(kafka, "orders")
    assert json.loads(dumps((), "why"))["because"] == "why"


def test_times_stand_in_the_zone_of_the_reader():
    assert "acknowledged 18:04:32 to 18:04:38" in audit_screen((FAILOVER,), parse_zone("+08:00"))


def test_a_name_cannot_move_the_cursor():
    shown = audit_screen((audit(topic="a\x1b[2Jb"),))
    assert shown.splitlines()[0] == "NOTHING LOST  a\\u001b[2Jb"


def test_of_very_many_partitions_those_with_losses_stay_and_the_sum_is_of_all():
    rows = "queue sent acked failed failed_stored unanswered stored lost doubled start end\n" + "\n".join(
        f"{n} 10 10 - - - 10 {int(n == 88)} 0 - -" for n in range(100)
    )
    lost = losses("queue incident records offsets since until\n88 acks1-failover-loss 1 3..3 10:00 10:00")
    shown = lines(audit(rows, losses=lost))
    table = [line.split() for line in shown[4:30]]
    assert [row[0] for row in table[:2] + table[-4:]] == ["0", "1", "22", "88", "all", "76"]
    assert shown[28].split() == ["all", "1,000", "1,000", "1,000", "1", "0"]
    assert shown[29] == "         76 more partitions in the sum: mqlab audit --format json"
    assert shown[32].startswith("           partition 88: 1 at offset 3 ")


def test_messages_of_no_known_partition_have_a_row():
    log = """
        queue  sent  acked  failed  failed_stored  unanswered  stored  lost  doubled  start  end
        0      5     5      0       0              0           -       0     0        -      -
        7      4     0      0       0              4           -       0     0        -      -
    """
    sent = audit(log)
    shown = lines(replace(sent, log=(sent.log[0], replace(sent.log[1], queue=""))))
    assert shown[2:6] == [
        "PATH     to the log; no group is known to read it",
        "         partition  sent  acknowledged  unanswered  stored  lost  doubled",
        "         0             5             5           0       –     0        –",
        "         unknown       4             0           4       –     0        –",
    ]


def test_numbers_too_long_for_the_screen_leave_out_what_tells_least():
    wide = 10**11
    row = replace(
        FAILOVER.log[0], sent=wide, acked=wide, failed=wide, failed_stored=wide, unanswered=wide, stored=wide, end=wide
    )
    shown = audit_screen((replace(FAILOVER, log=(row, *FAILOVER.log[1:])),)).splitlines()
    assert max(map(len, shown)) <= 120
    assert shown[3].split() == [
        "partition", "sent", "acknowledged", "stored", "handled", "committed", "at", "lost", "pending", "doubled",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("interval", "told"),
    [
        ((5, 5, 5), "5"),
        ((1562, 1562, 2000), "≥ 1,562 (≤ 2,000)"),
        ((2000, 1562, 2000), "≤ 2,000 (≥ 1,562)"),
        ((1800, 1562, 2000), "about 1,800 (≥ 1,562, ≤ 2,000)"),
    ],
)
def test_a_number_says_between_which_bounds_it_lies(interval, told):
    assert bounded(*interval) == told


def test_json_holds_the_same_rows_by_topic():
    told = json.loads(dumps((FAILOVER, MIXED)))
    assert (told["schema"], [topic["topic"] for topic in told["topics"]]) == ("mqlab.audit/1", [HOSTILE, "orders"])
    assert told["topics"][1]["partitions"][0] == {
        "partition": "0",
        "sent": 11002,
        "acknowledged": 11002,
        "failed": 0,
        "failed_but_stored": 0,
        "unanswered": 0,
        "stored": 11002,
        "lost": 1562,
        "doubled": 0,
        "log_start": 0,
        "log_end": 9440,
    }
    assert told["topics"][1]["groups"][2] == {
        "group": "sink",
        "partition": "2",
        "handled": 10965,
        "times_handled": 10965,
        "committed_offset": 10965,
        "pending": 35,
        "lost": 0,
        "doubled": 0,
        "unknown": 0,
        "skipped_by_hand": 0,
        "set_aside": 0,
        "before_group": 0,
    }


def test_a_loss_in_json_names_its_mechanism_its_offsets_and_how_it_was_counted():
    (loss,) = json.loads(dumps((FAILOVER,)))["topics"][0]["losses"]
    assert loss == {
        "incident": "acks1-failover-loss",
        "side": "log",
        "group": None,
        "partition": "0",
        "records": 1562,
        "at_least": 1562,
        "at_most": 1562,
        "first_offset": 1032,
        "last_offset": 2593,
        "since": iso(at("10:04:32")),
        "until": iso(at("10:04:38")),
        "how": "another id was acknowledged later at the same place",
        "evidence": [{"source": "clients/acked.csv", "line": 10, "text": "a line"}],
    }
