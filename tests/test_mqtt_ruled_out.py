"""Classes that are offered for messages that went missing, and those that counters, logs and settings rule out."""

import pytest
from facts_builder import facts, series
from mqtt_builder import broker
from test_chain import full, messages, noted, subscribed

from mqlab.facts import Setting
from mqlab.mqtt.ruled_out import ruled_out
from mqlab.verdict import diagnose

QUEUE, RULES = "session-queue-drop", "acl-silent-drop"
GONE = messages("""
    at       until    count noted
    10:00:05 10:03:59 400   board
    10:04:00 10:04:59 130   -
    10:05:00 10:09:59 600   board
""")
LEDGER = (noted("board", "10:00:05", [10] * 60), subscribed("board", name="plant/#"))


def log(kind, more="10:00:01 y connected 10.0.0.4:1004 k30 c1"):
    return broker(f"""
        10:00:00 board connected 10.0.0.9:1001 k30 {kind}
        {more}
        10:10:00 x connected 10.0.0.3:1003 k30 c1
    """)


def dropped(*values):
    """The counter, and another one that goes on: a broker prints what changed."""
    beside = series("mqtt.publish_received", range(61), source="metrics/sys-topics.log")
    return series("mqtt.publish_dropped", values, source="metrics/sys-topics.log"), beside


def conf(*lines, name="configs/mosquitto.conf"):
    return tuple(
        Setting(key, value, "broker", None, "file", None, name, n, f"{key} {value}")
        for n, (key, value) in enumerate((("persistence", "true"), *lines), 1)
    )


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ((log("c0"), dropped(0)), {QUEUE}),
        ((log("c1"),), {QUEUE}),
        ((log("c0"),), set()),
        ((log("c0"), dropped(0, 7)), set()),
        ((log("c1"), full("10:04:01")), set()),
        ((log("c0"), series("mqtt.publish_dropped", [0], source="metrics/sys-topics.log")), set()),
        ((log("c0", "10:04:30 - starting"), dropped(0)), set()),
        ((log("c0"), conf()), {RULES}),
        ((log("c0"), conf(("acl_file", "/etc/acl"))), set()),
        ((log("c0"), conf(("plugin", "/usr/lib/dynamic_security.so"))), set()),
        ((log("c0"), conf(("include_dir", "/etc/mosquitto/conf.d"))), set()),
        ((conf(),), set()),
    ],
    ids=[
        "counter at zero", "clean session", "kept session", "counter rose", "a line", "read once only", "restart",
        "no rules", "rules", "plug-in", "more files", "settings of no known broker",
    ],
)  # fmt: skip
def test_counters_logs_and_settings_rule_classes_out(told, expected):
    assert ruled_out(facts(GONE, LEDGER, told)) == expected


@pytest.mark.parametrize(
    ("told", "maybe"),
    [
        ((log("c0"),), [RULES, QUEUE]),
        ((log("c0"), dropped(0)), [RULES]),
        ((log("c1"), dropped(0), conf()), []),
    ],
    ids=["both", "no queue dropped", "neither"],
)
def test_what_is_ruled_out_is_not_offered_and_nothing_else_takes_its_place(told, maybe):
    verdict = diagnose(facts(GONE, LEDGER, told)).verdict
    assert (verdict.incident, [h.incident for h in verdict.hypotheses]) == ("undetermined", maybe)
