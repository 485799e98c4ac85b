"""The documentation says what the program does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import transcripts

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(#[^)]*)?\)")


@pytest.mark.parametrize("page", PAGES, ids=[path.relative_to(ROOT).as_posix() for path in PAGES])
def test_links_lead_to_files(page) -> None:
    targets = [found[1] for found in LINK.finditer(page.read_text(encoding="utf-8")) if "://" not in found[1]]
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("name", transcripts.PAGES)
def test_pages_that_show_commands_have_some(name) -> None:
    assert "\n$ rag-index " in (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("score 0.71 in 3.2 s", "score 0.68 in 12.9 s", True),
        ("built 2026-11-30T20:11:28+00:00", "built 2027-01-02T03:04:05+00:00", True),
        ("time       9.1 s", "time      10.2 s", True),
        ("embedded 127 texts", "embedded 128 texts", False),
        ("a.md:3", "b.md:3", False),
    ],
)
def test_outputs_are_the_same_but_for_scores_and_times(one, other, same) -> None:
    assert (transcripts.mask(one) == transcripts.mask(other)) is same


def test_the_output_of_each_command_is_put_below_it() -> None:
    page = "Text\n```console\n$ echo one\nold\n$ cd data && ls handbook | head -n 1\n```\nmore $ text\n"
    with transcripts.shell() as shell:
        filled = transcripts.fill(page, shell)
    assert filled == (
        "Text\n```console\n$ echo one\none\n$ cd data && ls handbook | head -n 1\nengineering\n```\nmore $ text\n"
    )


def test_a_command_that_fails_ends_the_run() -> None:
    with transcripts.shell() as shell, pytest.raises(SystemExit, match="exit code 3 of `exit 3`"):
        transcripts.fill("```console\n$ exit 3\n```\n", shell)


def python_of(page: str) -> str:
    """All Python of a page, as one program."""
    return "\n".join(re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))


def test_the_python_of_the_chroma_page_finds_the_answer_in_three_ways() -> None:
    code = python_of((ROOT / "docs/how-to/chroma-langchain-llamaindex.md").read_text(encoding="utf-8"))
    with transcripts.shell(RAG_INDEX_EMBED_MODEL="hash") as shell:
        assert shell.run("rag-index build handbook")[0] == 0
        (shell.folder / "example.py").write_text(code, encoding="utf-8")
        status, output = shell.run("python -W ignore example.py")
    assert status == 0, output
    places = [tuple(line.split()[:2]) for line in output.splitlines() if "policies/warranty-and-returns.md" in line]
    assert len(places) >= 3
    assert len(set(places)) <= len(places) / 3  # the same chunks each time


def test_the_readme_shows_what_make_demo_does() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\ndemo:")[2].partition("\n\n")[0]
    made = re.findall(r"\$\(BIN\)/(rag-index .*)", makefile)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\$ (rag-index .*)$", readme.partition("```console\n")[2].partition("```")[0], re.MULTILINE)
    assert made == shown


@pytest.mark.model
@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        *(pytest.param(name, marks=pytest.mark.nightly) for name in transcripts.PAGES if name != "README.md"),
    ],
)
def test_commands_in_the_pages_print_what_the_pages_say(name) -> None:
    page = (ROOT / name).read_text(encoding="utf-8")
    with transcripts.shell() as shell:
        assert transcripts.fill(page, shell) == page, "run `make docs`"


@pytest.mark.slow
def test_the_usage_in_the_readme_runs() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    usage = page.partition("## Use\n")[2].partition("```sh\n")[2].partition("```")[0]
    commands = [line for line in usage.splitlines() if line.startswith("rag-index ")]
    assert len(commands) >= 10
    with transcripts.shell(RAG_INDEX_EMBED_MODEL="hash", RAG_INDEX_DIR="docs/.rag-index") as shell:
        shell.run("cp docs/welcome.md README.md; cp docs/manuals/*.pdf report.pdf; cp report.pdf docs/")
        shell.run("cp data/questions.jsonl .")
        outputs = {command: shell.run(command) for command in commands}
    assert {command: output for command, (code, output) in outputs.items() if code} == {}
