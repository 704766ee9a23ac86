"""Full queues of sessions: how many messages they dropped, which survived, and what is no full queue."""

import pytest
from facts_builder import at, episode, facts, ramp, series, settings
from mqtt_builder import broker
from mqtt_mail import mail, noted
from said import told

from mqlab.detectors.session_queue_drop import Reader, detect, say
from mqlab.findings import Certainty, Severity

LOG = """
    10:00:00 - starting
    10:00:01 feed connected 10.0.0.9:1000 k30 c1
    10:00:01 app connected 10.0.0.1:1001 k30 c0
    10:01:00 app normal
    10:02:40 app dropping
    10:05:00 app connected 10.0.0.1:1002 k30 c0
"""
SUBSCRIBED = episode(
    "client-subscribed", 1, "clients/app.log", system="mqtt", client_id="app", topic="plant/#", left=1.0
)
CONF = settings("at owner key value\n- - max_queued_messages 1000", "mosquitto.conf", scope="broker", origin="file")


def log(text=LOG, last="10:10:00"):
    return broker(text, last=last)


def oldest(_, second):
    """Away from 60 to 300 at 10 a second: 2400, of which the first 1000 survive."""
    if 60 <= second < 300:
        return {"app": 300 - second} if second < 160 else ()
    return ("app",)


def newest(_, second):
    if 60 <= second < 300:
        return {"app": 300 - second} if second >= 200 else ()
    return ("app",)


def counter(dropped, name="mqtt.publish_dropped"):
    return series(name, [0] * 17 + [dropped * n / 14 for n in range(1, 15)] + [dropped] * 5, source="metrics/sys.log")


def test_a_loss_that_the_brokers_counter_confirms_is_proven():
    (one,) = detect(facts(log(), SUBSCRIBED, CONF, counter(1400), noted(mail(oldest, start=2, seconds=598)))).findings
    assert (one.certainty, one.severity, one.subject) == (Certainty.PROVEN, Severity.CRITICAL, "app")
    assert one.measures["lost_records"] == 1400
    assert one.measures["survivors"] == 1000
    assert one.facts["survived"] == say("survived", kept="oldest")
    assert told(one.statement).items() >= {"state": Reader.AWAY, "gone": at(60), "back": at(300)}.items()


def test_drops_end_when_their_client_is_back():
    sent = noted(mail(oldest, start=2, seconds=598))
    (one,) = detect(facts(log(), SUBSCRIBED, CONF, counter(1400), sent)).findings
    assert one.cause_ended_at.timestamp() == at(300)
    gone = LOG.replace("    10:05:00 app connected 10.0.0.1:1002 k30 c0\n", "")
    away = noted(mail(lambda _, s: ("app",) if s < 60 else (), start=2, seconds=598))
    (open_,) = detect(facts(log(gone), SUBSCRIBED, CONF, counter(4400), away)).findings
    assert open_.cause_ended_at is None
    (slow,) = detect(facts(log(THREE), CONF, counter(340), shared_out())).findings
    assert slow.cause_ended_at is None, "a client that was connected all the time"


def test_survivors_that_are_as_many_as_the_queue_holds_prove_it_without_a_counter():
    (one,) = detect(facts(log(), SUBSCRIBED, CONF, noted(mail(oldest, start=2, seconds=598)))).findings
    assert one.certainty is Certainty.PROVEN
    assert told(one.statement)["proofs"] == (say("survivors"),)


def test_which_end_survived_is_told_by_ids_whatever_the_broker():
    (one,) = detect(facts(log(), SUBSCRIBED, CONF, counter(1400), noted(mail(newest, start=2, seconds=598)))).findings
    assert one.facts["survived"] == say("survived", kept="newest")


def test_a_count_that_nothing_confirms_is_likely():
    short = noted(mail(lambda n, s: () if 60 <= s < 300 and n % 2 else ("app",), start=2, seconds=598))
    (one,) = detect(facts(log(), SUBSCRIBED, CONF, counter(40), short)).findings
    assert one.certainty is Certainty.LIKELY


def test_without_ids_stored_messages_that_stop_at_the_limit_prove_it():
    stored = series("mqtt.stored_messages", ramp((6, 0), (10, 100), (14, 0), base=53), source="metrics/sys.log")
    (one,) = detect(facts(log(), SUBSCRIBED, CONF, counter(1400), stored)).findings
    assert one.certainty is Certainty.PROVEN
    assert one.measures["lost_records"] == 1400


SMALL = settings("at owner key value\n- - max_queued_messages 100", "mosquitto.conf", scope="broker", origin="file")


