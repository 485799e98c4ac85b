"""Write the parts of the documentation that follow from the code, by running it.

`--check` changes nothing and fails when a reference page or the table of figures is stale. What commands print in the
pages (see transcripts.py) is checked by the tests. `--fresh` takes new scores and times into the pages, too.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields
from pathlib import Path

import transcripts

ROOT = Path(__file__).resolve().parents[1]
NOTE = "<!-- written by docs/generate.py; change the code, then run `make docs` -->\n\n"
WIDTH = 100


def main() -> int:
    """Write every page, or with ``--check`` name the stale ones; return the exit code."""
    check = "--check" in sys.argv[1:]
    stale = []
    pages = PAGES if check else [*PAGES, *((name, transcript) for name in transcripts.PAGES)]
    for name, make in pages:
        path = ROOT / name
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        new = make(old)
        if new == old:
            continue
        stale.append(name)
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(new, encoding="utf-8")
    for name in stale:
        print(f"{'stale' if check else 'written'}: {name}")
    if stale and check:
        print("run `make docs`", file=sys.stderr)
    return int(check and bool(stale))


def cli_page(_old: str) -> str:
    """Every command's own help, as a terminal of 100 columns shows it."""
    names = sorted(_commands())
    parts = [NOTE + "# Commands\n\n", _fence(_help()), "\n"]
    parts += [f"\n## {name}\n\n{_fence(_help(name))}\n" for name in names]
    return "".join(parts)


def settings_page(_old: str) -> str:
    """Every setting with type, default, variable and meaning, from the dataclasses."""
    from rag_index.settings import ENV_PREFIX, FILE_NAME, Settings

    parts = [
        NOTE + "# Settings\n\n",
        _wrap(
            f"A setting is looked for in this order: flag, variable, `{FILE_NAME}` in the folder or above it, the "
            "user's `~/.config/rag-index/config.toml`, default. `rag-index config` shows each value and where it came "
            "from. Lists are written with commas in variables and flags."
        ),
    ]
    default = Settings()
    for part in fields(Settings):
        cls = type(getattr(default, part.name))
        meanings = dict(_attributes(cls.__doc__ or ""))
        parts.append(f"\n## [{part.name}]\n\n{_first_line(cls)}\n\n")
        parts.append("| setting | type | default | variable | meaning |\n|---|---|---|---|---|\n")
        for field in fields(cls):
            variable = f"{ENV_PREFIX}{part.name}_{field.name}".upper()
            value = "" if field.default is MISSING else f"`{_toml(field.default)}`"
            kind = str(field.type).replace("|", "\\|")
            parts.append(f"| `{field.name}` | `{kind}` | {value} | `{variable}` | {meanings.get(field.name, '')} |\n")
    return "".join(parts)


def default_profile(_old: str) -> str:
    """A configuration file that names every default, with its meaning above it."""
    from rag_index.settings import FILE_NAME, Settings

    head = f"# Every setting with its default; copy what you want to change into {FILE_NAME} beside your documents.\n"
    parts = [head, "# Written by docs/generate.py.\n"]
    default = Settings()
    for part in fields(Settings):
        cls = type(getattr(default, part.name))
        meanings = dict(_attributes(cls.__doc__ or ""))
        parts.append(f"\n[{part.name}]\n")
        for field in fields(cls):
            meaning = meanings.get(field.name, "").replace("`", "").replace("\\|", "|")
            parts.append(textwrap.fill(meaning, 120, initial_indent="# ", subsequent_indent="# ") + "\n")
            # TOML has no word for "not set".
            value = "" if field.default is None else f" {_toml(field.default)}"
            parts.append(f"{'' if value else '# '}{field.name} ={value}\n")
    return "".join(parts)


