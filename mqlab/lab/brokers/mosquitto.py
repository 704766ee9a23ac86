"""Mosquitto, as Debian has it, on a port of loopback."""

from __future__ import annotations

import os
from pathlib import Path

from mqlab.lab.brokers.base import Broker, Node, Wanted
from mqlab.lab.distributions import tool
from mqlab.lab.home import Home
from mqlab.lab.processes import Command
from mqlab.lab.resources import LOOPBACK, listening

_MEGABYTES = 20.0
_RULES = "acl"


def broker(wanted: Wanted, home: Home, base: int) -> Broker:
    """One broker; a setting whose value has several lines is written once a line, *acl* are the rules of its file."""
    program = tool("mosquitto", "MQTT scenarios", "on Debian `apt install mosquitto`")
    own = home.work / wanted.label
    config, log = own / "mosquitto.conf", own / "logs" / "mosquitto.log"
    for folder in (own / "data", log.parent):
        folder.mkdir(parents=True, exist_ok=True)
    config.write_text(_config(wanted, own, log, base))
    names = (f"{wanted.label}.log", f"{wanted.label}.conf")
    configs = {names[1]: config}
    if _RULES in wanted.settings:
        configs[f"{wanted.label}.acl"] = own / _RULES
        (own / _RULES).write_text(f"{wanted.settings[_RULES]}\n")
        (own / _RULES).chmod(0o600)
    command = Command(wanted.label, [program, "-c", str(config)], own, own / "stdout.log")
    node = Node(wanted.label, command, lambda: listening(base), base)
    return Broker(wanted, [node], f"{LOOPBACK}:{base}", {names[0]: log}, configs, _MEGABYTES)


def _config(wanted: Wanted, own: Path, log: Path, port: int) -> str:
    lines = [
        "persistence true",
        f"persistence_location {own / 'data'}/",
        f"log_dest file {log}",
        "sys_interval 2",
        f"listener {port} {LOOPBACK}",
        "allow_anonymous true",
    ]
    if os.geteuid() == 0:
        # Giving up root would clear the signal that ends it with the lab (prctl(2)).
        lines.append("user root")
    if _RULES in wanted.settings:
        lines.append(f"acl_file {own / _RULES}")
    for key, value in wanted.settings.items():
        if key == _RULES:
            continue
        lines += [f"{key} {one}" for one in str(value).split("\n")]
    return "\n".join(lines) + "\n"
