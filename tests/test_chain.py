"""What became of messages from an MQTT broker over a bridge to Kafka: how many are where, and how that is known."""

from dataclasses import replace

import pytest
from facts_builder import at, drawn, episode, facts, positions, series
from mqtt_builder import broker

from mqlab.clocks.offsets import corrected
from mqlab.findings import Certainty, Evidence, finding
from mqlab.models.mqtt import NEWEST
from mqlab.mqtt.brokers import SKEW
from mqlab.mqtt.chain import chains, ways, within_mqtt
from mqlab.mqtt.chain_apart import explained
from mqlab.mqtt.chain_stages import Step, Whereabouts
from mqlab.mqtt.queue_drops import calm, queue_cases
from mqlab.rows import Flow, Part, Passage, Receipt, Tally, TopicFlow
from mqlab.views.audit_json import outcome, sentence
from mqlab.words import room

FILES = {
    "gateway": "clients/published-gateway.csv", "b1": "clients/forwarded-b1.csv", "b2": "clients/forwarded-b2.csv",
    "acks": "clients/b1-acked.csv", "sink": "clients/sink-consumed.csv", "board": "clients/received-board.csv",
    "copier": "clients/received-copier.csv", "handled": "clients/processed-board.csv",
}  # fmt: skip
GROUP = "$share/kbridge/plant/#"
say = room("chain")


def messages(text, *, topic="plant/a"):
    """Messages of one publisher from a table: at, until, count, noted by (``b1+sink``), and failed or qos as needed."""
    rows = drawn(text, lambda **cells: _flow(cells))
    return rows, tuple(_by_topic(row, topic) for row in rows)


def _flow(cells):
    names = [word for word in str(cells.get("noted") or "").split("+") if word]
    received = tuple(sorted({(FILES[name], names.count(name)) for name in names}))
    since, until = at(cells["at"]), at(cells["until"])
    line = int(since - at(0))
    places = (Evidence(FILES["gateway"], line, f"m-{line}"), Evidence(FILES["gateway"], line + 1, f"m-{line + 1}"))
    sender = None if cells.get("sender") == "none" else FILES["gateway"]
    return Flow(sender, "gateway", cells["count"], cells.get("failed") in ("yes", "open"),
                cells.get("qos", 1), received, since, until, "m", "m", *places,
                unanswered=cells.get("failed") == "open")  # fmt: skip


def _by_topic(flow, topic):
    return TopicFlow(topic, 1, flow.sender, flow.party, flow.messages, flow.failed, flow.qos, flow.received,
                     flow.first_at, flow.last_at, flow.first, flow.last, flow.unanswered)  # fmt: skip


def sink(last, *, queue="0", topic="orders"):
    """The ledger of a consumer of Kafka, whose rows have offsets."""
    line = Evidence(FILES["sink"], 2, f"{queue},{last}")
    return Part(FILES["sink"], "consumed", "name", "sink", "etl", topic, queue, last + 1, last + 1, 0, last,
                at(0), at(600), line, line)  # fmt: skip


def subscribed(*clients, name=GROUP, when="10:00:01"):
    return tuple(
        episode("client-subscribed", when, "logs/mosquitto.log", line=90 + n, client_id=client, topic=name, left=1.0,
                system="mqtt")
        for n, client in enumerate(clients)
    )  # fmt: skip


def noted(name, begin, rows, *, role="received", every=10):
    """What one ledger notes within ten seconds each, from *begin* on."""
    return tuple(
        Receipt(at(begin) + every * n, FILES.get(name, name), role, many, 1, 0, 0, 0, 0.0, 2 + n, None)
        for n, many in enumerate(rows)
    )


def stages(chain):
    return [(s.step.value, s.who, s.messages, s.low, s.high, s.again) for s in chain.stages]


def gaps(chain):
    return [(g.before.value, g.where, g.who, g.messages, g.low, g.high) for g in chain.gaps]


ONE_DEAD = (
    messages("""
        at       until    count noted
        10:00:05 10:00:59 1000  b1+sink
        10:01:01 10:01:10 100   -
        10:01:11 10:09:59 1500  b2+sink
        10:01:11 10:09:59 1500  -
    """),
    broker("""
        10:00:00 b1 connected 10.0.0.1:1001 k30 c0
        10:01:00 b1 normal
        10:01:10 b2 connected 10.0.0.2:1002 k30 c1
        10:10:00 x  connected 10.0.0.3:1003 k30 c1
    """),
    subscribed("b1"), subscribed("b2", when="10:01:10"), sink(2499),
)  # fmt: skip


def test_what_a_dead_session_gets_is_in_its_queue():
    (chain,) = chains(facts(ONE_DEAD))
    assert (chain.system, chain.topic, chain.bridge, chain.by) == ("kafka", "orders", ("b1", "b2"), "ids")
    assert stages(chain) == [
        ("published", "", 4100, 4100, 4100, 0),
        ("acknowledged", "", 4100, 4100, 4100, 0),
        ("taken", "b1, b2", 2500, 2500, 2500, 0),
        ("stored", "", 2500, 2500, 2500, 0),
        ("handled", "etl", 2500, 2500, 2500, 0),
    ]
    assert [(s.who, s.messages) for s in chain.stages[2].shares] == [("b1", 1000), ("b2", 1500)]
    assert gaps(chain) == [("taken", Whereabouts.QUEUED, "b1", 1600, 1600, 1600)]
    assert chain.gaps[0].away_since == at("10:01:00")


