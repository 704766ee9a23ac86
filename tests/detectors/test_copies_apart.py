"""Four mechanisms make copies of MQTT messages: each is found as itself, never as another one, whatever is missing."""

import pytest
from facts_builder import facts
from test_bridge_loop import BOTH_WAYS, CAME, OPENED, ROUND, SENT, SWOLLEN
from test_overlapping_subscription import FILTERS, LEDGERS
from test_redelivery_storm import AGAIN
from test_redelivery_storm import CAME as CAME_AGAIN
from test_redelivery_storm import LOOP as STORE
from test_retained_replay_storm import LOOP as PANEL
from test_retained_replay_storm import REPLAYS, TOPICS

from mqlab.detectors import bridge_loop, overlapping_subscription, redelivery_storm, retained_replay_storm

RULES = (bridge_loop, overlapping_subscription, redelivery_storm, retained_replay_storm)
DRAWN = {
    "bridge-loop": (ROUND, CAME, SENT, BOTH_WAYS, OPENED, SWOLLEN),
    "overlapping-subscription": (*LEDGERS, FILTERS),
    "redelivery-storm": (STORE, AGAIN, CAME_AGAIN),
    "retained-replay-storm": (PANEL, REPLAYS, TOPICS),
}
PIECES = [(name, number) for name, pieces in DRAWN.items() for number in range(len(pieces))]


def found(pieces):
    """Classes that are found in these pieces."""
    known = facts(pieces)
    return {finding.incident for rule in RULES for finding in rule.detect(known).findings}


@pytest.mark.parametrize("name", DRAWN)
def test_each_mechanism_is_found_as_itself_alone(name):
    assert found(DRAWN[name]) == {name}


@pytest.mark.parametrize(("name", "gone"), PIECES)
def test_without_a_piece_of_the_material_it_is_never_found_as_another_one(name, gone):
    assert found(DRAWN[name][:gone] + DRAWN[name][gone + 1 :]) <= {name}


def test_mechanisms_at_different_clients_are_found_beside_each_other():
    several = [name for name in DRAWN if name != "bridge-loop"]
    assert found([DRAWN[name] for name in several]) == set(several)
