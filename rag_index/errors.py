"""Errors that a user can act on.

    RagIndexError                exit code 1
    ├── UsageError               2   a request that can't be meant: also a ValueError
    │   ├── UnknownNameError         no chunker, model, format ... goes by that name
    │   ├── ConfigError              a configuration file or variable is wrong
    │   └── LabelError               a question file is wrong; names the line
    ├── ModelError               1   a model can't be loaded or gives wrong vectors
    ├── StoreError               1   the store failed: disk full, server gone
    ├── IndexUnusableError       3   there is no index here, or it can't be used
    │   ├── IndexMissingError
    │   ├── IndexDamagedError
    │   └── IndexMismatchError       made by another version, model or poisoned
    ├── SkippedFilesError        4   `--strict`, and some files were not indexed
    └── LockedError              5   another build holds the index

One file that can't be read is no error: it is a status in the index.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Self


class RagIndexError(Exception):
    """Base of every error raised on purpose.

    Attributes:
        hint: What to do about it; one imperative sentence, or empty.
        exit_code: Status of the command line when this ends it.
    """

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message


class UsageError(RagIndexError, ValueError):
    """The request can't be meant as it was made."""

    exit_code = 2


class UnknownNameError(UsageError):
    """Nothing of that kind has that name."""

    @classmethod
    def named(cls, kind: str, name: str, known: Iterable[str]) -> Self:
        """Make the error, with the nearest known name or the whole list as the hint."""
        names = sorted(known)
        close = get_close_matches(name, names, n=1)
        hint = f"Did you mean {close[0]!r}?" if close else f"Choose one of: {', '.join(names)}."
        return cls(f"unknown {kind} {name!r}", hint)


class ConfigError(UsageError):
    """A configuration file, variable or flag holds something that can't be used."""


class LabelError(UsageError):
    """A question file is wrong."""


class ModelError(RagIndexError):
    """A model can't be loaded, or its vectors are not what they must be."""


class StoreError(RagIndexError):
    """The store failed: the disk is full, the server is gone."""


class IndexUnusableError(RagIndexError):
    """The index can't be used."""

    exit_code = 3


class IndexMissingError(IndexUnusableError):
    """There is no index here."""


class IndexDamagedError(IndexUnusableError):
    """The index is damaged."""


class IndexMismatchError(IndexUnusableError):
    """The index was made by something else: another version, another model."""


class SkippedFilesError(RagIndexError):
    """Some files were not indexed, and `--strict` asked for all."""

    exit_code = 4


class LockedError(RagIndexError):
    """Another build holds the index."""

    exit_code = 5
