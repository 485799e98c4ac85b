"""The names that `import rag_index` gives."""

from __future__ import annotations

import subprocess
import sys

import pytest

import rag_index


@pytest.mark.parametrize("name", rag_index.__all__)
def test_every_exported_name_is_there_and_has_a_docstring(name) -> None:
    assert name in dir(rag_index)
    assert name == "__version__" or getattr(rag_index, name).__doc__


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'colour'"):
        _ = rag_index.colour


def test_the_lazy_names_are_those_that_type_checkers_see() -> None:
    assert {*rag_index.__all__} - {"__version__"} == {*rag_index._HOMES}


def test_importing_the_package_imports_nothing_else_of_it() -> None:
    code = "import sys, rag_index; print([name for name in sys.modules if name.startswith('rag_index.')])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out == "[]\n"
