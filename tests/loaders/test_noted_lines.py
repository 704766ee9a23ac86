"""Lines of logs as rows of LEDGER, between lines that stay what they are; every line counted, nothing kept too much."""

import json
from datetime import UTC, datetime

import pytest

from mqlab.analysis import Options, open_capture
from mqlab.tables import EVENTS, LEDGER

pytestmark = pytest.mark.slow

NOON = "2026-11-22 12:00:0"


def paid(n):
    return f"{NOON}{n},123 INFO  [main] com.acme.Payer - paid PO-{n} (topic=payouts partition=1 offset={n}) in {n} ms"


def docker(n, text):
    return json.dumps({"log": f"{text}\n", "stream": "stdout", "time": f"2026-11-22T12:00:0{n}.5Z"})


LOGS = {
    "clients/payer.log": [
        f"{NOON}0,001 INFO  [main] com.acme.Payer - consumer starting",
        *map(paid, range(4)),
        f"{NOON}5,000 WARN  [main] com.acme.Payer - cannot pay PO-5 (topic=payouts partition=1 offset=5)",
        f"{NOON}5,001 ERROR [main] com.acme.Payer - record payouts-1@5 failed, will retry",
        f"{NOON}6,000 INFO  [main] com.acme.Payer - committed payouts-1@6",
        f"{NOON}6,001 INFO  [main] com.acme.Payer - paid PO-7 (topic=payouts partition=1 offset=7) failed: late",
        f"{NOON}7,001 INFO  [main] com.acme.Payer - paid PO-8 (topic=payouts partition=1 offset=8) error=null",
        "",
        "\tat com.acme.Payer.main(Payer.java:1)",
    ],
    "clients/shop-1.log": [
        f'time="2026-11-22T13:00:0{n}+01:00" level=info msg="record acked" topic=orders partition=0 offset={n} '
        f'key="a \\"{n}\\"" password=hunter2 value="card 4111"'
        for n in range(4)
    ],
    "clients/zap.json": [
        f'{{"level":"info","ts":179533920{n}.25,"msg":"sent","topic":"zapped","partition":2,"offset":{n},"key":"k{n}"}}'
        for n in range(4)
    ],
    "clients/dockered.log": [docker(n, f"acked docked-3@{n}") for n in range(4)],
    "clients/wordy.log": [
        f"{NOON}{n},123 INFO handled Record(topic = words, partition = 0, offset = {n}, key = {'k' * 4000}{n}, "
        "value = my card is 4111, and more"
        for n in range(4)
    ],
    "clients/sensor.log": [f"{NOON}{n},123 INFO sent topic=plant/1 id=s-{n} qos=1" for n in range(4)],
}  # fmt: skip


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    return tmp_path_factory.mktemp("workspace")


@pytest.fixture(scope="module")
def capture(spark, workspace, tmp_path_factory):
    assert spark is not None
    folder = tmp_path_factory.mktemp("material")
    for path, lines in LOGS.items():
        file = folder / path
        file.parent.mkdir(exist_ok=True)
        file.write_text("".join(f"{line}\n" for line in lines))
    return open_capture(folder, options=Options(workspace=str(workspace)))


@pytest.fixture(scope="module")
def rows(capture):
    """Rows of LEDGER by source, in the order of lines."""
    found = {}
    for row in capture.table(LEDGER).orderBy("source", "line").collect():
        found.setdefault(row["source"], []).append(row)
    return found


def facts(rows):
    return [(row["line"], row["role"], row["topic"], row["queue"], row["offset"], row["key"]) for row in rows]


def at(row):
    return row["at"].astimezone(UTC)


def test_lines_of_one_shape_are_rows_and_all_others_are_none(rows):
    assert facts(rows["clients/payer.log"]) == [
        *((n + 2, "processed", "payouts", "1", n, f"PO-{n}") for n in range(4)),
        (10, "processed", "payouts", "1", 8, "PO-8"),
    ]
    assert {(row["party"], row["told"]) for row in rows["clients/payer.log"]} == {("payer", "verb")}
    assert at(rows["clients/payer.log"][0]) == datetime(2026, 11, 22, 12, 0, 0, 123_000, tzinfo=UTC)


def test_what_signatures_select_stays_an_event(capture):
    events = (
        capture.table(EVENTS).where("source = 'clients/payer.log'").select("line", "kind").orderBy("line").collect()
    )
    assert [tuple(row) for row in events] == [(1, "app-started"), (6, "record-failed"), (7, "record-failed")]


def test_names_in_quotes_and_zones_are_read(rows):
    told = rows["clients/shop-1.log"]
    assert facts(told) == [(n + 1, "acked", "orders", "0", n, f'a \\"{n}\\"') for n in range(4)]
    assert at(told[0]) == datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


def test_objects_are_read_and_seconds_since_1970(rows):
    told = rows["clients/zap.json"]
    assert facts(told) == [(n + 1, "sent", "zapped", "2", n, f"k{n}") for n in range(4)]
    assert [at(row).timestamp() for row in told] == [1795339200.25 + n for n in range(4)]


def test_the_clock_of_an_envelope_dates_lines_that_have_none(rows):
    told = rows["clients/dockered.log"]
    assert facts(told) == [(n + 1, "acked", "docked", "3", n, None) for n in range(4)]
    assert at(told[1]) == datetime(2026, 11, 22, 12, 0, 1, 500_000, tzinfo=UTC)


def test_a_name_of_four_kilobytes_is_told_from_another_one(rows):
    told = rows["clients/wordy.log"]
    assert [(row["topic"], row["offset"]) for row in told] == [("words", n) for n in range(4)]
    assert {row["key"].partition(":")[0] for row in told} == {"4001"}
    assert all(row["text"].endswith(", value = …") for row in told)
    assert len({row["key"] for row in told}) == 4


def test_messages_of_mqtt_have_a_quality_of_service(rows, capture):
    told = rows["clients/sensor.log"]
    assert [(row["topic"], row["key"], row["qos"]) for row in told] == [("plant/1", f"s-{n}", 1) for n in range(4)]
    assert {row.topic for row in capture.facts.topic_flows} == {"plant/1"}


def test_every_line_and_every_byte_is_counted(capture):
    known = {c.source: c for c in capture.facts.coverage}
    for path, lines in LOGS.items():
        one = known[path]
        size = sum(len(line) + 1 for line in lines)
        assert (one.lines, one.bytes, one.data + one.noise + one.rejected) == (len(lines), size, len(lines)), path
    assert known["clients/payer.log"].data == 5 + 3
    assert known["clients/shop-1.log"].data == 4


def test_a_log_grows_by_lines_of_its_ledger_too(capture):
    grown = {volume.source: volume.bytes for volume in capture.facts.volumes}
    assert grown["clients/payer.log"] == sum(len(line) + 1 for line in LOGS["clients/payer.log"])


def test_parts_of_ledgers_cite_lines_of_the_log(capture):
    (part,) = [p for p in capture.facts.parts if p.source == "clients/payer.log"]
    assert (part.topic, part.queue, part.messages, part.first.line) == ("payouts", "1", 5, 2)
    assert part.first.text == paid(0)


def test_neither_secrets_nor_values_of_records_are_kept_anywhere(capture, workspace):
    kept = b"".join(file.read_bytes() for file in workspace.rglob("*") if file.is_file())
    cited = repr(capture.facts)
    for word in ("hunter2", "4111"):
        assert word.encode() not in kept
        assert word not in cited
    assert "value=" in cited