def test_the_broker_s_store_bounds_what_is_in_the_queue():
    store = series("mqtt.stored_messages", [50, 52, 400, 1452], start=50, step=180)
    (chain,) = chains(facts(ONE_DEAD, store))
    assert gaps(chain) == [("taken", Whereabouts.QUEUED, "b1", 1600, 1402, 1600)]


def acked(last, *, queue="0", topic="orders"):
    """The ledger of what Kafka acknowledged to the bridge."""
    line = Evidence(FILES["acks"], 3, f"{queue},{last}")
    return Part(FILES["acks"], "acked", "name", "b1", None, topic, queue, last + 1, last + 1, 0, last,
                at(0), at(600), line, line)  # fmt: skip


ENDS = positions("at group topic queue committed end\n10:04:55 etl orders 0 900 1007")
TAKEN = messages("""
    at       until    count noted
    10:00:05 10:04:59 1000  b1+acks+sink
    10:05:00 10:05:09 10    b1+acks
""")
B1 = broker("10:00:00 b1 connected 10.0.0.1:1001 k30 c1\n10:10:00 x connected 10.0.0.3:1003 k30 c1")


def test_what_the_log_acknowledged_to_the_bridge_is_stored_and_waits():
    own = (TAKEN, B1, sink(999), ENDS, noted("b1", "10:00:05", [10] * 30),
           noted("acks", "10:00:05", [10] * 30, role="acked"))  # fmt: skip
    (chain,) = chains(facts(own, acked(1009)))
    assert [stage[:5] for stage in stages(chain)[2:]] == [
        ("taken", "b1", 1010, 1010, 1010), ("stored", "", 1010, 1010, 1010), ("handled", "etl", 1000, 1000, 1000),
    ]  # fmt: skip
    assert gaps(chain) == [("handled", Whereabouts.PENDING, "etl", 10, 10, 10)]
    assert chain.gaps[0].evidence[0].source == FILES["acks"]
    assert not [way for way in ways(facts(own, acked(1009))) if way.system is None]
    (other,) = chains(facts(own, acked(1009, topic="invoices")))
    assert stages(other)[3] == ("stored", "", 1000, 1000, 1010, 0)


def test_messages_of_topics_that_are_for_nobody_here_are_counted():
    here, there = messages("at until count noted\n10:00:05 10:04:59 100 board"), messages(
        "at until count noted\n10:00:05 10:04:59 30 -", topic="dock/temp"
    )  # fmt: skip
    both = ((*here[0], *there[0]), (*here[1], *there[1]))
    (note,) = within_mqtt(facts(both, BOARD, noted("board", "10:00:05", [10] * 30))).notes
    assert note == say("for-nobody", messages=30)
    wanted = facts(both, BOARD, subscribed("board", name="#"), noted("board", "10:00:05", [10] * 30))
    assert within_mqtt(wanted).notes == ()
    assert within_mqtt(facts(there)).notes == ()


def test_what_a_client_notes_twice_it_received_once():
    rows = messages("""
        at       until    count noted
        10:00:05 10:04:59 1000  board+handled
        10:05:00 10:05:09 10    -
        10:05:10 10:09:59 100   board+handled
    """)
    own = facts(
        rows, noted("board", "10:00:05", [10] * 60), noted("handled", "10:00:05", [10] * 60, role="processed"), BOARD
    )
    way = within_mqtt(own)
    assert [s for s in stages(way) if s[0] == "taken"] == [("taken", "board", 1100, 1100, 1100, 0)]
    assert gaps(way) == [("taken", Whereabouts.UNKNOWN, "board", 10, 10, 10)]


def test_what_a_full_queue_threw_away_is_not_in_it():
    full = episode("session-queue-dropping", "10:05:00", "logs/mosquitto.log", client_id="b1", system="mqtt")
    counter = series("mqtt.publish_dropped", [0, 0, 600], start=0, step=300)
    (chain,) = chains(facts(ONE_DEAD, full, counter))
    assert gaps(chain) == [
        ("taken", Whereabouts.QUEUED, "b1", 1000, 1000, 1600),
        ("taken", Whereabouts.DROPPED, "b1", 600, 600, 600),
    ]


def test_what_another_client_s_queue_threw_away_is_not_missing_here():
    full = episode("session-queue-dropping", "10:05:00", "logs/mosquitto.log", client_id="board", system="mqtt")
    counter = series("mqtt.publish_dropped", [0, 0, 600], start=0, step=300)
    (chain,) = chains(facts(ONE_DEAD, full, counter))
    assert gaps(chain) == [("taken", Whereabouts.QUEUED, "b1", 1600, 1600, 1600)]


def test_without_the_broker_s_log_nobody_knows_where_they_are():
    (chain,) = chains(facts(ONE_DEAD[0], sink(2499)))
    assert gaps(chain) == [("taken", Whereabouts.UNKNOWN, "forwarded-b1, forwarded-b2", 1600, 1600, 1600)]


