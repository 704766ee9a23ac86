"""Which zone a clock shows: written, printed beside an epoch, aligned, given, or assumed."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

from mqlab.clocks.settling import Clock, settle
from mqlab.clocks.zones import ASSUMED, WRITTEN, instants

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC).timestamp()
HOUR = 3600
EAST = 8 * HOUR
TRIGGERS = [NOON, NOON + 217, NOON + 511, NOON + 930]
SCRAPES = [(t - 5, t + 15) for t in TRIGGERS]
SPAN = (NOON - 600, NOON + 1800)


def clock(*events, source="app.log", written=False, started=(), window=None):
    """A log on its own clock."""
    return Clock(source, written, started, tuple(events), window)


def label(one, anchors=SCRAPES, span=SPAN, wanted=()):
    """(zone, first words of why) of one log."""
    zone = settle([one], anchors, span, wanted)[one.source]
    return zone.label, zone.why.split(":")[0]


def test_a_log_in_another_zone_is_aligned_with_the_metrics():
    east = clock(*(t + 3 + EAST for t in TRIGGERS))
    assert label(east) == ("+08:00", "aligned with zoned sources on 4 shared events")


def test_zones_of_a_quarter_hour_are_found():
    kathmandu = clock(*(t + 3 + 20_700 for t in TRIGGERS))
    assert label(kathmandu)[0] == "+05:45"


def test_two_shared_events_are_too_few():
    assert label(clock(*(t + EAST for t in TRIGGERS[:2]))) == (ASSUMED.label, "assumed")


def test_an_incident_of_an_hour_is_aligned_though_its_neighbours_fit_in_part():
    long = [NOON + 10 * n for n in range(360)]
    assert label(clock(*(t + EAST for t in long)), [(t - 5, t + 5) for t in long])[0] == "+08:00"


def test_a_piece_of_an_hour_long_incident_fits_everywhere_and_stays_assumed():
    long = [NOON + 10 * n for n in range(360)]
    assert label(clock(*(t + EAST for t in long[120:150])), [(t - 5, t + 5) for t in long]) == ("UTC", "assumed")


def test_an_epoch_beside_the_clock_settles_it():
    started = clock(started=((NOON + EAST + 0.2, NOON), (NOON + EAST + 900.4, NOON + 900)))
    assert label(started, ()) == ("+08:00", "the log prints an event's epoch time beside its own clock")


def test_what_the_user_says_overrides_no_written_zone_and_no_alignment():
    given = [("*", "+02:00")]
    assert label(clock(written=True), wanted=given)[0] == WRITTEN.label
    assert label(clock(*(t + EAST for t in TRIGGERS)), wanted=given)[0] == "+08:00"
    assert label(clock(), wanted=given) == ("+02:00", "given by --log-tz")


def test_the_last_glob_that_fits_counts():
    assert label(clock(source="a/app.log"), wanted=[("*", "+01:00"), ("app.*", "Asia/Tokyo"), ("b/*", "UTC")])[0] == (
        "Asia/Tokyo"
    )


def test_another_log_of_the_same_material_lends_its_zone_where_only_that_fits():
    known = clock(*(t + EAST for t in TRIGGERS), source="a.log")
    alike = clock(source="b.log", window=(NOON + EAST, NOON + EAST + 60))
    inside = clock(source="c.log", window=(NOON, NOON + 60))
    settled = settle([known, alike, inside], SCRAPES, SPAN, ())
    assert [settled[name].label for name in ("b.log", "c.log")] == ["+08:00", "UTC"]


def test_a_written_offset_beats_the_zone_of_the_file():
    instant = instants({"a.log": settle([clock(source="a.log")], (), None, [("*", "+02:00")])["a.log"]})
    assert instant("a.log", NOON, EAST) == NOON - EAST
    assert instant("a.log", NOON, None) == NOON - 2 * HOUR
    assert instant("a.log", None, None) is None


def test_order_of_the_logs_changes_nothing():
    logs = [
        clock(*(t + EAST for t in TRIGGERS), source="a.log"),
        clock(source="b.log", window=(NOON + EAST, NOON + EAST)),
    ]
    assert settle(logs, SCRAPES, SPAN, ()) == settle(logs[::-1], SCRAPES, SPAN, ())
    assert settle(logs, SCRAPES, SPAN, ())["a.log"].tz == timezone(timedelta(hours=8))


def test_a_format_that_fixes_its_zone_needs_no_neighbours():
    ruled = Clock("broker.log", False, (), (), None, "+08:00")
    assert label(ruled, ()) == ("+08:00", "this format always uses it")


def test_neither_the_user_nor_shared_events_override_the_format_but_an_epoch_in_the_lines_does():
    ruled = Clock("broker.log", False, (), tuple(t + 3 for t in TRIGGERS), None, "+08:00")
    assert label(ruled, wanted=[("*", "+02:00")])[0] == "+08:00"
    assert label(replace(ruled, started=((NOON + HOUR, NOON),)))[0] == "+01:00"
    assert label(replace(ruled, written=True))[0] == WRITTEN.label


def test_a_client_whose_id_connects_right_after_it_was_made_is_on_the_brokers_clock():
    made = Clock("client.log", False, (), (), None, met=((NOON + EAST - 16, (NOON, NOON + 7200 + 500)),))
    assert label(made, ()) == ("+08:00", "a broker saw its client ID connect at that moment")


def test_a_client_id_that_connects_at_several_hours_proves_nothing_alone():
    twice = Clock("client.log", False, (), (), None, met=((NOON + EAST - 16, (NOON, NOON + 7200)),))
    assert label(twice, (), None) == ("UTC", "assumed")
    again = replace(twice, met=(*twice.met, (NOON + EAST + 984, (NOON + 1000,))))
    assert label(again, ())[0] == "+08:00"


def test_a_client_that_connects_days_from_where_its_log_stands_tells_no_zone():
    damaged = Clock("client.log", False, (), (), None, met=((NOON + 48 * HOUR - 16, (NOON,)),))
    assert label(damaged, (), None) == ("UTC", "assumed")


def test_what_a_format_fixes_tells_the_only_zone_in_which_another_log_falls_into_its_time():
    broker = Clock("broker.log", False, (), (), (NOON + EAST, NOON + EAST + 600), "+08:00")
    client = Clock("client.log", False, (), (), (NOON + EAST + 60, NOON + EAST + 500))
    assert settle([broker, client], (), None, ())["client.log"].label == "+08:00"
    assert settle([broker, replace(client, window=(NOON, NOON + 60))], (), None, ())["client.log"] == ASSUMED


def test_a_client_told_of_each_new_member_is_aligned_with_the_broker_that_told():
    joins = [(t - 5, t + 5) for t in TRIGGERS]
    assert label(clock(*(t + 1 - 5 * HOUR for t in TRIGGERS)), joins)[0] == "-05:00"


def generations(*moments, group="g"):
    return tuple((f"{group} {number}", at) for number, at in enumerate(moments, 1))


def broker(*moments):
    """A coordinator's log that prints an epoch beside its clock, which shows UTC."""
    return replace(clock(source="server.log", started=((NOON, NOON),)), generations=generations(*moments))


