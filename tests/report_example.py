"""Facts and diagnosis as the capture kafka-amp-17 gives them, made by hand, for tests of report and figures."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from mqlab import verdict
from mqlab.clocks import zones
from mqlab.diagnosis import Diagnosis, Material, NotChecked, Rejected, Verdict
from mqlab.facts import Episode, Facts, Position, Series, Setting
from mqlab.findings import Certainty, Change, Evidence, Finding, Severity, Stage, TrafficLedger
from mqlab.rows import Coverage, Shape

# ruff: noqa: E501 -- literal lines of the material


T0 = 1795263520  # 2026-11-21T12:18:40Z, the first scrape; then every ten seconds
BRIDGE_IN = [
    4890, 765354, 1993617, 3253137, 4494049, 5730952, 6962936, 8204755, 9453096, 10701982, 11937312, 13144523,
    20580038, 27991816, 29326098, 30663703, 32002248, 33327884, 39724275, 39844428, 41084406, 42303234, 43554973,
    50938483, 58382565, 59714666, 61080338, 62424529, 63787797, 70318592, 77735665, 78947584, 80196616, 81433715,
    88854290, 96263158, 97485199, 98707050, 99924970,
]  # fmt: skip
BRIDGE_OUT = [
    1160, 392232, 3937097, 6421209, 8873580, 11314881, 13745565, 16195652, 18662922, 21125931, 23564499, 25944756,
    40776924, 58797706, 157284279, 255642230, 344773567, 433165862, 439402294, 439408581, 442083233, 444486404,
    446962567, 461682246, 501748094, 592150691, 692572014, 786115239, 892646443, 893415669, 908195110, 910577942,
    913038400, 915475741, 930262810, 945030679, 947443208, 949850452, 952249337,
]  # fmt: skip
HEAP = [
    None, 34044504, 43892256, 58450672, 37617064, 51580384, 65850064, 45428896, 60124464, 38754800, 53309352, 31212408,
    56881904, 72861808, 115822232, 269372520, 403868776, 483239656, None, 18996136, 34363256, 30033664, 44097256,
    35865880, 72350112, 137692728, 290333504, 406696248, 469853080, 19723104, 24654472, 40009360, 17873536, 33242640,
    55660584, 71543112, 55696560, 70913120, 50169152,
]  # fmt: skip
SPLITS = (  # bucket of ten seconds, partition, how many, first and last line
    (1795263640, "1", 34, 83, 117), (1795263650, "1", 76, 118, 194), (1795263660, "1", 71, 195, 266),
    (1795263670, "1", 67, 267, 334), (1795263680, "1", 45, 335, 380), (1795263750, "0", 26, 455, 507),
    (1795263750, "1", 13, 456, 504), (1795263750, "2", 13, 457, 506), (1795263760, "0", 34, 509, 576),
    (1795263760, "1", 17, 508, 573), (1795263760, "2", 17, 510, 575), (1795263770, "0", 32, 578, 641),
    (1795263770, "1", 16, 577, 638), (1795263770, "2", 16, 579, 640), (1795263780, "0", 35, 643, 712),
    (1795263780, "1", 18, 642, 711), (1795263780, "2", 17, 644, 709), (1795263790, "0", 19, 714, 751),
    (1795263790, "1", 10, 715, 752), (1795263790, "2", 10, 713, 750),
)  # fmt: skip
SPLIT_LINE = (
    "2026-11-21 12:20:44,201 WARN  [kafka-producer-network-thread | mqtt-bridge] "
    "org.apache.kafka.clients.producer.internals.Sender - [Producer clientId=mqtt-bridge] Got error produce response "
    "in correlation id 303 on topic-partition plant-telemetry-1, splitting and retrying (3 attempts left). "
    "Error: MESSAGE_TOO_LARGE"
)
RX = "metrics/node_network_receive_bytes_total.json"
TX = "metrics/node_network_transmit_bytes_total.json"


def at(clock: str) -> datetime:
    """A time of that day."""
    return datetime.fromisoformat(f"2026-11-21T{clock}+00:00").astimezone(UTC)


def series(name: str, values: list[int | None], source: str = TX, labels: dict[str, str] | None = None) -> Series:
    """One series sampled every ten seconds; None is a scrape that failed."""
    points = tuple((float(T0 + 10 * i), float(v)) for i, v in enumerate(values) if v is not None)
    return Series(name, name, labels or {"instance": "bridge-1:19100", "device": "eth0"}, source, points)


def episode(kind: str, clock: str, source: str, line: int, text: str, count: int = 1) -> Episode:
    """A single event of the bridge."""
    when, place = at(clock).timestamp(), Evidence(source, line, text)
    return Episode(kind, source, count, when, when, place, place, node="bridge", client_id="mqtt-bridge")


def splits() -> tuple[Episode, ...]:
    """The 586 split lines, thinned to ten seconds and partitions."""
    log = "clients/bridge.log"
    return tuple(
        Episode(
            "batch-split", log, count, start + 0.2, start + 9.8, Evidence(log, first, SPLIT_LINE),
            Evidence(log, last, SPLIT_LINE), node="bridge", client_id="mqtt-bridge", topic="plant-telemetry",
            queue=queue, reason="MESSAGE_TOO_LARGE", value_min=3, value_max=3,
        )
        for start, queue, count, first, last in SPLITS
    )  # fmt: skip


def positions() -> tuple[Position, ...]:
    """The group's lag in four snapshots."""
    lags = (("12:19:18", 3), ("12:20:40", 41), ("12:21:20", 74), ("12:22:01", 12), ("12:24:02", 4))
    return tuple(
        Position(
            at(clock).timestamp(), "plant-report", "plant-telemetry", str(queue), 700, 700 + lag // 4, 0, "report-1",
            "report-1-c73ee603", "/10.60.7.16", f"offsets/consumer-groups-describe.20261121T{clock.replace(':', '')}Z.txt",
            queue + 3, "",
        )
        for clock, lag in lags
        for queue in range(4)
    )  # fmt: skip


