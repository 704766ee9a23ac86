"""``mqlab what-if`` as people meet it: one screen, JSON, and what it refuses."""

import json
import sys
from dataclasses import replace
from datetime import UTC
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pytest
from test_poll_whatif import LOOP, polls

from mqlab import cli
from mqlab.verbs import groups


@pytest.fixture
def run(monkeypatch, capfdbinary):
    """Run the command line inside this process over the same loop; gives (exit code, output, errors)."""
    asked = []

    def opened(**material):
        asked.append(material)
        return SimpleNamespace(facts=LOOP), UTC if material["tz"] == "UTC" else ZoneInfo(material["tz"])

    monkeypatch.setattr(groups, "opened", opened)

    def running(text):
        monkeypatch.setattr(sys, "argv", ["mqlab", "what-if", "folder", *text.split()])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capfdbinary.readouterr()
        return ended.value.code, out.decode(), err.decode()

    running.asked = asked
    return running


def words(text):
    """Its words without line ends."""
    return " ".join(text.split())


def test_one_screen_tells_what_was_what_would_have_been_and_what_that_is_worth(run):
    code, out, err = run("--set max.poll.records=50")

    assert (code, err) == (0, "")
    head, titles, rebalances, *rows = out.splitlines()
    assert head == "WHAT IF  group billing with max.poll.records=50, the incident from 10:00:00 to 10:05:00"
    assert titles.split() == ["recorded", "replayed", "unchanged", "with", "the", "change"]
    assert rebalances.split() == ["rebalances", "12", "12", "(11", "to", "13)", "0"]
    assert [row.split("  ")[0] for row in rows if not row.startswith(" ")] == ["BEFORE", "AFTER", "CHECKED", "ASSUMED"]
    assert (
        "500 records x 90.0 ms = 45.0 s, 15.0 s allowed between polls: does not fit, 166 records fit at most, 83" in out
    )
    assert "50 records x 90.0 ms = 4.50 s, 15.0 s allowed between polls: fits" in out
    assert "replay without changes: 12 rebalances (12 recorded), lag at the end 2,900 (2,900 recorded): agrees" in out
    assert max(map(len, out.splitlines())) <= 118


def test_a_value_that_is_just_enough_is_told_as_such_with_the_one_that_leaves_room(run):
    roomy, tight, over = (run(f"--set max.poll.records={most}")[1] for most in (83, 160, 170))

    assert "83 records x 90.0 ms = 7.47 s, 15.0 s allowed between polls: fits, 166 records fit at most" in roomy
    assert "160 records x 90.0 ms = 14.4 s, 15.0 s allowed between polls: fits with little room, 166 records" in tight
    assert "15.3 s, 15.0 s allowed between polls: does not fit, 166 records fit at most, 83 leave room" in words(over)
    assert all(max(map(len, out.splitlines())) <= 118 for out in (roomy, tight, over))


def test_polls_that_fit_on_average_only_are_told_with_the_longest_of_them(monkeypatch, run):
    uneven = polls(*((45 + 48 * n, 500, 45.0 + 4 * (-1) ** n) for n in range(6)))
    monkeypatch.setattr(groups, "opened", lambda **_: (SimpleNamespace(facts=replace(LOOP, batches=uneven)), UTC))

    assert "fits on average only: polls take up to" in run("--set max.poll.records=160")[1]


def test_without_a_change_it_replays_what_was(run):
    code, out, _ = run("")

    assert code == 0
    assert out.startswith("WHAT IF  group billing as it was, the incident from")
    assert "with the change" not in out
    assert "\nFITS" in out


def test_json_holds_the_same_in_numbers(run):
    code, out, _ = run("--set max.poll.records=50 --set threads=2 --format json")

    told = json.loads(out)
    assert code == 0
    assert (told["schema"], told["group"], told["changes"]) == (
        "mqlab.what-if/1", "billing", "max.poll.records=50, threads=2",
    )  # fmt: skip
    assert told["recorded"]["rebalances"] == 12
    assert told["after"]["rebalances"] == {"low": 0, "likely": 0, "high": 0}
    assert (told["feasible"], told["agrees"], told["fit_after"]["threads"]) == (True, True, 2)


def test_the_result_can_go_to_a_file(run, tmp_path):
    code, out, _ = run(f"--set max.poll.records=50 -o {tmp_path / 'whatif.txt'}")

    assert (code, out) == (0, "")
    assert (tmp_path / "whatif.txt").read_text().startswith("WHAT IF")


def test_since_and_until_bound_the_replay_and_not_what_is_read(run):
    start = "2027-01-15T10:0"

    code, out, _ = run(f"--since {start}1:00Z --until {start}3:00Z --tz Asia/Shanghai")

    assert code == 0
    assert "the time from 18:01:00 to 18:03:00" in out
    assert (run.asked[0]["since"], run.asked[0]["until"]) == (None, None)


def test_a_setting_that_is_not_replayed_ends_with_64_and_the_list_of_those_that_are(run):
    code, out, err = run("--set batch.size=1000")

    assert (code, out) == (64, "")
    assert "--set batch.size cannot be replayed. What can be set: max.poll.records, max.poll.interval.ms," in err
    assert "producers" in err
    assert run.asked == []


def test_a_group_that_the_material_does_not_know_ends_with_64_and_one_sentence(run):
    code, out, err = run("--group other")

    assert (code, out) == (64, "")
    assert err == "mqlab: The material has no Kafka group 'other'. Known: billing.\n"
