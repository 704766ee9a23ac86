"""Time rolled back: a clock, material that comes when it is asked for, and what became of the time."""

import json
from dataclasses import asdict
from datetime import UTC, datetime

import pytest

from mqlab.training import cutting
from mqlab.training.desk import ActedError, BadStepError, Desk, NotOnDeskError
from mqlab.training.journal import Journal

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC).timestamp()
ALARM, END = NOON + 200, NOON + 600
LOG = "logs/server.log"
METRICS = ["metrics/bytes_in.json", "metrics/bytes_out.json"]
"""The capture lasts 600 seconds, so that a minute of the story is 10 seconds; one line, sample or row a second."""


def moment(seconds):
    return datetime.fromtimestamp(NOON + seconds, UTC)


@pytest.fixture
def originals(tmp_path):
    base = tmp_path / "capture"
    log = (f"[{moment(s):%Y-%m-%d %H:%M:%S},000] INFO [GroupCoordinator 1]: round {s}\n" for s in range(601))
    rows = (f"{(NOON + s) * 1000:.0f},orders,0,{s},SB-{s}\n" for s in range(601))
    series = {"metric": {"__name__": "up"}, "values": [[NOON + s, "1"] for s in range(0, 601, 10)]}
    answer = {"status": "success", "data": {"resultType": "matrix", "result": [series]}}
    texts = {
        LOG: "".join(log),
        "logs/late.log": f"[{moment(400):%Y-%m-%d %H:%M:%S},000] INFO [GroupCoordinator 1]: began\n",
        "configs/server.properties": "broker.id=1\n",
        "clients/processed.csv": "ts_ms,topic,partition,offset,key\n" + "".join(rows),
        **{f"offsets/groups.{moment(s):%Y%m%dT%H%M%SZ}.txt": "GROUP TOPIC PARTITION\n" for s in (0, 230, 500)},
        **dict.fromkeys(METRICS, json.dumps(answer)),
    }
    for name, text in texts.items():
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text(text)
    return base


@pytest.fixture
def opened(originals, tmp_path):
    """Opens the desk; a second time, it is the same one."""
    known = {name: json.loads(json.dumps(asdict(one))) for name, one in cutting.index(originals, {}, {}).items()}
    journal = Journal(tmp_path / "submission.jsonl")
    return lambda: Desk(originals, tmp_path / "material", known, ALARM, END, journal)


@pytest.fixture
def desk(opened):
    return opened()


def here(tmp_path):
    base = tmp_path / "material"
    return {p.relative_to(base).as_posix() for p in base.rglob("*") if p.is_file()}


def last_round(tmp_path):
    return int((tmp_path / "material" / LOG).read_text().rsplit(" ", 1)[1])


def test_at_the_alarm_the_desk_is_empty(desk, tmp_path):
    assert here(tmp_path) == set()
    assert desk.now == "12:03:20 UTC, minute 0 since the alarm"


def test_what_is_asked_for_is_there_as_it_is_when_it_comes(desk, tmp_path):
    desk.ask(LOG)

    assert here(tmp_path) == {LOG}
    assert (desk.minutes, last_round(tmp_path)) == (2, pytest.approx(220, abs=4))


def test_what_is_here_goes_on_growing(desk, tmp_path):
    desk.ask(LOG).wait(3).ask("configs/server.properties")

    assert (desk.minutes, last_round(tmp_path)) == (6, pytest.approx(260, abs=4))


def test_nothing_later_than_the_clock_is_ever_here(desk, tmp_path):
    for _ in range(30):
        desk.ask("*").wait()
        assert last_round(tmp_path) <= desk.moment - NOON


def test_each_kind_of_file_takes_its_time(desk):
    assert dict(desk.sources()[["name", "minutes"]].itertuples(index=False)) == {
        LOG: 2,
        "configs/server.properties": 1,
        "clients/processed.csv": 5,
        "offsets/groups.*.txt": 1,
        "metrics/*.json": 2,
    }


def test_any_number_of_metrics_comes_at_once(desk, tmp_path):
    desk.ask(METRICS[0])

    assert (here(tmp_path), desk.minutes) == (set(METRICS), 2)


def test_snapshots_go_on_coming(desk, tmp_path):
    desk.ask("offsets/groups.*.txt")
    first = len(here(tmp_path))
    desk.wait(2)

    assert (first, len(here(tmp_path))) == (1, 2)


