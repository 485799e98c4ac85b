"""Keep the results of finished configurations, so that an interrupted sweep goes on where it was."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import rag_index
from rag_index.embed import embedders
from rag_index.embed.files import find_model
from rag_index.errors import ModelError
from rag_index.evaluate.grid import Cell
from rag_index.evaluate.run import Result

if TYPE_CHECKING:
    from rag_index.evaluate.labels import Question
    from rag_index.evaluate.scoring import Measure
    from rag_index.types import Document

KEEP = 20
"""Sweeps whose results are kept; the oldest are dropped."""


class Results:
    """Results by configuration, of one set of documents, questions and measures, by one version of the code."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def of(cls, root: Path, documents: Iterable[Document], questions: Sequence[Question], measure: Measure) -> Results:
        """Return the results that belong to these inputs, below `root`."""
        digest = hashlib.sha256(_code().encode())
        for document in documents:
            digest.update(f"{document.source.path}\0{document.source.sha256}\0".encode("utf-8", "surrogatepass"))
            digest.update(document.text.encode("utf-8", "surrogatepass"))
        plain = [asdict(question) for question in questions]
        digest.update(json.dumps([plain, asdict(measure)], sort_keys=True).encode())
        return cls(root / digest.hexdigest()[:20])

    def get(self, cell: Cell) -> Result | None:
        """Return what was found for `cell`, if anything."""
        try:
            return Result.from_dict(json.loads(self._file(cell).read_bytes()))
        except (OSError, ValueError, KeyError, TypeError):  # not there, or half written by another version
            return None

    def put(self, result: Result) -> None:
        """Keep a result; where it can't be written it is only not kept."""
        file = self._file(result.cell)
        aside = file.with_suffix(f".{os.getpid()}")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            aside.write_text(json.dumps(result.to_dict()), encoding="utf-8")
            aside.replace(file)
        except OSError:
            return
        self._drop_old()

    def _file(self, cell: Cell) -> Path:
        return self.folder / f"{cell.key}-{_weights(cell.embed.model)}.json"

    def _drop_old(self) -> None:
        os.utime(self.folder)
        others = sorted(self.folder.parent.iterdir(), key=lambda folder: folder.stat().st_mtime, reverse=True)
        for folder in others[KEEP:]:
            shutil.rmtree(folder, ignore_errors=True)


@cache
def _weights(model: str) -> str:
    """Return what tells two models of one name apart."""
    if model in embedders.names():
        return "named"
    try:
        return find_model(model).fingerprint
    except ModelError:
        return "absent"  # loading it will say so


@cache
def _code() -> str:
    """Return a digest of this package: another version may find another result."""
    digest = hashlib.sha256()
    for file in sorted(Path(rag_index.__file__).parent.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()