def settings() -> tuple[Setting, ...]:
    """What producer and topic were set to."""
    log, topic = "clients/bridge.log", "configs/topic-configs-describe.txt"
    first, second = at("12:18:27").timestamp(), at("12:23:20").timestamp()
    return (
        Setting("batch.size", "1638400", "producer", "mqtt-bridge", "printed", first, log, 14, "\tbatch.size = 1638400", "2.1.0"),
        Setting("batch.size", "16384", "producer", "mqtt-bridge", "printed", second, log, 755, "\tbatch.size = 16384", "2.1.0"),
        Setting("retries", "3", "producer", "mqtt-bridge", "printed", first, log, 40, "\tretries = 3", "2.1.0"),
        Setting("max.request.size", "12695150", "producer", "mqtt-bridge", "file", None, "configs/producer.properties", 7, "max.request.size=12695150"),
        Setting("max.message.bytes", "1048588", "topic", "plant-telemetry", "describe", None, topic, 16, "  max.message.bytes=1048588"),
    )  # fmt: skip


def facts() -> Facts:
    """What Spark would hand over."""
    exits = "clients/bridge-supervisor.log"
    events = (
        episode("record-too-large", "12:20:34", "clients/bridge.log", 81, "send to plant-telemetry failed, payload=6150000"),
        episode("process-started", "12:18:27", exits, 1, "2026-11-21T12:18:27Z started bridge (start #1)"),
        episode("process-exit", "12:21:28", exits, 2, "2026-11-21T12:21:28Z bridge exited with status 3"),
        episode("process-started", "12:21:33", exits, 3, "2026-11-21T12:21:33Z started bridge (start #2)"),
        episode("process-exit", "12:23:17", exits, 4, "2026-11-21T12:23:17Z bridge exited with status 3"),
        episode("process-started", "12:23:20", exits, 5, "2026-11-21T12:23:20Z started bridge (start #1)"),
        episode("record-too-large", "12:24:11", "clients/bridge.log", 826, "send to plant-telemetry failed, payload=6150000"),
    )  # fmt: skip
    version = replace(
        episode("client-version", "12:18:27", "clients/bridge.log", 60, "Kafka version : 2.1.0"), reason="2.1.0"
    )
    jmx = {"instance": "bridge-1:19405", "area": "heap"}
    return Facts(
        episodes=tuple(sorted((*splits(), *events, version), key=lambda e: e.first_at or 0)),
        series=(
            series("host.receive_bytes", list(BRIDGE_IN), RX),
            series("host.transmit_bytes", list(BRIDGE_OUT), TX),
            series("jvm.heap_used", HEAP, "metrics/jvm_memory_bytes_used.json", jmx),
        ),
        settings=settings(),
        positions=positions(),
        shapes=(
            Shape("clients/bridge.log", "WARN", "[Producer clientId=mqtt-bridge] Got error produce response in correlation "
                  "id <n> on topic-partition plant-telemetry-<n>, splitting and retrying (<n> attempts left). "
                  "Error: MESSAGE_TOO_LARGE", 586, 168182, at("12:20:44").timestamp(), at("12:23:16").timestamp(), 83),
        ),
        coverage=(
            Coverage("clients/bridge.log", "kafka-client-log", 830, 200633, 700, 128, 2, "UTC", "aligned with 3 events"),
            Coverage(TX, "prometheus-json", 1, 2201, 1, 0, 0, "UTC", "epoch seconds"),
        ),
    )  # fmt: skip