def test_a_folder_takes_as_long_as_all_that_is_in_it(desk, tmp_path):
    desk.ask("logs/").ask("c*")

    assert here(tmp_path) == {LOG, "configs/server.properties", "clients/processed.csv"}
    assert desk.minutes == 2 + 1 + 5


def test_asking_again_costs_nothing(desk):
    desk.ask(LOG).ask(LOG)

    assert desk.minutes == 2


def test_what_does_not_exist_yet_cannot_be_asked_for(desk, tmp_path):
    with pytest.raises(NotOnDeskError, match=r"There is no 'logs/late.log' at 12:03:20 UTC"):
        desk.ask("logs/late.log")

    desk.wait(20).ask("logs/late.log")
    assert here(tmp_path) == {"logs/late.log"}


def test_after_the_end_everything_that_was_asked_for_is_whole(desk, originals, tmp_path):
    desk.ask("*").wait(60).ask("*")

    assert all(
        (tmp_path / "material" / name).read_bytes() == (originals / name).read_bytes() for name in here(tmp_path)
    )
    assert "The material ends here" in repr(desk)


def test_whoever_opens_the_folder_again_goes_on_where_it_was(opened, tmp_path):
    opened().ask(LOG).wait(3)
    (tmp_path / "material" / LOG).unlink()

    again = opened()

    assert (again.minutes, last_round(tmp_path)) == (5, pytest.approx(250, abs=4))


def test_the_clock_stands_when_he_has_acted(desk):
    desk.ask(LOG).act("Restart the consumer")

    for go_on in (desk.wait, lambda: desk.ask("configs/server.properties"), lambda: desk.act("Wait")):
        with pytest.raises(ActedError, match="minute 2 since the alarm, so the clock has stopped"):
            go_on()
    assert desk.acted == "Restart the consumer"


@pytest.mark.parametrize("steps", [0, -1, 1.5, True])
def test_only_whole_minutes_pass(desk, steps):
    with pytest.raises(BadStepError):
        desk.wait(steps)


def test_the_desk_says_what_is_here_and_what_to_type_next(desk):
    text = repr(desk.ask(LOG))

    assert "minute 2 since the alarm (a minute of the story is 10 seconds of the material)" in text
    assert f"On the desk: {LOG}." in text
    assert 'desk.ask("clients/processed.csv")' in text
    assert "desk.ask" not in repr(desk.ask("*"))
    assert "<code>desk.sources()</code>" in desk._repr_html_()


ORDER = [METRICS[1], METRICS[0], LOG]


def test_a_review_says_what_was_lost_needless_and_missed(desk):
    review = desk.ask("clients/processed.csv").ask(LOG).wait(4).act("Wait") and desk.review(ORDER)

    assert (review.acted, review.best, review.lost) == (11, 4, 7)
    assert (review.needless, review.missed) == (("clients/processed.csv",), ("metrics/*.json",))
    assert "You acted at minute 11; the best possible order takes 4 minutes: 7 minutes lost." in str(review)


def test_nobody_can_be_sure_before_the_proof_was_written(desk):
    review = desk.ask("metrics").ask(LOG).act("Restart") and desk.review(ORDER, [(LOG, "round 300\n")])

    assert (review.best, review.lost) == (11, 0)
    assert "7 minutes before anybody could be sure" in str(review)


def test_an_expert_waits_for_what_does_not_exist_yet(desk):
    assert desk.review(["logs/late.log"]).best == 20 + 2


def test_who_never_acted_is_told_so(desk):
    assert "You did not act until minute 3; the best possible order takes 4 minutes" in str(desk.wait(3).review(ORDER))


def test_the_figure_has_a_lane_for_each(desk):
    chart = desk.ask(LOG).ask("configs").act("Wait").review(ORDER).figure()

    lanes = {(bar.name, lane) for bar in chart.data for lane in bar.y if lane}
    assert lanes == {
        ("needed", "you"),
        ("needed", "the best order"),
        ("an expert did without it", "you"),
        ("acts", "you"),
        ("acts", "the best order"),
    }


def test_the_table_has_both_orders(desk):
    table = desk.ask(LOG).act("Wait").review(ORDER).table()

    assert table[["whose", "from minute", "what"]].values.tolist() == [
        ["you", 0, LOG],
        ["you", 2, "acted: Wait"],
        ["the best order", 0, "metrics/*.json"],
        ["the best order", 2, LOG],
        ["the best order", 4, "acts"],
    ]
