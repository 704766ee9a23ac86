"""The commit study: consumers at a broker inside this process, the recorded figures, and the tables of both."""

import os

import pytest
from confluent_kafka import Producer

from mqlab.commits import study as commits_study
from mqlab.commits.bench import Plan, Reader, crashed, fill, handed_out_again, intent, measured, medians, read
from mqlab.commits.study import FIELD, Run, recorded
from mqlab.errors import CommitBenchError
from mqlab.models.commits import Way, after_crash, loop_seconds

RECORDS = 600


@pytest.fixture(scope="module")
def broker():
    """The address of a broker that librdkafka plays in this process; it has every topic that is asked for."""
    playing = Producer({"test.mock.num.brokers": 1})
    one = next(iter(playing.list_topics(timeout=10).brokers.values()))
    yield f"{one.host}:{one.port}"
    playing.flush(1)


@pytest.fixture(scope="module")
def plan(broker):
    made = Plan(broker, records=RECORDS, poll_records=50, interval_ms=60_000, runs=1)
    fill(made)
    return made


def reader(plan, way, group):
    return Reader(plan.client, plan.name, f"{group}-{os.getpid()}", way, plan.poll_records, 0.0, plan.interval_ms)


@pytest.mark.parametrize(("way", "calls"), [(None, 0), (Way.SYNC, 12), (Way.ASYNC, 12), (Way.MIXED, 13)], ids=str)
def test_a_consumer_reads_all_in_full_polls_and_commits_its_way(plan, way, calls):
    done = read(reader(plan, way, f"read-{way}"), RECORDS)

    assert (done.polls, done.commits) == (12, calls)
    assert done.seconds >= done.commit_seconds >= 0


def test_a_process_that_dies_before_its_commit_has_worked_off_one_poll_more_than_it_committed(plan):
    dying = reader(plan, Way.SYNC, "dying")
    worked = crashed(dying, 300)

    assert worked == 301
    assert handed_out_again(dying, worked) == (50, 0)


def test_without_a_commit_everything_is_handed_out_again(plan):
    dying = reader(plan, None, "silent")
    worked = crashed(dying, 100)

    assert handed_out_again(dying, worked) == (worked, 0)


def test_what_was_committed_ahead_of_the_work_is_never_handed_out_again(plan):
    ahead = reader(plan, Way.SYNC, "ahead")
    read(ahead, 200)

    assert handed_out_again(ahead, 150) == (0, 50)


def test_one_way_is_measured_by_a_run_to_the_end_and_one_that_dies(plan):
    run = measured(plan, Way.SYNC, 0)

    assert (run.polls, run.commits, run.crashed_after, run.again, run.lost) == (12, 12, 301, 50, 0)


def test_a_broker_that_is_not_there_is_told_in_a_sentence():
    with pytest.raises(CommitBenchError, match="not acknowledged in time"):
        fill(Plan("127.0.0.1:1", records=1), wait=0.5)


def test_what_will_be_done_names_the_topic_and_two_plans_never_share_one():
    first, second = Plan("broker:9092"), Plan("broker:9092")

    assert first.name in intent(first)
    assert "100,000 records of 100 B" in intent(first)
    assert "deletes the topic" in intent(first)
    assert first.name != second.name


def test_what_a_client_needs_to_connect_is_never_shown():
    secret = Plan("broker:9092", options={"sasl.password": "hunter2"})

    assert "hunter2" not in repr(secret) + repr(reader(secret, None, "a")) + intent(secret)
    assert secret.client["sasl.password"] == "hunter2"


def run(way, seconds, again):
    return Run(way, 10, seconds, 0.0, 10, 0.1, 500, again, 0)


def test_each_number_of_a_median_is_the_median_of_its_own():
    runs = [run(Way.SYNC, 3.0, 500), run(Way.SYNC, 1.0, 400), run(Way.SYNC, 2.0, 900), run(None, 5.0, 1)]

    assert medians(runs) == (run(None, 5.0, 1), run(Way.SYNC, 2.0, 500))


def test_the_recorded_figures_say_what_they_were_measured_on():
    for study in recorded():
        assert study.recorded
        assert {"broker", "client", "machine", "day"} <= set(study.where)
        assert [r.way for r in study.rows] == [None, *Way]
        assert study.runs >= 3


def test_the_model_gives_the_recorded_time_of_waiting_for_commits():
    for study in recorded():
        waiting = next(r for r in study.rows if r.way is Way.SYNC)
        assert loop_seconds(study.loop, Way.SYNC) == pytest.approx(waiting.seconds, rel=0.1)
        assert waiting.again == after_crash(study.loop, Way.SYNC).again_most


def test_the_table_of_the_field_study_holds_its_two_figures_on_both_sides():
    rows = commits_study.field()

    assert rows[["measured", "by the model"]].to_dict("index") == {
        "sync": {"measured": "4.58 s", "by the model": "4.58 s"},
        "async": {"measured": "3.09 s", "by the model": "3.09 s"},
        "mixed": {"measured": "—", "by the model": "3.09 s"},
        "automatic": {"measured": "—", "by the model": "3.09 s"},
    }


def test_threads_that_are_handed_the_work_turn_repeats_into_losses():
    rows = commits_study.ends(FIELD, 1200).reset_index(names="way").to_dict("records")
    told = [(r["way"], r["crash: again"], r["crash: lost"], r["good order: lost"]) for r in rows]

    assert told == [
        ("sync", "0 to 500", "0", "0"),
        ("async", "0 to 1,000", "0", "0"),
        ("mixed", "0 to 1,000", "0", "0"),
        ("automatic", "0 to 100,000", "0", "0"),
        ("sync", "0", "700 to 1,200", "1,200"),
        ("async", "0", "200 to 1,200", "1,200"),
        ("mixed", "0", "200 to 1,200", "1,200"),
        ("automatic", "0 to 98,800", "0 to 1,200", "1,200"),
    ]
