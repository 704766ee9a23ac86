"""Whatever is left of a capture: what was checked once has nothing to withdraw at a second look."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from report_example import facts

from mqlab.narrowing import narrowed
from mqlab.selfcheck import checked
from mqlab.verdict import diagnose

WHOLE = facts()
ROWS = ("episodes", "series", "settings", "positions", "coverage")
FIRST, LAST = 1795263440.0, 1795263902.0
"""When the capture begins and ends."""


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(FIRST, LAST), min_size=2, max_size=2),
    st.sampled_from((1, 2, 3, 10)),
    st.randoms(use_true_random=False),
)
def test_what_was_checked_once_has_nothing_to_withdraw(cut, share, draw):
    left = {name: [row for row in getattr(WHOLE, name) if draw.randrange(share) == 0 or share == 1] for name in ROWS}
    for rows in left.values():
        draw.shuffle(rows)
    part = narrowed(
        replace(WHOLE, **{name: tuple(rows) for name, rows in left.items()}), *sorted(cut), None, None, None
    )
    told = diagnose(part)

    assert checked(told, part).withdrawn == told.withdrawn
