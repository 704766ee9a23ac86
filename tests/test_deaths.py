"""Deaths that no line tells outright: what starts again without a stop, and what is no death."""

from dataclasses import replace

import pytest
from facts_builder import at, episode, facts, log, series, settings
from kafka_builder import client, coordinator
from message_builder import fates, leaders
from mqtt_builder import broker
from mqtt_builder import client as own_log

from mqlab.marks import of_events
from mqlab.symptoms.deaths import deaths

LOG = "logs/kafka-2/server.log"


def told(*rows):
    """Rows ``kind clock``: lines of one log of broker 2, and what is inferred from them."""
    lines = [
        episode(kind, when, LOG, line=number, node="2" if kind.startswith("broker") else None)
        for number, (kind, when) in enumerate(map(str.split, rows), 1)
    ]
    return [(one.who, one.since, one.until) for one in deaths(facts(*lines))]


def test_a_broker_that_starts_again_without_a_stop_died_in_its_longest_silence():
    assert told(
        "broker-started 10:00:00", "isr-shrunk 10:04:00", "log-recovery 10:06:00", "broker-started 10:06:20"
    ) == [("broker 2", at("10:04:00"), at("10:06:00"))]


def test_lines_of_a_slow_start_before_its_settings_are_of_the_new_process():
    slow = ("client-version 10:05:58", "settings-printed 10:06:06", "broker-started 10:06:51")
    died = ("broker 2", at("10:04:37"), at("10:05:58"))
    assert told("broker-started 10:00:00", "isr-shrunk 10:04:37", *slow) == [died]


@pytest.mark.parametrize(
    ("own", "back", "starts", "served"),
    [
        (
            ("broker-booting 10:05:43", "client-version 10:05:58", "broker-started 10:06:51"),
            "10:05:43",
            True,
            "10:06:51",
        ),
        (
            ("client-version 10:05:58", "settings-printed 10:06:06", "broker-started 10:06:51"),
            "10:05:58",
            False,
            "10:06:51",
        ),
        (("broker-started 10:06:51",), "10:06:51", False, None),
        (("broker-starting 10:06:51",), "10:06:51", True, None),
    ],
    ids=["first line", "a line of its start", "the line that it serves", "a broker that tells its start only"],
)
def test_when_a_process_starts_and_when_it_serves_are_two_moments(own, back, starts, served):
    lines = map(str.split, ("broker-started 10:00:00", "isr-shrunk 10:04:37", *own))
    rows = [
        episode(kind, when, LOG, line=number, node="2" if kind.startswith("broker") else None)
        for number, (kind, when) in enumerate(lines, 1)
    ]
    (one,) = deaths(facts(rows))

    values = [one.how.values[name] for name in ("since", "back", "starts", "served")]
    assert values == [at("10:04:37"), at(back), starts, at(served) if served else None]


def test_a_slow_first_start_in_several_lines_is_no_death():
    assert told("broker-booting 10:00:00", "settings-printed 10:00:15", "broker-started 10:01:10") == []


@pytest.mark.parametrize(
    "rows",
    [
        ("broker-started 10:00:00", "broker-stopping 10:04:00", "broker-started 10:05:00"),
        ("broker-started 10:00:00", "broker-started 10:00:04"),
        ("broker-started 10:00:00", "isr-shrunk 10:04:00"),
    ],
)
def test_an_orderly_restart_one_start_in_two_lines_and_a_log_that_ends_are_no_death(rows):
    assert told(*rows) == []


def test_logs_of_two_brokers_in_one_folder_are_not_taken_for_two_starts_of_one():
    logs = ("logs/east.log", "logs/west.log")
    starts = [episode("broker-starting", f"10:0{number}:00", log) for number, log in enumerate(logs)]

    assert deaths(facts(*starts)) == ()


