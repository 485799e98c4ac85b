"""Find the passages of questions.jsonl in the handbook again and write their offsets; fail when one is gone.

    python data/label.py [--check]

A question's references are written by hand as a document and a passage; white space may differ. This script sets
`start`, `end` and `text` to the exact place in the text that rag-index extracts from the document. A passage must be in its
document exactly once. Run it after every change of a document.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from rag_index.extract import discover, read_document
from rag_index.settings import ExtractSettings
from rag_index.types import Document

DATA = Path(__file__).resolve().parent
HANDBOOK = DATA / "handbook"
QUESTIONS = DATA / "questions.jsonl"


def documents(folder: Path = HANDBOOK) -> dict[str, Document]:
    """Read every document of the handbook as `build` reads it, by its name in the index."""
    settings = ExtractSettings()
    found = discover([folder], settings, root=folder)
    return {item.name: read_document(item, settings) for item in found if item.status is None}


def place(text: str, passage: str) -> tuple[int, int]:
    """Return where `passage` stands in `text`, any white space equal to any other; it must stand there once."""
    pattern = r"\s+".join(re.escape(word) for word in passage.split())
    places = [found.span() for found in re.finditer(pattern, text)]
    if len(places) != 1:
        raise ValueError(f"{len(places)} places, but there must be one")
    return places[0]


def label(line: str, known: dict[str, Document]) -> str:
    """Return the question with its references placed."""
    question: dict[str, Any] = json.loads(line)
    placed = []
    for ref in question["refs"]:
        try:
            text = known[ref["doc"]].text
            start, end = place(text, ref["text"])
        except (KeyError, ValueError) as error:
            raise SystemExit(f"{question['id']}: {ref['doc']}: {ref['text']!r}: {error}") from error
        placed.append({"doc": ref["doc"], "start": start, "end": end, "text": text[start:end]})
    return json.dumps({**question, "refs": placed}, ensure_ascii=False)


def main(arguments: list[str]) -> int:
    """Write the file anew, or with ``--check`` say whether it is up to date."""
    known = documents()
    old = QUESTIONS.read_text(encoding="utf-8")
    new = "".join(label(line, known) + "\n" for line in old.splitlines())
    if "--check" in arguments:
        return int(new != old)
    QUESTIONS.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