@pytest.mark.parametrize(("rise", "certainty"), [(100, Certainty.PROVEN), (120, Certainty.LIKELY)])
def test_what_was_stored_before_the_client_left_is_no_part_of_its_queue(rise, certainty):
    stored = series("mqtt.stored_messages", ramp((1, 18), (5, 0), (1, 0), (10, rise / 10), (13, 0), base=35))
    (one,) = detect(facts(log(), SUBSCRIBED, SMALL, counter(1400), stored)).findings
    assert one.certainty is certainty
    assert one.measures["lost_records"] == 1400


def test_a_line_and_the_brokers_count_of_drops_are_likely_without_stored_messages():
    (one,) = detect(facts(log(), SUBSCRIBED, counter(1400))).findings
    assert (one.certainty, one.severity) == (Certainty.LIKELY, Severity.WARNING)


def test_the_brokers_count_is_not_told_apart_where_two_queues_drop():
    found = detect(facts(log(LOG + "    10:05:01 twin dropping\n"), SUBSCRIBED, CONF, counter(1400)))
    shares = tuple(say("no-share", client=client, dropped=1400) for client in ("app", "twin"))
    assert (found.findings, found.missing) == ((), shares)


def test_a_line_without_a_drop_in_the_brokers_count_is_not_enough():
    assert detect(facts(log(), SUBSCRIBED, CONF, counter(0))).findings == ()


def test_a_line_alone_is_not_enough():
    found = detect(facts(log(), SUBSCRIBED))
    assert (found.findings, found.missing) == ((), (say("no-count", client="app"),))


def test_the_last_queue_of_a_client_that_did_not_come_back_is_not_lost():
    text = LOG.replace("    10:05:00 app connected 10.0.0.1:1002 k30 c0\n", "")
    gone = noted(mail(lambda _, s: () if s >= 60 else ("app",), start=2, seconds=298))
    (one,) = detect(facts(log(text, "10:05:00"), SUBSCRIBED, CONF, counter(1400), gone)).findings
    assert one.measures["lost_records"] == pytest.approx(1400, abs=1)
    shown = told(one.statement)
    assert (shown["gone"], "back" in shown) == (at(60), False)


def test_a_connected_client_that_is_too_slow_is_told_as_such():
    text = LOG.replace("    10:01:00 app normal\n", "").replace("    10:05:00 app connected 10.0.0.1:1002 k30 c0\n", "")
    slow = noted(mail(lambda n, s: () if s > 160 and n % 2 else {"app": min(s, 100)}, start=2, seconds=598))
    lost = sum(1 for n in range(5980) if 2 + n / 10 > 160 and n % 2)
    (one,) = detect(facts(log(text), SUBSCRIBED, CONF, counter(lost), slow)).findings
    assert one.certainty is Certainty.PROVEN
    assert one.facts["client"] == say("connection", state=Reader.SLOW)
    assert one.measures["lost_records"] == pytest.approx(lost, abs=1)


def test_an_absence_that_is_no_longer_than_the_queue_loses_nothing():
    text = LOG.replace("    10:02:40 app dropping\n", "")
    late = noted(mail(lambda _, s: {"app": 300 - s} if 60 <= s < 300 else ("app",), start=2, seconds=598))
    found = detect(facts(log(text), SUBSCRIBED, CONF, counter(0), late))
    assert (found.findings, found.rejected, found.missing) == ((), None, ())


def test_a_queue_full_of_copies_is_somebody_elses_doing():
    text = LOG.replace("    10:01:00 app normal\n", "").replace("    10:05:00 app connected 10.0.0.1:1002 k30 c0\n", "")
    flood = noted(mail(lambda n, _: {"app": [0.01 * k for k in range(1, 9)]} if n % 2 else (), start=2, seconds=598))
    found = detect(facts(log(text), SUBSCRIBED, CONF, counter(2990), flood))
    assert (found.findings, found.rejected) == ((), say("copies", client="app"))


def test_missing_messages_without_a_drop_at_the_broker_are_no_full_queue():
    text = LOG.replace("    10:02:40 app dropping\n", "")
    other = noted(mail(lambda n, _: ("app",) if n % 2 else (), topics=("plant/a", "plant/b"), start=2, seconds=598))
    found = detect(facts(log(text), SUBSCRIBED, CONF, counter(0), other))
    assert (found.findings, found.rejected, found.missing) == ((), None, ())


THREE = """
    10:00:00 - starting
    10:00:01 feed connected 10.0.0.9:1000 k30 c1
    10:00:01 app connected 10.0.0.1:1001 k30 c1
    10:00:01 two connected 10.0.0.2:1001 k30 c1
    10:02:52 app dropping
"""


