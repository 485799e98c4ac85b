"""Questions made from documents: right places, every kind, the same each time."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from rag_index.evaluate.formats import load_questions
from rag_index.evaluate.labels import question_line
from rag_index.evaluate.questions import KINDS, make_questions
from rag_index.extract import extract_bytes
from rag_index.settings import ExtractSettings

GUIDE = """# Pump guide

A hardware key is a small device that you need
to open the control cabinet. It is red. Nobody may copy it, and it never leaves the site.

## Before the first start

Fill the pump with clean water and open the vent until no more bubbles come out.

See [what to do after a flood](help/flood.md) and [how the start goes](#before-the-first-start), or [x](none.md).

```python
It = "code is an example that is never asked about"
```
"""
FLOOD = """# Floods

Switch off the mains before you touch the pump, and call the workshop.
"""


def documents():
    files = {"guide.md": GUIDE, "help/flood.md": FLOOD, "code.py": "def pump():\n    return 1\n"}
    return {name: extract_bytes(text.encode(), name, ExtractSettings()) for name, text in files.items()}


def made(kind: str) -> dict[str, str]:
    known = documents()
    return {
        question.text: known[place.path].text[place.start : place.end]
        for question in make_questions(known, 100)
        for place in question.references[0].places
        if kind in question.tags
    }


@pytest.mark.parametrize(
    ("kind", "question", "answer"),
    [
        ("heading", "Pump guide: Before the first start", "Fill the pump with clean water and open the vent"),
        ("definition", "What is a hardware key?", "A hardware key is a small device that you need\nto open"),
        ("link", "what to do after a flood", "Switch off the mains before you touch the pump"),
        ("link", "how the start goes", "Fill the pump with clean water"),
        (
            "sentence",
            "A hardware key is a small device that you need to open the control cabinet.",
            "It is red. Nobody",
        ),
    ],
)
def test_each_kind_finds_its_answer(kind, question, answer):
    assert made(kind)[question].startswith(answer)


def test_links_to_nowhere_and_code_are_not_asked_about():
    asked = " ".join(text for kind in KINDS for text in made(kind))
    assert "code is an example" not in asked
    assert "x" not in made("link")


def test_the_kinds_and_documents_are_taken_in_turn_and_the_result_is_the_same_each_time():
    once, again = make_questions(documents(), 4), make_questions(documents(), 4)
    assert once == again
    assert {question.tags[1] for question in once} == set(KINDS)
    assert all(question.tags[0] == "synthetic" for question in once)
    assert make_questions({}, 5) == []


def test_what_is_written_is_read_back_without_a_word(tmp_path):
    known = documents()
    questions = make_questions(known, 10)
    file = tmp_path / "made.jsonl"
    file.write_text("".join(question_line(question, known) + "\n" for question in questions), encoding="utf-8")
    labels = load_questions(file, known)
    assert list(labels.questions) == questions
    assert labels.warnings == ()


def test_the_handbook_gives_questions_in_all_its_languages():
    folder = Path(__file__).resolve().parents[3] / "data" / "handbook"
    known = {
        str(path.relative_to(folder)): extract_bytes(path.read_bytes(), path.name, ExtractSettings())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix in {".md", ".txt"}
    }
    questions = make_questions(known, 80)
    kinds = Counter(question.tags[1] for question in questions)
    assert kinds["heading"] > 10
    assert kinds["sentence"] > 10
    paths = {question.references[0].places[0].path for question in questions}
    assert any(".ja." in path for path in paths)
    assert any(".pt." in path for path in paths)