def test_in_one_log_of_several_brokers_the_lines_of_the_others_are_no_signs_of_its_life():
    rows = [
        episode(kind, when, "logs/all/compose.log", line=number, node=node)
        for number, (kind, when, node) in enumerate(
            [
                ("broker-started", "10:00:00", "1"),
                ("broker-started", "10:00:01", "2"),
                ("isr-shrunk", "10:04:00", "2"),
                ("isr-shrunk", "10:05:00", "1"),
                ("not-enough-replicas", "10:05:40", None),
                ("broker-started", "10:06:00", "2"),
            ],
            1,
        )
    ]
    told = [(one.who, one.since, one.until) for one in deaths(facts(*rows))]
    assert told == [("broker 2", at("10:04:00"), at("10:06:00"))]


def test_a_stop_and_a_start_in_the_same_second_keep_the_order_of_their_lines():
    rows = [("broker-starting", "10:00:00"), ("broker-stopping", "10:05:00"), ("broker-starting", "10:05:00")]
    lines = [episode(kind, when, "logs/east.log", line=number) for number, (kind, when) in enumerate(rows, 1)]

    assert deaths(facts(*reversed(lines))) == ()


LED = """
    at    queue epoch broker from isr
    10:00 0     0     2      0    2,1
    10:05 0     1     1      100  {isr}
"""


@pytest.mark.parametrize(("isr", "names"), [("1", ["broker 2"]), ("1,2", [])])
def test_a_broker_that_is_never_heard_of_again_died_where_others_led_without_it(isr, names):
    later = episode("isr-updated", "10:10:00", "logs/kafka-1/server.log")

    assert [one.who for one in deaths(facts(leaders(LED.format(isr=isr)), later))] == names


def test_a_broker_that_goes_on_after_others_took_its_partitions_is_alive():
    later = episode("isr-updated", "10:10:00", "logs/kafka-2/state-change.log")

    assert deaths(facts(leaders(LED.format(isr="1")), later)) == ()


def test_a_stop_in_order_by_a_log_that_does_not_say_whose_it_is_counts_for_the_broker_of_its_folder():
    stopped = episode("broker-stopping", "10:04:00", LOG)

    assert deaths(facts(leaders(LED.format(isr="1")), stopped)) == ()


@pytest.mark.parametrize(("last", "names"), [("10:04", ["broker 2"]), ("10:09", [])])
def test_lines_that_no_signature_knows_are_signs_of_life_too(last, names):
    later = episode("isr-updated", "10:10:00", "logs/kafka-1/server.log")
    own = log("logs/kafka-2/server.log", "kafka-broker-log", last=last)
    led = leaders(LED.format(isr="1"))

    assert [one.who for one in deaths(facts(led, later, own))] == names


BACK = (
    episode("broker-started", "10:00:00", LOG, node="2"),
    episode("isr-shrunk", "10:04:00", LOG, line=2),
    episode("broker-started", "10:06:00", LOG, line=3, node="2"),
)
ACKED = """
    queue from to until at    acked
    0     0    50 10:01 10:00 1
    {queue} 51 60 {at}  10:02 1
"""


@pytest.mark.parametrize(
    ("queue", "when", "since"),
    [("0", "10:04:50", "10:04:50"), ("0", "10:04:57", "10:04:00"), ("1", "10:04:50", "10:04:00")],
    ids=["acknowledged", "as another began to lead", "another partition"],
)
def test_what_a_broker_acknowledged_of_its_partitions_is_a_sign_of_its_life(queue, when, since):
    known = facts(*BACK, leaders(LED.format(isr="1")), fates(ACKED.format(queue=queue, at=when)))

    assert [(one.who, one.since) for one in deaths(known)] == [("broker 2", at(since))]


@pytest.mark.parametrize(
    ("host", "values", "since"),
    [
        ("kafka-2", [1] * 28 + [None] * 10 + [1], "10:04:20"),
        ("kafka-2", [1] * 20 + [None] * 18 + [1], "10:04:00"),
        ("kafka-3", [1] * 28, "10:04:00"),
    ],
    ids=["up", "an answer before it and one after it", "of another host"],
)
def test_an_answered_scrape_that_another_follows_is_a_sign_of_its_life(host, values, since):
    scraped = series("broker.bytes_in", values, instance=f"{host}:7071")
    other = episode("broker-started", "10:00:00", "logs/kafka-3/server.log", node="3")

    assert [one.since for one in deaths(facts(*BACK, other, scraped))] == [at(since)]


