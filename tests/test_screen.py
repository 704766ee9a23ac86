"""The triage screen, from a diagnosis made by hand: content, order, width, and nothing that could harm a terminal."""

import re
from dataclasses import replace
from datetime import timedelta, timezone

import pytest
from report_example import at, example

from mqlab import changes, screen, verdict
from mqlab.clocks.zones import say
from mqlab.diagnosis import NotChecked, Rejected, Verdict
from mqlab.findings import Change, Evidence, Moment, Severity
from mqlab.screens import rows

PATHS = ["data/samples/kafka-amp-17"]
ORDER = [
    "STATUS",
    "IMPACT",
    "WHEN",
    "TRAFFIC",
    "EVIDENCE",
    "OPEN",
    "LOSS",
    "RULED OUT",
    "DO NOW",
    "FIX",
    "VERIFY",
    "COVERED",
    "NEXT",
]


def diagnosis():
    return example()[1]


def told(changed=None, **options):
    return screen.screen(changed or diagnosis(), PATHS, **options)


def row_of(text, label):
    """The row of *label* with what is continued below it."""
    found = re.search(rf"^{label:<9}.*(?:\n {{9}}.*)*", text, re.MULTILINE)
    return found.group() if found else ""


def with_lead(**changes):
    found = diagnosis()
    return replace(found, findings=(replace(found.findings[0], **changes), *found.findings[1:]))


def test_the_verdict_comes_first():
    first, second = told().splitlines()[:2]

    assert first.startswith("CRITICAL  batch-split-loop  PROVEN  ")
    assert second.strip()


def test_rows_stand_in_the_order_of_questions():
    text = told()
    labels = [m for m in re.findall(r"^([A-Z]+(?: [A-Z]+)?) +(?=\S)", text, re.MULTILINE) if m in ORDER]

    assert labels == [label for label in ORDER if label in labels]
    assert {"STATUS", "WHEN", "TRAFFIC", "EVIDENCE", "LOSS", "DO NOW", "FIX", "VERIFY", "COVERED", "NEXT"} <= set(
        labels
    )


def test_it_fits_a_terminal_of_120_columns_and_40_lines():
    lines = told().splitlines()

    assert max(map(len, lines)) <= 118
    assert len(lines) <= 40


def test_the_traffic_row_tells_in_out_and_factor():
    finding = diagnosis().findings[0]
    row = row_of(told(), "TRAFFIC")

    assert re.search(r"in [\d.]+ MB, out [\d.]+ [MG]B = [\d.]+×", row)
    assert len(row.splitlines()) == 1 + len(finding.ledger.stages)
    assert "%" in row


def test_a_proof_names_file_and_line_and_the_telling_part():
    row = row_of(told(), "EVIDENCE")

    assert re.search(r"^EVIDENCE +\S+:\d+ ", row)
    assert "splitting and retrying (3 attempts left)" in row


def test_a_finding_that_goes_on_is_said_to():
    text = told(with_lead(ongoing=True))

    assert "STILL OPEN at the end of the material" in row_of(text, "STATUS")


def test_times_are_shown_in_the_zone_that_was_asked_for():
    next_day = at("00:00:00") + timedelta(days=1)
    moments = tuple(
        Moment(next_day + timedelta(seconds=after), what) for after, what in ((10, "first split"), (60, "last split"))
    )
    lead = with_lead(started_at=at("23:59:50"), moments=moments)
    row = row_of(told(lead, tz=timezone(timedelta(hours=8))), "WHEN")

    assert "07:59:50 the first batch is split | 08:00:10 first split" in row


@pytest.mark.parametrize(("rest", "shown"), [(3_600_000, True), (-400_000, True), (0, False)])
def test_a_rest_of_nothing_was_not_measured(rest, shown):
    """Stages that are known by their bounds only are made to fit what left."""
    ledger = diagnosis().findings[0].ledger
    last = replace(ledger.stages[-1], bytes=rest)
    lead = with_lead(ledger=replace(ledger, stages=(*ledger.stages[:-1], last)))
    assert (last.name, last.label in told(lead)) == ("unexplained", shown)


def test_what_has_no_moment_takes_no_row():
    text = told(with_lead(started_at=None, ended_at=None, moments=()))

    assert row_of(text, "WHEN") == ""
    assert "unknown" not in text


def test_changes_show_before_and_after_and_both_lines():
    name = "mqtt-bridge"
    places = (Evidence("clients/bridge.log", 3, "x"), Evidence("clients/bridge.log", 755, "y"))
    change = Change(at("12:23:20").timestamp(), f"producer {name} batch.size", "1638400", "16384", places)
    row = row_of(told(replace(with_lead(subject=f"{name} -> t"), changes=(change,))), "CHANGED")

    assert row == f"CHANGED  12:23:20 producer {name} batch.size 1638400 -> 16384   clients/bridge.log:3 -> :755"


