"""Logs of the JVM's collector."""

from mqlab.formats import gc_log as loader
from mqlab.formats.base import Head
from mqlab.tables import EVENTS

UNIFIED = """
[2026-11-21T11:59:00.000+0000][0.010s][info][gc,init] CardTable entry size: 512
[2026-11-21T11:59:50.000+0000][2.300s][info][gc,start    ] GC(12) Pause Full (Allocation Failure)
[2026-11-21T12:00:00.123+0000][12.345s][info][gc         ] GC(12) Pause Full (Allocation Failure) 300M->200M(512M) 2512.345ms
[2026-11-21T12:00:00.124+0000][12.346s][info][safepoint  ] Safepoint "GenCollectFull", Time since last: 9 ns, Reaching safepoint: 5 ns, At safepoint: 7 ns, Total: 2513000000 ns
[2026-11-21T12:00:09.000+0000][21.222s][info][safepoint  ] Safepoint "RevokeBias", Time since last: 9 ns, Reaching safepoint: 5 ns, Total: 300000000 ns
[2026-11-21T12:00:10.000+0000][22.222s][info][gc] GC(13) Concurrent Mark Cycle 5000.000ms
[2026-11-21T13:00:11.000+0100][23.222s][info][gc,phases] GC(14) Y: Pause Mark Start 0.012ms
[24.222s][info][gc] GC(15) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 3,5ms
no line of a collector"""  # noqa: E501
OLD = """
OpenJDK 64-Bit Server VM (25.392-b08) for linux-amd64 JRE (1.8.0_392-b08)
CommandLine flags: -XX:+PrintGCDateStamps
2020-01-01T10:00:00.000+0000: 12.345: [Full GC (Ergonomics) [PSYoungGen: 0K->0K(1K)] 9K->5K(9K), [Metaspace: 3K->3K(4K)], 2.5123456 secs] [Times: user=2.51 sys=0.00, real=2.51 secs]
2020-01-01T10:00:02.513+0000: 14.858: Total time for which application threads were stopped: 2.5130000 seconds, Stopping threads took: 0.00 seconds
2020-01-01T10:00:05.000+0000: 17.345: [GC (Allocation Failure) 2020-01-01T10:00:05.000+0000: 17.345: [ParNew: 6K->6K(6K), 0.1020465 secs] 1K->1K(1K), 0.1021309 secs]
2020-01-01T10:00:06.000+0000: 18.345: [CMS-concurrent-mark: 0.035/0.035 secs]
2020-01-01T10:00:07.000+0000: 19.345: [GC concurrent-mark-end, 5.0000 secs]
2020-01-01T10:00:08.000+0000: 20.345: [GC pause (G1 Evacuation Pause) (young), 0.0123 secs]
   [Parallel Time: 11.0 ms, GC Workers: 8]
Total time for which application threads were stopped: 7.5000000 seconds
Heap"""  # noqa: E501
CELLS = "line at system kind value reason"


def test_pauses_end_where_unified_logging_tells_them(loaded):
    assert loaded(loader, EVENTS, CELLS, UNIFIED) == [
        (3, "12:00:00", "os", "gc-pause", 2.512345, "Pause Full"),
        (5, "12:00:09", "os", "gc-pause", 0.3, "Safepoint RevokeBias"),
        (7, "12:00:11", "os", "gc-pause", 0.000012, "Pause Mark Start"),
        (8, "12:00:12", "os", "gc-pause", 0.0035, "Pause Young"),
    ]


def test_older_collections_are_told_by_their_begin(loaded):
    assert loaded(loader, EVENTS, CELLS, OLD) == [
        (3, "10:00:02", "os", "gc-pause", 2.5123456, "Full GC"),
        (5, "10:00:05", "os", "gc-pause", 0.1021309, "GC"),
        (8, "10:00:08", "os", "gc-pause", 0.0123, "GC pause"),
        (10, None, "os", "gc-pause", 7.5, "Safepoint"),
    ]


def test_a_count_of_seconds_is_no_moment(loaded):
    text = "[24.222s][info][gc] GC(15) Pause Remark 24M->4M(256M) 3.5ms"
    assert loaded(loader, EVENTS, "line at value", text, snapshot_at="2026-11-21 12:00:00") == [(1, None, 0.0035)]


def test_safepoints_alone_are_pauses(loaded):
    text = """
[1.0s][info][safepoint] Safepoint "G1CollectFull", Time since last: 9 ns, Total: 2000000000 ns
[2.0s][info][safepoint] Total time for which application threads were stopped: 0.5 seconds, Stopping threads took: 0.1 seconds"""  # noqa: E501
    assert loaded(loader, EVENTS, "line value reason", text) == [
        (1, 2.0, "Safepoint G1CollectFull"),
        (2, 0.5, "Safepoint"),
    ]


def test_every_line_has_a_class(classes):
    data, noise = "data", "noise"
    assert classes(loader, UNIFIED) == [noise, noise, data, data, data, noise, data, data, None]
    assert classes(loader, OLD) == [noise, noise, data, data, data, noise, noise, data, noise, data, noise]


def test_logs_of_the_collector_are_recognised():
    assert loader.recognise(Head("x", UNIFIED, len(UNIFIED)))
    assert loader.recognise(Head("x", OLD, len(OLD)))
    for other in (
        "[2026-11-21 11:40:55,000] INFO [GC] Pause Full 3ms (x)\n",
        "2026-11-21 11:40:55,000 WARN [GC (Allocation Failure) 1K, 0.5 secs]\n",
        "Total time for which application threads were stopped: 7.5 seconds\n2026-11-21 11:40:55 INFO started\n",
    ):
        assert not loader.recognise(Head("x", other, len(other)))


def test_hostile_lines_cost_little(classes):
    for line in (
        "[x]" * 30_000 + "[gc",
        "[gc] GC(1) Pause" + " A" * 50_000,
        "[gc] GC(1) Pause Full " + "3ms " * 30_000 + "x",
        "[GC (x)" + ", 1.0 secs] [Times: " * 5_000,
        "[gc] GC(1) Pause Full " + "9" * 5_000 + "ms",
    ):
        assert classes(loader, line) == ["noise"], line[:40]
