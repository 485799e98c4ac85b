"""The documentation says what the program does."""

import re
from pathlib import Path

import generate
import pytest
import transcripts

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(#[^)]*)?\)")


@pytest.mark.parametrize(("name", "make"), generate.PAGES, ids=[name for name, _ in generate.PAGES])
def test_pages_that_follow_from_the_code_are_up_to_date(name, make) -> None:
    old = (ROOT / name).read_text(encoding="utf-8")
    assert make(old) == old, "run `make docs`"


@pytest.mark.parametrize("page", PAGES, ids=[path.relative_to(ROOT).as_posix() for path in PAGES])
def test_links_lead_to_files(page) -> None:
    targets = [found[1] for found in LINK.finditer(page.read_text(encoding="utf-8")) if "://" not in found[1]]
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.model
@pytest.mark.parametrize("name", transcripts.PAGES)
def test_commands_in_the_pages_print_what_the_pages_say(name) -> None:
    page = (ROOT / name).read_text(encoding="utf-8")
    assert generate.transcript(page) == page, "run `make docs`"


def test_the_usage_in_the_readme_runs() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    usage = page.partition("## Use\n")[2].partition("```sh\n")[2].partition("```")[0]
    commands = [line for line in usage.splitlines() if line.startswith("rag-index")]
    assert len(commands) >= 10
    with transcripts.shell(RAG_INDEX_EMBED_MODEL="hash") as shell:
        shell.run("cp docs/welcome.md README.md; cp docs/manuals/*.pdf report.pdf; cp report.pdf docs/; cp data/*.jsonl .; cd docs")
        failed = {}
        for command in commands:
            where = "" if "docs" in command else "cp -rn . /dev/null; "
            code, output = shell.run(f"{where}{command}")
            if code:
                failed[command] = output
    assert failed == {}


def test_the_python_in_the_readme_runs() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    code = page.partition("```python\n")[2].partition("```")[0]
    with transcripts.shell(RAG_INDEX_EMBED_MODEL="hash") as shell:
        (shell.folder / "example.py").write_text(code, encoding="utf-8")
        status, output = shell.run("python example.py")
    assert status == 0, output
    assert "docs" not in output.split()[0]
