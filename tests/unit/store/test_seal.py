"""The seal holds whatever readers and the writer do, and in whichever order they close."""

from __future__ import annotations

from pathlib import Path

from rag_index.store import schema
from rag_index.store.seal import close_sealed, seal, seal_holds


def test_a_reader_that_leaves_between_sealing_and_closing_does_not_break_the_seal(tmp_path: Path) -> None:
    writer = schema.create(tmp_path)
    writer.execute("INSERT INTO state VALUES ('a', 1)")
    seal(tmp_path, writer)
    reader = schema.open_to_read(tmp_path / schema.DATABASE)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM state").fetchall()
    writer.execute("INSERT INTO state VALUES ('b', 2)")
    seal(tmp_path, writer)  # the reader holds the log back: the database stays as it is
    reader.close()
    close_sealed(tmp_path, writer)
    assert seal_holds(tmp_path)
    again = schema.open_to_read(tmp_path / schema.DATABASE)
    assert again.execute("SELECT name FROM state").fetchall() == [("a",), ("b",)]
    again.close()
    assert seal_holds(tmp_path)
