"""Messages that go round: over two bridges, or by a client that republishes."""

from dataclasses import replace

import pytest
from circle_builder import BOTH_WAYS, CAME, OPENED, ROUND, SENT, SWOLLEN, conf, opened, taken
from facts_builder import at, episode, facts, log, ramp, series
from mqtt_mail import came, ledger
from said import told

from mqlab.changes import changes
from mqlab.detectors.bridge_loop import detect, say
from mqlab.findings import Certainty, Severity
from mqlab.mqtt.circles import cases
from mqlab.precedence import ended_by
from mqlab.words import room


def intake(broker, rate, **beside):
    """What a broker takes in, beside what is published or what it took in before."""
    return say("intake", broker=broker, rate=rate, **beside)


def test_ids_that_come_round_over_two_bridges_are_proven():
    (one,) = detect(facts(ROUND, CAME, SENT, BOTH_WAYS, OPENED, SWOLLEN)).findings
    assert (one.certainty, one.severity, one.subject) == (Certainty.PROVEN, Severity.CRITICAL, "east <-> west")
    assert one.started_at.timestamp() == at(60)
    assert one.ongoing
    shown = told(one.statement)
    assert shown["links"] == ["east-to-west", "west-to-east"]
    assert shown["counts"][0] == say("copies", client="received-hall", rows=5740, ids=73, copies=844)
    assert one.measures == {
        "copies_of_worst_id": 844,
        "delivered_rows": 5740,
        "distinct_messages": 73,
        "amplification_factor": 5740 / 73,
        "round_trip_seconds": pytest.approx(30 / 843),
        "missing_messages": 40,
        "circulating_per_second": 396,
        "received_per_published_factor": 100,
    }
    assert {"session-queue-drop", "slow-consumer", "overlapping-subscription"} <= set(one.explains)
    link = room("circles")
    east, west, opening = link("bridge", broker="east"), link("bridge", broker="west"), link("opened")
    round_again = [say("came", copies=844), say("again", client="received-hall")]
    took = [say("took", broker="east"), say("took", broker="west")]
    whys = [east, west, *round_again, *took, east, opening, west, opening]
    assert [place.why for place in one.evidence] == whys


def test_settings_and_ledgers_suffice_without_logs_and_counters():
    (one,) = detect(facts(ROUND, CAME, SENT, BOTH_WAYS)).findings
    assert (one.certainty, one.subject) == (Certainty.PROVEN, "configs/east.conf <-> configs/west.conf")


def test_without_settings_bridges_that_either_broker_opens_are_likely():
    (one,) = detect(facts(ROUND, CAME, SENT, OPENED)).findings
    assert (one.certainty, one.severity) == (Certainty.LIKELY, Severity.WARNING)


def test_without_receivers_counters_of_both_brokers_prove_it():
    (one,) = detect(facts(SENT, BOTH_WAYS, OPENED, SWOLLEN)).findings
    assert one.certainty is Certainty.PROVEN
    assert told(one.statement)["counts"][0] == intake("east", 400, published=4.0)


def test_without_any_ledger_counters_that_rise_with_the_second_bridge_are_likely():
    (one,) = detect(facts(BOTH_WAYS, OPENED, SWOLLEN)).findings
    assert one.certainty is Certainty.LIKELY
    assert told(one.statement)["counts"][0] == intake("east", 400, before=4.0)


def test_ids_that_come_round_while_the_broker_takes_in_more_are_likely_without_a_known_way():
    (one,) = detect(facts(ROUND, CAME, SENT, taken("east", (6, 40), (6, 4000)))).findings
    assert (one.certainty, one.subject) == (Certainty.LIKELY, "received-hall")


def test_ids_that_come_round_without_a_known_way_and_counters_are_not_judged():
    result = detect(facts(ROUND, CAME, SENT))
    assert (result.findings, result.rejected, result.missing) == ((), None, (say("no-bridges"),))


def test_a_client_that_publishes_what_it_reads_is_proven():
    reads = ledger("relay", "10:00:00 100 0 0 0 0\n10:00:10 900 890 19 0 0")
    sends = ledger("relay", "10:00:00 100 0 0 0 0\n10:00:10 900 890 19 0 0", role="sent")
    configured = episode("client-configured", 0, "clients/relay.log", client_id="relay", system="mqtt")
    rounds = came("10:00:00 10:00:05 9 relay:90\n10:00:05 10:00:09 3 relay:60")
    (one,) = detect(facts(configured, reads, sends, rounds)).findings
    assert (one.certainty, one.subject) == (Certainty.PROVEN, "relay")
    assert told(one.statement)["client"] == "relay"


def listening(broker, address, name, there):
    """The settings of a broker that listens on an address, with one bridge to another address."""
    return conf(broker, f"listener 1883 {address}\nbridge {name}\nbridge.address {there}:1883\nbridge.topic s/# both 0")


def test_the_other_end_is_the_broker_that_listens_on_the_address():
    one, other = listening("a", "10.0.0.1", "link", "10.0.0.2"), listening("b", "10.0.0.2", "link", "10.0.0.1")
    (found,) = detect(facts(ROUND, CAME, SENT, one, other)).findings
    assert (found.certainty, found.subject) == (Certainty.PROVEN, "configs/a.conf <-> configs/b.conf")


