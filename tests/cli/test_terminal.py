from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_index.cli.terminal import BOLD, paint, progress, safe
from rag_index.types import Event


@given(st.text())
def test_safe_text_holds_nothing_that_a_terminal_obeys(text) -> None:
    shown = safe(text)
    assert not any((ord(char) < 32 and char not in "\t\n") or 127 <= ord(char) < 160 for char in shown)
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("plain\ttext\n", "plain\ttext\n", id="nothing to do"),
        pytest.param("red \x1b[31m", "red \\x1b[31m", id="colour"),
        pytest.param("a\r\nb\rc", "a\nb\\rc", id="carriage returns"),
        pytest.param("\u202egpj.exe", "\\u202egpj.exe", id="turned writing"),
        pytest.param("שלום \u200f日本", "שלום \u200f日本", id="other scripts"),
    ],
)
def test_safe_shows_controls_as_escapes(text, shown) -> None:
    assert safe(text) == shown


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "variables", "colour"),
    [
        pytest.param(Terminal(), {}, True, id="a terminal"),
        pytest.param(io.StringIO(), {}, False, id="a pipe"),
        pytest.param(Terminal(), {"NO_COLOR": "1"}, False, id="NO_COLOR"),
        pytest.param(Terminal(), {"NO_COLOR": ""}, True, id="NO_COLOR empty"),
        pytest.param(Terminal(), {"TERM": "dumb"}, False, id="dumb terminal"),
    ],
)
def test_colour_only_on_a_terminal_that_wants_it(stream, variables, colour, monkeypatch) -> None:
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert paint("x", BOLD, stream) == ("\x1b[1mx\x1b[0m" if colour else "x")
    assert paint("", BOLD, stream) == ""


def test_progress_is_silent_where_nobody_watches(capsys) -> None:
    with progress() as report:
        report(Event("embed", 1, 2))
    assert capsys.readouterr() == ("", "")


PROGRESS = """
from rag_index.cli.terminal import progress
from rag_index.types import Event
with progress(quiet={quiet}) as report:
    report(Event("embed", 1, 4, "a[b]\\x1b.md"))
    report(Event("embed", 3, 4, "a[b]\\x1b.md"))
print("done")
"""


def on_a_terminal(code: str) -> tuple[str, bytes]:
    """Run Python with stderr on a terminal; return stdout and what the terminal got."""
    ours, theirs = pty.openpty()
    environ = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=theirs, env=environ) as child:
        os.close(theirs)
        seen = b""
        try:
            while piece := os.read(ours, 65536):
                seen += piece
        except OSError:  # the other side is closed
            pass
        out = child.stdout.read().decode()
    os.close(ours)
    return out, seen


def test_progress_shows_stage_count_and_note_on_a_terminal_and_leaves_stdout_alone() -> None:
    out, seen = on_a_terminal(PROGRESS.format(quiet=False))
    assert out == "done\n"
    assert b"embed" in seen
    assert b"3/4" in seen
    assert b"a[b]\\x1b.md" in seen


def test_quiet_draws_nothing() -> None:
    assert on_a_terminal(PROGRESS.format(quiet=True)) == ("done\n", b"")


UNDECODABLE = r"""
from rag_index.cli.app import _prepare_streams
from rag_index.cli.terminal import say, say_json
import sys
_prepare_streams(as_json=sys.argv[1] == "json")
name = b"caf\xe9 \xe2\x82\xac.txt".decode("utf-8", "surrogateescape")
say_json({"path": name}) if sys.argv[1] == "json" else say(name)
"""


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "cp1252"])
def test_json_is_utf8_everywhere_and_gives_undecodable_names_back(encoding) -> None:
    out = subprocess.run(
        [sys.executable, "-c", UNDECODABLE, "json"],
        capture_output=True,
        check=True,
        env=os.environ | {"PYTHONIOENCODING": encoding},
    ).stdout
    path = json.loads(out.decode("utf-8"))["path"]
    assert path.encode("utf-8", "surrogateescape") == b"caf\xe9 \xe2\x82\xac.txt"


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        pytest.param("utf-8", "caf\\udce9 €.txt\n", id="utf-8"),
        pytest.param("ascii", "caf\\udce9 \\u20ac.txt\n", id="ascii"),
    ],
)
def test_names_that_the_terminal_cant_show_are_escaped(encoding, shown) -> None:
    out = subprocess.run(
        [sys.executable, "-c", UNDECODABLE, "text"],
        capture_output=True,
        check=True,
        env=os.environ | {"PYTHONIOENCODING": encoding},
    ).stdout
    assert out.decode(encoding) == shown
