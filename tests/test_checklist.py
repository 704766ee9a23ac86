"""The first hour: a dozen commands that change nothing."""

import re
import subprocess

import pytest

from mqlab.commands import UnknownSystemError, checklist, commands

each_system = pytest.mark.parametrize("system", ["kafka", "rocketmq", "mqtt"])


def typed(system):
    return [line for line in checklist(system).splitlines() if line and not line.startswith("#")]


@each_system
def test_it_is_about_a_dozen_commands_of_that_system(system):
    known = {command.line: command for command in commands().values()}
    assert 12 <= len(typed(system)) <= 16
    assert {known[line].system for line in typed(system)} == {system}


@each_system
def test_every_command_says_why_and_saves_under_the_moment(system):
    lines = checklist(system).splitlines()
    for line in typed(system):
        assert re.match(r"# \d+\. \w", lines[lines.index(line) - 1])
        assert "$(date -u +%Y%m%dT%H%M%SZ)." in line


@each_system
def test_it_is_a_valid_shell_script(system):
    subprocess.run(["bash", "-n"], input=checklist(system), text=True, check=True)


@each_system
def test_every_variable_a_command_uses_is_explained(system):
    explained = "\n".join(line for line in checklist(system).splitlines() if line.startswith("#   ")) + "HOME="
    used = set(re.findall(r'"\$([A-Z_]+)', "\n".join(typed(system))))
    assert {name for name in used if f"{name}=" not in explained} == set()


@pytest.mark.parametrize(
    ("system", "first"),
    [("kafka", "kubectl get events"), ("rocketmq", "tar -czf client-logs"), ("mqtt", "kubectl logs")],
)
def test_what_rotates_away_first_comes_first(system, first):
    assert typed(system)[0].startswith(first)


def test_an_unknown_system_is_named_with_the_known_ones():
    with pytest.raises(UnknownSystemError, match="kafka, rocketmq, mqtt"):
        checklist("rabbitmq")
