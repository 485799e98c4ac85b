"""The `hash` embedder: no model, the same vectors on every machine, similar texts similar."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

from rag_index.types import ModelInfo, Tokens

if TYPE_CHECKING:
    from rag_index.settings import EmbedSettings
    from rag_index.types import Matrix, Vector

DIMENSION = 256
_WORD = re.compile(r"\w+")
# Scripts without spaces between words: kana, Han, and the halfwidth forms.
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d]")


class HashEmbedder:
    """Counts words (in scripts without spaces, pairs of characters) in 256 hashed buckets.

    For tests, demonstrations and keyword-like search without any model. Needs numpy only; no text is too long.
    """

    def __init__(self, settings: EmbedSettings) -> None:
        self._info = ModelInfo(
            name="hash",
            fingerprint=f"hash-{DIMENSION}-1",
            dimension=DIMENSION,
            query_prompt=settings.query_prompt or "",
            document_prompt=settings.document_prompt or "",
            engine="hash",
        )

    @property
    def info(self) -> ModelInfo:
        """Identity of the model; there is no token limit."""
        return self._info

    def tokens(self, text: str) -> Tokens:
        """Find the words of `text`; none is unknown."""
        starts, ends = array("i"), array("i")
        for match in _WORD.finditer(text):
            starts.append(match.start())
            ends.append(match.end())
        extra = len(_WORD.findall(self._info.document_prompt))
        return Tokens(starts, ends, extra=extra, limit=None)

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Embed documents, one normalised row a text, in order."""
        import numpy as np

        matrix = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        for row, text in enumerate(texts):
            matrix[row] = _vector(self._info.document_prompt + text)
        return matrix

    def embed_query(self, text: str) -> Vector:
        """Embed a question."""
        return _vector(self._info.query_prompt + text)


def _vector(text: str) -> Vector:
    import numpy as np

    vector = np.zeros(DIMENSION, dtype=np.float32)
    for feature, count in Counter(_features(text)).items():
        digest = blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=3).digest()
        sign = 1.0 if digest[2] & 1 else -1.0
        vector[int.from_bytes(digest[:2], "big") % DIMENSION] += sign * float(count) ** 0.5
    length = float(np.linalg.norm(vector))
    if length == 0.0:  # no words, or words that cancel: a vector of length 1 all the same
        vector[0] = length = 1.0
    return vector / np.float32(length)


def _features(text: str) -> Iterator[str]:
    """Yield lower-cased words, and pairs of neighbours where a script has no spaces."""
    for word in _WORD.findall(text.casefold()):
        if _CJK.search(word) and len(word) > 1:
            yield from (word[at : at + 2] for at in range(len(word) - 1))
        else:
            yield word
