"""When things are asked, and how a capture ends."""

import json
import os
import signal

import pytest

from mqlab.gather.bundle import Bundle, IncompleteError
from mqlab.gather.manifest import Manifest
from mqlab.gather.schedule import RefusedError, Schedule, Stopped, stopped_by_signals
from mqlab.gather.sources import NothingGatheredError, gathered


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


def options(**given):
    """What the command line gives where nothing else is asked for."""
    nothing = dict.fromkeys(("since", "prometheus", "scrape", "files", "kubectl", "journal", "watch"))
    lists = dict.fromkeys(("scrape", "files", "kubectl", "journal"), ())
    return nothing | lists | {"interval": 1, "duration": 0} | given


@pytest.fixture(autouse=True)
def _all_signals_are_heard():
    """Below ``nohup`` one is ignored, and stays so."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize(
    ("stop", "said", "code"),
    [
        (signal.SIGINT, "interrupted", 130),
        (signal.SIGTERM, "interrupted", 143),
        (signal.SIGHUP, "interrupted", 129),
        (None, "complete", 0),
    ],
)
def test_whatever_ends_a_capture_leaves_a_valid_bundle(tmp_path, capsys, stop, said, code):
    def ask(tick):
        bundle.write(f"{tick.first}.txt", "x")
        if stop:
            os.kill(os.getpid(), stop)

    with stopped_by_signals(), Bundle(tmp_path / "b c", Manifest("kafka", {})) as bundle:
        assert gathered(bundle, [ask], options()) == code
    assert state(tmp_path / "b c") == said
    assert sorted(path.name for path in (tmp_path / "b c").iterdir()) == ["True.txt", "manifest.json"]
    assert capsys.readouterr().out.endswith(f"; next: mqlab triage '{tmp_path}/b c'\n")


def test_a_second_signal_does_not_disturb_how_a_capture_ends():
    before = signal.getsignal(signal.SIGTERM)
    with stopped_by_signals():
        with pytest.raises(Stopped):
            os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGTERM) is before


def test_an_error_of_ours_leaves_one_too(tmp_path):
    def ask(tick):
        raise KeyError(tick)

    with pytest.raises(KeyError), Bundle(tmp_path / "b", Manifest("kafka", {})) as bundle:
        gathered(bundle, [ask], options())
    assert state(tmp_path / "b") == "interrupted"


def test_a_full_disk_ends_a_capture_in_one_sentence(tmp_path):
    def ask(_):
        raise IncompleteError(tmp_path / "b", "No space left on device")

    with pytest.raises(IncompleteError), Bundle(tmp_path / "b", Manifest("kafka", {})) as bundle:
        gathered(bundle, [ask], options(duration=5))
    assert state(tmp_path / "b") == "incomplete"


def test_where_nothing_is_gathered_nothing_is_called_complete(tmp_path):
    with pytest.raises(NothingGatheredError), Bundle(tmp_path / "b", Manifest("kafka", {})) as bundle:
        gathered(bundle, [lambda _: None], options())
    assert state(tmp_path / "b") == "empty"


def test_who_refuses_a_login_is_not_asked_again_and_others_are(tmp_path):
    asked = []

    def refusing(_):
        asked.append("refusing")
        raise RefusedError("k:9092 refused it")

    def answering(_):
        asked.append("answering")
        bundle.write("a.txt", "x")

    with Bundle(tmp_path / "b", Manifest("kafka", {})) as bundle:
        gathered(bundle, [refusing, answering], options(duration=1))
    assert asked == ["refusing", "answering", "answering"]
    assert [(one.what, one.because) for one in bundle.manifest.questions.values()] == [("login", "k:9092 refused it")]


def test_a_capture_is_over_when_all_have_refused(tmp_path):
    ticks = []

    def refusing(tick):
        ticks.append(tick)
        raise RefusedError("k:9092 refused it")

    with Bundle(tmp_path / "b", Manifest("kafka", {})) as bundle, pytest.raises(NothingGatheredError):
        gathered(bundle, [refusing], options(duration=3600))
    assert len(ticks) == 1