def ledger() -> TrafficLedger:
    """Bytes in → bytes out of the bridge while it looped."""
    return TrafficLedger(
        host="bridge-1",
        how="bridge-1 eth0",
        started_at=at("12:20:30"),
        ended_at=at("12:23:20"),
        bytes_in=50487217,
        bytes_out=762550740,
        stages=(
            Stage("accepted", "accepted by the broker (key = value: half is the duplicate)", 52029172, 51000000, 53000000, "broker BytesIn"),
            Stage("rejected-batches", "rejected batches resent", 696200000, 690000000, 721000000, "BytesRejected − oversize", "586 lines × 1.23 MB = 721 MB, differs 3.5 %"),
            Stage("oversize-records", "2 oversize records, sent once each", 24600154, 24600154, 24600154, "2 × 12.3 MB"),
            Stage("unexplained", "scrape edges at two crashes", -10278586, -33000000, 2000000, "rest"),
        ),
        factor_before=2.07,
        factor_after=1.99,
        gaps=("bridge metrics lose up to 10 s per crash: 452 of 586 splits seen",),
    )  # fmt: skip


def split_loop() -> Finding:
    """The leading finding."""
    log = "clients/bridge.log"
    return Finding(
        id="batch-split-loop:mqtt-bridge/plant-telemetry",
        incident="batch-split-loop",
        severity=Severity.CRITICAL,
        certainty=Certainty.PROVEN,
        subject="producer mqtt-bridge (kafka-clients 2.1.0) → plant-telemetry",
        started_at=at("12:20:44.201"),
        ended_at=at("12:23:16.980"),
        ongoing=False,
        statement="The bridge resends the same ~1.23 MB batches: batch.size 1638400 exceeds the topic limit 1048588, so "
        "each “split” returns the same batch and uses no retry. Client 2.1.0 leaks heap per split: 2 out-of-memory exits.",
        measures={
            "amplification_factor": 15.1038, "peak_amplification_factor": 73.9, "bytes_in": 50487217,
            "bytes_out": 762550740, "excess_bytes": 658042000, "split_count": 586,
        },
        evidence=(
            Evidence(log, 83, SPLIT_LINE, "first of 586 such lines, attempts always 3"),
            Evidence("configs/topic-configs-describe.txt", 16, "  max.message.bytes=1048588 sensitive=false", "the limit"),
            Evidence("clients/bridge.stdout", 1, "Terminating due to java.lang.OutOfMemoryError: Java heap space", "the exit"),
            Evidence(RX, None, '[1795263790,"63787797"]', "bytes in, end", '{device="eth0",instance="bridge-1:19100"}'),
            Evidence(TX, None, '[1795263790,"892646443"]', "bytes out, end", '{device="eth0",instance="bridge-1:19100"}'),
        ),
        mitigate="Keep batch.size=16384 on every replica. Side effect: more, smaller requests.",
        remedy="Stop using the payload as key; chunk payloads above 0.5 MB; client ≥ 2.3.1 (leak), ≥ 4.2.0 (loop).",
        verify="increase(batch_split_total[10m]) = 0 and eth0 tx/rx < 2.2 during the next burst",
        ledger=ledger(),
        explains=("log-explosion",),
        facts={
            "role": "producer", "client version": "2.1.0",
        },
        cure=size_change(),
    )  # fmt: skip


