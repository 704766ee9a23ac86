"""The tuple of loaders."""

import importlib
import pkgutil
import re

from mqlab import loaders
from mqlab.loaders.signatures import LOG_LOADERS
from mqlab.sources import Reading


def test_every_module_with_a_format_is_in_the_tuple_once():
    names = [module.name for module in pkgutil.iter_modules(loaders.__path__)]
    modules = [importlib.import_module(f"mqlab.loaders.{name}") for name in names]
    offered = [module for module in modules if hasattr(module, "FORMAT")]
    assert sorted(offered, key=str) == sorted(loaders.LOADERS, key=str)
    assert len({loader.FORMAT for loader in loaders.LOADERS}) == len(loaders.LOADERS)


def test_the_scan_asks_every_format_of_dated_lines_for_its_signatures():
    dated = [loader for loader in loaders.LOADERS if loader.READING is Reading.LOG]
    assert sorted(LOG_LOADERS, key=str) == sorted(dated, key=str)


def test_formats_are_named_like_the_tool_that_writes_them():
    assert all(re.fullmatch("[a-z0-9-]+", loader.FORMAT) for loader in loaders.LOADERS)