@pytest.mark.parametrize(("group", "shown"), [("billing", True), ("billing-2", False)])
def test_what_was_done_to_the_group_of_a_finding_about_its_topic_is_shown(group, shown):
    change = Change(at("12:10:00").timestamp(), changes.say("group", group=group), None, "stopped", ())
    row = row_of(told(replace(with_lead(subject="billing/orders"), changes=(change,))), "CHANGED")

    assert bool(row) is shown


@pytest.mark.parametrize("hostile", ["a\x1b[2Jb", "a\nb", "a\r\x08b", "‮b", "a\x9b31mb"])
def test_nothing_from_the_material_reaches_the_terminal_raw(hostile):
    evidence = (Evidence(f"{hostile}.log", 1, hostile),)
    found = replace(
        with_lead(subject=hostile, evidence=evidence, facts={"who": hostile, "topic": hostile}, remedy=hostile),
        rejected=(Rejected("fan-out", hostile),),
        gaps=(hostile,),
        symptoms=(hostile,),
    )
    text = screen.screen(found, [hostile], why=True)

    assert all(line.isprintable() for line in text.split("\n"))


@pytest.mark.parametrize(
    ("severities", "code"),
    [((), 0), ((Severity.NOTICE,), 0), ((Severity.WARNING,), 1), ((Severity.NOTICE, Severity.CRITICAL), 2)],
)
def test_the_exit_code_is_that_of_the_worst_finding(severities, code):
    lead = diagnosis().findings[0]
    found = replace(diagnosis(), findings=tuple(replace(lead, severity=s) for s in severities))

    assert screen.exit_code(found) == code
    assert f"exit code {code} with --exit-code" in told(found)


def test_health_is_one_word_and_its_reasons():
    found = replace(diagnosis(), findings=(), verdict=Verdict("healthy", None, "9 classes were found clear.", ()))
    text = told(found)

    assert text.startswith("HEALTHY\n9 classes were found clear.\n")
    assert "DO NOW" not in text
    assert "mqlab show" not in text


def test_what_nothing_explains_is_listed():
    found = replace(
        diagnosis(), findings=(), verdict=Verdict("undetermined", None, "2 symptoms.", ()), symptoms=("one", "two")
    )

    assert row_of(told(found), "SYMPTOMS") == "SYMPTOMS one\n         two"


def test_why_adds_the_classes_that_were_not_checked_and_their_commands():
    missing = (NotChecked("slow-consumer", ("consumer lag",), ("kafka-consumer-groups --describe",)),)
    found = replace(diagnosis(), not_checked=missing)

    assert "slow-consumer" not in told(found)
    assert "slow-consumer: not checked, missing consumer lag" in told(found, why=True)
    assert "kafka-consumer-groups --describe" in told(found, why=True)


def test_clocks_take_one_row():
    known = (("UTC", say("assumed")), ("UTC", say("events", events=9)), ("as written", say("written")))
    known += (("+08:00", say("given")),)
    zones = {f"{n}.log": verdict.say("zone", zone=zone, why=why) for n, (zone, why) in enumerate(known)}
    found = replace(diagnosis(), material=replace(diagnosis().material, time_zones=zones))

    row = row_of(told(found), "CLOCKS")
    assert row == "CLOCKS   UTC: 2 logs (1 by correlation, 1 assumed) | +08:00: 1 log (1 given) | as written: 1 log"


def test_of_many_findings_of_a_class_few_are_told_one_by_one():
    found = diagnosis()
    other = replace(
        found.findings[0], incident="reconnect-flaky-link", statement="Its link fails.", severity=Severity.WARNING
    )
    many = replace(found, findings=(found.findings[0], *[other] * 500))
    slight = replace(other, severity=Severity.NOTICE)
    quiet = replace(found, verdict=replace(found.verdict, incident="undetermined"), findings=(slight,) * 500)

    for text in (told(many), told(quiet)):
        assert len(re.findall(r"(?:WARNING|NOTICE) +reconnect-flaky-link ", text)) == 3
        assert "497 more reconnect-flaky-link findings" in text


def test_paths_can_be_pasted_into_a_shell():
    text = screen.screen(diagnosis(), ["my dir/$x.log"])

    assert "mqlab report 'my dir/$x.log' -o report.html" in text


