"""Queues without limit that grow for nobody: rate, memory, and what is none."""

import pytest
from facts_builder import at, episode, facts, ramp, series, settings
from mqtt_builder import broker
from mqtt_mail import mail, noted
from said import told

from mqlab.detectors import persistent_session_diversion
from mqlab.detectors.session_queue_growth import detect, say
from mqlab.findings import Certainty
from mqlab.mqtt import brokers

LOG = """
    10:00:00 - starting
    10:00:01 feed connected 10.0.0.9:1000 k30 c1
    10:00:01 job connected 10.0.0.1:1001 k30 c0
    10:01:00 job normal
"""
UNLIMITED = settings("at owner key value\n- - max_queued_messages 0", "mosquitto.conf", scope="broker", origin="file")
MAIL = noted(mail(lambda _, s: ("job",) if s < 60 else (), start=2, seconds=298, rate=100))


def subscribed(qos=1.0, topics="plant/#"):
    return episode("client-subscribed", 1, "clients/job.log", system="mqtt", client_id="job", topic=topics, left=qos)


def sys(name, *legs, base=0):
    return series(name, ramp(*legs, base=base), source="metrics/sys.log")


STORED = (sys("mqtt.stored_messages", (6, 0), (24, 1000), base=53), sys("mqtt.stored_bytes", (6, 0), (24, 1_400_000)))


def resident(each):
    return series("process.resident_bytes", ramp((6, 0), (24, 1000 * each), base=9_000_000), source="metrics/rss.csv")


def log(text=LOG, last="10:05:00"):
    return broker(text, last=last)


def test_a_queue_that_grows_at_the_rate_of_its_messages_and_memory_with_it_is_proven():
    (one,) = detect(facts(log(), subscribed(), UNLIMITED, STORED, resident(1800), MAIL)).findings
    assert (one.certainty, one.subject, one.ongoing) == (Certainty.PROVEN, "job", True)
    assert one.started_at.timestamp() == at(60)
    assert one.measures["queued_messages"] == 24_000
    assert one.measures["queue_growth_per_second"] == pytest.approx(100)
    assert one.measures["memory_growth_bytes_per_second"] == pytest.approx(180_000)
    assert one.measures["expected_bytes_per_message"] == 1400 + 390


def test_a_limit_of_zero_is_none_and_another_limit_beside_it_counts():
    (one,) = detect(facts(log(), UNLIMITED, MAIL, subscribed(), STORED, resident(1800))).findings
    assert brokers.say("limit-line", unlimited=True) in [e.why for e in one.evidence]
    table = "at owner key value\n- - max_queued_messages 500\n- - max_queued_bytes 0"
    both = facts(log(), settings(table, "mosquitto.conf", scope="broker", origin="file"))
    assert [e.why for e in brokers.limit_told(both, None)] == [brokers.say("limit-line")]


@pytest.mark.parametrize(
    ("legs", "ends"), [(((6, 0), (24, 1000)), None), (((6, 0), (18, 1000), (6, 0)), "10:04:00")], ids=["rises", "stops"]
)
def test_a_growth_that_stopped_is_over_and_the_session_still_waits(legs, ends):
    (one,) = detect(facts(log(), UNLIMITED, MAIL, subscribed(), sys("mqtt.stored_messages", *legs, base=53))).findings
    assert (one.ongoing, one.ended_at) == (True, None)
    assert ("goes_on" in told(one.statement), "until" in told(one.statement)) == (not ends, bool(ends))


def test_a_repair_that_deletes_a_session_says_how_many_messages_it_throws_away():
    (one,) = detect(facts(log(), UNLIMITED, MAIL, subscribed(), STORED)).findings
    assert told(one.remedy)["queued_messages"] == 24_000
    (other,) = detect(facts(log(), UNLIMITED, subscribed(), STORED[0])).findings
    assert "queued_messages" not in told(other.remedy)


def test_a_count_that_is_printed_only_when_it_changes_has_stopped_where_others_go_on():
    stored = sys("mqtt.stored_messages", (6, 0), (18, 1000), base=53)
    for sent, goes_on in ((ramp((24, 5)), True), (ramp((28, 5)), False)):
        others = series("mqtt.messages_sent", sent, source="metrics/sys.log")
        (one,) = detect(facts(log(), UNLIMITED, MAIL, subscribed(), stored, others)).findings
        assert ("goes_on" in told(one.statement)) is goes_on


