"""Run the commands that the pages show, in a folder of their own, and put in what they print."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "docs/tutorial.md", "docs/how-to/incremental-builds.md", "docs/how-to/languages.md")
"""Pages whose ``console`` blocks are run; within a page a command sees what those above it left behind."""

PLAIN = {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1", "PYTHONPATH": str(ROOT), "LC_ALL": "C.UTF-8"}
HOME = "/home/you"
"""What pages show in place of the folder's own name."""

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ (.*(?:\\\n.*)*)\n?", re.MULTILINE)
# Scores and times differ from machine to machine, and that is no reason to call a page stale.
_VOLATILE = re.compile(r"\d{4}-\d\d-\d\d[T ][\d:.+Z]+|\d+\.\d+|\d+(?= (?:ms|s)\b)|\b[0-9a-f]{12,}\b")


@dataclass(frozen=True, slots=True)
class Shell:
    """A folder with the sample data in which the shown commands run."""

    folder: Path
    environ: dict[str, str]

    def run(self, command: str) -> tuple[int, str]:
        """Run a shell command; return its exit code and all that it prints."""
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout.replace(str(self.folder), HOME)


@contextmanager
def shell(**variables: str) -> Iterator[Shell]:
    """Make the folder: ``data/``, ``configs/`` as in the project; ``handbook/``, ``docs/``: copies of the handbook."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "work"
        built = shutil.ignore_patterns(".rag-index", "__pycache__")
        for source, target in (
            ("data", "data"),
            ("configs", "configs"),
            ("data/handbook", "handbook"),
            ("data/handbook", "docs"),
        ):
            shutil.copytree(ROOT / source, folder / target, ignore=built)
        program = Path(name) / "bin/rag-index"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rag_index "$@"\n')
        program.chmod(0o755)
        kept = {key: value for key, value in os.environ.items() if not key.startswith("RAG_INDEX_")}
        paths = {"PATH": f"{program.parent}:{Path(sys.executable).parent}:{kept['PATH']}", "HOME": name}
        own = {"RAG_INDEX_CACHE_DIR": f"{name}/cache", "XDG_CONFIG_HOME": f"{name}/config"}
        yield Shell(folder, {**kept, **PLAIN, **paths, **own, **variables})


def fill(page: str, shell: Shell, *, fresh: bool = False) -> str:
    """Return the page with the output of each command below it; other scores and times alone change nothing.

    With `fresh` they do.
    """
    return _BLOCK.sub(lambda block: f"```console\n{_answers(block[1], shell, fresh=fresh)}```", page)


def _answers(block: str, shell: Shell, *, fresh: bool) -> str:
    shown = _COMMAND.split(block)[1:]
    parts = []
    for command, old in zip(shown[::2], shown[1::2], strict=True):
        code, output = shell.run(command)
        new = "".join(f"{line.rstrip()}\n" for line in output.splitlines())
        if code:
            raise SystemExit(f"exit code {code} of `{command}`:\n{output}")
        parts.append(f"$ {command}\n{old if mask(old) == mask(new) and not fresh else new}")
    return "".join(parts)


def mask(text: str) -> str:
    """Return the text without what differs between machines and days."""
    return re.sub(r" +", " ", _VOLATILE.sub("#", text))
