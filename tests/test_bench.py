"""The bench measures what it says: its material is known exactly, and everybody does the same work."""

import json
import re
from collections import Counter
from itertools import pairwise

import pytest

from bench import checks, doubled, ours, rivals
from bench.lines import EVENTS
from bench.material import make
from bench.measure import Run, run
from bench.patterns import signature_patterns
from bench.rows import Goal, Row, against
from bench.shapes import shape
from mqlab import intake
from mqlab.factors import factors
from mqlab.formats.registry import FORMATS
from mqlab.formats.signatures import SIGNATURES, words
from mqlab.kernel import job, thin
from mqlab.kernel.output import Output
from mqlab.kernel.splits import splits

SIZE = 2_000_000


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """A log of two megabytes, and what is in it."""
    path = tmp_path_factory.mktemp("generated") / "server.log"
    return path, make(path, SIZE, 7)


@pytest.fixture(scope="module")
def lines(generated):
    parts = generated[0].read_text(encoding="ascii").split("\n")
    assert parts.pop() == ""
    return parts


def read_by_the_kernel(generated, folder, monkeypatch):
    """What the kernel makes of the log without Spark, in several splits."""
    monkeypatch.setattr("mqlab.kernel.splits.SIZE", SIZE // 3)
    out = Output(str(folder / checks.ROWS))
    for split in splits(intake.gather([str(generated[0])], folder / "unpacked", FORMATS)):
        job.rows_of(split, out)
    out.close(thin.facts)
    return checks.counted(folder)


def rival_results(name, generated, folder):
    pytest.importorskip(name)
    getattr(rivals, name)(str(generated[0]), folder, signature_patterns())
    return checks.counted(folder)


def test_the_same_seed_gives_the_same_bytes_and_another_seed_gives_others(generated, tmp_path):
    path, truth = generated
    again, other = tmp_path / "again.log", tmp_path / "other.log"
    assert make(again, SIZE, 7) == truth
    assert again.read_bytes() == path.read_bytes()
    make(other, SIZE, 8)
    assert other.read_bytes() != path.read_bytes()


def test_bytes_lines_and_records_are_those_of_the_file(generated, lines):
    path, truth = generated
    dated = [line for line in lines if re.match(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] [A-Z]+ ", line)]
    assert (path.stat().st_size, len(lines), len(dated)) == (truth.bytes, truth.lines, truth.records)
    assert SIZE <= truth.bytes < SIZE + 2000


def test_moments_are_in_order_and_move_on(lines):
    stamps = [line[1:24] for line in lines if line.startswith("[2")]
    assert stamps == sorted(stamps)
    assert len({stamp[:19] for stamp in stamps}) > 20


def test_two_to_five_percent_are_of_several_lines_by_any_way_of_counting(lines):
    records = Counter()
    for line in lines:
        records.update({"first": line.startswith("[2"), "further": not line.startswith("[2")})
    long = sum(one.startswith("[2") and not two.startswith("[2") for one, two in pairwise(lines))
    shares = (
        long / records["first"],
        (long + records["further"]) / len(lines),
        records["further"] / len(lines),
    )
    assert all(0.02 <= share <= 0.05 for share in shares), shares


def test_forty_shapes_are_in_a_log_besides_what_is_planted(generated, lines):
    found = {shape(line) for line in lines if not any(words in line for words in EVENTS.values())}
    assert len(found) == generated[1].shapes == 40


def test_some_warnings_are_known_to_no_signature(lines):
    wanted = signature_patterns()
    warnings = {shape(line) for line in lines if " WARN " in line[:32] and not re.search(wanted["contains"], line)}
    assert len(warnings) >= 3


def test_planted_events_are_counted_by_kind_and_by_place(generated, lines):
    truth = generated[1]
    places = {kind: [n for n, line in enumerate(lines, 1) if words in line] for kind, words in EVENTS.items()}
    assert {kind: len(numbers) for kind, numbers in places.items()} == dict(truth.events)
    assert all(places.values())
    assert sum(map(sum, places.values())) == truth.places


@pytest.mark.slow
def test_the_scan_finds_exactly_what_was_planted_and_loses_no_line(generated, spark, tmp_path):
    path, truth = generated
    ours.scan(spark, intake.gather([str(path)], tmp_path / "unpacked", FORMATS), tmp_path)
    assert checks.wrong(checks.counted(tmp_path), truth) == []


def test_mqlab_and_the_rivals_find_exactly_what_was_planted(generated, tmp_path, monkeypatch):
    for name in ("polars", "duckdb", "mqlab"):
        (tmp_path / name).mkdir()
    one, two = (rival_results(name, generated, tmp_path / name) for name in ("polars", "duckdb"))
    three = read_by_the_kernel(generated, tmp_path / "mqlab", monkeypatch)
    assert [checks.wrong(found, generated[1]) for found in (one, two, three)] == [[], [], []]
    assert one.shapes == two.shapes == generated[1].shapes
    assert (checks.unlike(one, two), checks.unlike(one, three)) == ([], [])


def test_a_lost_line_and_a_missing_event_are_wrong(generated, tmp_path):
    path, truth = generated
    kept = [line for line in path.read_text(encoding="ascii").split("\n") if EVENTS["isr-shrunk"] not in line]
    short = tmp_path / "short.log"
    short.write_text("\n".join(kept), encoding="ascii")
    found = rival_results("duckdb", (short, truth), tmp_path)
    named = [problem.split()[0] for problem in checks.wrong(found, truth)]
    assert named == ["lines", "bytes", "line", "isr-shrunk"]


def test_words_that_tell_a_candidate_are_in_all_that_the_expressions_select(lines):
    wanted = signature_patterns()
    begun = [line for line in lines if re.search(wanted["begins"], line[26:226] if line.startswith("[2") else "")]
    assert begun
    assert all(any(word in line for word in wanted["begins_words"]) for line in begun)


def test_signatures_in_other_words_share_no_word_with_the_real_ones():
    others = [doubled.in_other_words(pattern) for s in SIGNATURES for pattern in (s.begins, s.contains) if pattern]
    assert all(re.compile(pattern) for pattern in others)
    new, real = frozenset().union(*map(factors, others)), {*words().begins, *words().contains}
    assert new.isdisjoint(real)
    assert len(new) > len(real) // 2


@pytest.mark.parametrize(
    ("pattern", "other"),
    [
        (r"Group \S+ is (?:now )?dead\b", r"Tebhc \S+ vf (?:abj )?qrnq\b"),
        (r"(?P<who>[a-z]+) \[left] [^\]x]{2}", r"(?P<who>[a-z]+) \[yrsg] [^\]x]{2}"),
        (r"AMQ224096\b.{0,9}", r"NZD779541\b.{0,9}"),
    ],
)
def test_only_words_are_other_ones(pattern, other):
    assert doubled.in_other_words(pattern) == other


def test_twice_as_many_signatures_find_the_same_events(generated):
    path, truth = generated
    once, twice = (json.loads(run(["-m", "bench.doubled", str(path), n], "0").out) for n in ("1", "2"))
    assert once["events"] == twice["events"] == truth.events.total()
    assert twice["signatures"] == 2 * once["signatures"]


def test_a_ratio_is_against_the_fastest_peer_of_the_same_round():
    ours, one, two = ([Run(s, s + 1, 0, "") for s in seconds] for seconds in ((4, 6), (2, 9), (5, 3)))
    assert against(ours, [one, two]) == [2.0, 2.0]
    assert against(ours, [one, two], wall=True) == [4 / 3, 6 / 4]


@pytest.mark.parametrize(
    ("goals", "problems", "met"),
    [
        ([], [], None),
        ([Goal("seconds", 2.0)], [], True),
        ([Goal("seconds", 1.9)], [], False),
        ([Goal("ratio", 0.6, at_least=True)], [], False),
        ([Goal("seconds", 2.0), Goal("memory", 2.9)], [], False),
        ([Goal("seconds", 2.0)], ["lines 3, not 4"], False),
    ],
)
def test_a_goal_is_met_by_the_median_of_runs_that_did_the_work(goals, problems, met):
    runs = [Run(2.0, 2.0, 3_000_000_000, "", problems), Run(9.0, 9.0, 1, ""), Run(1.0, 1.0, 1, "")]
    assert Row("x", runs, ratios=[0.5], goals=goals).met() is met


@pytest.mark.slow
def test_memory_of_a_child_counts():
    child = "import time; held = b'x' * (150 << 20); time.sleep(2)"
    found = run(["-c", f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}], check=True)"], "0")
    assert found.peak > 150 << 20


def test_a_run_that_fails_ends_the_bench_with_what_it_said():
    with pytest.raises(SystemExit, match="no such thing"):
        run(["-c", "raise SystemExit('no such thing')"], "0")
