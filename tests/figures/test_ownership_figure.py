"""The ownership matrix as drawn data: a picture in letters."""

from facts_builder import facts
from group_builder import GROUP, TOPIC, allocated, listings, queues
from report_example import diagnosis

from mqlab.figures.rocketmq_group import columns, matrix, ownership, process_names
from mqlab.figures.style import cut, figure_table
from mqlab.findings import Evidence
from mqlab.shared.queues import Member
from mqlab.views.rocketmq_group import group_view

A1, A2, B = "A@9 10.0.0.1:1", "A@9 10.0.0.2:1", "10.0.0.3@9 10.0.0.3:1"
LETTERS = ".o#-!,"
"""Nothing, owned, shared, beside an orphan, alarm, quiet."""


def shared(count=6, **more):
    """Three processes, two with one id; the last one's own queues are read."""
    logs = [row for host in ("h1", "h2") for row in allocated(5, "A@9", host, [f"broker-a/{n}" for n in (2, 3)])]
    moving = queues(count, {n for n in range(count) if n < 2 * count // 3}, **more)
    return group_view(facts(listings(0, 300, 20, A1, A2, B), moving, *logs), diagnosis())


def picture(panel):
    """Rows of the matrix: its name, then a letter and a sign for each queue."""
    drawn = matrix(panel, columns([panel]))
    return [
        f"{name:>20} {' '.join(LETTERS[cell.look] + cell.sign for cell in row)}"
        for name, row in zip(drawn.rows, drawn.cells, strict=True)
    ]


def test_shared_queues_stand_below_each_other_and_orphans_beside_everybody():
    assert picture(shared().during) == [
        "          10.0.0.3@9 o o . . - -",
        "      A@9   10.0.0.1 . . #✓ #✓ - -",
        "      A@9   10.0.0.2 . . #✓ #✓ - -",
        "              owners ,1 ,1 #2 #2 !0 !0",
        "        offset moves ,yes ,yes ,yes ,yes !no !no",
    ]


def test_what_nobody_watched_has_no_row_for_offsets():
    assert picture(shared().unique)[-1].split()[0] == "owners"


def test_a_process_that_says_otherwise_is_marked():
    said = allocated(5, "A@9", "h1", ["broker-a/0"])
    view = group_view(facts(listings(0, 300, 20, A1, B), queues(2, {0, 1}), *said), diagnosis())
    assert picture(view.during)[:2] == [
        "          10.0.0.3@9 o .",
        "      A@9   10.0.0.1 .≠ o≠",
    ]


def test_many_queues_that_fare_alike_become_one_column():
    view = shared(90)
    across = columns(view.panels)
    assert [column.short for column in across] == ["0-29", "30-59", "60-89"]
    assert across[1].name == f"{TOPIC} broker-a 30-59"
    assert picture(view.during)[-2].split()[1:] == [",1", "#2", "!0"]


def test_of_very_many_processes_those_that_share_are_drawn():
    crowd = [f"P{n:03}@9 10.1.0.{n}:1" for n in range(60)]
    view = group_view(facts(listings(0, 300, 20, *crowd, "Z@9 10.0.0.1:1", "Z@9 10.0.0.2:1"), queues(4, {0, 1, 2, 3})),
                      diagnosis())  # fmt: skip
    drawn = matrix(view.during, columns(view.panels))
    assert len(drawn.rows) == 42
    assert [name for name in drawn.rows if name.startswith("Z@9")] == ["Z@9   10.0.0.1", "Z@9   10.0.0.2"]
    assert "62 processes, 61 ids, 22 of them not drawn" in drawn.title


def test_every_panel_has_its_place_and_its_title_and_names_do_not_become_markup():
    view = group_view(
        facts(listings(0, 300, 20, "<b>@9 10.0.0.1:1", B), queues(2, {0, 1}, topic="<i>T")), diagnosis(), GROUP
    )
    chart = ownership(view.panels)
    words = [a.text for a in chart.layout.annotations]
    assert words == ["<b>10:00:00 to 10:05:00</b>: 2 processes, 2 ids", "&lt;i&gt;T on broker-a"]
    assert list(chart.data[0].y)[1] == "&lt;b&gt;@9   10.0.0.1"
    assert [trace.name for trace in chart.data[1:]] == ["owned by one process"]


def test_the_table_behind_says_it_in_words():
    told = figure_table(ownership([shared().during]).to_plotly_json()).rows
    assert (told[0][1:], told[-1][1:]) == (
        (f"{TOPIC} broker-a 0", "10.0.0.3@9", "owned, by the allocation rule"),
        (f"{TOPIC} broker-a 5", "offset moves", "did not move while 780 messages came in"),
    )


def test_without_panels_a_sentence_stands_there():
    assert "queues or the members" in ownership(()).layout.annotations[0].text


def test_names_keep_what_tells_processes_apart():
    members = [
        Member("a@1", "10.0.0.1:1", Evidence("", 1, "")), Member("a@1", "10.0.0.1:2", Evidence("", 1, "")),
        Member("10.0.0.2@7", "10.0.0.2:5", Evidence("", 1, "")), Member("b@1", "logs/clients/h1", Evidence("", 1, "")),
    ]  # fmt: skip
    assert process_names(members) == ("a@1   10.0.0.1:1", "a@1   10.0.0.1:2", "10.0.0.2@7", "b@1   h1")
    long = [Member("x" * 60, f"h{n}" + "y" * 60, Evidence("", 1, "")) for n in (1, 1)]
    assert process_names(long)[1] == process_names(long)[0] + " (2)"
    assert cut("a" * 30 + "b" * 30, 20) == "a" * 10 + "…" + "b" * 10