def test_memory_that_grows_otherwise_leaves_a_doubt():
    (one,) = detect(facts(log(), subscribed(), UNLIMITED, STORED, resident(9000), MAIL)).findings
    assert one.certainty is Certainty.LIKELY


def test_stored_messages_that_grow_otherwise_leave_a_doubt():
    other = sys("mqtt.stored_messages", (6, 0), (24, 3000), base=53)
    (one,) = detect(facts(log(), subscribed(), UNLIMITED, other, MAIL)).findings
    assert one.certainty is Certainty.LIKELY


def test_memory_that_is_limited_is_used_up_at_a_foretold_time():
    limit = settings("at owner key value\n- - memory_limit 100000000", "mosquitto.conf", scope="broker", origin="file")
    (one,) = detect(facts(log(), subscribed(), UNLIMITED, limit, STORED, resident(1800), MAIL)).findings
    assert one.measures["full_in_seconds"] == pytest.approx((100e6 - 9e6 - 24_000 * 1800) / 180_000)


@pytest.mark.parametrize(
    "rows",
    [
        (log(LOG.replace("c0", "c1")), subscribed(), UNLIMITED, STORED, MAIL),
        (log(LOG + "    10:04:00 job connected 10.0.0.1:1002 k30 c0"), subscribed(), UNLIMITED, STORED, MAIL),
        (log(LOG.replace("10:01:00", "10:04:30")), subscribed(), UNLIMITED, MAIL),
        (log(), subscribed(qos=0.0), UNLIMITED, MAIL),
        (log(), subscribed(topics="other/#"), UNLIMITED, MAIL),
        (log(), subscribed(topics="$share/g/plant/#"), UNLIMITED, STORED, MAIL),
    ],
    ids=["clean", "came back", "restart", "QoS 0", "no such topics", "share group"],
)
def test_what_grows_for_nobody_or_not_for_long_is_none(rows):
    found = detect(facts(*rows))
    assert (found.findings, found.missing) == ((), ())


def test_a_queue_with_a_limit_does_not_grow_for_ever():
    usual = settings("at owner key value\n- - persistence true", "mosquitto.conf", scope="broker", origin="file")
    found = detect(facts(log(), subscribed(), usual, STORED, MAIL))
    assert (found.findings, found.rejected) == ((), say("limited", client="job", limit=1000))


def test_without_the_brokers_configuration_nobody_knows_whether_its_queues_have_a_limit():
    found = detect(facts(log(), subscribed(), STORED, MAIL))
    assert (found.findings, found.rejected, found.missing) == ((), None, (say("no-limit", client="job"),))


def test_a_session_whose_subscriptions_nobody_tells_is_not_checked():
    assert detect(facts(log(), UNLIMITED, STORED)).missing == (say("no-subscriptions"),)
    assert detect(facts(subscribed(), MAIL)).findings == ()


def test_the_queue_of_a_bridge_that_is_cut_off_grows_and_has_no_part_in_a_share_group():
    cut = log("""
        10:00:00 - starting
        10:00:01 hq tries 10.9.0.2:1883
        10:01:00 local.edge.hq closed
        10:01:10 hq tries 10.9.0.2:1883
        10:01:10 - refused
    """)
    (one,) = detect(facts(cut, UNLIMITED, STORED, sys("mqtt.publish_received", (30, 1000)))).findings
    assert (one.subject, one.ongoing, one.started_at.timestamp()) == ("local.edge.hq", True, at(60))
    half = sys("mqtt.publish_received", (30, 2000)), sys("mqtt.shared_subscriptions", (30, 0), base=2)
    assert persistent_session_diversion.detect(facts(cut, UNLIMITED, STORED, half)).findings == ()
    client = persistent_session_diversion.detect(facts(log(), UNLIMITED, STORED, half))
    assert [finding.subject for finding in client.findings] == ["job"]


def test_a_growth_that_went_back_with_the_absence_is_ruled_out_and_not_clear():
    back = log(LOG + "    10:02:00 job connected 10.0.0.1:1002 k30 c1\n")
    stored = sys("mqtt.stored_messages", (6, 0), (6, 50), (1, -300), (17, 0), base=53)
    passed = say("passed", client="job", since=at(60), until=at(120), messages=300)
    assert detect(facts(back, UNLIMITED, stored)).rejected == passed
    assert detect(facts(back, UNLIMITED, sys("mqtt.stored_messages", (30, 0), base=53))).rejected is None