def test_two_bridges_to_other_ports_of_the_brokers_own_host_do_not_come_back_to_it():
    rows = [f"bridge to-{port}\nbridge.address 10.0.0.1:{port}\nbridge.topic s/# both 0" for port in (1884, 1885)]
    alone = conf("a", "listener 1883 10.0.0.1\n" + "\n".join(rows))
    assert detect(facts(ROUND, CAME, SENT, alone)).findings == ()


def test_the_other_end_is_the_broker_at_which_the_host_connects_with_the_name_of_the_bridge():
    links = [
        episode("bridge-connecting", when, f"logs/{here}.log", client_id="link", system="mqtt", reason="10.0.0.9:1883")
        for here, when in (("east", 0), ("west", 60))
    ]
    came_in = [
        episode("client-connected", when, f"logs/{there}.log", client_id=f"{here}.link", system="mqtt", line=2)
        for here, there, when in (("h1", "west", 1), ("h2", "east", 61))
    ]
    (found,) = detect(facts(ROUND, CAME, SENT, links, came_in)).findings
    assert (found.certainty, found.subject) == (Certainty.LIKELY, "east <-> west")


def test_what_applications_print_stands_in_for_ledgers_of_publishers():
    sent = series("app.published", ramp((12, 40)), source="clients/sensor.log")
    (one,) = detect(facts(sent, BOTH_WAYS, OPENED, SWOLLEN)).findings
    assert one.certainty is Certainty.PROVEN
    assert told(one.statement)["counts"][0] == intake("east", 400, published=4.0)


def test_a_circle_that_was_opened_again_has_an_end():
    later = ledger("hall", "10:02:00 40 0 0 0 0\n10:02:10 40 0 0 0 0")
    (one,) = detect(facts(ROUND, later, CAME, SENT, BOTH_WAYS, OPENED, SWOLLEN)).findings
    assert not one.ongoing
    assert one.ended_at.timestamp() == at(90)


def test_it_begins_with_the_first_message_that_goes_round_not_when_one_link_replaces_the_other():
    again = (opened("east", "west", 66),)
    late = came("10:00:50 10:01:05 80 hall:1\n10:01:06 10:01:06 1 hall:844\n10:01:07 10:01:20 30 hall:150")
    (one,) = detect(facts(ROUND, late, SENT, BOTH_WAYS, OPENED, again, SWOLLEN)).findings
    assert one.started_at.timestamp() == at(66)


def test_nothing_about_messages_and_brokers_is_not_checked():
    assert detect(facts(episode("client-connected", 0))).missing == (say("no-material"),)


def test_a_bridge_is_open_when_the_other_broker_lets_it_in():
    here = opened("east", "west", 0)
    there = episode(
        "client-connected", 60, "logs/east.log", client_id="h1.west-to-east", system="mqtt", line=2,
        text="New client connected as h1.west-to-east",
    )  # fmt: skip
    quiet = episode("client-connected", 0, "logs/west.log", client_id="app", system="mqtt")
    (one,) = detect(facts(BOTH_WAYS, here, there, quiet, SWOLLEN)).findings
    assert (one.certainty, one.started_at.timestamp()) == (Certainty.LIKELY, at(60))


def test_publishers_that_note_acknowledgements_only_are_counted_by_them():
    acked = [replace(receipt, role="acked", source="clients/acked-sensor.csv") for receipt in SENT]
    own = [replace(flow, sender=acked[0].source) for flow in CAME]
    (one,) = detect(facts(ROUND, own, acked, taken("east", (6, 40), (6, 4000)))).findings
    assert one.certainty is Certainty.LIKELY
    assert one.measures["received_per_published_factor"] == pytest.approx(4000 / 40)


def test_what_brokers_take_in_is_counted_while_messages_go_round_and_before_a_restart_that_ends_it():
    after = ledger("hall", "\n".join(f"10:{n // 60:02}:{n % 60:02} 40 0 0 0 0" for n in range(90, 300, 10)))
    mended = [
        series("mqtt.publish_received", [*ramp((6, 40), (3, 4000)), *rest], source=f"metrics/{name}.log")
        for name, rest in (("east", [n * 40 for n in range(20)]), ("west", [12_240 + n * 40 for n in range(1, 21)]))
    ]
    (one,) = detect(facts(ROUND, after, CAME, SENT, BOTH_WAYS, OPENED, mended)).findings
    (case,) = cases(facts(ROUND, after, CAME, SENT, BOTH_WAYS, OPENED, mended))
    assert [(t.broker, round(t.rate), round(t.published)) for t in case.taken] == [("east", 400, 4), ("west", 400, 4)]
    assert (one.certainty, one.ongoing) == (Certainty.PROVEN, False)


