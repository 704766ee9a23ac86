"""More bytes for the same records: by the brokers' setting, by lost batching or compression, and what is neither."""

from facts_builder import episode, facts, positions, ramp, series, settings, splits
from said import told

from mqlab.detectors import format_inflation
from mqlab.units import Interval

JMX = {"instance": "app-1:9404", "client_id": "app"}
BROKER = {"instance": "kafka-1:9404"}
IN = series("broker.bytes_in", ramp((60, 100_000)), **BROKER)
STEADY = series("broker.bytes_out", ramp((60, 100_000)), **BROKER)
INFLATED = series("broker.bytes_out", ramp((30, 100_000), (30, 1_000_000)), **BROKER)
ZSTD = settings("at owner key value\n10:00 app compression.type zstd")
CHANGED = episode("topic-config-changed", 300, "server.log", topic="orders", reason="compression.type -> uncompressed")
ONE_GROUP = positions("at group topic queue committed end\n10:00 billing orders 0 1 1")
THREE_GROUPS = positions(
    """
    at     group    topic   queue  committed  end
    10:00  billing  orders  0      1          1
    10:00  audit    orders  0      1          1
    10:00  archive  orders  0      1          1
    """
)
SENDS = series("producer.record_sends", ramp((60, 1_000)), **JMX)
WASTEFUL = series("producer.outgoing_bytes", ramp((30, 53_000), (30, 282_000)), **JMX)
PAYLOAD = series("producer.record_size_avg", [500] * 61, **JMX)
UNBATCHED = settings("at owner key value\n10:00 app linger.ms 200\n10:05 app linger.ms 0")


def found(*rows):
    """(subject, certainty, severity) of each finding, else why not, else what is missing."""
    result = format_inflation.detect(facts(*rows))
    return (
        [(f.subject, f.certainty.name, f.severity.name) for f in result.findings] or result.rejected or result.missing
    )


def test_a_topic_that_stores_uncompressed_inflates_what_each_reader_gets():
    assert found(CHANGED, ZSTD, IN, INFLATED, ONE_GROUP) == [("orders", "PROVEN", "CRITICAL")]


def test_its_measures_are_the_bytes_from_the_change_on():
    finding = format_inflation.detect(facts(CHANGED, ZSTD, IN, INFLATED, ONE_GROUP)).findings[0]
    assert dict(finding.measures) == {
        **Interval(2_800_000, 3_000_000, 3_000_000).measures("bytes_in"),
        **Interval(28_000_000, 30_000_000, 30_000_000).measures("bytes_out"),
        **Interval(28 / 3, 10, 300 / 28).measures("amplification_factor"),
        **Interval(25_000_000, 27_000_000, 27_200_000).measures("excess_bytes"),
        "healthy_factor": 1,
    }


def test_what_a_late_reader_catches_up_is_not_the_usual_factor():
    late = series("broker.bytes_out", ramp((10, 0), (20, 150_000), (30, 1_000_000)), **BROKER)
    measures = format_inflation.detect(facts(CHANGED, ZSTD, IN, late, ONE_GROUP)).findings[0].measures
    usual = [round(measures[f"healthy_factor{end}"], 1) for end in ("_low", "", "_high")]
    assert usual == [0.9, 1, 1.5]


def test_what_came_in_to_a_wasteful_producer_is_what_its_card_received():
    host = {"device": "eth0", "instance": "app-1:9100"}
    cards = (
        series("host.receive_bytes", ramp((60, 40_000)), **host),
        series("host.transmit_bytes", ramp((30, 60_000), (30, 300_000)), **host),
    )
    finding = format_inflation.detect(facts(SENDS, WASTEFUL, UNBATCHED, PAYLOAD, cards)).findings[0]
    names = ("bytes_in", "bytes_out", "amplification_factor", "healthy_factor", "needed_bytes")
    assert [finding.measures[name] for name in names] == [1_200_000, 9_000_000, 7.5, 1.5, 1_590_000]


