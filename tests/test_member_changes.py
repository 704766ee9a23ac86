"""Changes of membership: between steady times, by the ids that went and came."""

from facts_builder import at, episode, facts, log
from group_builder import GROUP, broker_log, connected, listing, listings

from mqlab.rocketmq.eras import member_changes
from mqlab.units import clock


def told(*rows):
    """Each change as ``when: before → after``."""
    return [f"{clock(c.at)}: {c.before} → {c.after}" for c in member_changes(facts(*rows))]


def test_a_release_that_gives_all_one_id_is_a_change_and_so_is_its_repair():
    rows = (
        *listings(0, 100, 20, "A@1 10.0.0.1:1", "A@2 10.0.0.2:1", "B@1 10.0.0.3:1"),
        *listing(120, "B@1 10.0.0.3:1"),
        *listings(140, 300, 20, "A@9 10.0.0.1:2", "A@9 10.0.0.2:2", "B@1 10.0.0.3:1"),
        *listings(320, 500, 20, "A@3 10.0.0.1:3", "A@4 10.0.0.2:3", "B@1 10.0.0.3:1"),
    )
    assert told(*rows) == ["10:02:00: A@1, A@2 → 2 × A@9", "10:05:20: 2 × A@9 → A@3, A@4"]
    first, second = member_changes(facts(*rows))
    assert (clock(first.what.values["until"]), second.what.values["until"]) == ("10:02:20", None)
    assert [e.text for e in first.evidence] == ["A@9 10.0.0.1:2", "A@9 10.0.0.2:2"]


def test_a_return_after_a_time_without_anybody_is_a_change_of_its_moment():
    def seen(back):
        lines = [connected(0, "A@1", "10.0.0.1:1"), connected(100, "A@1", "10.0.0.1:1", kind="consumer-disconnected")]
        return told(*lines, connected(back, "A@2", "10.0.0.1:2"), broker_log(0, 900))

    assert seen(110) == ["10:01:40: A@1 → A@2"]
    assert seen(700) == ["10:11:40: A@1 → A@2"]


def test_members_that_stop_before_others_start_are_replaced_by_them():
    def seen(back):
        rows = [connected(0, "A@9", f"10.0.0.{n}:1") for n in (1, 2)]
        rows += [connected(0, "B@9", "10.0.0.3:1"), broker_log(0, 900)]
        rows += [connected(200, "A@9", f"10.0.0.{n}:1", kind="consumer-disconnected") for n in (1, 2)]
        return told(*rows, *(connected(back, f"A@new-{n}", f"10.0.0.{n}:2") for n in (1, 2)))

    assert seen(260) == ["10:03:20: 2 × A@9 → A@new-1, A@new-2"]
    assert seen(600) == ["10:03:20: 2 × A@9 → gone", "10:10:00: None → A@new-1, A@new-2"], "too late to replace them"


def test_a_member_that_left_shows_where_it_was_last():
    rows = (*listings(0, 100, 20, "A@1 10.0.0.1:1", "A@2 10.0.0.2:1"), *listings(120, 300, 20, "A@1 10.0.0.1:1"))
    assert told(*rows) == ["10:02:00: A@2 → gone"]
    shown = ["A@2 10.0.0.2:1", "A@1 10.0.0.1:1"]
    assert [e.text for e in next(iter(member_changes(facts(*rows)))).evidence] == shown, (
        "the last listing, and the next"
    )


def test_the_lines_of_a_change_are_those_with_which_members_come_and_go():
    def line(kind, when, client, peer):
        return episode(
            kind,
            when,
            "broker.log",
            client_id=client,
            group=GROUP,
            peer=peer,
            system="rocketmq",
            text=f"{kind} {client}",
        )

    came = [line("consumer-connected", n, f"A@{n}", f"10.0.0.{n}:1") for n in (1, 2)]
    left = line("consumer-disconnected", 120, "A@2", "10.0.0.2:1")
    back = line("consumer-connected", 300, "A@3", "10.0.0.2:2")
    end = line("consumer-disconnected", 500, "A@1", "10.0.0.1:1")
    rows = (*came, left, back, end, log("broker.log", "rocketmq-broker-log", "10:00", "10:10"))
    gone, new = (change for change in member_changes(facts(*rows)) if change.at in (at(120), at(300)))
    assert (gone.after, [e.text for e in gone.evidence]) == ("gone", ["consumer-disconnected A@2"])
    assert (new.before, [e.text for e in new.evidence]) == (None, ["consumer-connected A@3"])


def test_a_restart_under_the_same_id_and_many_ids_are_short():
    many = [f"P{n}@1 10.0.0.{n}:1" for n in range(6)]
    assert told(listings(0, 100, 20, "A@1 10.0.0.1:1"), listings(120, 300, 20, "A@1 10.0.0.1:9")) == []
    assert told(listings(0, 100, 20, "A@1 10.0.0.1:1"), listings(120, 300, 20, "A@1 10.0.0.1:1", *many)) == [
        "10:02:00: None → P0@1, P1@1, P2@1, P3@1 and 2 more"
    ]
