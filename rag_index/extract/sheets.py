"""XLSX, XLS and ODS: each row a line that stands alone, ``header: value; header: value``."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from itertools import chain, islice
from typing import Any

from rag_index.extract.archive import Archive
from rag_index.extract.office import core_properties, finished
from rag_index.extract.writing import Writer
from rag_index.settings import ExtractSettings
from rag_index.types import Document, Source, Status, Warn

_HEADER_REACH = 10
"""Rows at the top of a sheet among which its header is looked for."""


def read_sheets(data: bytes, source: Source, options: ExtractSettings) -> Document:
    """Read a workbook; every row's block is named by its range, such as ``Q1!A7:D7``."""
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError

    meta: dict[str, str] = {}
    if data.startswith(b"PK"):
        archive = Archive(data, options)
        archive.measure()  # calamine doesn't bound what it inflates
        meta = core_properties(archive)
    try:
        book = CalamineWorkbook.from_filelike(BytesIO(data))
    except PasswordError:
        return Document(source, Status.ENCRYPTED, "a password is needed to open it")
    except CalamineError as error:
        return Document(source, Status.DAMAGED, f"not a readable workbook: {error}")
    writer = Writer()
    warnings = []
    for sheet in book.sheets_metadata:
        role = _role(str(sheet.visible), options)
        if role == "dropped" or not str(sheet.typ).endswith("WorkSheet"):
            continue
        try:
            _sheet(book.get_sheet_by_name(sheet.name), sheet.name, role, writer, options)
        except CalamineError as error:
            warnings.append(Warn("sheet", f"sheet {sheet.name!r} can't be read: {error}"))
    return finished(writer, source, meta, tuple(warnings))


def _role(visible: str, options: ExtractSettings) -> str:
    if visible.endswith("Visible") or options.hidden_text == "keep":
        return "body"
    return "dropped" if options.hidden_text == "drop" else "hidden"


def _sheet(sheet: Any, name: str, role: str, writer: Writer, options: ExtractSettings) -> None:  # noqa: ANN401 (calamine's)
    with writer.inside("sheet", name, role=role):
        writer.add(name, "heading", name, level=1, role=role)
        if sheet.start is None:
            return
        writer.part()
        first_row, first_column = sheet.start
        rows = enumerate(sheet.to_python(skip_empty_area=True), first_row + 1)
        filled = ((number, values) for number, row in rows if any(values := [shown(cell) for cell in row]))
        for number, line, values in _lines(filled, options.max_text):
            columns = [i for i, value in enumerate(values) if value]
            left, right = (column_name(first_column + i) for i in (columns[0], columns[-1]))
            label = f"{name}!{left}{number}" + (f":{right}{number}" if right != left else "")
            writer.add(line, "row", label, gap="\n")


def _lines(rows: Iterable[tuple[int, list[str]]], limit: int) -> Iterator[tuple[int, str, list[str]]]:
    """Yield (row number, line, values); the header is repeated in each line below it."""
    rows = iter(rows)
    top = list(islice(rows, _HEADER_REACH))
    at = _header(top)
    header = [*map(_heading, top[at][1])] if at is not None else []
    length = 0
    for place, (number, values) in enumerate(chain(top, rows)):
        below = at is not None and place > at
        line = _line(header, values) if below else "\t".join(values).strip("\t")
        yield number, line, values
        length += len(line)
        if length > limit:
            return


def _line(header: Sequence[str], values: Sequence[str]) -> str:
    pairs = ((header[i] if i < len(header) else "", value) for i, value in enumerate(values) if value)
    return "; ".join(f"{name}: {value}" if name else value for name, value in pairs)


def _heading(value: str) -> str:
    return " ".join(value.split()).rstrip(":")


def _header(rows: Sequence[tuple[int, list[str]]]) -> int | None:
    """Return which row is the header: the first with two cells or more, if these are words and rows follow."""
    for at, (_, values) in enumerate(rows):
        filled = [value for value in values if value]
        if len(filled) > 1:
            words = all(not value[0].isdigit() and value[0] not in "+-" for value in filled)
            return at if words and len(set(filled)) == len(filled) and at + 1 < len(rows) else None
    return None


def shown(cell: object) -> str:
    """Return a cell as a person would read it, on one line."""
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, dt.datetime):
        midnight = cell.time() == dt.time()
        return cell.date().isoformat() if midnight else cell.isoformat(" ", "seconds")
    return " ".join(str(cell).split())


def column_name(index: int) -> str:
    """Return the letters of the 0-based column `index`: A, B, ..., Z, AA."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
