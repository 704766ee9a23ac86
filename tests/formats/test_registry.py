"""The tuple of formats."""

import importlib
import pkgutil
import re

from mqlab import formats
from mqlab.formats.registry import BY_NAME, FORMATS
from mqlab.formats.signatures import LOG_FORMATS
from mqlab.sources import Reading


def _modules():
    names = [module.name for module in pkgutil.iter_modules(formats.__path__)]
    return [importlib.import_module(f"mqlab.formats.{name}") for name in names]


def test_every_module_that_recognises_files_is_in_the_tuple_once():
    offered = [module for module in _modules() if hasattr(module, "recognise")]
    assert sorted(offered, key=str) == sorted(FORMATS, key=str), "FORMATS stands in mqlab/formats/registry.py"


def test_every_name_of_a_format_is_that_of_one_in_the_tuple():
    assert {module.FORMAT.name for module in _modules() if hasattr(module, "FORMAT")} == BY_NAME.keys()
    assert len(BY_NAME) == len(FORMATS)


def test_logs_are_read_by_the_signatures_of_every_format_of_dated_lines():
    dated = [form for form in FORMATS if form.FORMAT.reading is Reading.LOG]
    assert sorted(LOG_FORMATS, key=str) == sorted(dated, key=str), "LOG_FORMATS stands in mqlab/formats/signatures.py"


def test_formats_are_named_like_the_tool_that_writes_them():
    assert all(re.fullmatch("[a-z0-9-]+", form.FORMAT.name) for form in FORMATS)
