"""The tuple of detectors."""

import importlib
import pkgutil

from mqlab import detectors
from mqlab.detectors import DETECTORS
from mqlab.detectors.known_errors import RULES


def test_every_module_with_an_incident_is_in_the_tuple_once():
    names = [module.name for module in pkgutil.iter_modules(detectors.__path__)]
    modules = [importlib.import_module(f"mqlab.detectors.{name}") for name in names]
    offered = [module for module in modules if hasattr(module, "INCIDENT")]
    assert sorted([*offered, *RULES], key=str) == sorted(DETECTORS, key=str), "see mqlab/detectors/__init__.py"
    assert len({detector.INCIDENT for detector in DETECTORS}) == len(DETECTORS)
