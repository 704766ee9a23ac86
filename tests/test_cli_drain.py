"""``mqlab drain`` as people meet it: from options alone, from material, and what it refuses."""

import json
import sys
from datetime import UTC
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pytest
from facts_builder import facts, positions

from mqlab import cli
from mqlab.quantities import BYTES, COUNT, SECONDS, BadQuantityError, amount
from mqlab.verbs import groups

PLAN = (
    "--backlog 3.6M --inflow 500 --queues 16 --capacity 5000 --load 1200 --reserve 0.3 --writes-per-message 1 "
    "--response-time 20ms --threads 20 --instances 4 --oldest 2h --message-size 1kB --pull-time 5ms --retention 48h"
)  # fmt: skip
BEHIND = facts(
    positions("""
        at        group   topic  queue  committed  end
        10:00:00  orders  T      b/0    0          0
        10:00:00  orders  T      b/1    0          0
        10:01:00  orders  T      b/0    600        600
        10:01:00  orders  T      b/1    0          600
    """)
)


@pytest.fixture
def run(monkeypatch, capfdbinary):
    """Run the command line inside this process; gives (exit code, output, errors)."""

    def running(text):
        monkeypatch.setattr(sys, "argv", ["mqlab", "drain", *text.split()])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capfdbinary.readouterr()
        return ended.value.code, out.decode(), err.decode()

    return running


@pytest.fixture
def material(monkeypatch):
    """Every path holds the same facts."""
    monkeypatch.setattr(groups, "opened", lambda **_: (SimpleNamespace(facts=BEHIND), UTC))


def test_a_plan_from_options_alone_is_one_screen(run):
    code, out, err = run(PLAN)

    assert (code, err) == (0, "")
    assert out == (
        "DRAIN    3,600,000 messages pending in 16 queues, 500/s arriving\n"
        "FORECAST 17.1 min (14.5 min to 20.3 min) from the end of the rebalance\n"
        "         instance 1 (0-3): 900,000 messages, 125/s in, takes 1,000/s -> 17.1 min\n"
        "         instance 2 (4-7): 900,000 messages, 125/s in, takes 1,000/s -> 17.1 min\n"
        "         instance 3 (8-11): 900,000 messages, 125/s in, takes 1,000/s -> 17.1 min\n"
        "         instance 4 (12-15): 900,000 messages, 125/s in, takes 1,000/s -> 17.1 min\n"
        "BUDGET   (1 - 0.3) x 5,000 - 1,200 - 500 x 1 = 1,800 writes/s for the backlog\n"
        "HOLD     2,300 messages/s in all; by one of:\n"
        "         threads       11 in each of 4 instances (46 at most, 36 of them for the backlog)\n"
        "         pullInterval  223 ms with 32 a batch from each of 16 queues\n"
        "         token bucket  2,300/s in all, 575/s in each instance\n"
        "FINISH   42.8 min (36.7 min to 50.7 min), 1,700/s off the backlog\n"
        "RAMP      25.0 %      925/s in all,   4 threads each, for 5.00 min, 3,472,500 left\n"
        "          50.0 %    1,350/s in all,   6 threads each, for 5.00 min, 3,217,500 left\n"
        "          75.0 %    1,775/s in all,   8 threads each, for 5.00 min, 2,835,000 left\n"
        "         100.0 %    2,200/s in all,  11 threads each, until drained, 0 left\n"
        "         watch the store's p99 in each step; if it breaches its limit, halve the rate and climb again\n"
        "GUARD    retention: kept, 45.3 h to spare\n"
        "         heap: the caches of a process take up to 4.00 MB\n"
        "         pulls: one queue gives at most 1,600/s from the broker's disk\n"
        "ASSUMED  backlog and inflow are spread evenly over the queues\n"
    )


def test_without_a_budget_the_screen_refuses_and_says_what_to_do_instead(run):
    _, out, _ = run(PLAN.replace("--inflow 500", "--inflow 2500"))

    assert "= -200 writes/s for the backlog" in out
    assert "REFUSED  cannot be drained online: normal load and new messages take 3,700 of 3,500 writes/s" in out
    assert "skip 3,600,000 messages: mqadmin resetOffsetByTime -n NAMESRV -g GROUP -t TOPIC -s now" in out
    assert "FINISH" not in out


def test_restart_and_rebalance_are_added_beside_the_forecast(run):
    out = run("--backlog 600 --queues 2 --response-time 10ms --threads 1 --restart 57s")[1]
    assert "FORECAST 6.00 s (5.22 s to 6.90 s) from the end of the rebalance, 63.0 s from the restart\n" in out


def test_json_holds_the_same_and_never_is_null(run):
    code, out, _ = run(f"{PLAN} --format json".replace("--threads 20", "--threads 1"))
    told = json.loads(out)

    assert (code, told["schema"]) == (0, "mqlab.drain/1")
    assert told["plan"]["levers"]["threads_per_instance"] == 11
    assert told["forecast"]["seconds"] == {"low": None, "likely": None, "high": None}
    assert told["forecast"]["never"].startswith("instance 1 takes at most 50.0 messages/s")
    assert told["assumed"] == ["backlog and inflow are spread evenly over the queues"]


