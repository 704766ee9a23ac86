"""The notebook of the delivery audit on every kind of material, without Spark: its twin runs as a script."""

import json
import runpy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from facts_builder import facts, positions, settings
from message_builder import BROKERS, acked, acks, cuts, fates, followers, leaders

from mqlab import capture
from mqlab.facts import Facts
from mqlab.plots import Plots
from mqlab.verdict import diagnose

NOTEBOOK = Path(__file__).parents[1] / "notebooks" / "04_delivery_audit.py"
LED = leaders("""
at       queue epoch broker from high
10:00:00 0     1     2      0    0
10:01:10 0     2     1      100  98
""")
LOST = facts(
    fates("from to at until over\n0 99 10:00 10:01 -\n100 149 10:01 10:01 yes\n100 199 10:02 10:03 -"),
    LED,
    followers("at queue epoch broker from\n10:01:20 0 2 2 150"),
    cuts("at queue broker to\n10:01:21 0 2 100"),
    acked(199),
    acks("1"),
    BROKERS,
)
WHOLE = facts(
    fates("from to at handled\n0 99 10:00 sink"),
    leaders("at queue epoch broker from\n10:00:00 0 1 2 0"),
    acked(99),
    BROKERS,
)
READ = replace(WHOLE, positions=positions("at group topic queue committed end\n10:05 billing orders 0 100 100"))


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run all cells on these facts; gives what it wrote."""

    def running(known):
        monkeypatch.chdir(tmp_path)
        opened = SimpleNamespace(facts=known, options=capture.Options(), plot=Plots(known, diagnose(known)))
        monkeypatch.setattr(capture, "open_capture", lambda *_, **__: opened)
        names = runpy.run_path(str(NOTEBOOK))
        written = json.loads((tmp_path / "build" / "audit.json").read_text(encoding="utf-8"))
        return names, [(topic["topic"], topic["outcome"]) for topic in written["topics"]]

    return running


@pytest.mark.parametrize(
    ("known", "told"),
    [
        (Facts(), []),
        (facts(settings("at owner key value\n- t acks 1")), []),
        (facts(LED), []),
        (LOST, [("orders", "lost")]),
        (WHOLE, [("orders", "nothing lost")]),
        (READ, [("orders", "nothing lost from the log")]),
    ],
    ids=["nothing", "settings only", "leaders only", "a failover", "no losses", "a group without ledgers"],
)
def test_it_runs_to_its_end_and_writes_what_the_audit_says(run, known, told):
    names, topics = run(known)
    assert topics == told
    assert (names["view"].audit is None) == (not told)