def test_taking_the_setting_back_ends_it():
    back = episode("topic-config-changed", 480, "server.log", topic="orders")
    over = series("broker.bytes_out", ramp((30, 100_000), (18, 1_000_000), (12, 100_000)), **BROKER)
    finding = format_inflation.detect(facts(CHANGED, back, ZSTD, IN, over, ONE_GROUP)).findings[0]
    assert (finding.ongoing, finding.ended_at.strftime("%H:%M:%S")) == (False, "10:08:00")


def test_a_described_setting_and_three_readers_are_no_inflation():
    described = settings("at owner key value\n- orders compression.type lz4", "topics.txt", scope="topic")
    tripled = series("broker.bytes_out", ramp((60, 300_000)), **BROKER)
    assert found(described, IN, tripled, THREE_GROUPS) == [("orders", "POSSIBLE", "NOTICE")]
    assert found(described, IN, tripled) == [("orders", "POSSIBLE", "NOTICE")]


def test_a_setting_that_came_after_the_last_sample_is_a_risk():
    late, early = (
        episode("topic-config-changed", at, "server.log", topic="orders", reason="compression.type -> gzip")
        for at in (5_000, 300)
    )
    assert found(late, IN, STEADY, ONE_GROUP) == [("orders", "POSSIBLE", "NOTICE")]
    (unseen,) = format_inflation.detect(facts(late, IN, STEADY, ONE_GROUP)).findings
    (steady,) = format_inflation.detect(facts(early, IN, STEADY, ONE_GROUP)).findings
    assert told(unseen.statement) == {"subject": "orders", "codec": "gzip"}
    assert told(steady.statement) == {"subject": "orders", "codec": "gzip", "measured": True}


def test_a_consumers_count_of_decompressed_bytes_is_no_traffic():
    described = settings("at owner key value\n- orders compression.type lz4", "topics.txt", scope="topic")
    sent = series("producer.outgoing_bytes", ramp((60, 100_000)), **JMX)
    read = series("consumer.bytes_consumed", ramp((60, 1_500_000)), instance="r:1", client_id="r")
    assert found(described, ZSTD, sent, read, ONE_GROUP) == [("orders", "POSSIBLE", "NOTICE")]


def test_lost_batching_multiplies_the_bytes_of_a_record():
    rate = series("producer.compression_rate_avg", [0.1] * 31 + [0.55] * 30, **JMX)
    assert found(SENDS, WASTEFUL, UNBATCHED, PAYLOAD) == [("app", "PROVEN", "CRITICAL")]
    assert found(SENDS, WASTEFUL, UNBATCHED, PAYLOAD, rate) == [("app", "PROVEN", "CRITICAL")]


def test_what_changed_is_set_again_and_nothing_else_is():
    changed, unknown = (
        format_inflation.detect(facts(SENDS, WASTEFUL, PAYLOAD, *rows)).findings[0] for rows in ([UNBATCHED], [])
    )
    assert told(changed.mitigate) == {"earlier": ["linger.ms=200"], "subject": "app", "delays": True}
    assert told(unknown.mitigate) == {"subject": "app", "since": unknown.started_at}


def test_a_payload_that_nobody_saw_is_not_checked():
    assert found(SENDS, WASTEFUL, UNBATCHED) == (format_inflation.say("no-sizes"),)


def test_answers_to_more_requests_are_no_payload():
    came = series("host.receive_bytes", ramp((30, 4_000), (30, 150_000)), instance="app-1:9100", device="eth0")
    assert found(SENDS, WASTEFUL, UNBATCHED, PAYLOAD, came) == [("app", "PROVEN", "CRITICAL")]


def test_without_compression_only_headers_can_be_added():
    """A burst of 307 kB chunks long after a restart with a smaller batch.size, hardly seen in a lagging mean."""
    sizes = series("producer.record_size_avg", [32_000] * 61, **JMX)
    left = series("producer.outgoing_bytes", ramp((30, 12_000_000), (30, 68_000_000)), **JMX)
    smaller = settings("at owner key value\n10:00 app batch.size 1638400\n10:05 app batch.size 16384")
    never = settings("at owner key value\n10:00 app compression.type none")
    rate = series("producer.compression_rate_avg", [1.0] * 61, **JMX)
    assert found(SENDS, left, smaller, rate) == ()
    assert found(SENDS, left, smaller, never) == ()
    assert found(SENDS, left, smaller, sizes) == ()


