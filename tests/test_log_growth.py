"""From the bytes of a log to the finding that a few lines fill it: thinning, lines read once more."""

import gzip
from datetime import UTC, datetime, timedelta

import pytest
from plain_reading import opened

from mqlab.verdict import diagnose

START = datetime(2026, 11, 21, 10, 0, 3, tzinfo=UTC)
FRAMES = [f"\tat com.example.store.Writer.write{n}(Writer.java:{n})" for n in range(39)]
QUIET_SECONDS, RECORDS = 300, 2_000


def _quiet():
    for second in range(QUIET_SECONDS):
        at = START + timedelta(seconds=second)
        yield f"{at:%Y-%m-%d %H:%M:%S},000 INFO  [main] store.Loop - stored {second} rows"


def _failing(number, words):
    at = START + timedelta(seconds=QUIET_SECONDS, milliseconds=100 * number)
    yield f"{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03} ERROR [main] store.Loop - {words}"
    yield "java.io.IOException: disk quota exceeded"
    yield from FRAMES


@pytest.fixture(params=[bytes, gzip.compress])
def read(request, tmp_path):
    """A function: the content of a log of these lines, plain and compressed, its facts and their diagnosis."""
    path = tmp_path / ("app.log" if request.param is bytes else "app.log.gz")

    def reading(lines):
        content = "".join(f"{line}\n" for line in lines).encode()
        path.write_bytes(request.param(content))
        facts = opened([path], tmp_path / "scratch")
        return content, facts, diagnose(facts)

    return reading


def test_a_flood_of_one_stack_trace_is_one_shape(read):
    failing = [line for n in range(RECORDS) for line in _failing(n, f"flush {n} failed, attempt {n % 13}")]
    content, facts, diagnosis = read([*_quiet(), *failing])
    (volume,) = facts.volumes
    (finding,) = [f for f in diagnosis.findings if f.incident == "log-explosion"]
    quiet, loud = sum(len(line) + 1 for line in _quiet()), sum(len(line) + 1 for line in failing)

    assert (volume.bytes, volume.undated_bytes) == (len(content), 0)
    assert (finding.certainty.name, finding.measures["shapes"], finding.measures["lines"]) == ("PROVEN", 1, RECORDS)
    assert finding.measures["bytes_without"] == quiet
    assert finding.measures["share_of_bytes"] == loud / len(content)
    assert finding.started_at == START + timedelta(seconds=QUIET_SECONDS)
    first, before = finding.evidence
    assert (first.line, first.text) == (QUIET_SECONDS + 1, failing[0])
    assert (before.line, before.text) == (QUIET_SECONDS, list(_quiet())[-1])


def test_many_different_stack_traces_are_no_explosion(read):
    words = [f"{one} went {two}" for one in ("flush", "open", "sync", "seal") for two in ("wrong", "bad", "astray")]
    failing = [line for n in range(RECORDS) for line in _failing(n, words[n % len(words)])]
    _, _, diagnosis = read([*_quiet(), *failing])
    because = {r.incident: r.because for r in diagnosis.rejected}

    assert [f.incident for f in diagnosis.findings] == []
    assert because["log-explosion"].endswith("but its largest shapes carry only 25% of it")