def test_members_of_a_group_are_on_the_clock_on_which_its_generations_are_those_of_the_coordinator():
    member = replace(clock(), generations=generations(*(t + EAST + 2 for t in TRIGGERS)))
    assert settle([member, broker(*TRIGGERS)], (), SPAN, ())["app.log"].label == "+08:00"


def test_a_coordinator_is_aligned_with_a_member_just_the_same():
    member = replace(clock(started=((NOON + EAST, NOON),)), generations=generations(*(t + EAST for t in TRIGGERS)))
    log = replace(broker(*(t - 5 * HOUR for t in TRIGGERS)), started=())
    assert settle([log, member], (), SPAN, ())["server.log"].label == "-05:00"


def test_two_generations_are_too_few_and_those_of_another_group_are_none():
    few = replace(clock(), generations=generations(*(t + EAST for t in TRIGGERS[:2])))
    other = replace(clock(), generations=generations(*(t + EAST for t in TRIGGERS), group="other"))
    for member in (few, other):
        assert settle([member, broker(*TRIGGERS)], (), SPAN, ())["app.log"] == ASSUMED


def test_generations_that_fit_no_common_zone_align_nothing():
    odd = replace(clock(), generations=generations(*(t + EAST + n * 900 for n, t in enumerate(TRIGGERS))))
    assert settle([odd, broker(*TRIGGERS)], (), SPAN, ())["app.log"] == ASSUMED


def test_a_group_that_begins_again_at_generation_one_has_two_moments_for_it():
    again = broker(*TRIGGERS)
    again = replace(again, generations=(*again.generations, *generations(*(t + 2 * HOUR for t in TRIGGERS))))
    member = replace(clock(), generations=generations(*(t + EAST for t in TRIGGERS)))
    assert settle([member, again], (), SPAN, ())["app.log"] == ASSUMED


def kin(source, **more):
    return replace(clock(source=source), kin="logs/kafka-1", **more)


def test_the_logs_of_one_broker_show_one_clock():
    server = kin("server.log", started=((NOON + EAST, NOON),))
    zone = settle([server, kin("state-change.log")], (), None, ())["state-change.log"]
    assert (zone.label, zone.why) == ("+08:00", "same as the other logs of this broker")


def test_logs_of_several_brokers_in_one_folder_that_show_different_clocks_lend_none():
    one, two = kin("a.log", started=((NOON + EAST, NOON),)), kin("b.log", started=((NOON, NOON),))
    assert settle([one, two, kin("c.log")], (), None, ())["c.log"] == ASSUMED


def test_the_user_knows_better_than_the_logs_beside_it():
    server = kin("server.log", started=((NOON + EAST, NOON),))
    assert settle([server, kin("c.log")], (), None, [("c.log", "+01:00")])["c.log"].label == "+01:00"
