"""The program's frame: help, usage errors, streams, signals, exit codes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rag_index import __version__
from rag_index.cli.app import commands, main

HEAVY = ("chromadb", "torch", "sentence_transformers", "transformers", "nltk", "numpy", "rich", "openvino", "pydantic")


def run_program(*arguments: str, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rag_index", *arguments], capture_output=True, text=True, check=False, **options
    )


@pytest.mark.parametrize("names", [(), *((each.name,) for each in commands)], ids=lambda names: " ".join(names) or "-")
def test_help_imports_nothing_heavy(names) -> None:
    code = (
        "import sys\n"
        "from rag_index.cli.app import main\n"
        f"code = main({[*names, '--help']!r})\n"
        f"print(code, [name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "0 []\n"
    assert done.stdout.startswith("Usage: rag-index")


@pytest.mark.parametrize("each", commands, ids=lambda each: each.name)
def test_every_option_of_every_command_is_explained_and_the_help_ends_with_an_example(each, capsys) -> None:
    assert main([each.name, "--help"]) == 0
    text = capsys.readouterr().out
    options = text.partition("Options:\n")[2].partition("\n\n")[0].splitlines()
    entries = [line for line in options if line.startswith("  -")]
    assert any("--json" in line for line in entries)
    for line, following in zip(options, [*options[1:], "  -"], strict=True):
        if line.startswith("  -"):
            explained = re.search(r"\S {2,}\S", line) or not following.startswith("  -")
            assert explained, f"no help: {line}"
    assert text.rstrip().splitlines()[-2:] == ["  Example:", f"    {each.example}"]
    assert each.example.startswith(("rag-index " + each.name, "printf "))


@pytest.mark.parametrize("each", commands, ids=lambda each: each.name)
def test_aliases_give_the_same_help(each, capsys) -> None:
    texts = set()
    for name in each.names:
        main([name, "--help"])
        texts.add(capsys.readouterr().out)
    assert len(texts) == 1


def test_without_arguments_the_help_lists_the_commands(capsys) -> None:
    assert main([]) == 0
    text = capsys.readouterr().out
    assert main(["--help"]) == 0
    assert capsys.readouterr().out == text
    listed = re.findall(r"^  (\w+)  ", text.partition("Commands:\n")[2], re.MULTILINE)
    assert listed == [each.name for each in commands]


def test_the_version(capsys) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"rag-index {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        pytest.param(["confg"], "no such command 'confg'", "Did you mean 'config'?", id="command"),
        pytest.param(["zzz"], "no such command 'zzz'", "See `rag-index --help`.", id="unlike any command"),
        pytest.param(["config", "--sise", "3"], "no such option: --sise", "Did you mean '--size'?", id="option"),
        pytest.param(["--debgu", "config"], "no such option: --debgu", "Did you mean '--debug'?", id="before"),
        pytest.param(
            ["config", "x"], "got unexpected extra argument(s) (x)", "See `rag-index config --help`.", id="extra"
        ),
        pytest.param(
            ["config", "--size"], "option '--size' requires an argument", "See `rag-index --help`.", id="value"
        ),
        pytest.param(["config", "--size", "0"], "size is 0 but must be at least 1", "Raise --size.", id="range"),
        pytest.param(
            ["config", "--size", "many"],
            "chunk.size is 'many' (flag) but must be of type int",
            "Mend chunk.size.",
            id="number",
        ),
        pytest.param(
            ["config", "--config", "no.toml"],
            "can't read no.toml: No such file or directory",
            "Check --config.",
            id="file",
        ),
    ],
)
def test_a_wrong_command_line_is_error_hint_and_exit_code_2(arguments, error, hint, capsys) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr() == ("", f"error: {error}\nhint: {hint}\n")

    assert main([*arguments, "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    if "requires an argument" not in error:  # there --json is the value
        assert json.loads(err) == {"error": error, "hint": hint, "exit_code": 2}


def test_debug_raises_what_went_wrong() -> None:
    with pytest.raises(ValueError, match="size is 0"):
        main(["config", "--size", "0", "--debug"])


def test_debug_after_the_double_dash_is_no_flag(capsys) -> None:
    assert main(["config", "--", "--debug"]) == 2
    assert capsys.readouterr().err.startswith("error: got unexpected extra argument(s) (--debug)")


def test_options_of_the_program_stand_before_the_command_too(capsys) -> None:
    assert main(["--debug", "config", "--size", "7"]) == 0
    assert "size = 7 " in capsys.readouterr().out


def test_a_shell_gets_its_completions() -> None:
    asked = os.environ | {
        "_RAG_INDEX_COMPLETE": "complete_bash",
        "COMP_WORDS": "rag-index config --over",
        "COMP_CWORD": "2",
    }
    assert run_program(env=asked).stdout == "--overlap\n"


def test_a_reader_who_has_seen_enough_ends_the_program_quietly() -> None:
    code = f"{sys.executable} -m rag_index config | head -n 1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {code}"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[extract]\n", "")


def test_a_full_disk_is_an_error_not_a_traceback() -> None:
    device = Path("/dev/full")
    if not device.exists():
        pytest.skip("this system has no /dev/full, the device that is always full")
    with device.open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "rag_index", "config"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (1, "error: no space left on device\n")


WAIT = """
import os, signal, sys, time
from rag_index.cli import frame
from rag_index.cli.app import main

def wait() -> None:
    '''Wait.'''
    try:
        print("ready", flush=True)
        time.sleep(60)
    finally:
        print("put in order", flush=True)

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background inherits that it is ignored
frame.command("wait", example="rag-index wait")(wait)
sys.exit(main(["wait"]))
"""


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        pytest.param(signal.SIGINT, 130, "interrupted\n", id="Ctrl-C"),
        pytest.param(signal.SIGTERM, 143, "", id="SIGTERM"),
    ],
)
def test_a_signal_ends_the_work_in_order(number, code, said) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WAIT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout.readline() == "ready\n"
        child.send_signal(number)
        out, err = child.communicate(timeout=60)
    assert (child.returncode, out, err) == (code, "put in order\n", said)


BROKEN = """
import sys
from rag_index.cli import frame
from rag_index.cli.app import main

def broken() -> None:
    '''Fail.'''
    {body}

frame.command("broken", example="rag-index broken")(broken)
sys.exit(main(["broken", *sys.argv[1:]]))
"""


@pytest.mark.parametrize(
    ("body", "error"),
    [
        pytest.param(
            "return {}['x']",
            "error: internal error: KeyError: 'x'\nhint: Run it again with --debug and report the traceback.\n",
            id="a bug",
        ),
        pytest.param("open('no/such')", "error: no such file or directory: 'no/such'\n", id="the system"),
        pytest.param("open('no/\\x1bsuch')", "error: no such file or directory: 'no/\\x1bsuch'\n", id="escapes"),
    ],
)
def test_what_nobody_foresaw_is_an_error_too_and_debug_shows_the_traceback(body, error) -> None:
    code = BROKEN.replace("{body}", body)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", error)
    done = subprocess.run([sys.executable, "-c", code, "--debug"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Traceback" in done.stderr
