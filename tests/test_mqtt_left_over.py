"""Messages of MQTT that are missing, wait or have no answer, for no reason that is known."""

import pytest
from facts_builder import at, episode, facts, log, ramp, series
from mqtt_builder import broker
from mqtt_mail import mail, noted

from mqlab.findings import Certainty, Finding, Severity
from mqlab.mqtt.symptoms import missing, waiting
from mqlab.shared.wording import moment
from mqlab.symptoms.unexplained import unexplained

LOG = log("logs/mosquitto.log", "mosquitto-log", first="10:00:00", last="10:05:00", lines=10)
PLANT = ("plant/a/t", "plant/b/t")


def told(*rows):
    """Words without their clock."""
    material = facts(LOG, *rows)
    return [text.partition(" UTC: ")[2] for _, text in (*missing(material), *waiting(material))]


def test_whole_topics_that_arrive_nowhere_beside_others_are_told():
    both = mail(lambda n, _: ("hist",) if n % 2 else (), topics=PLANT, seconds=60, rate=2)
    assert told(noted(both)) == [
        "60 messages of 1 topic of published-feed are in no ledger here, while those of its other topics are"
    ]


def test_a_publisher_of_whom_nobody_keeps_a_ledger_tells_nothing():
    assert told(noted(mail(()))) == []


def test_a_few_messages_under_way_at_the_end_tell_nothing():
    assert told(noted(mail(lambda n, _: ("hist",) if n < 595 else ()))) == []


def test_messages_that_one_receiver_misses_in_the_middle_are_told():
    assert told(noted(mail(lambda n, _: ("hist",) if n % 3 else ()))) == [
        "200 of 600 messages published for clients/received-hist.csv are not in its ledgers, and nothing explains that"
    ]


def test_losses_beside_a_storm_of_reconnects_are_explained():
    rows = facts(LOG, noted(mail(lambda n, _: ("hist",) if n % 3 else ())))
    when = (moment(at(0)), moment(at(120)))
    storm = Finding("reconnect-storm:m", "reconnect-storm", Severity.NOTICE, Certainty.PROVEN, "m", *when, False, "")
    assert [s.text for s in unexplained(rows, [storm])] == []
    assert len(unexplained(rows, [])) == 1


def test_messages_without_an_acknowledgement_are_told_with_since_when():
    sent, waits = mail({"shore": 0.1}, seconds=60), mail((), start=60, seconds=10, failed=True, first=601)
    assert [text for _, text in missing(facts(LOG, noted(sent, waits)))] == [
        "10:01:00 UTC: 100 of 700 messages of published-feed failed or were not acknowledged"
    ]


def test_messages_that_come_later_and_later_wait_at_the_client():
    slow = mail(lambda n, _: {"shore": n / 30}, seconds=60)
    (text,) = told(noted(slow, mail((), start=60, seconds=10, failed=True, first=601)))
    assert text.endswith("failed or were not acknowledged; others arrived up to 20 s late, which points to a slow link")


def counted(*behind):
    """What a client's log counts every ten seconds: 100 published each, *behind* them acknowledged."""
    sent = series("app.published", ramp((len(behind), 100)), source="clients/ferry.log")
    acked = [100 * n - gap for n, gap in enumerate((0, *behind))]
    return sent, series("app.acknowledged", acked, source="clients/ferry.log")


@pytest.mark.parametrize(
    ("behind", "words"),
    [
        (
            (10, 20, 30, 40),
            [
                "40 of 400 messages of clients/ferry.log await an acknowledgement, "
                "and the backlog grows with every count"
            ],
        ),
        ((10, 20, 3, 4), []),
        ((1, 2, 3, 4), []),
    ],
)
def test_counts_of_a_client_stand_in_for_its_ledger(behind, words):
    assert told(counted(*behind)) == words


def stored(*values, kept=50):
    own = {"source": "metrics/sys.log"}
    return series("mqtt.stored_messages", values, **own), series("mqtt.retained_messages", [kept] * len(values), **own)


CONNECTED = broker("10:00:00 app connected 10.0.0.1:1001 k30 c1")


def test_messages_that_wait_for_nobody_that_is_known_are_told():
    assert told(CONNECTED, stored(50, 90, 130, 170)) == [
        "120 messages wait at mosquitto, but no disconnected session is known"
    ]


@pytest.mark.parametrize("values", [(50, 90, 130, 50), (50, 52, 55, 58), (170, 170, 170, 170), (10, 20, 15, 12)])
def test_what_is_worked_off_or_as_before_is_none(values):
    assert told(CONNECTED, stored(*values)) == []


def test_retained_messages_do_not_wait():
    kept = series("mqtt.retained_messages", [50, 90, 130, 170], source="metrics/sys.log")
    assert told(CONNECTED, stored(50, 90, 130, 170)[0], kept) == []


def test_messages_that_wait_for_a_session_that_is_away_are_no_symptom():
    away = broker("10:00:00 app connected 10.0.0.1:1001 k30 c0\n10:00:05 app closed")
    assert told(away, stored(50, 90, 130, 170), episode("client-configured", 0, "clients/x.log", system="mqtt")) == []


def test_what_no_ledger_notes_is_told_where_nobody_tells_who_shares_it():
    dealt = mail(lambda n, _: ((), ("one",), ("two",))[n % 3] if n > 3 else ("one",))
    assert told(noted(dealt)) == ["198 of 600 messages of published-feed are in no receiver's ledger"]


def test_a_brokers_count_of_dropped_messages_is_told():
    assert told(series("mqtt.publish_dropped", [0, 0, 30, 200])) == [
        "mqtt_publish_dropped begins to rise, by 200 in all"
    ]
    assert told(series("mqtt.publish_dropped", [7, 7, 7, 9])) == []


def test_a_session_that_went_away_after_the_messages_began_to_wait_does_not_account_for_them():
    left = broker("10:00:00 app connected 10.0.0.1:1001 k30 c0\n10:00:29 app closed")
    assert told(left, stored(50, 90, 130, 170)) == [
        "120 messages wait at mosquitto, but no disconnected session is known"
    ]