def shared_out(dropped=True):
    """Each message goes to one of two clients, whose filters nobody tells; one's queue drops for a while."""
    return noted(
        mail(lambda n, s: ("two",) if n % 2 else () if dropped and 172 <= s < 240 else ("app",), start=2, seconds=598)
    )


def test_what_clients_share_and_none_of_them_notes_is_what_the_only_queue_that_drops_lost():
    (one,) = detect(facts(log(THREE), CONF, counter(340), shared_out())).findings
    assert (one.subject, one.certainty, one.measures["lost_records"]) == ("app", Certainty.PROVEN, 340)
    assert (one.started_at.timestamp(), one.ended_at.timestamp()) == (at(172), pytest.approx(at(240), abs=0.3))
    assert one.statement.values["sharing"] is True
    assert one.statement.values["published"] == 5980
    assert "several clients" not in one.remedy, "it is a member of a share group"
    assert detect(facts(log(THREE), CONF, counter(340), shared_out(dropped=False))).findings == ()
    alone = detect(facts(log(), SUBSCRIBED, CONF, counter(1400), noted(mail(oldest, start=2, seconds=598)))).findings
    assert [one.statement.values["sharing"] for one in alone] == [False]


def test_drops_last_as_long_as_the_brokers_count_rises():
    (one,) = detect(facts(log(THREE), CONF, counter(340))).findings
    assert (one.started_at.timestamp(), one.ended_at.timestamp()) == (at(172), at(300))
    two = f"{THREE}    10:02:55 two dropping"
    ends = {one.subject: one.ended_at.timestamp() for one in detect(facts(log(two), CONF, counter(340))).findings}
    assert set(ends.values()) <= {at(172), at(175)}, "whose drops the count tells is open"


def test_a_dead_member_of_a_share_group_is_another_incident():
    shared = tuple(
        episode(
            "client-subscribed", 1, f"clients/{c}.log", system="mqtt", client_id=c, topic="$share/g/plant/#", left=1.0
        )
        for c in ("app", "twin")
    )
    text = LOG.replace("    10:05:00 app connected 10.0.0.1:1002 k30 c0\n", "") + "10:05:00 feed normal"
    text = text.replace("10:01:00 app", "10:00:02 twin connected 10.0.0.1:1003 k30 c1\n    10:01:00 app")
    gone = noted(mail(lambda n, s: ("twin",) if n % 2 else (() if s > 60 else ("app",)), start=3, seconds=297))
    assert detect(facts(log(text, "10:05:00"), shared, CONF, counter(200), gone)).findings == ()


def test_nothing_that_would_show_a_drop_is_not_checked():
    assert detect(facts(SUBSCRIBED)).missing == (say("no-material"),)


def test_the_brokers_count_stands_where_a_publisher_has_no_ledger():
    half = noted(mail(lambda n, s: oldest(n, s) if n % 2 else ("app",), start=2, seconds=598))
    assert detect(facts(log(), SUBSCRIBED, CONF, counter(1400), half)).findings[0].measures["lost_records"] == 1400


def test_a_member_of_a_share_group_that_falls_silent_may_be_away():
    group = [
        episode("client-subscribed", 1, f"clients/{c}.log", system="mqtt", client_id=c, topic="$share/g/plant/#")
        for c in ("app", "two")
    ]
    came = "10:00:00 - starting\n10:00:01 two connected 10.0.0.2:1 k30 c0\n10:00:01 app connected 10.0.0.1:1 k30 c0"
    shared = noted(mail(lambda n, s: ("two",) if n % 2 else ("app",) if s < 60 else (), start=2, seconds=598))
    result = detect(facts(log(f"{came}\n10:02:40 app dropping"), group, CONF, shared))
    assert (result.findings, result.missing) == ((), (say("no-connects", client="app"),))


def test_a_queue_of_which_nothing_else_is_told_is_not_called_slow():
    (one,) = detect(facts(log("10:00:00 - starting\n10:02:40 app dropping"), counter(200))).findings
    assert told(one.statement)["state"] is Reader.UNKNOWN


def test_a_counter_that_was_read_once_has_counted_since_the_start_of_its_broker():
    once = series("mqtt.publish_dropped", [1400], start=590, source="metrics/sys.log")
    (one,) = detect(facts(log(), SUBSCRIBED, CONF, once)).findings
    assert one.measures["lost_records"] == told(one.statement)["lost_records"] == 1400