def test_a_member_without_a_ledger_may_have_got_them():
    third = broker("""
        10:00:00 b1 connected 10.0.0.1:1001 k30 c1
        10:00:00 b2 connected 10.0.0.2:1002 k30 c1
        10:00:00 b3 connected 10.0.0.4:1004 k30 c1
    """)
    rows = messages("""
        at       until    count noted
        10:00:05 10:09:59 1000  b1+sink
        10:00:05 10:09:59 1000  b2+sink
        10:00:05 10:09:59 1000  -
    """)
    (chain,) = chains(facts(rows, third, subscribed("b1", "b2", "b3"), sink(1999)))
    (gap,) = chain.gaps
    assert (gap.where, gap.who, gap.messages, gap.low) == (Whereabouts.SHARED, "b3", 1000, 0)
    assert gap.how.endswith("; b3 got messages too, but there is no ledger of theirs")


def test_a_bridge_that_falls_behind_is_not_a_loss():
    rows = messages("""
        at       until    count noted
        10:00:00 10:04:59 3000  b1+sink
        10:05:00 10:05:10 100   b1
        10:05:21 10:09:59 2900  -
    """)
    (chain,) = chains(facts(rows, sink(2999), noted("b1", "10:00:00", [100] * 31)))
    assert gaps(chain) == [
        ("taken", Whereabouts.AFTER_END, "forwarded-b1", 2900, 2900, 2900),
        ("handled", Whereabouts.UNKNOWN, "etl", 100, 100, 100),
    ]
    assert stages(chain)[3] == ("stored", "", 3000, 3000, 3100, 0)


BEHIND = messages("""
    at       until    count noted
    10:00:00 10:04:59 3000  b1+sink
    10:05:00 10:09:59 3000  b1
""")


def test_what_the_log_holds_behind_its_reader_is_pending():
    ends = positions("""
        at       group topic  queue committed end
        10:10:00 -     orders 0     -         6000
    """)
    (chain,) = chains(facts(BEHIND, sink(2999), ends))
    assert gaps(chain) == [("handled", Whereabouts.PENDING, "etl", 3000, 3000, 3000)]


def test_what_kafka_refused_is_refused_and_no_more_than_the_bridge_says():
    client = episode("client-configured", 0, "clients/b1.log", client_id="b1", system="mqtt")
    refused = episode("record-expired", "10:06:00", "clients/b1.log", count=2400, client_id="b1")
    (chain,) = chains(facts(BEHIND, sink(2999), client, refused))
    assert gaps(chain) == [
        ("handled", Whereabouts.REFUSED, "", 2400, 2400, 2400),
        ("handled", Whereabouts.UNKNOWN, "etl", 600, 600, 600),
    ]


def test_a_failed_send_and_the_error_below_it_are_one_record():
    client = episode("client-configured", 0, "clients/b1.log", client_id="b1", system="mqtt")
    kinds = ("record-expired", 2000), ("record-too-large", 400), ("send-failed", 2400)
    lines = [episode(kind, "10:06:00", "clients/b1.log", count=n, client_id="b1") for kind, n in kinds]
    (chain,) = chains(facts(BEHIND, sink(2999), client, lines))
    assert [(gap.where, gap.messages) for gap in chain.gaps] == [
        (Whereabouts.REFUSED, 2400), (Whereabouts.UNKNOWN, 600),
    ]  # fmt: skip


def test_a_bridge_that_doubles_after_its_restart_loses_nothing():
    rows = messages("""
        at       until    count noted
        10:00:00 10:04:59 3000  b1+sink
        10:05:00 10:05:10 538   b1+b1+sink+sink
        10:05:11 10:09:59 3000  b1+sink
    """)
    (chain,) = chains(facts(rows, sink(7075)))
    assert [(s.step.value, s.messages, s.again) for s in chain.stages[2:]] == [
        ("taken", 6538, 538), ("stored", 6538, 0), ("handled", 6538, 538),
    ]  # fmt: skip
    assert chain.gaps == ()


def test_a_publisher_s_own_failures_are_no_loss_of_the_bridge():
    rows = messages("""
        at       until    count noted   failed qos
        10:00:00 10:04:59 900   b1+sink no     1
        10:05:00 10:05:10 60    -       yes    1
        10:05:00 10:05:10 5     b1+sink yes    1
        10:06:00 10:06:10 40    b1+sink no     0
    """)
    (chain,) = chains(facts(rows, sink(944)))
    assert stages(chain)[:3] == [
        ("published", "", 1005, 1005, 1005, 0),
        ("acknowledged", "", 900, 900, 900, 0),
        ("taken", "forwarded-b1", 945, 945, 945, 0),
    ]
    assert gaps(chain) == [("acknowledged", Whereabouts.REFUSED, "", 60, 60, 60)]
    assert "acknowledged" not in sentence(chain)


