"""Sessions that are away and whose subscriptions nobody tells: what the broker's own counts say about them."""

import pytest
from facts_builder import facts, ramp, series, settings
from mqtt_builder import broker
from mqtt_mail import mail, noted

from mqlab.detectors import persistent_session_diversion, session_queue_drop, session_queue_growth
from mqlab.findings import Certainty

LOG = """
    10:00:00 - starting
    10:00:01 old connected 10.0.0.1:1001 k30 c0
    10:00:01 new connected 10.0.0.2:1002 k30 c0
    10:01:00 old normal
"""
FULL = LOG + "    10:03:00 old dropping\n"
UNLIMITED = settings("at owner key value\n- - max_queued_messages 0", "mosquitto.conf", scope="broker", origin="file")
LIMITED = settings("at owner key value\n- - max_queued_messages 400", "mosquitto.conf", scope="broker", origin="file")


def sys(name, *legs, base=0):
    return series(name, ramp(*legs, base=base), source="metrics/sys.log")


CAME = sys("mqtt.publish_received", (30, 400))


def shared(count):
    return series("mqtt.shared_subscriptions", [0, count], source="metrics/sys.log")


def judged(*rows, text=LOG, last="10:05:00"):
    known = facts(broker(text, last=last), *rows)
    return [d.detect(known) for d in (persistent_session_diversion, session_queue_growth, session_queue_drop)]


def test_growth_by_its_share_of_the_shared_subscriptions_makes_it_a_member():
    diversion, growth, drop = judged(
        UNLIMITED, CAME, shared(4), sys("mqtt.stored_messages", (6, 0), (24, 100), base=53)
    )
    (one,) = diversion.findings
    assert (one.certainty, one.subject) == (Certainty.LIKELY, "old")
    assert one.measures["diverted_fraction"] == 0.25
    assert one.measures["diverted_messages"] == pytest.approx(2400)
    assert growth.findings == drop.findings == ()


def test_what_came_before_it_left_is_not_diverted_though_the_counter_is_printed_later():
    text = LOG.replace("10:01:00 old", "10:01:08 old")
    stored = sys("mqtt.stored_messages", (7, 0), (23, 100), base=53)
    diversion, _, _ = judged(UNLIMITED, CAME, shared(4), stored, text=text)
    (one,) = diversion.findings
    assert one.measures["diverted_messages"] == pytest.approx((300 - 68) * 40 / 4)


@pytest.mark.parametrize(("every", "diverted"), [(4, 2375), (3, 2400)], ids=["its share", "another number"])
def test_messages_that_nobody_notes_are_counted_where_they_are_about_its_share(every, diverted):
    sent = noted(mail(lambda n, s: () if s >= 62.5 and n % every == 0 else ("new",), start=5, seconds=295, rate=40))
    stored = sys("mqtt.stored_messages", (6, 0), (24, 100), base=53)
    diversion, _, _ = judged(UNLIMITED, CAME, shared(4), stored, sent)
    (one,) = diversion.findings
    assert one.measures["diverted_messages"] == pytest.approx(diverted, abs=1)


def test_its_queue_may_be_full_by_then():
    stored = sys("mqtt.stored_messages", (6, 0), (4, 100), (20, 0), base=53)
    dropped = sys("mqtt.publish_dropped", (10, 0), (20, 100))
    diversion, _, drop = judged(LIMITED, CAME, shared(4), stored, dropped, text=FULL)
    assert [f.subject for f in diversion.findings] == ["old"]
    assert drop.findings == ()


def test_where_nobody_shares_it_grows_for_itself():
    diversion, growth, _ = judged(UNLIMITED, CAME, shared(0), sys("mqtt.stored_messages", (6, 0), (24, 400), base=53))
    assert diversion.findings == ()
    (one,) = growth.findings
    assert (one.certainty, one.subject) == (Certainty.PROVEN, "old")
    assert one.measures["queue_growth_per_second"] == pytest.approx(40)


def test_growth_by_a_part_of_what_comes_in_is_likely_its_own_where_nobody_shares():
    _, growth, _ = judged(UNLIMITED, CAME, shared(0), sys("mqtt.stored_messages", (6, 0), (24, 130), base=53))
    assert [f.certainty for f in growth.findings] == [Certainty.LIKELY]


def test_growth_by_another_part_says_nothing_where_somebody_shares():
    diversion, growth, _ = judged(UNLIMITED, CAME, shared(4), sys("mqtt.stored_messages", (6, 0), (24, 300), base=53))
    assert (diversion.findings, growth.findings) == ((), ())
    assert growth.missing


def test_everybody_who_stops_at_the_end_is_left_out():
    text = LOG.replace("10:01:00 old", "10:04:30 old")
    grown = sys("mqtt.stored_messages", (27, 0), (3, 400), base=53)
    for found in judged(UNLIMITED, CAME, shared(0), grown, text=text):
        assert (found.findings, found.missing) == ((), ())
