"""Logs in which applications note messages between other lines: every line counted once, nothing kept too much."""

import json
from dataclasses import asdict

import plain_reading
import pytest

from mqlab import intake
from mqlab.formats.registry import FORMATS
from mqlab.kernel.splits import splits
from mqlab.tables import EVENTS, LEDGER

NOON = "2026-11-22 12:00:0"
AT_NOON = 1_795_348_800


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
        f'key="a {n}" password=hunter2 value="card 4111"'
        for n in range(4)
    ],
    "clients/zap.json": [
        f'{{"level":"info","ts":179534880{n}.25,"msg":"sent","topic":"zapped","partition":2,"offset":{n},"key":"k{n}"}}'
        for n in range(4)
    ],
    "clients/dockered.log": [docker(n, f"acked docked-3@{n}") for n in range(4)],
    "clients/sensor.log": [f"{NOON}{n},123 INFO sent topic=plant/1 id=s-{n} qos=1" for n in range(4)],
}  # fmt: skip


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    folder = tmp_path_factory.mktemp("material")
    (folder / "clients").mkdir()
    for path, lines in LOGS.items():
        (folder / path).write_text("".join(f"{line}\n" for line in lines))
    return folder


@pytest.fixture(scope="module")
def facts(material, tmp_path_factory):
    return plain_reading.opened([material], tmp_path_factory.mktemp("scratch"))


@pytest.fixture(scope="module")
def tables(material, tmp_path_factory):
    """Rows of each table; their sources are paths."""
    sources = intake.gather([str(material)], tmp_path_factory.mktemp("scratch"), FORMATS)
    paths = {one.link: one.path for one in sources}
    found = plain_reading.tables(*splits(sources))
    return {table: [{**row, "source": paths[row["source"]]} for row in rows] for table, rows in found.items()}


def rows(tables, table, path, *names):
    return [tuple(row[name] for name in names) for row in tables[table] if row["source"] == path]


def test_lines_are_rows_of_the_ledger_or_events_but_never_both(tables):
    noted = rows(tables, LEDGER, "clients/payer.log", "line", "offset", "key")
    assert noted == [*((n + 2, n, f"PO-{n}") for n in range(4)), (10, 8, "PO-8")]
    assert rows(tables, EVENTS, "clients/payer.log", "line", "kind") == [
        (1, "app-started"), (6, "record-failed"), (7, "record-failed"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "role", "topic", "queue", "second"),
    [
        ("clients/zap.json", "sent", "zapped", "2", 0.25),
        ("clients/dockered.log", "acked", "docked", "3", 0.5),
    ],
    ids=["objects", "in an envelope"],
)
def test_lines_that_are_objects_or_in_an_envelope_are_read(tables, path, role, topic, queue, second):
    noted = rows(tables, LEDGER, path, "line", "role", "topic", "queue", "offset", "at")
    assert [(*row[:5], row[5].timestamp() - AT_NOON) for row in noted] == [
        (n + 1, role, topic, queue, n, n + second) for n in range(4)
    ]


def test_every_line_and_every_byte_is_counted(facts):
    known = {one.source: (one.lines, one.bytes, one.data, one.noise + one.rejected) for one in facts.coverage}
    data = {"clients/payer.log": 8}
    assert known == {
        path: (len(lines), sum(len(line) + 1 for line in lines), data.get(path, 4), len(lines) - data.get(path, 4))
        for path, lines in LOGS.items()
    }


def test_a_log_grows_by_lines_of_its_ledger_too(facts):
    grown = {volume.source: volume.bytes for volume in facts.volumes}
    assert grown["clients/payer.log"] == sum(len(line) + 1 for line in LOGS["clients/payer.log"])


def test_parts_of_ledgers_cite_lines_of_the_log(facts):
    (part,) = [one for one in facts.parts if one.source == "clients/payer.log"]
    assert (part.topic, part.queue, part.messages, part.first.line) == ("payouts", "1", 5, 2)
    assert part.first.text == paid(0)


def test_ledgers_in_logs_of_clients_of_mqtt_tell_flows(facts):
    assert [(flow.topic, flow.messages, flow.qos) for flow in facts.topic_flows] == [("plant/1", 4, 1)]


def test_neither_secrets_nor_values_of_records_are_kept_anywhere(tables, facts):
    kept = repr(tables) + json.dumps(asdict(facts), default=str)
    assert "hunter2" not in kept
    assert "4111" not in kept
    assert "value=" in kept