def test_what_a_publisher_that_stopped_left_unacknowledged_has_not_failed():
    rows = messages("""
        at       until    count noted   failed
        10:00:00 10:04:59 900   b1+sink no
        10:05:00 10:05:10 6     -       yes
        10:05:11 10:05:12 2     -       open
        10:05:11 10:05:12 1     b1+sink open
    """)
    (chain,) = chains(facts(rows, sink(900)))
    assert gaps(chain) == [
        ("acknowledged", Whereabouts.REFUSED, "", 6, 6, 6),
        ("acknowledged", Whereabouts.UNANSWERED, "", 2, 2, 2),
    ]
    assert "failure" not in chain.gaps[1].how.replace("no failure", "")


@pytest.mark.parametrize(
    ("counted", "more", "waits"),
    [
        ([0, 400, 1602], (), (1502, 0)),
        ([0, 400, 1601], (), (1500, 2)),
        ([0, 400, 1603], (), (1500, 2)),
        ([3, 400, 1602], (), (1500, 2)),
        ([0, 400, 1602], messages("at until count noted sender\n10:02:00 10:02:01 1 board none"), (1500, 2)),
    ],
    ids=["all came in", "one did not", "others publish", "counted before", "another publisher"],
)
def test_what_the_broker_counts_as_received_waits_like_the_rest_without_an_acknowledgement(counted, more, waits):
    rows = messages("""
        at       until    count noted failed
        10:00:05 10:00:59 100   b1    no
        10:01:01 10:09:57 1500  -     no
        10:09:58 10:09:59 2     -     open
    """)
    series_ = series("mqtt.publish_received", counted, start=0, step=300)
    way = within_mqtt(facts(rows, more, ONE_DEAD[1], subscribed("b1"), series_))
    found = {g.where: g.messages for g in way.gaps if g.who in ("", "b1")}
    assert (found[Whereabouts.QUEUED], found.get(Whereabouts.UNANSWERED, 0)) == waits
    assert way.stage(Step.ACKNOWLEDGED).messages == 1600
    assert (say("settled", messages=2) in way.notes) == (waits[1] == 0)


def test_messages_that_only_receivers_note_count_at_no_stage():
    rows = messages("""
        at       until    count noted   sender
        10:00:00 10:04:59 900   b1+sink gateway
        10:05:00 10:05:10 12    b1+sink none
    """)
    (chain,) = chains(facts(rows, sink(911)))
    assert {s.messages for s in chain.stages} == {900}
    assert chain.notes == (say("late", messages=12),)


@pytest.mark.parametrize(
    ("sender", "begin", "topic", "told"),
    [
        ("none", "10:05:00", "plant/a", "late"),
        ("none", "10:04:58", "plant/a", "beside"),
        ("none", "10:05:00", "office/door", "beside"),
    ],
    ids=["its publisher's ledger has ended", "it goes on", "another publisher's topic"],
)
def test_what_comes_after_a_publisher_s_ledger_ends_is_not_another_publisher_s(sender, begin, topic, told):
    rows = messages("""
        at       until    count noted
        10:00:00 10:04:59 900   board
    """)
    more = messages(f"""
        at       until    count noted sender
        {begin}  10:05:01 2     board {sender}
    """, topic=topic)  # fmt: skip
    assert within_mqtt(facts(rows, more)).notes == (say(told, messages=2),)


def test_topics_that_the_bridge_never_took_are_not_missing():
    (flows, topics), (others, other_topics) = BEHIND, messages("""
        at       until    count noted
        10:00:00 10:09:59 700   board
    """, topic="office/door")  # fmt: skip
    (chain,) = chains(facts(flows, topics, others, other_topics, sink(5999)))
    assert chain.stages[0].messages == 6000
    assert chain.notes == ("700 more were published on topics of which the bridge received nothing",)


def test_a_topic_of_which_the_bridge_took_nothing_although_its_filter_matches_is_missing():
    told = broker("10:00:00 b1 connected 10.0.0.1:1001 k30 c1")
    lost = messages("""
        at       until    count noted
        10:00:00 10:09:59 700   -
    """, topic="plant/b")  # fmt: skip
    (chain,) = chains(facts(BEHIND, lost, told, subscribed("b1", name="plant/#"), sink(5999)))
    assert chain.stages[0].messages == 6700
    assert gaps(chain)[0] == ("taken", Whereabouts.UNKNOWN, "b1", 700, 700, 700)


@pytest.mark.parametrize(
    ("noting", "bridge"),
    [
        (("copier+sink", "copier+sink"), ("received-copier",)),
        (("board+copier+sink", "copier+sink"), ("received-copier",)),
        (("board+copier+sink", "board+copier+sink"), ()),
        (("board+sink", "copier+sink"), ("received-board", "received-copier")),
        (("board+b1+sink", "board+b1+sink"), ("forwarded-b1",)),
    ],
    ids=["the only one", "the one that has all", "two that have all", "two that share", "the one that says so"],
)
def test_a_bridge_is_the_receiver_that_shares_its_ids_with_the_log(noting, bridge):
    rows = messages(f"""
        at       until    count noted
        10:00:00 10:04:59 100   {noting[0]}
        10:05:00 10:09:59 100   {noting[1]}
    """)
    (chain,) = chains(facts(rows, sink(199)))
    assert chain.bridge == bridge
    assert (chain.stage(Step.TAKEN) is None) == (not bridge)
    assert chain.stage(Step.HANDLED).messages == 200