def errors_page(_old: str) -> str:
    """The tree of errors with exit codes, from the classes."""
    from rag_index import errors

    rows = "".join(
        f"| {'&nbsp;' * 4 * depth}`{cls.__name__}` | {cls.exit_code} | {_first_line(cls)} |\n"
        for cls, depth in _tree(errors.RagIndexError)
    )
    return (
        f"{NOTE}# Errors and exit codes\n\n"
        "`rag-index` prints `error: ...` and a `hint: ...` to stderr; with `--json` the same as one JSON object.\n\n"
        "| exit code | meaning |\n|---|---|\n"
        "| 0 | done, also when nothing was found or files were skipped |\n"
        "| 1 | failed |\n| 2 | the request is wrong |\n"
        "| 3 | the index is missing, damaged or made by something else |\n"
        "| 4 | `--strict`, and some files were skipped |\n| 5 | another build holds the index |\n"
        "| 130, 143 | ended by Ctrl-C or SIGTERM |\n\n"
        "In Python each is an exception of `rag_index.errors`:\n\n"
        f"| error | exit code | meaning |\n|---|---|---|\n{rows}"
    )


def readme(old: str) -> str:
    """The README with the table of figures that benchmarks have left beside their code."""
    rows = ""
    for path in sorted((ROOT / "benchmarks").glob("*/results*.json")):
        for row in json.loads(path.read_text(encoding="utf-8")).get("readme", []):
            source = path.relative_to(ROOT).as_posix()
            rows += f"| {row['what']} | {row['ours']} | {row['others']} | [{path.parent.name}]({source}) |\n"
    table = f"\n| what | rag-index | others | figures |\n|---|---|---|---|\n{rows}\n"
    return _between(old, "figures", table)


def docs_index(old: str) -> str:
    """The list of pages, each by its first heading."""
    parts = []
    for word, folder in (("Do", "how-to"), ("Understand", "explanation")):
        pages = sorted((ROOT / "docs" / folder).glob("*.md"))
        titles = [page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ") for page in pages]
        links = [f"- [{title}]({folder}/{page.name})" for page, title in zip(pages, titles, strict=True)]
        parts.append(f"\n**{word}:**\n\n" + "\n".join(links) + "\n")
    return _between(old, "pages", "".join(parts) + "\n")


def _between(old: str, name: str, text: str) -> str:
    """Return the page `old` with `text` between the two comments that `name` has there."""
    before, start, rest = old.partition(f"<!-- {name}: written by docs/generate.py -->\n")
    _, end, after = rest.partition(f"<!-- end of {name} -->")
    return f"{before}{start}{text}{end}{after}"


def transcript(old: str) -> str:
    """A page with the output of the commands that it shows."""
    with transcripts.shell() as shell:
        return transcripts.fill(old, shell, fresh="--fresh" in sys.argv[1:])


def _commands() -> list[str]:
    """Return the names of the commands."""
    from rag_index.cli.app import commands

    return [each.name for each in commands]


def _help(*command: str) -> str:
    return run("-m", "rag_index", *command, "--help")


def run(*arguments: str) -> str:
    """Run Python in the project's folder with a plain terminal and return what it prints."""
    plain = {"COLUMNS": str(WIDTH), "TERM": "dumb", "NO_COLOR": "1", "PYTHONPATH": str(ROOT)}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAG_INDEX_")}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env={**kept, **plain}, check=True, capture_output=True, text=True
    )
    return done.stdout


def _attributes(doc: str) -> Iterator[tuple[str, str]]:
    """Yield (name, meaning) of a docstring's ``Attributes:``."""
    section = textwrap.dedent(doc.partition("Attributes:\n")[2])
    for found in re.finditer(r"^(\w+): (.+(?:\n[ ]+.+)*)", section, re.MULTILINE):
        yield found[1], " ".join(found[2].split()).replace("``", "`").replace("|", "\\|")


def _first_line(cls: type) -> str:
    return (cls.__doc__ or "").strip().splitlines()[0].replace("``", "`")


def _tree(cls: type, depth: int = 0) -> Iterator[tuple[type, int]]:
    yield cls, depth
    for below in cls.__subclasses__():
        yield from _tree(below, depth + 1)


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "not set"
    if isinstance(value, tuple):
        return "[" + ", ".join(f'"{item}"' for item in value) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _fence(text: str) -> str:
    body = "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
    return f"```text\n{body}\n```\n"


def _wrap(text: str) -> str:
    return textwrap.fill(text, 120) + "\n"


PAGES: list[tuple[str, Callable[[str], str]]] = [
    ("docs/reference/cli.md", cli_page),
    ("docs/reference/settings.md", settings_page),
    ("docs/reference/errors.md", errors_page),
    ("configs/default.toml", default_profile),
    ("README.md", readme),
    ("docs/README.md", docs_index),
]

if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