def test_larger_records_of_the_application_and_the_host_are_no_inflation():
    received = series("app.received", ramp((60, 1_000)), source="clients/app.log")
    larger = series("app.receivedBytes", ramp((30, 50_000), (30, 260_000)), source="clients/app.log")
    same = series("app.receivedBytes", ramp((60, 50_000)), source="clients/app.log")
    came = series("host.receive_bytes", ramp((30, 50_000), (30, 500_000)), instance="app-1:9100", device="eth0")
    assert found(SENDS, WASTEFUL, UNBATCHED, received, larger) == ()
    assert found(SENDS, WASTEFUL, UNBATCHED, PAYLOAD, came) == ()
    assert found(SENDS, WASTEFUL, UNBATCHED, received, same) == [("app", "PROVEN", "CRITICAL")]


def test_larger_requests_are_not_what_smaller_batches_make():
    requests = series("producer.request_size_avg", [6_000] * 31 + [20_000] * 30, **JMX)
    assert found(SENDS, WASTEFUL, UNBATCHED, PAYLOAD, requests) == [("app", "LIKELY", "CRITICAL")]


def test_a_largest_record_that_grew_leaves_nothing_to_say():
    largest = series("producer.record_size_max", [500] * 31 + [300_000] * 30, **JMX)
    assert found(SENDS, WASTEFUL, UNBATCHED, largest) == ()


def test_a_setting_long_before_or_after_the_rise_does_not_explain_it():
    for clock in ("10:03", "10:07"):
        other = settings(f"at owner key value\n10:00 app linger.ms 200\n{clock} app linger.ms 0")
        assert found(SENDS, WASTEFUL, other, PAYLOAD) == [("app", "LIKELY", "CRITICAL")]


def test_a_setting_before_a_pause_explains_what_comes_after_it():
    sends = series("producer.record_sends", ramp((30, 1_000), (10, 0), (30, 1_000)), **JMX)
    left = series("producer.outgoing_bytes", ramp((30, 53_000), (10, 0), (30, 282_000)), **JMX)
    payload = series("producer.record_size_avg", [500] * 71, **JMX)
    assert found(sends, left, payload, UNBATCHED) == [("app", "PROVEN", "CRITICAL")]


def test_without_settings_the_unchanged_payload_makes_it_likely():
    assert found(SENDS, WASTEFUL, PAYLOAD) == [("app", "LIKELY", "CRITICAL")]


def test_larger_payloads_are_no_inflation():
    larger = series("producer.record_size_avg", [500] * 31 + [2_600] * 30, **JMX)
    assert found(SENDS, WASTEFUL, larger, UNBATCHED) == ()


def test_without_settings_and_payload_nobody_is_blamed():
    assert found(SENDS, WASTEFUL) == ()


def test_fewer_records_make_smaller_batches():
    payload = series("producer.record_size_avg", [500] * 61, **JMX)
    fewer = series("producer.record_sends", ramp((30, 1_000), (30, 100)), **JMX)
    lighter = series("producer.outgoing_bytes", ramp((30, 53_000), (30, 28_200)), **JMX)
    assert found(fewer, lighter, payload) == ()


def test_more_batching_is_not_what_inflates():
    more = settings("at owner key value\n10:00 app linger.ms 0\n10:05 app linger.ms 200")
    assert found(SENDS, WASTEFUL, more) == ()


def test_repeats_and_splits_are_no_inflation():
    repeated = series("producer.record_retries", ramp((30, 0), (30, 500)), **JMX)
    assert found(SENDS, WASTEFUL, UNBATCHED, repeated) == ()
    assert found(SENDS, STEADY, splits(300, 60, 2)) == format_inflation.say("were-rejected")


def test_a_burst_in_which_in_and_out_grow_together_is_clear():
    burst = ramp((20, 100_000), (10, 500_000), (30, 100_000))
    both = (series("broker.bytes_in", burst, **BROKER), series("broker.bytes_out", burst, **BROKER))
    assert found(*both, ONE_GROUP) == ()


def test_without_any_bytes_nothing_can_be_said():
    assert found(ZSTD) == (format_inflation.say("no-bytes"),)
