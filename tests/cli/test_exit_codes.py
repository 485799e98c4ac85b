"""The table of exit codes, each with a real case."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from rag_index.cli.app import main
from rag_index.store import Layout, WriterLock

MODEL = ["--model", "hash", "--size", "120", "--overlap", "30"]


@pytest.mark.parametrize(
    ("arguments", "locked", "code"),
    [
        pytest.param(["query", "pump", "--index", "docs"], False, 0, id="done"),
        pytest.param(["query", "pump", "--index", "docs", "--min-score", "1"], False, 0, id="nothing found"),
        pytest.param(["build", "docs", *MODEL], False, 0, id="files skipped"),
        pytest.param(["query", "pump", "--index", "docs"], True, 0, id="readers are never held up"),
        pytest.param(["build", "docs", "--model", "./no-such-model"], False, 1, id="failed"),
        pytest.param(["build", "docs", *MODEL, "--chunker", "x"], False, 2, id="wrong request"),
        pytest.param(["query", "pump", "--index", "nowhere"], False, 3, id="no index"),
        pytest.param(["build", "docs", *MODEL, "--strict"], False, 4, id="strict, and files skipped"),
        pytest.param(["build", "docs", *MODEL], True, 5, id="another build"),
    ],
)
def test_each_outcome_has_its_code(indexed, arguments, locked, code, capsys) -> None:
    with ExitStack() as held:
        if locked:
            held.enter_context(WriterLock(Layout(indexed / ".rag-index").lock))
        assert main(arguments) == code
    out, err = capsys.readouterr()
    if code in {0, 4}:
        assert "Traceback" not in err
    else:
        assert out == ""
        assert "error: " in err