def size_change() -> Change:
    """The change that ended the loop."""
    place = Evidence("clients/bridge.log", 755, "\tbatch.size = 16384")
    return Change(at("12:23:20").timestamp(), "producer mqtt-bridge batch.size", "1638400", "16384", (place,))


def oversize() -> Finding:
    """The second finding, still open."""
    return Finding(
        id="oversize-record-rejected:mqtt-bridge/plant-telemetry",
        incident="oversize-record-rejected",
        severity=Severity.WARNING,
        certainty=Certainty.PROVEN,
        subject="producer mqtt-bridge → plant-telemetry",
        started_at=at("12:20:34.137"),
        ended_at=None,
        ongoing=True,
        statement="Records of 6.15 MB are refused, once each. Three were lost to the application.",
        measures={"lost_records": 3},
        evidence=(Evidence("clients/bridge.log", 826, "… send to plant-telemetry failed, source=plant/camera-6 …", "last"),),
        mitigate="Send large payloads elsewhere. Side effect: consumers must fetch them.",
        remedy="Chunk payloads or raise the limit on topic and consumers.",
        verify="increase(record_error_total[10m]) = 0",
    )  # fmt: skip


ALIGNED = verdict.say("zone", zone="UTC", why=zones.say("events", events=9))


def material() -> Material:
    """What was read."""
    return Material(
        files=96, bytes=430000, lines=4210, data_lines=3100, noise_lines=1100, rejected_lines=10, unrecognised=(),
        window=(at("12:17:26").timestamp(), at("12:25:00").timestamp()), time_zones={"clients/bridge.log": ALIGNED},
    )  # fmt: skip


def diagnosis(*found: Finding, incident: str | None = None, statement: str | None = None) -> Diagnosis:
    """A diagnosis that holds these findings and the usual rest."""
    first = found[0] if found else None
    return Diagnosis(
        version="0.1.0",
        material=material(),
        verdict=Verdict(
            incident or (first.incident if first else "healthy"),
            first.certainty if first else None,
            statement or (first.statement if first else "Nothing was found. Nine classes are clear."),
            tuple(f.id for f in found[1:]),
        ),
        findings=found,
        rejected=(
            Rejected("retry-amplification", "the attempts left never fall"),
            Rejected("fan-out", "measured on the producer's own network card"),
            Rejected("replication-traffic", "replication factor 1"),
        ),
        clear=("unclean-election-loss", "slow-consumer", "session-timeout"),
        not_checked=(NotChecked("acks1-failover-loss", ("what the bridge sent",), ("export the bridge's ledger",)),),
        changes=(size_change(),) if found else (),
        symptoms=() if found else ("12:20:01 new ERROR shape: disk quota exceeded on <n> (logs/server.log:812)",),
        gaps=("bridge metrics lose ≤ 10 s per crash (452 of 586 splits seen): node counters used instead",),
    )  # fmt: skip


def example() -> tuple[Facts, Diagnosis]:
    """The whole capture."""
    return facts(), diagnosis(split_loop(), oversize())
