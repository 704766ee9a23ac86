"""Numbers of a chain add up whatever was noted, and bounds of counters hold whatever was sampled."""

from bisect import bisect_right
from itertools import pairwise

from facts_builder import at, facts
from hypothesis import given
from hypothesis import strategies as st

from mqlab.findings import Evidence
from mqlab.mqtt.chain import chains, within_mqtt
from mqlab.mqtt.chain_counts import Course, growth
from mqlab.mqtt.chain_stages import Step
from mqlab.rows import Flow, Part, TopicFlow

PLACE = Evidence("clients/published.csv", 2, "m-1")
LEDGERS = ("clients/forwarded-b1.csv", "clients/forwarded-b2.csv", "clients/sink-consumed.csv")
SINK = Part(LEDGERS[2], "consumed", "name", "sink", "etl", "orders", "0", 1, 1, 0, 0, at(0), at(9), PLACE, PLACE)

FLOWS = st.lists(
    st.tuples(
        st.integers(1, 500),
        st.booleans(),
        st.sampled_from([0, 1, 2, None]),
        st.dictionaries(st.sampled_from(LEDGERS), st.integers(1, 3)),
        st.floats(0, 500),
    ),
    min_size=1,
    max_size=6,
)


def drawn(rows):
    flows = tuple(
        Flow(PLACE.source, None, many, failed, qos, tuple(sorted(noted.items())), at(0) + since, at(0) + since + 5,
             "m", "m", PLACE, PLACE)
        for many, failed, qos, noted, since in rows
    )  # fmt: skip
    topics = tuple(
        TopicFlow("plant/a", 1, f.sender, None, f.messages, f.failed, f.qos, f.received, f.first_at, f.last_at, PLACE,
                  PLACE)
        for f in flows
    )  # fmt: skip
    return flows, facts(flows, topics, SINK)


@given(FLOWS)
def test_every_message_is_at_its_stage_or_missing_before_it(rows):
    flows, material = drawn(rows)
    for chain in (*chains(material), within_mqtt(material)):
        sent = chain.stage(Step.PUBLISHED).messages
        refused = sum(g.messages for g in chain.gaps if g.before is Step.ACKNOWLEDGED)
        arrived = sum(f.messages for f in flows if f.failed and f.received)
        without = sum(f.messages for f in flows if not f.failed and f.qos == 0)
        assert sent == chain.stage(Step.ACKNOWLEDGED).messages + without + refused + arrived
        assert sent == sum(f.messages for f in flows)


@given(FLOWS)
def test_what_nobody_took_is_missing_exactly_once(rows):
    flows, material = drawn(rows)
    for chain in chains(material):
        nowhere = sum(f.messages for f in flows if not f.failed and not f.received)
        assert sum(g.messages for g in chain.gaps if g.before is Step.TAKEN) == nowhere


@given(FLOWS)
def test_no_bound_is_crossed(rows):
    for chain in (*chains(drawn(rows)[1]), within_mqtt(drawn(rows)[1])):
        assert all(stage.low <= stage.messages <= stage.high for stage in chain.stages)
        assert all(gap.low <= gap.messages <= gap.high for gap in chain.gaps)


MOMENTS = st.lists(st.integers(0, 1000), min_size=2, max_size=30, unique=True).map(sorted)


@given(MOMENTS, MOMENTS, st.booleans())
def test_the_true_growth_lies_between_the_bounds(happened, sampled, late):
    """Of events at known moments, counted at others: what is told of any time that the samples cover holds."""

    def count(moment):
        return bisect_right(happened, moment)

    delays = [0] * len(sampled)
    if late:
        delays = [min(7, after - here - 1) for here, after in pairwise(sampled)] + [7]
    points = tuple((float(t), float(count(t + max(0, d)))) for t, d in zip(sampled, delays, strict=True))
    course = Course("x", points, PLACE, from_nothing=False, late=late)
    since, until = sampled[0], sampled[-1]
    low, about, high = growth(course, since, until)
    assert low <= count(until) - count(since) <= high
    assert low <= about <= high
    middle = (since + until) / 2
    low, about, high = growth(course, since, middle)
    assert low <= count(middle) - count(since) <= high
