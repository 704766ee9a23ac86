"""Files of clients that tell only their numbers, and lines of logs that name no client."""

from facts_builder import episode, facts
from hypothesis import given
from hypothesis import strategies as st
from mqtt_builder import broker
from mqtt_mail import mail, noted

from mqlab.mqtt.subscriptions import owners, receiving_ledgers, subscriptions

WORKERS = ("fan-worker-1", "fan-worker-2", "fan-worker-3")
FANS = ("fan-1", "fan-2", "fan-3", "fan-4")


def subscribed(source, topic="$share/g/fan/#", client=None, when=2):
    return episode("client-subscribed", when, source, system="mqtt", client_id=client, topic=topic, left=1.0)


def connected(*clients):
    return broker(
        "\n".join(f"10:00:01 {c} connected 10.0.0.{n}:1001 k30 c0" for n, c in enumerate(clients, 1)), last="10:05:00"
    )


def told(rows):
    return [(s.client_id, s.filter) for s in subscriptions(facts(rows))]


def test_folders_and_names_with_the_numbers_of_ids_are_theirs():
    assert owners(["w1/got.tsv", "w2/got.tsv", "w3/got.tsv"], [*WORKERS, *FANS]) == {
        "w1/got.tsv": "fan-worker-1",
        "w2/got.tsv": "fan-worker-2",
        "w3/got.tsv": "fan-worker-3",
    }
    assert owners(["in/forwarded-1.csv.gz", "in/forwarded-02.csv"], ["in-02", "in-1"]) == {
        "in/forwarded-02.csv": "in-02",
        "in/forwarded-1.csv.gz": "in-1",
    }


def test_other_numbers_or_several_kinds_of_ids_tell_nothing():
    assert owners(["w1/got.tsv", "w2/got.tsv"], WORKERS) == {}
    assert owners(["w1/got.tsv", "w2/got.tsv"], ["a-1", "a-2", "b-1", "b-2"]) == {}
    assert owners(["w1/got.tsv"], ["a-1"]) == {}
    assert owners(["got-20261122.csv", "got-20261123.csv"], ["a-20261122", "a-20261123"]) == {}
    assert owners(["w1/got.tsv", "w1/got.csv", "w2/got.tsv"], ["a-1", "a-2"]) == {}
    assert owners(["got.tsv"], []) == {}


@given(st.lists(st.text(alphabet="ab1203/.-#", max_size=8)), st.lists(st.text(alphabet="ab1203-#", max_size=8)))
def test_each_file_has_one_owner_and_each_owner_one_file_of_a_kind(sources, clients):
    found = owners(sources, clients)
    assert set(found) <= set(sources)
    assert set(found.values()) <= set(clients)
    assert found == owners(reversed(sources), reversed(clients))


def test_lines_without_a_client_are_about_the_one_that_the_log_is_named_after():
    rows = (connected("clerk", "mirror"), subscribed("logs/clerk.log", "crane/#"))
    assert told(rows) == [("clerk", "crane/#")]


def test_lines_without_a_client_are_about_the_one_that_the_log_is_numbered_as():
    lines = [subscribed(f"w{n}/worker.log") for n in (1, 2, 3)]
    assert told((connected(*WORKERS, *FANS), lines)) == [(name, "$share/g/fan/#") for name in WORKERS]


def test_lines_of_a_log_with_a_name_of_its_own_are_nobodys():
    assert told((connected("clerk", "mirror"), subscribed("logs/app.log", "crane/#"))) == []


def test_ledgers_that_are_numbered_as_subscribers_are_theirs():
    rows = noted(mail(lambda n, _: (f"w-{n % 3 + 1}",), topics=("fan/1", "fan/2"), seconds=30))
    lines = [subscribed("broker.log", client=name) for name in WORKERS]
    assert receiving_ledgers(facts(connected(*WORKERS, *FANS), lines, rows)) == {
        f"fan-worker-{n}": (f"clients/received-w-{n}.csv",) for n in (1, 2, 3)
    }
