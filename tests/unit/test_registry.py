from __future__ import annotations

import subprocess
import sys

import pytest

from rag_index.errors import UnknownNameError
from rag_index.registry import Registry

COLOURS = Registry("colour", {"red": "colorsys:rgb_to_hsv", "blue": "no_such_module:x"})


def test_a_built_in_is_imported_when_it_is_asked_for() -> None:
    assert COLOURS.load("red")(1, 0, 0) == (0, 1, 1)


def test_checking_and_listing_import_nothing() -> None:
    COLOURS.check("blue")
    assert COLOURS.names() == ["blue", "red"]


@pytest.mark.parametrize("ask", [COLOURS.load, COLOURS.check], ids=["load", "check"])
def test_an_unknown_name_is_an_error_with_a_hint(ask) -> None:
    with pytest.raises(UnknownNameError) as caught:
        ask("bleu")
    assert (caught.value.message, caught.value.hint) == ("unknown colour 'bleu'", "Did you mean 'blue'?")


def test_an_installed_plugin_is_found_by_its_name(tmp_path) -> None:
    info = tmp_path / "colours-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: colours\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[rag_index.colours]\ngreen = colorsys:rgb_to_hls\n")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from rag_index.registry import Registry\n"
        "r = Registry('colour', {'red': 'colorsys:rgb_to_hsv'})\n"
        "r.check('green'); print(r.load('green').__name__, r.names())"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out == "rgb_to_hls ['green', 'red']\n"