def test_a_process_of_the_bridge_of_which_nothing_reached_the_log_is_one_all_the_same():
    rows = messages("""
        at       until    count noted
        10:00:00 10:04:59 100   b1+sink
        10:05:00 10:09:59 100   b2
    """)
    (chain,) = chains(facts(rows, sink(99)))
    assert chain.bridge == ("forwarded-b1", "forwarded-b2")
    assert gaps(chain) == [("handled", Whereabouts.UNKNOWN, "etl", 100, 100, 100)]


def test_a_client_of_mqtt_that_is_a_producer_is_the_bridge():
    rows = messages("""
        at       until    count noted
        10:00:00 10:04:59 100   board+copier+sink
    """)
    both = (
        episode("connection-made", 0, "clients/copier.log", client_id="copier", system="mqtt"),
        episode("send-failed", 30, "clients/copier.log", client_id="copier-producer"),
    )
    (chain,) = chains(facts(rows, sink(99), both))
    assert chain.bridge == ("copier",)


def test_queues_of_rocketmq_are_a_log_too():
    noted_there = Tally(at(0), "consumed", "orders", "broker-a/0", 3000, FILES["sink"], 2)
    (chain,) = chains(facts(messages("""
        at       until    count noted
        10:00:00 10:04:59 3000  b1+sink
    """), noted_there))  # fmt: skip
    assert (chain.system, chain.topic, chain.stage(Step.HANDLED).messages) == ("rocketmq", "orders", 3000)


def test_receivers_of_mqtt_alone_are_no_chain():
    rows = messages("""
        at       until    count noted
        10:00:00 10:04:59 100   board
        10:05:00 10:05:09 7     -
    """)
    assert chains(facts(rows)) == ()
    way = within_mqtt(facts(rows))
    assert (way.system, way.bridge) == (None, ())
    assert stages(way)[2] == ("taken", "received-board", 100, 100, 100, 0)
    assert gaps(way) == [("taken", Whereabouts.UNKNOWN, "received-board", 7, 7, 7)]


@pytest.mark.parametrize(
    ("role", "cells", "first"),
    [
        ("acked", "", "acknowledged"),
        ("sent", "", "published"),
        ("acked", "10:05:00 10:05:09 7 - yes", "published"),  # it notes refusals too
    ],
)
def test_who_notes_acknowledgements_alone_tells_nothing_of_what_it_published_besides(role, cells, first):
    table = f"at until count noted failed\n10:00:00 10:04:59 100 board no\n{cells}"
    way = within_mqtt(facts(messages(table), noted("gateway", "10:00:00", [100], role=role)))
    assert stages(way)[0][0] == first
    assert [share.who for share in way.stages[0].shares] == ["gateway"]


def test_receivers_that_each_get_everything_have_a_stage_each():
    way = within_mqtt(facts(messages("""
        at       until    count noted
        10:00:00 10:04:59 100   board+copier
        10:05:00 10:05:09 20    copier
    """)))  # fmt: skip
    assert [(s.who, s.messages) for s in way.stages[2:]] == [("received-board", 100), ("received-copier", 120)]
    assert gaps(way) == [("taken", Whereabouts.UNKNOWN, "received-board", 20, 20, 20)]


def test_without_ledgers_of_publishers_there_is_no_way():
    assert within_mqtt(facts(noted("board", 0, [5, 5]))) is None


def test_a_clock_that_is_off_changes_no_number_and_no_whereabouts():
    """The host of b1 and b2 is 90 s ahead of the broker's; ids are the same, and moments are put right."""
    ahead = (
        episode("client-configured", 89.9, "clients/b1.log", client_id="b1", system="mqtt"),
        episode("connection-made", 90, "clients/b1.log", line=2, client_id="b1", system="mqtt"),
        episode("connection-made", 400, "clients/b1.log", line=3, client_id="b1", system="mqtt"),
    )
    lines = broker("""
        10:00:00 b1 connected 10.0.0.1:1001 k30 c0
        10:05:08 b1 closed
        10:05:10 b1 connected 10.0.0.1:1002 k30 c0
        10:06:00 b1 normal
    """)
    rows = messages("""
        at       until    count noted
        10:00:05 10:05:59 1000  b1+sink
        10:06:01 10:08:00 300   -
    """)
    passage = Passage(FILES["gateway"], FILES["b1"], 1000, 90.0, 90.1, 91.0, at("10:00:05"))
    told = facts(rows, lines, ahead, subscribed("b1", name="plant/#"), sink(999), noted("b1", 90, [28] * 36), passage)
    (chain,) = chains(corrected(told))
    assert gaps(chain) == [("taken", Whereabouts.QUEUED, "b1", 300, 300, 300)]
    assert [round(p.least, 1) for p in corrected(told).passages] == [0.5]


NO_IDS = (
    noted("gateway", "10:00:00", [400] * 30, role="sent"),
    noted("b1", "10:00:00", [260] * 30),
    series("topic.end_offset", [100 + 260 * n for n in range(31)], topic="orders", partition="0"),
)


