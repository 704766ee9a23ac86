"""The bundled exercises with their keys and captures, and how one is solved from its material."""

import json
import tomllib
from functools import cache
from pathlib import Path

import pandas as pd
import yaml
from pyspark.sql import functions as F

from mqlab.training import exercise as exercises
from mqlab.training import sealing

ROOT = Path(__file__).parents[1]
KEYS = ROOT / "tests" / "truth" / "training"
SECTIONS = ("starts_in", "since", "who", "mechanism", "line", "amount", "repair", "verify")
NUMBERS = {name: number for number, name in yaml.safe_load((KEYS / "set.yml").read_text()).items()}
SECRET = sealing.read_key(KEYS / "instructor.key")


@cache
def key(name):
    """The key of a capture."""
    return tomllib.loads((KEYS / f"{name}.toml").read_text())


@cache
def incident(name):
    """What really happened."""
    return json.loads((KEYS.parent / f"{name}.truth.json").read_text())["class"]


def exercise(name):
    """The sealed exercise about a capture."""
    return exercises.exercise(NUMBERS[name])


def solved(name, capture):
    """Answers by question: found in the material where the key says how, else the one of several options."""
    parts = key(name)
    found = {section: _found(section, parts[section], capture) for section in SECTIONS if section in parts}
    found["mechanism"] = incident(name) if found["mechanism"] is True else "nothing"
    if "side_effects" in parts.get("repair", {}):
        found["side_effect"] = parts["repair"]["right"]["side_effect"]
    return found


def _found(section, part, capture):
    if "solve" in part:
        answer = eval(part["solve"].strip(), {"capture": capture, "pd": pd, "F": F})
        return _written(section, answer)
    best = part["right"]
    return best if isinstance(best, str) else best.get("do") or best["by"]


def _written(section, answer):
    """As a learner would type it."""
    if section == "line":
        source, line = answer
        return f"{source}:{int(line)}" if line else source
    if section == "since" and isinstance(answer, int | float):
        return pd.Timestamp(answer, unit="s", tz="UTC").isoformat()
    return answer if section == "mechanism" else str(answer)