def test_a_circle_ends_with_the_last_copy():
    told = [replace(r, last_at=r.at + 9.5, again_last_at=r.at + 3 if r.again else None) for r in ROUND]
    later = ledger("hall", "10:01:30 40 0 0 0 0\n10:01:40 40 0 0 0 0")
    (one,) = detect(facts(told, later, CAME, SENT, BOTH_WAYS, OPENED, SWOLLEN)).findings
    assert (one.ongoing, one.ended_at.timestamp()) == (False, at("10:01:23"))
    (open_,) = detect(facts(told, CAME, SENT, BOTH_WAYS, OPENED, SWOLLEN)).findings
    assert open_.ongoing


def restarted(*, again=None, until="10:03:00"):
    """West stops while messages go round and starts anew, and opens its bridge *again* or not."""
    start = episode("broker-starting", "10:01:40", "logs/west.log", line=9, system="mqtt")
    back = [replace(opened("west", "east", again), first=start.first)] if again else []
    return [start, *back, log("logs/west.log", "mosquitto-log", last=until)]


def test_a_bridge_that_its_broker_does_not_open_after_a_restart_is_the_repair():
    later = ledger("hall", "10:01:50 40 0 0 0 0\n10:02:10 40 0 0 0 0")
    loop = (ROUND, later, CAME, SENT, BOTH_WAYS, OPENED, SWOLLEN)
    mended = facts(loop, restarted())
    (one,) = detect(mended).findings
    slots = one.statement.values
    assert (slots["gone"], slots["without"], slots["restarted"]) == ("west-to-east", "west", at("10:01:40"))
    assert one.mitigate.values["gone"] == "west-to-east"
    cured = ended_by(one, changes(mended)).cure
    assert (cured.at, cured.what) == (at("10:01:40"), room("changes")("bridge", bridge="west-to-east", broker="west"))
    for others in (restarted(again="10:01:41"), restarted(until="10:01:45")):
        (open_,) = detect(facts(loop, others)).findings
        assert "gone" not in open_.statement.values
        assert ended_by(open_, changes(facts(loop, others))).cure is None


def came_in(client, when):
    return episode(
        "client-connected", when, "logs/east.log", client_id=client, system="mqtt", text=f"{client} connected",
        line=round(when),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("others", "suspect"), [([], {"suspected": "relay", "connected": at(58)}), ([came_in("panel", 61)], {})]
)
def test_who_alone_came_just_before_is_named(others, suspect):
    rows = (came_in("hall", 1), came_in("relay", 58), *others)
    (one,) = detect(facts(ROUND, CAME, SENT, rows, taken("east", (6, 40), (6, 4000)))).findings
    assert {name: value for name, value in told(one.statement).items() if name != "counts"} == suspect
    assert (say("begins") in [place.why for place in one.evidence]) is bool(suspect)


def subscribed(client, name):
    return episode(
        "client-subscribed", 1, "logs/east.log", client_id=client, topic=name, left=1.0, system="mqtt",
        text=f"{client} 1 {name}",
    )  # fmt: skip


def test_ledgers_on_another_clock_than_the_counter_are_compared_as_a_whole():
    later = [replace(receipt, at=receipt.at + 3 * 3600) for receipt in (*ROUND, *SENT)]
    flows = [replace(f, first_at=f.first_at + 3 * 3600, last_at=f.last_at + 3 * 3600) for f in CAME]
    (one,) = detect(facts(later, flows, taken("east", (6, 40), (6, 4000)))).findings
    assert one.certainty is Certainty.LIKELY
    assert one.measures["received_per_published_factor"] == pytest.approx(24240 / 480)


def circle(*clients):
    """The same ids come round to each of *clients*."""
    ledgers = [replace(r, source=f"clients/received-{c}.csv") for c in clients for r in ROUND]
    flows = [
        replace(f, received=tuple((f"clients/received-{c}.csv", n) for c in sorted(clients) for _, n in f.received))
        for f in CAME
    ]
    return (ledgers, flows, SENT, taken("east", (6, 40), (6, 4000)))


@pytest.mark.parametrize(
    ("filters", "named"),
    [
        ({"scaler": "s/+", "filler": "t/+"}, ("filler", "scaler")),
        ({"scaler": "s/+", "filler": "$share/g/t/+", "wall": "#"}, ("filler", "scaler")),
        ({"scaler": "s/+", "filler": "s/#"}, ()),
        ({"scaler": "s/+", "filler": "t/+", "third": "u/+"}, ()),
        ({"scaler": "s/+"}, ()),
    ],
)
def test_two_clients_that_read_different_topics_are_named_where_ids_come_round_to_both(filters, named):
    rows = [subscribed(client, name) for client, name in filters.items()]
    (one,) = detect(facts(circle("scaler", "filler", "wall", "third"), rows)).findings
    assert one.certainty is Certainty.LIKELY
    readers = [value for name, value in told(one.statement).items() if name.startswith("reads_")]
    assert readers == [say("reader", client=name, filter=filters[name]) for name in named]


def test_counters_with_nothing_to_compare_them_to_reject_nothing():
    result = detect(facts(BOTH_WAYS, SWOLLEN))
    assert (result.findings, result.rejected) == ((), None)
    assert result.missing == (say("no-ids"),)