def test_what_a_counter_without_the_start_of_its_broker_counts_is_told_as_a_counter_for_all():
    running = log("\n".join(LOG.strip().splitlines()[1:]))
    once = series("mqtt.publish_dropped", [1400], start=590, source="metrics/sys.log")
    result = detect(facts(running, SUBSCRIBED, CONF, once))
    assert (result.findings, result.missing) == ((), (say("no-share", client="app", dropped=1400),))
    assert detect(facts(running, SUBSCRIBED, CONF)).missing == (say("no-count", client="app"),)


def test_it_begins_with_the_line_of_the_broker_where_that_lies_among_what_is_lost():
    losing = noted(mail(oldest, start=2, seconds=598))
    (one,) = detect(facts(log(), SUBSCRIBED, CONF, counter(1400), losing)).findings
    assert one.started_at.timestamp() == at("10:02:40")
    late = log(LOG.replace("10:02:40 app dropping", "10:03:10 app dropping"))
    (other,) = detect(facts(late, SUBSCRIBED, CONF, counter(1400), losing)).findings
    assert other.started_at.timestamp() == at("10:03:10")
    unseen = log(LOG.replace("10:02:40 app dropping", "10:09:10 app dropping"))
    (none,) = detect(facts(unseen, SUBSCRIBED, CONF, counter(1400), losing)).findings
    assert at("10:02:38") <= none.started_at.timestamp() <= at("10:02:42")


BRIDGE = """
    10:00:00 - starting
    10:00:00 hq tries 10.9.0.2:1883
    10:01:00 local.edge.hq closed
    10:01:05 hq tries 10.9.0.2:1883
    10:01:05 - refused
    10:02:40 local.edge.hq dropping
    10:03:05 hq tries 10.9.0.2:1883
    10:03:05 - refused
    10:05:00 hq tries 10.9.0.2:1883
"""


def test_a_bridge_that_is_cut_off_was_away_and_is_no_slow_reader():
    (one,) = detect(facts(log(BRIDGE), counter(1400))).findings
    away = {"state": Reader.AWAY, "gone": at(60), "back": at(300), "bridge": "10.9.0.2:1883"}
    assert told(one.statement).items() >= away.items()
    open_ = BRIDGE + "    10:05:00 - refused\n"
    (one,) = detect(facts(log(open_), counter(1400))).findings
    assert "back" not in told(one.statement)


def test_a_bridge_of_whose_end_no_line_tells_is_said_to_have_tried_again():
    frozen = BRIDGE.replace("    10:01:00 local.edge.hq closed\n", "").replace(
        "    10:01:05 hq tries 10.9.0.2:1883\n", ""
    )
    (one,) = detect(facts(log(frozen.replace("    10:01:05 - refused\n", "")), counter(1400))).findings
    shown = told(one.statement)
    assert (shown["state"], shown["tried"], shown["bridge"]) == (Reader.UNKNOWN, at(185), "10.9.0.2:1883")


def test_of_two_bridges_that_try_at_once_the_error_is_about_the_one_that_tries_again():
    lab = "    10:05:00 lab tries 10.9.0.3:1883\n    10:05:01 - refused\n    10:05:20 lab tries 10.9.0.3:1883\n"
    (one,) = detect(facts(log(BRIDGE + lab + "    10:05:20 - refused\n"), counter(1400))).findings
    assert told(one.statement)["back"] == at(300)


def test_a_bridge_whose_queue_drops_while_it_is_connected_is_slow():
    rows = BRIDGE.replace("10:02:40 local.edge.hq dropping", "10:02:40 press connected 10.0.0.1:1001")
    (one,) = detect(facts(log(rows + "    10:08:00 local.edge.hq dropping\n"), counter(1400))).findings
    assert told(one.statement)["state"] is Reader.SLOW


def test_a_client_with_the_name_of_a_bridge_at_its_end_is_none():
    rows = LOG.replace(" app ", " plant.hq ") + "    10:06:00 hq tries 10.9.0.2:1883\n"
    (one,) = detect(facts(log(rows), counter(1400))).findings
    shown = told(one.statement)
    assert (shown["state"], "bridge" in shown) == (Reader.AWAY, False)


def test_the_brokers_first_values_are_no_base_of_what_a_slow_clients_queue_took():
    text = LOG.replace("    10:01:00 app normal\n", "").replace("    10:05:00 app connected 10.0.0.1:1002 k30 c0\n", "")
    stored = series("mqtt.stored_messages", ramp((1, 18), (5, 0), (10, 10), (14, 0), base=35))
    (one,) = detect(facts(log(text), SUBSCRIBED, SMALL, counter(1400), stored)).findings
    assert told(one.statement)["proofs"] == (say("plateau", rose=100),)
