"""``mqlab lab``: brokers up and down, scenarios run and verified."""

from __future__ import annotations

from pathlib import Path

import click

from mqlab.endings import watch
from mqlab.lab import keeper
from mqlab.lab.brokers.registry import PORTS
from mqlab.lab.errors import LabError
from mqlab.lab.home import Home, default_home
from mqlab.units import by_number, size
from mqlab.verbs.helping import Verbs, shared
from mqlab.verbs.material import progress

_shared = shared("Options of commands of the lab")
_dir = click.Path(file_okay=False, path_type=Path)
_home = _shared("--home", type=_dir, help="The lab's folder.")
_ports = _shared("--ports", default=PORTS, show_default=True, help="First port; each broker takes a hundred.")


def _at(home: Path | None) -> Home:
    return Home((home or default_home()).absolute())


@click.group(cls=Verbs)
def lab() -> None:
    """Start real brokers here and cause incidents on purpose.

    After each scenario, the lab says whether the diagnosis of its capture was right.
    """
    watch.hurries = False


@lab.command()
@click.argument("brokers", nargs=-1, required=True)
@_home
@_ports
def up(brokers: tuple[str, ...], home: Path | None, ports: int) -> int:
    """Start BROKERS and leave them running: kafka:3.9, mosquitto, hivemq.

    A broker is NAME[:VERSION[:NODES]]: `kafka` (the newest version), `kafka:3.9`, `kafka:4.1:3` (three nodes). A
    version alone, `4.1`, means the broker that has it.
    """
    with progress() as tell:
        known = keeper.raised(_at(home), ports, brokers, tell)
    for name, address in known.items():
        click.echo(f"{name:<12} {address}")
    return 0


@lab.command()
@_home
def status(home: Path | None) -> int:
    """Show what runs in the lab's folder, and what is stored there."""
    at = _at(home)
    known, holder = keeper.state(at), at.holder()
    click.echo(f"{at.root}: " + (f"held by process {holder}" if holder else "nothing is running"))
    for name, address in known.items():
        click.echo(f"{name:<12} {address}")
    for entry in at.entries():
        state = "runs" if entry.alive else "ended"
        click.echo(f"{entry.name:<24} {entry.pid:>7} {state if holder or state == 'ended' else 'left over: lab down'}")
    click.echo(f"fetched: {_names(at.dist) or 'nothing'}\nruns: {_names(at.runs) or 'none'}")
    return 0


def _names(folder: Path) -> str:
    return ", ".join(sorted((p.name for p in folder.iterdir()), key=by_number)) if folder.is_dir() else ""


@lab.command()
@click.argument("name", required=False)
@click.option("--lines", default=20, show_default=True, help="Last lines of each log.")
@_home
def logs(name: str | None, lines: int, home: Path | None) -> int:
    """Show the end of the brokers' logs, or of logs whose path contains NAME."""
    at = _at(home)
    every = sorted(p for p in at.work.rglob("*") if p.suffix in (".log", ".out") and p.is_file())
    found = [p for p in every if "data" not in p.relative_to(at.work).parts and (name or "") in str(p)]
    if not found:
        raise LabError(f"No log in {at.work}" + (f" has {name!r} in its name." if name else ": nothing was started."))
    for path in found:
        tail = path.read_text(errors="replace").splitlines()[-lines:]
        click.echo("\n".join([f"==> {path} <==", *tail, ""]))
    return 0


@lab.command()
@_home
def down(home: Path | None) -> int:
    """Stop the lab's brokers; data and captures stay."""
    click.echo("stopped" if keeper.lowered(_at(home)) else "nothing was running")
    return 0


@lab.command()
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@_home
def destroy(yes: bool, home: Path | None) -> int:
    """Stop everything and remove the lab's folder, with all downloads and captures."""
    at = _at(home)
    at.removable()
    running = ", ".join(keeper.state(at))
    stops = f"Stop {running} and remove" if running else "Remove"
    if not yes and not click.confirm(f"{stops} {at.root} with everything in it ({size(at.bytes())})?"):
        click.echo("nothing was removed")
        return 0
    keeper.lowered(at)
    click.echo(f"removed {size(at.destroy())}")
    return 0


@lab.command("list")
def listed() -> int:
    """List the scenarios: incidents made on purpose, and their look-alikes."""
    from mqlab.lab.scenario import scenario, shipped

    for name in shipped():
        one = scenario(name)
        like = f" (looks like {one.looks_like})" if one.looks_like else ""
        click.echo(f"{name:<36} {one.incident}{like}: {one.title}")
    return 0


lab.add_command(click.Command("scenarios", callback=listed.callback, help=listed.help, hidden=True))


@lab.command()
@click.argument("scenario")
@click.option("--exit-code", is_flag=True, help="Exit with 1 if the diagnosis was wrong.")
@_home
@_ports
def run(scenario: str, exit_code: bool, home: Path | None, ports: int) -> int:
    """Run SCENARIO (a bundled one or a file), capture, diagnose, and say whether the diagnosis was right."""
    from mqlab.lab import judging, running
    from mqlab.lab import scenario as scenarios

    asked = scenarios.scenario(scenario)
    with progress() as tell:
        folder, check = running.run(asked, _at(home), ports, tell)
    click.echo(judging.told(check), nl=False)
    click.echo(f"capture {folder / 'capture'}\ntruth   {folder / 'truth.json'}")
    return int(exit_code and not check.right)


@lab.command()
@click.argument("scenario")
@click.option("--exit-code", is_flag=True, help="Exit with 1 if a prediction is off by more than 20 %.")
@_home
@_ports
def verify(scenario: str, exit_code: bool, home: Path | None, ports: int) -> int:
    """Run SCENARIO, apply mqlab's remedy, run it again: prediction and outcome side by side."""
    from mqlab.lab import scenario as scenarios
    from mqlab.lab import verifying

    asked = scenarios.scenario(scenario)
    with progress() as tell:
        done = verifying.verify(asked, _at(home), ports, tell)
    click.echo(verifying.told(done), nl=False)
    click.echo(f"report {done.folders[1] / 'verified.html'}")
    return int(exit_code and not done.right)
