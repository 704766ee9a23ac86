"""``mqlab train``: exercises on real incidents, checked at once; the course; the instructor's side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mqlab.training.exercise import BUNDLED, FOLDER, SAMPLES
from mqlab.verbs.helping import Verbs, shared

_file = click.Path(dir_okay=False, path_type=Path)
_dir = click.Path(file_okay=False, path_type=Path)
_shared = shared("Options of commands of the training")
_set = _shared(
    "--set", "chosen", type=_dir, default=BUNDLED, help="Your own set of exercises instead of the bundled one."
)
_samples = _shared("--samples", type=_dir, default=SAMPLES, help="Folder with the captures of the exercises.")
_folder = _shared("--folder", type=_dir, default=FOLDER, show_default=True, help="Where your attempts are saved.")
_key = _shared("--key", type=_file, required=True, help="The instructor's key.")


@click.group(cls=Verbs)
def train() -> None:
    """Learn on real incidents: exercises, checked answers, debriefs."""


@train.command("list")
@_set
@_folder
def listed(chosen: Path, folder: Path) -> int:
    """List the exercises in the order of the course, and your progress."""
    from mqlab.training import progress

    click.echo(progress.listed(chosen, folder), nl=False)
    return 0


@train.command()
@click.argument("number")
@click.option(
    "--roll-back",
    is_flag=True,
    help="Show only what was known at the alarm; material has to be requested, which takes time.",
)
@click.option("--name", "learner", default="", help="Your name, for an instructor; it stays in the attempt's folder.")
@_set
@_samples
@_folder
def start(number: str, roll_back: bool, learner: str, chosen: Path, samples: Path, folder: Path) -> int:
    """Start exercise NUMBER, or continue it: story, material, notebook."""
    from mqlab.training import practice
    from mqlab.training.workbook import write

    begun = practice.begin(number, folder, learner=learner, roll_back=roll_back, exercises_in=chosen, samples=samples)
    attempt = begun.attempt
    notebook = write(attempt, samples)
    click.echo(f"{practice.headline(attempt)}\n\n{attempt.exercise.story}\n")
    if attempt.rolled_back:
        click.echo(f"Material you can request, and how long it takes: mqlab train desk {number}\n")
    click.echo(
        f"Material   {attempt.material}\nNotebook   jupyter lab {notebook}\nAnswers    mqlab train check {number}"
    )
    return 0


@train.command()
@click.argument("number")
@click.argument("answer", required=False)
@click.option("--hint", is_flag=True, help="Show a hint for the open question; it costs a fifth of its points.")
@click.option("--give-up", is_flag=True, help="Close the open question with the points so far.")
@_folder
def check(number: str, answer: str | None, hint: bool, give_up: bool, folder: Path) -> int:
    """Answer the open question of exercise NUMBER with ANSWER, or all questions at the prompt."""
    from mqlab.training import attempt as attempts
    from mqlab.training.practice import told

    attempt = _attempt(number, folder)
    if hint:
        click.echo(attempt.hint())
    elif give_up:
        click.echo(told(attempt, attempt.give_up()))
    elif answer is not None:
        click.echo(told(attempt, attempt.answer(answer)))
    elif question := attempt.open_question:
        click.echo(attempts.shown(question))
        _asked_on(attempt)
    else:
        click.echo(f"All questions are answered: {attempt.points:g} points. Read `mqlab train debrief {number}`.")
    return 0


@train.command()
@click.argument("number")
@_samples
@_folder
def debrief(number: str, samples: Path, folder: Path) -> int:
    """Show the debrief of exercise NUMBER: what happened, what proves it, what to look at; after the last answer."""
    from mqlab.training.practice import Practice

    click.echo(str(Practice(_attempt(number, folder), (samples,)).debrief()))
    return 0


@train.command()
@_set
@_folder
def progress(chosen: Path, folder: Path) -> int:
    """Show your points by chapter, and which exercise comes next."""
    from mqlab.training import progress as told

    click.echo(told.told(chosen, folder), nl=False)
    return 0


@train.command()
@click.argument("number")
@click.option("--ask", multiple=True, metavar="FILE", help="Ask for a file (or a glob of files); it takes time.")
@click.option("--wait", type=int, metavar="MINUTES", help="Let time pass.")
@click.option("--act", metavar="WHAT", help="Act now; the clock stops.")
@_samples
@_folder
def desk(number: str, ask: tuple[str, ...], wait: int | None, act: str | None, samples: Path, folder: Path) -> int:
    """Ask for material, wait or act in exercise NUMBER (with --roll-back); without an option, show the clock."""
    from mqlab.training.practice import desk_of

    clock = desk_of(_attempt(number, folder), (samples,))
    for name in ask:
        clock.ask(name)
    if wait:
        clock.wait(wait)
    if act:
        clock.act(act)
    click.echo("\n".join(clock.told()))
    if not (ask or wait or act):
        click.echo(f"\n{clock.sources().to_string(index=False)}\n\nmqlab train desk {number} --ask NAME gets one.")
    return 0


@train.command()
@click.option("-o", "--output", type=_dir, default=Path("mqlab-course"), show_default=True, help="Folder of the pages.")
def course(output: Path) -> int:
    """Write the course as pages for a browser: mechanisms, interactive figures; no kernel needed."""
    from mqlab.training import course as pages

    written = pages.write(output)
    click.echo(f"wrote {len(written)} pages: open {output / 'index.html'}")
    return 0


@train.group()
def instructor() -> None:
    """Make exercises from captures, show all answers, show the results of a class."""


@instructor.command("key")
def new_key() -> int:
    """Print a new instructor's key: save it in a file."""
    from mqlab.training import sealing

    click.echo(sealing.new_key())
    return 0


