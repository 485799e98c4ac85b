from __future__ import annotations

import pickle
import re

import pytest

from rag_index import errors
from rag_index.errors import RagIndexError, UnknownNameError, UsageError

ALL = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, RagIndexError)]


@pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.__name__)
def test_every_error_survives_a_process_border(cls) -> None:
    again = pickle.loads(pickle.dumps(cls("size is 0", "Raise it.")))
    assert (type(again), again.message, again.hint, str(again)) == (cls, "size is 0", "Raise it.", "size is 0")


def test_the_drawing_in_the_docstring_names_every_error_and_its_exit_code() -> None:
    drawn = re.findall(r"(\w+Error)(?: +(?:exit code )?(\d))?", errors.__doc__ or "")
    assert {name for name, _ in drawn} - {"ValueError"} == {cls.__name__ for cls in ALL}
    for name, code in drawn:
        if code:
            assert getattr(errors, name).exit_code == int(code), name


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        pytest.param("sentense", "Did you mean 'sentence'?", id="near"),
        pytest.param("xyz", "Choose one of: character, sentence.", id="far"),
    ],
)
def test_an_unknown_name_is_answered_with_what_was_meant(wrong, hint) -> None:
    error = UnknownNameError.named("chunker", wrong, ["sentence", "character"])
    assert (error.message, error.hint) == (f"unknown chunker {wrong!r}", hint)


def test_a_usage_error_is_a_value_error_for_library_users() -> None:
    with pytest.raises(ValueError, match="overlap"):
        raise UsageError("overlap is 9")