def test_a_scrape_that_failed_is_no_sign_of_life():
    up = series("up", [1] * 20 + [0] * 8, instance="kafka-2:7071")
    sampled = series("broker.bytes_in", [1] * 28, instance="kafka-2:7071")
    other = episode("broker-started", "10:00:00", "logs/kafka-3/server.log", node="3")

    assert [one.since for one in deaths(facts(*BACK, other, up, sampled))] == [at("10:04:00")]


JOINED = "10:00:00 preparing 0 Adding new member {a1} with group instance id None"
WORKED = [episode("poll-duration", f"10:00:{second}", "clients/a.log", client_id="a") for second in range(10, 51, 2)]
SESSION = settings("""
    at        owner  key                 value
    09:59:50  a      session.timeout.ms  10000
""", scope="consumer", source="clients/a.log")  # fmt: skip


@pytest.mark.parametrize(("last", "names"), [("", ["a"]), ("\n10:00:50 stopping", [])], ids=["silent", "stops"])
def test_a_member_whose_log_says_that_it_stops_did_not_fall_silent(last, names):
    expired = coordinator(f"{JOINED}\n10:01:00 expired {{a1}}")
    own = client("a", f"09:59:50 settings\n10:00:03 joined 1 {{a1}}{last}")

    assert [one.who for one in deaths(facts(expired, SESSION, own, WORKED))] == names


KILLED = broker("""
    10:00:00 - starting
    10:00:01 press connected 10.0.0.1:1001 k30 c1
    10:02:08 - starting
    10:02:10 press connected 10.0.0.1:1002 k30 c1
""")


def press(*rows):
    return own_log("\n".join(("10:00:01 configured c1", "10:00:01 made", *rows)), "press")


@pytest.mark.parametrize(
    ("more", "since"),
    [
        ((), "10:00:01"),
        ((press("10:02:01 lost - Unspecified", "10:02:10 made"),), "10:02:01"),
        ((press("10:01:40 lost - Unspecified", "10:01:41 made", "10:02:10 made"),), "10:01:40"),
        ((press("10:02:05 lost - Keep alive timeout", "10:02:10 made"),), "10:00:01"),
        ((press("10:02:05 closed", "10:02:10 made"),), "10:00:01"),
        ((series("mqtt.stored_messages", [1, 2, 3, 1], step=60, source="metrics/sys.log"),), "10:02:00"),
    ],
    ids=["its own lines", "a client lost it", "a client lost it before", "silence", "a client left", "its values"],
)
def test_an_mqtt_broker_lived_while_clients_were_connected_and_it_told_its_values(more, since):
    (one,) = deaths(facts(KILLED, *more))
    assert (one.who, one.since, one.back) == ("mosquitto", at(since), at("10:02:08"))
    assert (one.holds(at("10:02:08")), one.holds(at("10:03:00"))) == (True, False)


def test_a_query_that_a_dead_broker_refused_is_no_sign_that_its_address_is_wrong():
    refused = episode("tool-error", "10:02:07", "manifest.json", reason="broker: connection refused", system="mqtt")
    later = replace(refused, first_at=at("10:05:00"), last_at=at("10:05:00"))
    lost = press("10:02:01 lost - Unspecified", "10:02:10 made")
    for line, kinds in ((refused, set()), (later, {"tool-error: connection refused"})):
        marks = {mark.kind for mark in of_events(facts(KILLED, lost, line), ())}
        assert {kind for kind in marks if kind.startswith("tool-error")} == kinds


def test_a_start_that_failed_and_was_tried_again_is_no_death():
    starts = [
        episode("broker-starting", when, "mosquitto.log", line=n) for n, when in ((1, "10:00:00"), (3, "10:01:00"))
    ]
    failed = episode("error:os-permission", "10:00:01", "mosquitto.log", line=2)
    assert [bool(deaths(facts(*starts, *more))) for more in ((), (failed,))] == [True, False]