def test_without_ids_counts_are_compared_within_the_error_of_their_samples():
    (chain,) = chains(facts(NO_IDS, positions("""
        at       group topic  queue committed end
        10:00:00 etl   orders 0     100       100
        10:05:00 etl   orders 0     7900      7900
    """)))  # fmt: skip
    assert (chain.by, chain.bridge) == ("counts", ("forwarded-b1",))
    assert stages(chain) == [
        ("published", "", 12000, 12000, 12000, 0),
        ("taken", "forwarded-b1", 7800, 7800, 7800, 0),
        ("stored", "orders", 7800, 0, 7900, 0),
        ("handled", "etl", 7800, 0, 7900, 0),
    ]
    assert gaps(chain) == [("taken", Whereabouts.UNKNOWN, "forwarded-b1", 4200, 4200, 4200)]


def test_a_difference_that_the_samples_may_hide_is_none():
    late = positions("""
        at       group topic  queue committed end
        10:00:15 -     orders 0     -         3187
        10:04:15 -     orders 0     -         7000
    """)
    (chain,) = chains(facts(NO_IDS, late))
    assert [g.before for g in chain.gaps] == [Step.TAKEN]
    assert chain.stage(Step.STORED).how.endswith("a snapshot may have been read later than its timestamp says")


def test_counts_without_a_bridge_are_no_chain():
    assert chains(facts(NO_IDS[0], NO_IDS[2], noted("board", "10:00:00", [260] * 30))) == ()


def test_counts_that_share_no_time_are_no_chain():
    assert chains(facts(NO_IDS[0], noted("b1", "11:00:00", [260] * 30), positions("""
        at       group topic  queue committed end
        09:00:00 -     orders 0     -         3187
        09:10:00 -     orders 0     -         3187
    """))) == ()  # fmt: skip


TWO_BRIDGES = broker("""
    10:00:00 b1 connected 10.0.0.1:1001 k30 c1
    10:00:00 copier connected 10.0.0.2:1002 k30 c1
""")


def test_what_another_bridge_of_the_same_share_took_is_not_missing():
    rows = messages("""
        at       until    count noted
        10:00:05 10:09:59 1000  b1+sink
        10:00:05 10:09:59 2000  copier
        10:00:05 10:09:59 30    -
    """)
    share = subscribed("b1", "copier")
    (chain,) = chains(facts(rows, TWO_BRIDGES, share, sink(999)))
    assert gaps(chain) == [
        ("taken", Whereabouts.UNKNOWN, "b1", 30, 30, 30), ("taken", Whereabouts.SHARED, "copier", 2000, 2000, 2000),
    ]  # fmt: skip


def test_what_a_receiver_outside_of_the_share_got_is_missing_all_the_same():
    rows = messages("""
        at       until    count noted
        10:00:05 10:09:59 1000  b1+sink
        10:00:05 10:09:59 2000  copier
    """)
    apart = (*subscribed("b1"), *subscribed("copier", name="plant/#"))
    (chain,) = chains(facts(rows, TWO_BRIDGES, apart, sink(999)))
    assert gaps(chain) == [("taken", Whereabouts.UNKNOWN, "b1", 2000, 2000, 2000)]


BOARD = broker("10:00:00 board connected 10.0.0.9:1001 k30 c1\n10:10:00 x connected 10.0.0.3:1003 k30 c1")
LATE = messages("""
    at       until    count noted
    10:00:05 10:00:29 70    -
    10:00:32 10:04:59 300   board
    10:05:00 10:05:10 8     -
    10:05:11 10:09:59 300   board
""")


def test_what_was_published_before_a_receiver_subscribed_is_not_its_loss():
    way = within_mqtt(facts(LATE, BOARD, subscribed("board", name="plant/#", when="10:00:30")))
    assert gaps(way) == [
        ("taken", Whereabouts.UNKNOWN, "board", 8, 8, 8), ("taken", Whereabouts.UNSUBSCRIBED, "board", 70, 70, 70),
    ]  # fmt: skip


def test_what_was_published_before_a_ledger_of_which_no_subscription_is_told_came_before_its_begin():
    way = within_mqtt(facts(LATE))
    assert gaps(way) == [
        ("taken", Whereabouts.UNKNOWN, "received-board", 8, 8, 8),
        ("taken", Whereabouts.BEFORE_BEGIN, "received-board", 70, 70, 70),
    ]


def test_what_was_published_before_a_client_without_an_older_session_connected_is_not_its_loss():
    clean = broker("10:00:30 received-board connected 10.0.0.9:1001 k30 c1\n10:10:00 x connected 10.0.0.3:1003 k30 c1")
    kept = broker("10:00:30 received-board connected 10.0.0.9:1001 k30 c0\n10:10:00 x connected 10.0.0.3:1003 k30 c1")
    party = episode("client-configured", "10:00:30", FILES["board"], client_id="received-board", system="mqtt")
    early = [
        next(g.where for g in within_mqtt(facts(LATE, log, party)).gaps if g.messages == 70) for log in (clean, kept)
    ]
    assert early == [Whereabouts.UNSUBSCRIBED, Whereabouts.BEFORE_BEGIN]