@pytest.mark.usefixtures("material")
def test_material_tells_backlog_inflow_and_group_and_options_win(run):
    _, out, _ = run("some.txt --response-time 10ms --instances 2 --threads 1")
    assert "DRAIN    group orders: 600 messages pending in 2 queues, 20.0/s arriving, 10:01:00" in out
    assert "instance 2 (b 1): 600 messages, 10.0/s in, takes 100/s -> 6.60 s" in out
    assert "ASSUMED  queues are allocated to instances in blocks (AVG), all IDs unique" in out

    _, out, _ = run("some.txt --response-time 10ms --instances 2 --backlog 1000 --inflow 0")
    assert "1,000 messages pending in 2 queues, 0/s arriving" in out
    assert "20 threads in each instance (the client's default)" in out


def drained(*levels):
    """One queue with 10 messages/s coming in and this backlog from minute to minute."""
    rows = [f"10:{n:02d}:00 g T b/0 {n * 600 - lag} {n * 600}" for n, lag in enumerate(levels)]
    return facts(positions("at group topic queue committed end\n" + "\n".join(rows)))


def test_a_drain_in_the_material_is_measured_and_the_forecast_is_held_against_it(run, monkeypatch):
    over = drained(0, 500, 600, 480, 360, 240, 120, 0, 0, 0)
    monkeypatch.setattr(groups, "opened", lambda **_: (SimpleNamespace(facts=over), UTC))
    assert run("some.txt --response-time 100ms --threads 1 --instances 1")[1].splitlines()[:3] == [
        "DRAIN    group g: 600 messages pending in 1 queue, 10.0/s arriving, 10:02:00 when the drain began",
        "MEASURED falling since 10:02:00 at 2.00/s (1.98 to 2.02), drained at 10:06:55",
        "FORECAST never: instance 1 takes at most 10.0 messages/s, its queues receive 10.0 messages/s",
    ]
    _, _, told, more = run("some.txt --response-time 80ms --threads 1 --instances 1")[1].splitlines()[:4]
    assert f"{told} {more.strip()}" == (
        "FORECAST 3.92 min (121 s to 26.5 min) from the end of the rebalance; measured 4.92 min (3.92 min to "
        "5.92 min): the forecast is 20.3 % too short"
    )


def test_a_drain_under_way_is_expected_to_end(run, monkeypatch):
    under_way = drained(0, 500, 600, 480, 360, 240)
    monkeypatch.setattr(groups, "opened", lambda **_: (SimpleNamespace(facts=under_way), UTC))
    out = run("some.txt --instances 1")[1].splitlines()
    assert out[0].endswith("240 messages pending in 1 queue, 10.0/s arriving, 10:05:00")
    foretold = run("some.txt --instances 1 --response-time 50ms --threads 1")[1].splitlines()[2]
    assert foretold == "FORECAST 22.8 s (16.9 s to 33.1 s) from now on"
    assert out[1] == "MEASURED falling since 10:02:00 at 2.00/s (1.97 to 2.03), at this rate drained at 10:06:55"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("", "The backlog is unknown: give --backlog and --queues, or a PATH with the material."),
        ("--backlog lots", "--backlog 'lots' cannot be read: write it as 5000, 4k or 300M."),
        (
            "--backlog 5 --queues 2",
            "--response-time is missing: give the listener's time per message, such as 20ms.",
        ),
        ("--backlog 5 --queues 0", "--queues must be above zero, not 0."),
        ("--backlog 5 --queues 1.5", "--queues must be a whole number, not 1.5."),
        ("--response-time 20", "--response-time '20' cannot be read: write it as 20ms, 30s, 5min or 48h."),
        (PLAN.replace("0.3", "1"), "--reserve must be a share from 0 to below 1, not 1."),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_64(run, given, sentence):
    assert run(given) == (64, "", f"mqlab: {sentence}\n")


@pytest.mark.parametrize(
    ("text", "units", "value"),
    [
        ("20ms", SECONDS, 0.02),
        ("48 h", SECONDS, 172_800),
        ("5min", SECONDS, 300),
        ("300M", COUNT, 300e6),
        ("1,200/s", COUNT, 1_200),
        (".5", COUNT, 0.5),
        ("4KiB", BYTES, 4_096),
    ],
)
def test_amounts_are_read_as_people_write_them(text, units, value):
    assert amount("--x", text, units) == value


def test_an_amount_in_the_unit_of_another_kind_is_refused():
    with pytest.raises(BadQuantityError):
        amount("--x", "5min", COUNT)


def test_moments_of_material_are_shown_in_the_wanted_zone(run, monkeypatch):
    shown = (SimpleNamespace(facts=BEHIND), ZoneInfo("Asia/Shanghai"))
    monkeypatch.setattr(groups, "opened", lambda **_: shown)
    assert "18:01:00" in run("some.txt --response-time 10ms")[1]
