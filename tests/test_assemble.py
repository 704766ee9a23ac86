"""From the rows that leave Spark to Facts: one order, one clock, canonical names."""

import json
import random
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from facts_builder import at, rows_of

from mqlab.assemble import assemble
from mqlab.assembly.rows import Gathered
from mqlab.material.names import digest
from mqlab.sources import Envelope, Reading, Source

EAST = 8 * 3600
LOG = Source("1", "app.log", "/m/app.log", "kafka-client-log", Reading.LOG, Envelope.NONE, 100, None)
METRICS = Source("2", "splits.json", "/m/splits.json", "prometheus-json", Reading.DOCUMENT, Envelope.NONE, 100, None)
BURSTS = (300, 520, 810, 1150)


def micros(seconds):
    """Seconds since 10:00 as microseconds."""
    return round(at(seconds) * 1_000_000)


def split(seconds):
    """One split line on a clock eight hours ahead."""
    wall, place = micros(seconds + EAST), {"line": int(seconds), "text": "splitting and retrying\r"}
    return {
        "kind": "batch-split", "source": LOG.link, "count": 1, "first_at": wall, "last_at": wall, "first": place,
        "last": place, "client_id": "app", "value_min": 3.0, "value_max": 3.0,
    }  # fmt: skip


def rows():
    """(fact, payload) as Spark collects them."""
    counter = [{"at": micros(n), "value": sum(b < n for b in BURSTS), "line": None} for n in range(0, 1500, 10)]
    metric = {
        "name": "kafka_producer_producer_metrics_batch_split_total", "labels": '{"client_id": "app"}',
        "source": METRICS.link, "offset": 0, "points": counter,
    }  # fmt: skip
    setting = {"key": "batch.size", "value": "5", "scope": "producer", "owner": "app", "origin": "printed",
               "source": LOG.link, "line": 3, "text": "\tbatch.size = 5", "wall": micros(EAST)}  # fmt: skip
    found = [("events", split(n + 2)) for n in BURSTS]
    return [(fact, json.dumps(row)) for fact, row in (*found, ("metrics", metric), ("settings", setting))]


def read(collected, wanted=()):
    """Facts of these rows."""
    return assemble(Gathered.of(collected, [LOG, METRICS]), wanted)


def test_a_log_in_another_zone_falls_together_with_the_counters():
    facts = read(rows())
    assert [e.first_at for e in facts.episodes] == [at(n + 2) for n in BURSTS]
    assert [(c.source, c.zone) for c in facts.coverage if c.source == "app.log"] == [("app.log", "+08:00")]


def test_settings_share_the_clock_of_their_log():
    assert [(s.key, s.at) for s in read(rows()).settings] == [("batch.size", at(0))]


def test_metrics_have_canonical_names():
    assert [(s.name, s.labels) for s in read(rows()).series] == [("producer.batch_splits", {"client_id": "app"})]


def scrapes(*told):
    """Series of the bytes that came in from files with one scrape each: path, seconds, bytes, start of the process."""
    sources = {path: replace(METRICS, key=digest(path.encode()), path=path) for path, *_ in told}
    collected = [
        {"name": name, "labels": "{}", "source": sources[path].link, "offset": 0,
         "points": [{"at": micros(second), "value": value, "line": second}]}
        for path, second, *values in told
        for name, value in zip(
            ("kafka_server_brokertopicmetrics_bytesin_total", "process_start_time_seconds"), values, strict=True
        )
    ]  # fmt: skip
    found = assemble(Gathered.of([("metrics", json.dumps(row)) for row in collected], [LOG, *sources.values()]))
    return [[(*s.place(n), value) for n, (_, value) in enumerate(s.points)] for s in found.named("broker.bytes_in")]


def test_scrapes_of_one_exporter_in_a_file_each_are_one_series():
    first, second = "a/k.20261123T094811Z.prom", "a/k.20261123T094821Z.prom"
    one = [(first, 0, 5.0, 100.0), (second, 10, 9.0, 100.0)]
    assert scrapes(*one) == [[(first, 0, 5.0), (second, 10, 9.0)]]
    assert scrapes(one[0], (second, 10, 1.0, 130.0)) == [[(first, 0, 5.0), (second, 10, 1.0)]]