def test_what_was_published_after_the_last_row_of_a_ledger_is_after_its_end_to_the_second():
    rows = messages("""
        at       until    count noted
        10:00:32 10:04:50 300   board
        10:04:51 10:04:52 8     -
        10:04:56 10:04:57 4     -
    """)
    ledger = replace(noted("board", "10:04:50", [30])[0], last_at=at("10:04:55"))
    way = within_mqtt(facts(rows, ledger))
    assert [(w, n) for _, w, _, n, _, _ in gaps(way)] == [(Whereabouts.UNKNOWN, 8), (Whereabouts.AFTER_END, 4)]


def test_only_the_receiver_whose_ledger_ends_misses_what_came_after_it():
    rows = messages("""
        at       until    count noted
        10:00:32 10:04:50 300   board+copier
        10:05:01 10:05:02 4     copier
    """)
    (after,) = within_mqtt(facts(rows, noted("board", "10:04:50", [30]))).gaps
    assert (after.where, after.who, after.messages) == (Whereabouts.AFTER_END, "received-board", 4)
    assert after.how == say("after-end", ledgers=1)


def full(*seconds, client="board", count=1):
    return tuple(
        episode(
            "session-queue-dropping", when, "logs/mosquitto.log", line=n, client_id=client, count=count, system="mqtt"
        )
        for n, when in enumerate(seconds, 70)
    )


HOLE = messages("""
    at       until    count noted
    10:00:32 10:04:59 300   board
    10:05:00 10:05:10 80    -
    10:05:11 10:09:59 300   board
""")


def test_a_full_queue_that_nobody_counts_may_have_lost_all_that_is_missing():
    way = within_mqtt(facts(HOLE, BOARD, subscribed("board", name="plant/#"), full("10:05:01")))
    assert gaps(way) == [("taken", Whereabouts.DROPPED, "board", 80, 1, 80)]


def test_a_counter_that_was_read_once_bounds_what_a_full_queue_lost():
    once = series("mqtt.publish_dropped", [50], start=500, step=100)
    way = within_mqtt(facts(HOLE, BOARD, subscribed("board", name="plant/#"), full("10:05:01"), once))
    assert gaps(way)[0] == ("taken", Whereabouts.DROPPED, "board", 50, 1, 50)
    assert "has counted 50 dropped messages since its start" in way.gaps[0].how


def test_a_counter_that_does_not_cover_all_that_is_missing_leaves_the_rest_open():
    counter = series("mqtt.publish_dropped", [0, 50, 50], start=300, step=100)
    way = within_mqtt(facts(HOLE, BOARD, subscribed("board", name="plant/#"), full("10:05:01"), counter))
    assert gaps(way) == [
        ("taken", Whereabouts.DROPPED, "board", 50, 50, 50), ("taken", Whereabouts.UNKNOWN, "board", 30, 0, 30),
    ]  # fmt: skip


def test_only_the_counter_of_the_client_s_own_broker_counts_what_its_queue_lost():
    here = broker("10:00:00 board connected 10.0.0.9:1001 k30 c0\n10:10:00 x connected 10.0.0.3:1003 k30 c1",
                  "logs/plant.log")  # fmt: skip
    there = broker("10:00:00 y connected 10.0.0.8:1001 k30 c1\n10:10:00 y normal", "logs/office.log")
    counts = {
        name: series("mqtt.publish_dropped", values, start=300, step=100, source=f"metrics/sys-topics-{name}.log")
        for name, values in (("plant", [0, 30, 30]), ("office", [0, 80, 80]))
    }
    line = episode("session-queue-dropping", "10:05:01", "logs/plant.log", client_id="board", system="mqtt")
    way = within_mqtt(facts(HOLE, here, there, subscribed("board", name="plant/#"), line, tuple(counts.values())))
    assert gaps(way)[0] == ("taken", Whereabouts.DROPPED, "board", 30, 30, 30)
    assert {e.source for g in way.gaps for e in g.evidence} & {s.source for s in counts.values()} == {
        counts["plant"].source
    }
    other = within_mqtt(facts(HOLE, here, there, subscribed("board", name="plant/#"), line, counts["office"]))
    assert gaps(other)[0][3:] == (80, 1, 80)
    assert other.gaps[0].how == say("dropped-uncounted")


def test_what_the_publishers_broker_dropped_from_its_bridge_has_known_whereabouts():
    here = broker("10:00:00 board connected 10.0.0.9:1001 k30 c0\n10:10:00 x connected 10.0.0.3:1003 k30 c1",
                  "logs/office.log")  # fmt: skip
    there = broker("""
        10:00:00 gateway connected 10.0.0.8:1001 k30 c1
        10:00:00 up tries 10.0.0.1:1883
        10:04:50 local.host.up closed
        10:05:01 local.host.up dropping
        10:05:11 up tries 10.0.0.1:1883
        10:10:00 y normal
    """, "logs/plant.log")  # fmt: skip
    counter = series("mqtt.publish_dropped", [0, 70, 70], start=300, step=100, source="metrics/sys-topics-plant.log")
    way = within_mqtt(facts(HOLE, here, there, subscribed("board", name="plant/#"), counter))
    assert gaps(way)[0] == ("taken", Whereabouts.DROPPED, "local.host.up", 70, 70, 70)
    assert (way.gaps[1].messages, way.gaps[1].how) == (10, say("nowhere", who="board"))
    elsewhere = there[1:]  # without the line of the publisher's connection
    other = within_mqtt(facts(HOLE, here, elsewhere, subscribed("board", name="plant/#"), counter))
    assert gaps(other) == [("taken", Whereabouts.UNKNOWN, "board", 80, 80, 80)]


