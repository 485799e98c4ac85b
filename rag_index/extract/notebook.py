"""Jupyter notebooks: the cells in their order, outputs as furniture."""

from __future__ import annotations

import json
from typing import Any

from rag_index.extract.archive import Refused
from rag_index.extract.decode import decode
from rag_index.extract.markdown import markdown_blocks
from rag_index.extract.office import finished
from rag_index.extract.text import definitions
from rag_index.extract.writing import Writer, clean
from rag_index.settings import ExtractSettings
from rag_index.types import Block, Document, Source, Status

_OUTPUT_LIMIT = 20_000


def read_notebook(data: bytes, source: Source, options: ExtractSettings) -> Document:
    """Read a notebook; the n-th ``cell`` block is cell n."""
    decoded = decode(data, options.encoding)
    try:
        notebook = json.loads(decoded.text) if decoded else None
    except (ValueError, RecursionError) as error:
        raise Refused(Status.DAMAGED, f"not valid JSON: {error}") from error
    if not isinstance(notebook, dict):
        raise Refused(Status.DAMAGED, "not a notebook: its JSON is no object")
    sheets = [sheet for sheet in notebook.get("worksheets") or [] if isinstance(sheet, dict)]
    cells = notebook.get("cells") or [cell for sheet in sheets for cell in sheet.get("cells") or []]
    writer = Writer()
    for number, cell in enumerate((cell for cell in cells if isinstance(cell, dict)), 1):
        _cell(cell, number, writer)
    return finished(writer, source, _meta(notebook))


def _cell(cell: dict[str, Any], number: int, writer: Writer) -> None:
    kind = cell.get("cell_type")
    with writer.inside("cell", f"cell {number}"):
        text = clean(_joined(cell.get("source", cell.get("input"))))
        start, end = writer.write(text)
        if kind in {"markdown", "heading"}:
            writer.blocks += [_moved(block, start) for block in markdown_blocks(text) if block.kind != "section"]
        elif kind == "code" and text:
            writer.blocks.append(Block(start, end, "code"))
            writer.blocks += [_moved(block, start) for block in definitions(text)]
        for output in cell.get("outputs") or []:
            if isinstance(output, dict):
                writer.add(_output(output)[:_OUTPUT_LIMIT], "output", role="furniture")


def _moved(block: Block, by: int) -> Block:
    return Block(block.start + by, block.end + by, block.kind, block.label, block.role, block.level)


def _output(output: dict[str, Any]) -> str:
    """Return an output's plain text; pictures and HTML have none."""
    data = output.get("data")
    rich = data.get("text/plain") if isinstance(data, dict) else None
    return _joined(output.get("text") or rich).strip()


def _joined(source: object) -> str:
    """Return a cell's source, which is one string or a list of lines."""
    if isinstance(source, list):
        return "".join(str(line) for line in source)
    return source if isinstance(source, str) else ""


def _meta(notebook: dict[str, Any]) -> dict[str, str]:
    metadata = notebook.get("metadata")
    info = metadata.get("language_info") if isinstance(metadata, dict) else None
    name = info.get("name") if isinstance(info, dict) else None
    return {"code_language": str(name)} if name else {}