@instructor.command()
@click.argument("capture", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("truth", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--questions", type=_file, help="The questions and answers as TOML (default: drawn from the capture).")
@click.option("--number", default="01", show_default=True, help="Number of the exercise in its set.")
@click.option("--seed", default=0, show_default=True, help="Other seeds draw other look-alikes.")
@click.option("-o", "--output", type=_dir, required=True, help="Folder of the set.")
@click.option("--draft", is_flag=True, help="Write the drawn questions as TOML for editing, and no exercise.")
@_key
def make(  # noqa: PLR0913 - an option is an argument
    capture: Path, truth: Path, questions: Path | None, number: str, seed: int, output: Path, draft: bool, key: Path
) -> int:
    """Make an exercise from CAPTURE, a folder, and TRUTH, a JSON file with what really happened."""
    from mqlab.training import making

    wanted = making.Wanted(capture, truth, questions, number, seed)
    if draft:
        path = making.drafted(wanted, output)
        click.echo(f"wrote {path}: edit it, then make the exercise with --questions {path}")
        return 0
    path = making.made(wanted, output, sealing_key(key))
    click.echo(f"wrote {path}: mqlab train start {number} --set {output} --samples {output / 'material'}")
    return 0


@instructor.command()
@click.argument("number")
@_set
@_key
def answers(number: str, chosen: Path, key: Path) -> int:
    """Show all answers of exercise NUMBER with the reply to each."""
    from mqlab.training import exercise, results

    click.echo(results.answers(exercise.exercise(number, chosen), sealing_key(key)), nl=False)
    return 0


@instructor.command("results")
@click.argument("submissions", type=click.Path(exists=True, file_okay=False, path_type=Path))
@_set
@_key
def results_of(submissions: Path, chosen: Path, key: Path) -> int:
    """Show the results of a class from a folder of attempts: points by exercise and question, wrong answers."""
    from mqlab.training import results

    click.echo(results.told(results.read(submissions, chosen, sealing_key(key))), nl=False)
    return 0


def sealing_key(path: Path) -> bytes:
    """The instructor's key in *path*.

    Raises:
        BadKeyError: it holds none.
    """
    from mqlab.training import sealing

    return sealing.read_key(path)


def _attempt(number: str, folder: Path) -> Any:
    from mqlab.training.attempt import Attempt

    return Attempt(folder / number.rjust(2, "0"))


def _asked_on(attempt: Any) -> None:
    """Questions at the prompt until all are answered, or the learner stops."""
    from mqlab.training.errors import BadAnswerError
    from mqlab.training.practice import told

    while attempt.open_question:
        said = click.prompt("answer (? for a hint, q to stop)", prompt_suffix=": ").strip()
        if said == "q":
            return
        try:
            click.echo(f"Hint: {attempt.hint()}" if said == "?" else told(attempt, attempt.answer(said)))
        except BadAnswerError as error:
            click.echo(str(error))
