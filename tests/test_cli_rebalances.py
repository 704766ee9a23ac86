"""``mqlab rebalances`` as people meet it: the table, the JSON, one group of several."""

import json
import sys
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from facts_builder import DAY, facts
from kafka_builder import client, coordinator, member

from mqlab import cli
from mqlab.verbs import groups

DATE = datetime.fromtimestamp(DAY, UTC).date().isoformat()
LINES = """
    10:00:00 preparing 0 Adding new member {a1} with group instance id None
    10:00:03 stable 1 1
    10:00:03 assigned 1 1
    10:01:00 left {a1}
    10:01:00 preparing 1 removing member {a1} on LeaveGroup
    10:01:00 empty 2
"""
MADE = facts(
    coordinator(LINES, group="billing"),
    coordinator(LINES.replace("a1", "x1"), group="<b>other</b>", source="logs/server-2.log"),
    client("a", "09:59:50 settings\n10:00:03 joined 1 {a1}\n10:01:00 timeout {a1}", group="billing"),
)


@pytest.fixture
def run(monkeypatch, capfdbinary):
    """Run the command line inside this process on the same facts; gives (exit code, output)."""

    def running(*arguments):
        monkeypatch.setattr(groups, "opened", lambda **_: (SimpleNamespace(facts=MADE), UTC))
        monkeypatch.setattr(sys, "argv", ["mqlab", "rebalances", "some.log", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return ended.value.code, capfdbinary.readouterr()[0].decode()

    return running


def test_the_table_shows_each_rebalance_of_a_group_with_what_is_behind_it(run):
    assert run("--group", "billing") == (
        0,
        "GROUP    billing: 2 rebalances, stood still for 3.00 s; causes: 1 × poll timeout, 1 × start\n"
        "         at        gen  trigger        cause         client  members  moved  stood still  delayed  repeated\n"
        "         10:00:00    1  join*          start         a        0 -> 1      -       3.00 s        -         -\n"
        "         10:01:00    2  poll timeout*  poll timeout  a        1 -> 0      -            -        -         -\n",
    )


def test_without_a_group_all_are_shown(run):
    _, out = run()
    assert [line.split(":")[0] for line in out.splitlines() if line.startswith("GROUP")] == [
        "GROUP    <b>other</b>",
        "GROUP    billing",
    ]


def test_a_group_that_nobody_tells_of_is_refused_with_those_that_are_told_of(run):
    assert run("--group", "nobody") == (64, "")


def test_json_holds_the_same_rows(run):
    code, out = run("--group", "billing", "--format", "json")
    told = json.loads(out)
    (group,) = told["groups"]
    assert (code, told["schema"], group["group"]) == (0, "mqlab.rebalances/1", "billing")
    assert [(r["generation"], r["trigger"], r["behind"]) for r in group["rebalances"]] == [
        (1, "join", "start"),
        (2, "poll timeout", "poll timeout"),
    ]


def test_a_row_of_json_names_units_and_has_times_in_utc(run):
    _, out = run("--group", "billing", "--format", "json")
    row = json.loads(out)["groups"][0]["rebalances"][1]
    evidence = row.pop("evidence")
    assert row == {
        "group": "billing",
        "generation": 2,
        "started": f"{DATE}T10:01:00Z",
        "stabilised": None,
        "trigger": "poll timeout",
        "behind": "poll timeout",
        "reason": f"removing member {member('a')} on LeaveGroup",
        "client_id": "a",
        "member_id": member("a"),
        "host": None,
        "inferred": True,
        "because": "the client's own log says so",
        "story": 2,
        "members_before": 1,
        "members_after": 0,
        "moved": None,
        "standstill_seconds": None,
        "delayed_records": None,
        "repeated_records": None,
    }
    assert evidence[0] == {
        "source": "logs/server.log",
        "line": 5,
        "text": f"Preparing to rebalance group billing with old generation 1 (reason: removing member {member('a')} "
        "on LeaveGroup)",
    }
