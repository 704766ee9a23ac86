"""Thinning keeps what matters: peaks, edges, counts."""

from mqlab.figures.style import Bar, merged, thinned


def test_few_points_stay_as_they_are():
    assert thinned([3, 1, 2], value=float) == (3, 1, 2)


def test_many_points_keep_their_extremes_edges_and_order():
    points = [(at, 1000.0 if at == 7777 else -5.0 if at == 31 else float(at % 7)) for at in range(10_000)]
    kept = thinned(points, value=lambda point: point[1], most=100)

    assert len(kept) <= 100
    assert {points[0], points[31], points[7777], points[-1]} <= set(kept)
    assert list(kept) == sorted(kept)


def test_few_marks_are_only_sorted():
    late, early = Bar("lane", "kind", 5, 6, "b"), Bar("lane", "kind", 1, 2, "a")
    assert merged([late, early]) == (early, late)


def test_many_marks_become_few_that_say_how_many_they_stand_for():
    kept = merged([Bar("lane", "kind", float(at), at + 1.0, "split") for at in range(1000)], most=10)

    assert len(kept) == 10
    assert kept[0] == Bar("lane", "kind", 0.0, 100.0, "split\nand 99 more marks")
