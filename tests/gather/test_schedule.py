"""When things are asked, and how a capture ends."""

import json
import os
import signal

import pytest

from mqlab.gather.bundle import Bundle
from mqlab.gather.manifest import Manifest
from mqlab.gather.schedule import Schedule, gather


def state(folder):
    return json.loads((folder / "manifest.json").read_text())["state"]


@pytest.mark.parametrize(
    ("interval", "duration", "expected"),
    [(10, 0, "only"), (10, 5, "only"), (1, 2.5, "first - last"), (1, 2, "first - last")],
)
def test_a_duration_is_sampled_at_both_ends(interval, duration, expected):
    slept = []
    ticks = list(Schedule(interval, duration).ticks(slept.append))
    words = ["only" if t.first and t.last else "first" if t.first else "last" if t.last else "-" for t in ticks]
    assert (" ".join(words), len(slept)) == (expected, len(ticks) - 1)


def test_a_sampling_that_takes_longer_than_the_interval_leaves_others_out(monkeypatch):
    clock = iter([0, 25, 45, 100])
    monkeypatch.setattr("mqlab.gather.schedule.time.monotonic", lambda: next(clock))
    slept = []
    ticks = list(Schedule(10, 50).ticks(slept.append))
    assert ([tick.last for tick in ticks], slept) == ([False, False, False, True], [0.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("stop", "said"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "interrupted"), (None, "complete")]
)
def test_whatever_ends_a_capture_leaves_a_valid_bundle(tmp_path, stop, said):
    bundle = Bundle(tmp_path / "b", Manifest("kafka", {}))

    def ask(tick):
        bundle.write(f"{tick.first}.txt", "x")
        if stop:
            os.kill(os.getpid(), stop)

    place, interrupted = gather(bundle, [ask], Schedule(1, 0))
    assert (state(place), interrupted) == (said, stop is not None)
    assert sorted(path.name for path in place.iterdir()) == ["True.txt", "manifest.json"]


def test_an_error_of_ours_leaves_one_too(tmp_path):
    def ask(tick):
        raise KeyError(tick)

    with pytest.raises(KeyError):
        gather(Bundle(tmp_path / "b", Manifest("kafka", {})), [ask], Schedule(1, 0))
    assert state(tmp_path / "b") == "interrupted"