def test_colour_adds_only_escapes():
    text = told()
    coloured = rows.coloured(text)

    labels = set(re.findall(r"\x1b\[1m([A-Z ]+)\x1b", coloured))
    assert {"STATUS", "WHEN", "FIX", "RULED OUT", "DO NOW", "NEXT"} <= labels
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == text


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("batch.size = 16384", "batch.size = 16384"),
        (f"2026-11-21 12:20:44,201 WARN  [thread | x] a.b.Sender - {'w ' * 60}end", "… w w"),
        (f"{'x ' * 80}exited with status 3, restarting", "exited with status 3, restarting"),
        (f"max.message.bytes=1048588 sensitive=false {'y' * 90}", "max.message.bytes=1048588 sensitive=false …"),
        (f"[Broker id=3] Leader o-0 starts at leader epoch 2 from offset 9 {'y ' * 40}", "Leader o-0 starts at leader"),
        (f"[Consumer clientId=a, groupId=g] {'w ' * 30}Resetting offset for partition o-0", "Resetting offset for"),
    ],
)
def test_an_excerpt_shows_what_matters(line, shown):
    found = rows.excerpt(line, 60)

    assert shown in found
    assert len(found) <= 60


def test_a_second_finding_is_one_line_with_what_it_cost():
    assert row_of(told(), "OPEN") == (
        "OPEN     WARNING oversize-record-rejected PROVEN: 3 messages were lost   clients/bridge.log:826"
    )


def test_a_second_finding_keeps_its_class_beside_the_longest_place():
    shown = rows.placed("OPEN", "WARNING subscription-mismatch LIKELY: orders", f"logs/{'x' * 200}/broker.log:7")
    assert shown.startswith("OPEN     WARNING subscription-mismatch")


def test_what_it_cost_is_said_in_the_users_terms():
    assert row_of(told(), "IMPACT") == "IMPACT   658 MB of excess traffic"


def life(clock, what, after, status=None, **who):
    name, told = changes.say(what, **who), changes.say(after, status=status)
    return Change(at(clock).timestamp(), name, None, told, (Evidence("supervisor.log", 1, ""),))


def test_what_came_back_after_an_end_is_a_restart_and_a_first_start_is_none():
    lives = (
        life("12:18:27", "started", "running", process="bridge"),
        life("12:21:28", "exited", "status", 3, process="bridge"),
        life("12:21:33", "started", "running", process="bridge"), life("12:18:00", "broker", "running", broker="1"),
        life("12:19:00", "broker", "stopping", broker="2"), life("12:19:40", "broker", "running", broker="2"),
        life("12:24:00", "exited", "status", 1, process="worker"),
    )  # fmt: skip

    assert row_of(told(replace(diagnosis(), changes=lives)), "RESTARTS") == (
        "RESTARTS bridge: 12:21:28 exited with status 3, 12:21:33 started\n"
        "         broker 2: 12:19:00 began to stop, 12:19:40 started"
    )


def test_a_backlog_that_was_gone_at_once_has_no_row():
    for seconds, count in ((0.0312, 0), (96.5, 1)):
        found = with_lead(facts={"drain": "some"}, measures={"drain_seconds": seconds})
        assert told(found).count("DRAIN ") == count


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2026-11-21 12:16:41,123 WARN  1 --- [           main] com.acme.Worker  : record invoices-3@499 failed",
         "… record invoices-3@499 failed"),
        ("2026-11-21T12:57:06 INFO [Consumer clientId=credit-2, groupId=bonus] Setting offset for bonus-0 to 12",
         "… Setting offset for bonus-0 to 12"),
        ("Member scorer-2-474aa4c9-affd-4dea-81be-7978f709d9c9 in group fraud has failed",
         "Member scorer-2-474aa4c9… in group fraud has failed"),
        ("invoice-parser  invoices.xml                  3                   499       1604",
         "invoice-parser  invoices.xml  3  499  1604"),
    ],
    ids=["another layout's head", "client", "random id", "columns"],
)  # fmt: skip
def test_of_a_long_line_the_part_that_proves_is_shown(text, shown):
    assert rows.excerpt(text, 56) == shown


def in_archive(evidence, name):
    return tuple(replace(one, source=f"{name}!/{one.source}") for one in evidence)


def packed(*names):
    found = diagnosis()
    findings = tuple(
        replace(one, evidence=in_archive(one.evidence, name)) for one, name in zip(found.findings, names, strict=True)
    )
    return replace(found, findings=findings, changes=())


def test_an_archive_that_holds_every_place_is_named_once():
    text = told(packed("bundle.tar.gz", "bundle.tar.gz"))

    assert text.count("bundle.tar.gz") == 1
    assert row_of(text, "PLACES") == "PLACES   all in bundle.tar.gz"
    assert row_of(text, "EVIDENCE") == row_of(told(replace(diagnosis(), changes=())), "EVIDENCE")


def test_a_text_names_no_archive_that_holds_every_place():
    gap = verdict.say("no-date", file="bundle.tar.gz!/logs/old.log")
    text = told(replace(packed("bundle.tar.gz", "bundle.tar.gz"), gaps=(gap,)))

    assert row_of(text, "GAPS") == "GAPS     logs/old.log: date not in the log"


def test_places_of_two_archives_keep_their_names():
    text = told(packed("one.zip", "two.zip"))

    assert "one.zip!/clients/bridge.log:83" in text
    assert "PLACES" not in text
