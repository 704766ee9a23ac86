"""What left its own level first, what surely followed, and where nobody can say which came first."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from facts_builder import at, episode, facts, positions, series
from mqtt_builder import broker, turns
from report_example import diagnosis, split_loop

from mqlab.findings import Certainty
from mqlab.rows import Minute, Receipt, Volume
from mqlab.screen import screen
from mqlab.symptoms.change_points import (
    Riser,
    consequences,
    during,
    earlier,
    first,
    order,
    risers,
    risers_beside,
    traffic,
    words,
)
from mqlab.symptoms.change_points import all_courses as courses


def counter(name, *legs, step=10, source="metrics/sys.log", **labels):
    """A counter from (samples, increase a second) legs."""
    values = [0]
    for samples, rate in legs:
        values += [values[-1] + rate * step * n for n in range(1, samples + 1)]
    return series(name, values, step=step, source=source, **labels)


def rows(source, role, *legs):
    """Rows of a ledger for each ten seconds, from (pieces, rows) legs."""
    many = [rate for pieces, rate in legs for _ in range(pieces)]
    return tuple(
        Receipt(at(10 * n), source, role, count, 1, 0, 0, 0, 0.0, 2 + n, None) for n, count in enumerate(many) if count
    )


def told(found):
    return [(r.quantity, r.who, r.before, r.after, r.since - at(0), r.at - at(0)) for r in found]


def calm(*clients, until="10:05:00"):
    """Devices that connect once in a while."""
    lines = [f"10:00:0{n} {client} connected 10.0.1.{n}:900{n} k30 c1" for n, client in enumerate(clients, 1)]
    return "\n".join([*lines, f"{until} {clients[0]} connected 10.0.1.1:9100 k30 c1"])


FIGHT = broker(calm("a", "b", "c", until="10:00:50") + "\n"
               + turns("press", ["10.0.0.1", "10.0.0.2"], start="10:01:00", times=60), last="10:02:00")  # fmt: skip


def test_the_first_riser_is_the_client_that_has_nearly_all_of_it():
    found = risers(facts(FIGHT))
    assert {(r.quantity, r.who) for r in found} == {("connects", ""), ("connects", "press"), ("takeovers", "press")}
    assert {(r.quantity, r.who) for r in first(found)} == {("connects", "press"), ("takeovers", "press")}
    (connects,) = [r for r in found if (r.quantity, r.who) == ("connects", "press")]
    assert (connects.before, connects.after, connects.share) == (0, 5, 1.0)
    assert connects.since <= at("10:01:00") <= connects.at


def test_the_broker_s_total_follows_its_client():
    total = counter("mqtt.bytes_received", (12, 100), (12, 5000))
    found = risers(facts(FIGHT, total))
    assert [r.quantity for r in consequences(found)] == ["mqtt.bytes_received"]


def test_what_happens_everywhere_has_no_client_to_name():
    devices = [f"d{n}" for n in range(40)]
    storm = "\n".join(
        f"10:0{2 + wave // 6}:{wave % 6 * 10 + n % 10:02d} {d} connected 10.0.2.{n}:{7000 + wave} k30 c1"
        for wave in range(6) for n, d in enumerate(devices)
    )  # fmt: skip
    found = first(risers(facts(broker("10:00:00 d1 connected 10.0.2.1:7000 k30 c1\n" + storm, last="10:03:00"))))
    assert [(r.quantity, r.who) for r in found] == [("connects", "")]


def test_a_rate_that_falls_has_left_its_level_too():
    end = counter("topic.end_offset", (10, 40), (10, 26.7), topic="telemetry", partition="2", source="exporter.json")
    assert [(q, w, b, round(a, 1), s, t) for q, w, b, a, s, t in told(risers(facts(end)))] == [
        ("topic.end_offset", "telemetry 2", 40, 26.7, 100, 110)
    ]


def test_what_goes_on_to_rise_is_told_with_its_value_at_that_time_and_its_level_afterwards():
    ramp = series("process.resident_bytes", [10e6] * 10 + [10e6 + 3e6 * n for n in range(1, 21)], source="rss.csv")
    step = series("process.resident_bytes", [10e6] * 10 + [40e6] * 20, source="rss.csv")
    (rising,), (stepping,) = risers(facts(ramp)), risers(facts(step))
    assert words(rising).endswith("10.0 MB -> 16.0 MB, a median of 43.0 MB from then on")
    assert words(stepping).endswith("10.0 MB -> 40.0 MB")


def test_of_the_traffic_that_changed_the_largest_change_is_told_and_a_burst_that_ended_is_no_lasting_level():
    burst = counter("broker.bytes_in", (12, 100), (8, 500), (6, 100), instance="one:7071")
    halved = counter("broker.bytes_out", (12, 100), (14, 50), instance="one:7071")
    busy = counter("mqtt.takeovers", (12, 1), (14, 900))
    given = facts(burst, halved, busy)
    (own,) = [riser for riser in risers(given) if riser.quantity == "broker.bytes_in"]
    assert (own.before, own.after, own.lasting) == (100, 500, False)
    assert traffic(given) == words(own)
    assert traffic(facts(busy)) is None


@pytest.mark.parametrize(("when", "told_"), [("10:01:40", False), ("10:02:20", True), ("09:50:00", True)])
def test_the_traffic_of_brokers_that_moved_with_their_leaders_is_told_by_the_restart(when, told_):
    halved = counter("broker.bytes_out", (12, 100), (14, 50), instance="one:7071")
    restart = episode("broker-starting", when, "logs/server.log", node="2")
    assert bool(traffic(facts(halved, restart))) is told_


def test_what_two_brokers_count_is_told_of_each():
    east = series("mqtt.stored_messages", [5] * 8 + [90] * 8, source="metrics/sys-east.log")
    west = replace(east, source="metrics/sys-west.log")
    assert [r.who for r in risers(facts(east))] == [""]
    assert [r.who for r in risers(facts(east, west))] == ["sys-east", "sys-west"]


def test_the_level_before_is_what_was_measured_right_before():
    """A client that left just before another two came."""
    (riser,) = risers(facts(series("mqtt.clients_connected", [3] * 9 + [2] + [4] * 9, source="metrics/sys.log")))
    assert words(riser).endswith("2 -> 4")
    (noise,) = risers(facts(series("mqtt.clients_connected", [30, 31] * 5 + [29] + [60] * 9, source="metrics/sys.log")))
    assert noise.before == 30


def test_a_topic_s_share_is_that_of_all_topics_and_not_of_their_broker_s_total_beside():
    legs = {"orders": 900, "bills": 100}
    parts = [counter("broker.bytes_in", (12, 100), (12, rate), topic=t, instance="b") for t, rate in legs.items()]
    total = counter("broker.bytes_in", (12, 200), (12, 1000), instance="b")
    shares = {riser.who: riser.share for riser in risers(facts(parts, total))}
    assert shares == {"orders b": 0.9, "b": None}


def test_rows_of_ledgers_are_rates_without_the_pieces_that_are_not_whole():
    ledger = rows("clients/received.csv", "received", (1, 3), (8, 400), (8, 130), (1, 2))
    assert told(risers(facts(ledger))) == [("received", "clients/received.csv", 40, 13, 90, 100)]


def test_a_ledger_that_pauses_counts_nothing_meanwhile():
    ledger = rows("clients/published.csv", "sent", (10, 400), (8, 0), (3, 400))
    assert told(risers(facts(ledger))) == [("published", "clients/published.csv", 40, 0, 100, 110)]


def test_what_the_broker_prints_only_when_it_changes_had_its_old_value():
    clock = counter("mqtt.messages_sent", (20, 5))
    gone = series("mqtt.clients_disconnected", [0, 1], step=100, source="metrics/sys.log")
    sys = [s.__class__(s.name, f"$SYS/broker/{s.name}", s.labels, s.source, s.points, s.lines) for s in (clock, gone)]
    assert told(risers(facts(sys))) == [("mqtt.clients_disconnected", "", 0, 1, 90, 100)]


def test_a_counter_that_is_printed_only_when_it_changes_did_not_rise_meanwhile():
    clock = counter("mqtt.messages_sent", (20, 5))
    dropped = counter("mqtt.publish_dropped", (10, 0), (10, 30))
    points = (dropped.points[0], *dropped.points[11:])
    sys = [s.__class__(s.name, f"$SYS/broker/{s.name}", s.labels, s.source, p, s.lines)
           for s, p in ((clock, clock.points), (dropped, points))]  # fmt: skip
    assert told(risers(facts(sys))) == [("mqtt.publish_dropped", "", 0, 30, 100, 110)]


def test_values_that_were_printed_together_are_one_sample():
    clock = counter("mqtt.messages_sent", (30, 5))
    near = tuple((at(100 + after / 1000), 1.0 * after) for after in range(1, 9))
    other = replace(clock, name="mqtt.heap_bytes", points=((at(0), 1.0), *near))
    for moments, risen in (([(0, 5), (100, 900), (110, 5)], []), ([(0, 5), (100, 900), (140, 5)], [900])):
        stored = replace(clock, name="mqtt.stored_bytes", points=tuple((at(n), float(v)) for n, v in moments))
        sys = [replace(s, original=f"$SYS/broker/{s.name}") for s in (clock, other, stored)]
        found = [riser for riser in risers(facts(sys)) if riser.quantity == "mqtt.stored_bytes"]
        assert [riser.after for riser in found] == risen, "one print alone is an outlier"


def test_lag_and_log_volume_are_measured_too():
    snapshots = positions("at group topic queue committed end\n" + "\n".join(
        f"10:{minute:02d}:00 etl orders 0 {1000 * minute} {1000 * minute + (5 if minute < 8 else 900)}"
        for minute in range(1, 15)
    ))  # fmt: skip
    minutes = tuple(Minute(at(60 * n), 10, 1000 if n < 9 else 90_000) for n in range(16))
    found = risers(facts(snapshots))
    assert told(found) == [("lag", "etl orders", 5, 900, 420, 480)]
    loud = facts()
    loud = loud.__class__(volumes=(Volume("clients/app.log", at(0), minutes),))
    assert told(risers(loud)) == [("log volume", "clients/app.log", 1000, 90_000, 540, 600)]


@pytest.mark.parametrize(
    "material",
    [
        (),
        (broker(calm("a", "b", "c")),),
        (counter("mqtt.bytes_received", (30, 100)),),
        (rows("clients/received.csv", "received", (12, 40), (1, 400), (12, 40)),),
        (series("mqtt.stored_messages", [53, 53, 60]),),
    ],
    ids=["nothing", "devices at rest", "a level", "one outlier", "too few samples"],
)
def test_quiet_material_has_none(material):
    found = risers(facts(*material))
    assert (found, first(found), consequences(found), order(found)) == ((), (), (), "")


def riser(quantity, since, until, *, who="", source="a.log", share=None, unit="/s", before=1.0, after=9.0):
    return Riser(quantity, who, unit, before, after, at(since), at(until), share, source)


@pytest.mark.parametrize(
    ("one", "other", "sure"),
    [
        (riser("x", 0, 10), riser("y", 20, 30), True),
        (riser("x", 0, 10), riser("y", 10, 20), True),
        (riser("x", 0, 10), riser("y", 5, 15), False),
        (riser("x", 0, 10), riser("y", 0, 10), False),
        (riser("x", 0, 10), riser("y", 10.5, 20, source="b.log"), False),
        (riser("x", 0, 10), riser("y", 11.5, 20, source="b.log"), True),
    ],
    ids=["apart", "next sample", "overlapping", "one sample", "within the clocks", "beyond the clocks"],
)
def test_an_order_is_told_only_beyond_samples_and_clocks(one, other, sure):
    assert (earlier(one, other), earlier(other, one)) == (sure, False)


def test_two_onsets_within_one_sample_are_told_as_such():
    pair = (riser("connects", 60, 70, who="press", share=0.97, unit="in 5 s", before=0, after=5), riser("lag", 65, 75))
    assert order(pair) == (
        "cannot tell which came first: 10:01:00-10:01:10 connects of press 0 -> 5.00 in 5 s (97.0 % of the total); "
        "10:01:05-10:01:15 lag 1.00 -> 9.00/s"
    )


def test_what_one_client_does_is_one_thing():
    pair = (riser("connects", 60, 70, who="press"), riser("takeovers", 60, 70, who="press"))
    assert order(pair) == (
        "10:01:00-10:01:10 connects of press 1.00 -> 9.00/s; 10:01:00-10:01:10 takeovers of press 1.00 -> 9.00/s"
    )


@pytest.mark.parametrize(
    ("who", "quantity", "begins", "shown"),
    [
        ("press", "takeovers", 65, ()), ("press", "takeovers", 300, ("connects", "takeovers")),
        ("oven", "takeovers", 65, ("connects", "takeovers")), ("press", "lag", 65, ("lag",)),
    ],
    ids=["its own", "long before it began", "another client", "another quantity"],
)  # fmt: skip
def test_what_the_finding_itself_is_is_not_told_as_the_earliest(who, quantity, begins, shown):
    pair = (riser("connects", 60, 70, who=who), riser(quantity, 60, 70, who=who), riser("published", 200, 210))
    lead = replace(split_loop(), subject="press", started_at=datetime.fromtimestamp(at(begins), UTC))
    told = order(pair, lead=lead)
    assert [name for name in ("connects", "takeovers", "lag") if f" {name} of {who}" in told] == list(shown)
    assert bool(told) == bool(shown)


def test_consequences_come_after_the_first():
    chain = (riser("connects", 60, 70, who="press"), riser("lag", 80, 90), riser("heap", 100, 110, unit="B"))
    assert first(chain) == chain[:1]
    assert order(chain) == (
        "10:01:00-10:01:10 connects of press 1.00 -> 9.00/s; then 10:01:20-10:01:30 lag 1.00 -> 9.00/s and 1 more"
    )


def test_what_overlaps_one_of_the_first_is_no_consequence():
    chain = (riser("connects", 60, 70), riser("lag", 65, 75), riser("heap", 72, 90))
    assert (first(chain), consequences(chain)) == (chain[:2], ())


def test_of_a_total_and_its_part_the_part_is_first():
    part, total = riser("connects", 60, 70, who="press", share=0.9), riser("connects", 60, 70)
    assert first((part, total)) == (part,)
    few = riser("connects", 60, 70, who="press", share=0.2)
    assert first((few, total)) == (few, total)


def test_values_have_their_units():
    assert words(riser("mqtt.heap_bytes", 0, 10, unit="B", before=2e6, after=3e9)) == (
        "10:00:00-10:00:10 broker heap 2.00 MB -> 3.00 GB"
    )
    assert words(riser("log volume", 0, 10, unit="B/min", before=1000, after=9e7)).endswith(
        "log volume 1.00 kB -> 90.0 MB/min"
    )


def test_what_changed_first_is_a_row_of_the_screen_where_there_is_a_finding():
    changed = (riser("connects", 60, 70, who="press<b>\x1b", share=0.97),)
    lead = replace(split_loop(), started_at=None)
    found = [line for line in screen(replace(diagnosis(lead), risers=changed), ["x"]).splitlines()
             if line.startswith("EARLIEST")]  # fmt: skip
    assert found == ["EARLIEST 10:01:00-10:01:10 connects of press<b>\\u001b 1.00 -> 9.00/s (97.0 % of the total)"]
    calm = replace(diagnosis(incident="healthy"), symptoms=(), risers=changed)
    assert "EARLIEST" not in screen(calm, ["x"]) + screen(diagnosis(split_loop()), ["x"])


@pytest.mark.parametrize(
    ("certainty", "begins", "shown"),
    [
        (Certainty.PROVEN, 65, "broker heap"), (Certainty.LIKELY, 65, "lag"), (Certainty.PROVEN, 50, "lag"),
        (Certainty.PROVEN, 500, ""), (Certainty.PROVEN, 10, ""), (Certainty.LIKELY, 40, ""),
    ],
    ids=["over before", "not proven", "since it began", "all over before", "all later", "after a likely one"],
)  # fmt: skip
def test_what_was_over_before_an_incident_or_came_after_it_did_not_begin_it(certainty, begins, shown):
    changed = (riser("lag", 50, 60), riser("mqtt.heap_bytes", 62, 70, unit="B"))
    begin = datetime.fromtimestamp(at(begins), UTC)
    end = datetime.fromtimestamp(at(45), UTC) if begins == 40 else None
    lead = replace(split_loop(), started_at=begin, ended_at=end, certainty=certainty)
    text = screen(replace(diagnosis(lead), risers=changed), ["x"])
    found = [line for line in text.splitlines() if line.startswith("EARLIEST")]
    assert [shown in line for line in found] == ([True] if shown else [])


@pytest.mark.parametrize(
    ("ledger", "shown"),
    [
        ([(4, 0), (1, 3), (3, 50), (8, 2)], ()),
        ([(4, 0), (1, 3), (5, 50), (8, 2)], ("mqtt.bytes_received",)),
        ([(4, 0), (1, 3), (1, 2), (10, 50)], ("mqtt.bytes_received",)),
        ([(4, 0), (12, 50)], ("mqtt.bytes_received",)),
        ([(1, 3), (7, 50), (8, 2)], ("mqtt.bytes_received", "published")),
    ],
    ids=["moved before it had a level", "moved afterwards", "start of what is watched", "steady", "with a level"],
)
def test_nothing_is_told_as_the_earliest_where_something_moved_before_it_had_a_level(ledger, shown):
    given = facts(counter("mqtt.bytes_received", (9, 100), (8, 5000)), rows("clients/published.csv", "sent", *ledger))
    begin = datetime.fromtimestamp(at(90.5), UTC)
    lead = replace(split_loop(), started_at=begin, ended_at=None, certainty=Certainty.PROVEN)
    assert tuple(sorted(r.quantity for r in risers_beside(given, lead))) == shown
    assert risers_beside(given, None) == risers(given)


def test_what_changed_after_the_end_is_no_consequence():
    changed = (riser("lag", 62, 70), riser("received", 200, 210))
    lead = replace(
        split_loop(), started_at=datetime.fromtimestamp(at(65), UTC), ended_at=datetime.fromtimestamp(at(150), UTC)
    )
    assert [r.quantity for r in during(changed, lead)] == ["lag"]
    assert list(during(changed, replace(lead, ended_at=None))) == list(changed)


def test_sessions_that_are_used_again_are_no_course_of_takeovers():
    lines = [
        f"10:0{n}:0{k} press {what} 10.0.0.1:{n}"
        for n in range(8)
        for k, what in enumerate(("connected", "normal", "taken-over"))
    ]
    quantities = {course.quantity for course in courses(facts(broker("\n".join(lines))))}
    assert quantities == {"connects"}
    assert "takeovers" in {course.quantity for course in courses(facts(FIGHT))}


def test_what_lasts_for_years_is_counted_in_longer_pieces():
    year = 365 * 86_400.0
    connects = [episode("client-connected", year / 400 * n, "broker.log", system="mqtt", client_id="a")
                for n in range(400)]  # fmt: skip
    minutes = tuple(Minute(at(year / 400 * n // 60 * 60), 1, 60_000) for n in range(400))
    given = replace(facts(tuple(connects)), volumes=(Volume("broker.log", at(0), minutes),))
    found = {(c.quantity, c.unit): c.points for c in courses(given)}
    by_connect, by_minute = found["connects", "in 3,150 s"], found["log volume", "B/min"]
    assert len(by_connect) <= 10_000
    assert len(by_minute) <= 10_000
    assert sum(value for _, value in by_connect) == 399
    assert sum(value for _, value in by_minute) * (by_minute[1][0] - by_minute[0][0]) / 60 == pytest.approx(
        398 * 60_000
    )