def test_what_a_broker_counted_before_it_was_restarted_counts():
    counter = series("mqtt.publish_dropped", [40, 60, 0], start=100, step=100)
    way = within_mqtt(facts(HOLE, BOARD, subscribed("board", name="plant/#"), full("10:05:01"), counter))
    assert (gaps(way)[0], way.gaps[0].how) == (
        ("taken", Whereabouts.DROPPED, "board", 60, 1, 60), say("dropped-stands", dropped=60)
    )  # fmt: skip


def test_a_queue_that_was_full_long_before_need_not_have_dropped_what_is_missing():
    way = within_mqtt(facts(HOLE, BOARD, subscribed("board", name="plant/#"), full("10:01:00")))
    assert gaps(way) == [("taken", Whereabouts.DROPPED, "board", 80, 0, 80)]


EARLIER = messages("""
    at       until    count noted
    10:00:32 10:01:59 100   board
    10:02:00 10:02:10 9     -
    10:02:11 10:04:59 200   board
    10:05:00 10:05:10 80    -
    10:05:11 10:09:59 300   board
""")
START = episode("broker-starting", "10:00:00", "logs/mosquitto.log", system="mqtt", reason="2.0.11")


@pytest.mark.parametrize(
    ("line", "counter", "dropped"),
    [
        ("10:05:01", [0, 0, 500], 80),
        ("10:02:03", [0, 0, 500], 89),
        ("10:05:01", [0, 7, 500], 80),
        (None, [0, 0, 500], 80),
        (None, [0, 7, 500], 89),
    ],
    ids=["line and counter", "a line among them", "counted for others", "counter alone", "it rose"],
)
def test_what_came_before_a_queue_can_have_dropped_any_is_not_dropped(line, counter, dropped):
    lines = (full(line) if line else (), full("10:05:02", client="copier") if line else ())
    counts = series("mqtt.publish_dropped", counter, start=0, step=240)
    way = within_mqtt(facts(EARLIER, BOARD, START, subscribed("board", name="plant/#"), lines, counts))
    found = {g.where: (g.messages, g.low, g.high) for g in way.gaps}
    assert found[Whereabouts.DROPPED] == (dropped, 0, dropped)
    assert found.get(Whereabouts.UNKNOWN) == ((9, 9, 89) if dropped == 80 else None)


def test_a_queue_that_throws_away_the_oldest_may_drop_what_came_long_before():
    given = facts(EARLIER, BOARD, START, subscribed("board", name="plant/#"), full("10:05:01"))
    (case,) = queue_cases(given)
    assert calm(given, case) == [(at("10:00:00"), at("10:05:01") - SKEW)]
    assert calm(given, replace(case, queue=replace(case.queue, keeps=NEWEST))) == []
    assert calm(given, replace(case, queue=None)) == []


def counted(incident, subject, lost):
    span = (at("10:05:00"), at("10:05:10"))
    return finding(incident, subject, Certainty.PROVEN, span, statement="s", measures={"lost_records": lost},
                   evidence=[Evidence("a.log", 1, "x")], mitigate="", remedy="", verify="")  # fmt: skip


def test_what_a_finding_counts_as_lost_is_not_called_unknown():
    way = within_mqtt(facts(HOLE))
    (one,) = explained([way], [counted("acl-silent-drop", "gateway", 80)])
    assert gaps(one) == [("taken", Whereabouts.LOST, "acl-silent-drop", 80, 80, 80)]
    (part_of,) = explained([way], [counted("acl-silent-drop", "gateway", 60)])
    assert [(g.where, g.messages) for g in part_of.gaps] == [(Whereabouts.LOST, 60), (Whereabouts.UNKNOWN, 20)]


def test_what_a_finding_counts_at_another_place_or_beyond_what_is_missing_explains_nothing():
    way = within_mqtt(facts(HOLE))
    assert explained([way], [counted("acl-silent-drop", "gateway", 81)]) == (way,)
    two = within_mqtt(facts(messages("""
        at       until    count noted
        10:00:00 10:04:59 100   board+copier
        10:05:00 10:05:09 20    copier
    """)))  # fmt: skip
    assert explained([two], [counted("session-queue-drop", "received-copier", 20)]) == (two,)


def test_messages_without_topics_are_held_only_against_receivers_that_note_some_of_them():
    (flow,), _ = messages("at until count noted\n10:00:05 10:09:59 1830 -")
    others, theirs = messages("at until count noted sender\n10:00:05 10:09:59 31 board none", topic="cmd/label")
    bare = replace(_by_topic(flow, None), topic=None)
    chain = within_mqtt(facts(flow, others, bare, theirs))

    assert [(stage.step, stage.messages) for stage in chain.stages] == [
        (Step.PUBLISHED, 1830),
        (Step.ACKNOWLEDGED, 1830),
    ]
    assert (chain.gaps, outcome(chain)) == ((), "cannot say")