def test_files_that_each_tell_of_a_time_of_their_own_are_one_series():
    first, second = "mqtt/sys-topics.20261123T094811Z.log", "mqtt/sys-topics.20261123T094821Z.log"
    early, late = [(first, at, float(at), 100.0) for at in (0, 4)], [(second, at, float(at), 100.0) for at in (6, 10)]
    assert [[value for *_, value in one] for one in scrapes(*early, *late)] == [[0.0, 4.0, 6.0, 10.0]]
    assert len(scrapes(*early, (second, 3, 3.0, 100.0), *late)) == 2


@pytest.mark.parametrize(
    "other",
    [
        ("a/k.20261123T094821Z.prom", 10, 9.0, 70.0),
        ("a/k.20261123T094821Z.prom", 0, 9.0, 100.0),
        ("a/l.20261123T094821Z.prom", 10, 9.0, 100.0),
        ("b/k.20261123T094821Z.prom", 10, 9.0, 100.0),
    ],
    ids=["an older process", "the same moment", "another name", "another folder"],
)
def test_scrapes_of_two_exporters_are_two_series(other):
    one = ("a/k.20261123T094811Z.prom", 0, 5.0, 100.0)
    assert sorted(scrapes(one, other)) == [[(one[0], *one[1:3])], [(other[0], *other[1:3])]]


def test_evidence_is_the_line_without_its_carriage_return():
    assert read(rows()).episodes[0].first.text == "splitting and retrying"


def poll(seconds, **told):
    """Polls that an application worked off, on a clock eight hours ahead."""
    return {"source": LOG.link, "line": 9, "text": "processed 500 records in 44.6 s", "wall": micros(seconds + EAST),
            "polls": 1, "records": 500, "seconds": 44.6, "longest_seconds": 44.6, "longest_records": 500,
            **told}  # fmt: skip


def named(group=None, client=None):
    """A line that names a group and a client."""
    return split(9) | {"kind": "join-started", "group": group, "client_id": client}


def told_of(*lines, **poll_itself):
    collected = [*rows(), *(("events", json.dumps(line)) for line in lines)]
    (batch,) = read([*collected, ("batches", json.dumps(poll(900, **poll_itself)))]).batches
    return batch.at, batch.client_id, batch.group


def test_a_poll_belongs_to_the_only_consumer_of_its_log():
    assert told_of(named("g", "c-1")) == (at(900), "c-1", "g")


def test_a_poll_in_a_log_of_two_consumers_belongs_to_nobody_unless_its_line_says_so():
    two = (named("g", "c-1"), named("g", "c-2"))
    assert told_of(*two) == (at(900), None, "g")
    assert told_of(*two, client_id="c-2") == (at(900), "c-2", "g")


def test_the_client_that_reads_a_brokers_counters_for_a_capture_is_none_of_the_incident():
    ids = ("mqlab-af135ea4461041c6139a83a42b92cff6", "mqlab-rig", "app")
    told = [("events", json.dumps(split(n) | {"client_id": name})) for n, name in enumerate(ids)]
    assert [e.client_id for e in read(told).episodes] == ["mqlab-rig", "app"]


def test_the_order_of_the_rows_changes_nothing():
    for seed in range(5):
        shuffled = rows()
        random.Random(seed).shuffle(shuffled)
        assert rows_of(read(shuffled)) == rows_of(read(rows()))


def test_the_order_is_that_of_paths_whatever_the_keys_are():
    def told(first, second):
        sources = [replace(LOG, key=first), replace(LOG, key=second, path="b.log")]
        found = [("settings", json.dumps({"source": s.link, "line": n})) for s in sources for n in (2, 1)]
        gathered = Gathered.of(found, sources)
        return [(gathered.path(row), row["line"]) for row in gathered.rows["settings"]]

    assert told("1", "2") == told("2", "1") == [("app.log", 1), ("app.log", 2), ("b.log", 1), ("b.log", 2)]


