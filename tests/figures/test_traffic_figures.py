"""Traffic, ratio and ledger as drawn data."""

from dataclasses import replace

from report_example import T0, facts, ledger, split_loop

from mqlab.facts import Facts
from mqlab.figures.traffic import change_points, ratio, ratio_points, traffic, waterfall, waterfall_points


def test_a_change_lies_between_the_two_samples_around_it():
    sent = facts().named("host.transmit_bytes")[0]

    assert [(p.text, p.earliest - T0, p.latest - T0) for p in change_points(sent, split_loop())] == [
        ("begins 12:20:44", 120, 130),
        ("ends 12:23:16", 270, 280),
    ]


def test_the_ratio_is_known_only_where_something_came_in():
    ratios = dict(ratio_points(facts(), "bridge-1"))

    assert round(ratios[T0 + 140], 1) == 73.8
    assert ratio_points(Facts(), None) == ()


def test_each_bar_begins_where_the_one_before_ended():
    steps = waterfall_points(ledger())

    assert [round(step.base, 1) for step in steps] == [0.0, 52.0, 748.2, 772.8]
    assert [step.unexplained for step in steps] == [False, False, False, True]
    assert (steps[1].below, steps[1].above) == (6.2, 24.8)
    assert steps[1].text == "696 MB · 91.3 %"


def test_nothing_to_draw_gives_a_sentence():
    for figure in (traffic(Facts()), ratio(Facts()), waterfall(None), waterfall(replace(ledger(), stages=()))):
        assert not figure.data
        assert figure.layout.annotations[0].text


def test_the_change_band_is_on_the_figure():
    assert len(traffic(facts(), split_loop()).layout.shapes) == 2
    assert len(traffic(facts()).layout.shapes) == 0
