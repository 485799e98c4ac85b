"""A model's own tokenizer, without torch: borders in a text, and rows of token ids."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rag_index.errors import ModelError
from rag_index.types import Tokens

_PIECE = 1 << 16
"""Code points tokenised at once: an encoding takes some 200 bytes a token until it is packed."""
_SPACE = re.compile(r"\s")


class Tokenizer:
    """Finds token borders and ids with the `tokenizers` library; special tokens as the model wants them.

    `borders` and `rows` may be called from two threads at once: each has a reader of its own.
    """

    def __init__(self, definition: str, limit: int | None = None) -> None:
        """Read the tokenizer from the text of a ``tokenizer.json``; rows are cut at `limit` tokens."""
        self._definition = definition
        self.limit = limit
        self._whole: Any = None
        self._cut: Any = None

    @classmethod
    def read(cls, path: Path, limit: int | None = None) -> Tokenizer:
        """Read a ``tokenizer.json`` file."""
        try:
            return cls(path.read_text(encoding="utf-8"), limit)
        except (OSError, UnicodeDecodeError) as error:
            raise ModelError(f"can't read {path}: {error}", "Get the model's files again.") from error

    def borders(self, text: str, *, prompt: str = "") -> Tokens:
        """Find the tokens of `text`, special tokens not among them; positions are code points.

        Time and memory are linear: some 12 bytes a token are kept.
        """
        if self._whole is None:
            self._whole = _reader(self._definition)
        unknown_id = _unknown_id(self._whole)
        starts, ends, unknown = array("i"), array("i"), array("i")
        for at, piece in split_at_spaces(text):
            encoding = self._whole.encode(piece, add_special_tokens=False)
            for number, (start, end) in zip(encoding.ids, encoding.offsets, strict=True):
                if end <= start:  # a token that stands for no character
                    continue
                starts.append(at + start)
                ends.append(at + end)
                if number == unknown_id:
                    unknown.append(at + start)
        extra: int = self._whole.num_special_tokens_to_add(is_pair=False)
        if prompt:
            extra += len(self._whole.encode(prompt, add_special_tokens=False).ids)
        return Tokens(starts, ends, unknown, extra, self.limit)

    def rows(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of each text, special tokens included, cut at the limit."""
        if self._cut is None:
            self._cut = _reader(self._definition)
            if self.limit is not None:
                self._cut.enable_truncation(self.limit)
        return [encoding.ids for encoding in self._cut.encode_batch_fast(list(texts))]


def _reader(definition: str) -> Any:  # noqa: ANN401 (a tokenizers.Tokenizer)
    import tokenizers

    try:
        reader = tokenizers.Tokenizer.from_str(definition)
    except Exception as error:  # the library raises bare Exception
        raise ModelError(f"can't read the tokenizer: {error}", "Get the model's files again.") from error
    reader.no_truncation()
    reader.no_padding()
    return reader


def _unknown_id(inner: Any) -> int | None:  # noqa: ANN401 (a tokenizers.Tokenizer)
    token = getattr(inner.model, "unk_token", None)
    if token is None and getattr(inner.model, "unk_id", None) is not None:
        return int(inner.model.unk_id)
    number = inner.token_to_id(token) if token is not None else None
    return None if number is None else int(number)


def split_at_spaces(text: str) -> Iterator[tuple[int, str]]:
    """Cut a long text before white space, where no token crosses; (offset, piece)."""
    start = 0
    while len(text) - start > _PIECE:
        end = start + _PIECE
        space = _SPACE.search(text, end)
        end = space.start() if space and space.start() < end + _PIECE else end
        yield start, text[start:end]
        start = end
    if start < len(text):
        yield start, text[start:]