def test_what_exporters_count_becomes_positions():
    labels = '{"partition": "0", "topic": "t"}'
    metric = {"labels": labels, "source": METRICS.link, "offset": 0}
    ends = metric | {"name": "kafka_topic_partition_current_offset",
                     "points": [{"at": micros(0), "value": 9.0}]}  # fmt: skip
    commits = metric | {"name": "kafka_consumergroup_current_offset", "points": [{"at": micros(0), "value": 5.0}],
                        "labels": labels.replace("{", '{"consumergroup": "g", ')}  # fmt: skip
    facts = read([("metrics", json.dumps(row)) for row in (ends, commits)])
    assert [(p.at, p.group, p.topic, p.queue, p.committed, p.end) for p in facts.positions] == [
        (at(0), "g", "t", "0", 5, 9)
    ]


def test_a_metric_has_the_unit_of_its_name():
    pause = {"name": "java_lang_copy_lastgcinfo_duration", "labels": "{}", "source": METRICS.link, "offset": 0,
             "points": [{"at": micros(0), "value": 2500.0}]}  # fmt: skip
    assert [s.points for s in read([("metrics", json.dumps(pause))]).named("jvm.gc_last_pause_seconds")] == [
        ((at(0), 2.5),)
    ]


def mqtt(kind, seconds, *, client=None, offset=None, source):
    """One line about a client of an MQTT broker, on the line's own clock."""
    place = {"line": int(seconds), "text": kind}
    row = {"kind": kind, "source": source, "count": 1, "first_at": micros(seconds), "last_at": micros(seconds),
           "first": place, "last": place, "system": "mqtt", "offset": offset}  # fmt: skip
    return ("events", json.dumps(row if client is None else {**row, "client_id": client}))


def test_a_client_is_on_the_clock_of_the_mqtt_broker_that_it_connects_to():
    broker = Source("3", "mosquitto.log", "/m/mosquitto.log", "mosquitto-log", Reading.LOG, Envelope.NONE, 100, None)
    client = Source("4", "node.log", "/m/node.log", "mqtt-client-log", Reading.LOG, Envelope.NONE, 100, None)
    lines = [
        mqtt("client-connected", 60, client="press-7", offset=0, source=broker.link),
        mqtt("client-configured", EAST + 59, client="press-7", source=client.link),
        mqtt("connection-made", EAST + 60, source=client.link),
    ]
    facts = assemble(Gathered.of(lines, [broker, client]))
    assert {(e.kind, e.first_at) for e in facts.episodes} == {
        ("client-connected", at(60)), ("client-configured", at(59)), ("connection-made", at(60)),
    }  # fmt: skip


def written(seconds):
    """The second on a clock eight hours ahead."""
    return datetime.fromtimestamp(at(seconds + EAST), UTC).strftime("%Y-%m-%d %H:%M:%S")


def test_minutes_of_a_log_whose_lines_write_their_zone_are_read_in_it():
    broker = Source("3", "mosquitto.log", "/m/mosquitto.log", "mosquitto-log", Reading.LOG, Envelope.NONE, 100, None)
    zoned = replace(broker, zone_written=True)
    counted = {"source": broker.link, "class": "noise", "lines": 9, "bytes": 90, "line": 1,
               "first_second": written(0), "last_second": written(300)}  # fmt: skip
    lines = [mqtt("client-connected", EAST + n, client=f"c{n}", offset=EAST, source=broker.link) for n in (1, 2)]
    odd = mqtt("client-connected", 3, client="c3", offset=0, source=broker.link)
    rows = [*lines, odd, ("coverage", json.dumps(counted))]
    (one,) = assemble(Gathered.of(rows, [zoned])).coverage
    assert (one.zone, one.first_at, one.last_at) == ("as written", at(0), at(300))
    (bare,) = assemble(Gathered.of(rows[3:], [zoned])).coverage
    assert (bare.zone, bare.first_at) == ("as written", at(EAST))
