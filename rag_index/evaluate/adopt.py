"""Put a configuration into a settings file, and leave the rest of the file as it is."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rag_index.errors import ConfigError
from rag_index.evaluate.grid import Cell


def adopt(cell: Cell, path: Path) -> dict[str, dict[str, Any]]:
    """Write the settings that a sweep varies into the TOML file `path`, made if need be; return them.

    Comments, order and all other settings stay.

    Raises:
        ConfigError: the file is not TOML, is written in a way that can't be edited line by line, or can't be written.
    """
    wanted: dict[str, dict[str, Any]] = {
        "chunk": {name: getattr(cell.chunk, name) for name in ("chunker", "size", "overlap", "unit")},
        "embed": {"model": cell.embed.model},
        "search": {"mode": cell.search.mode, "passages": cell.search.passages},
    }
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        before = tomllib.loads(text)
        edited = text
        for table, values in wanted.items():
            edited = _with_values(edited, table, values)
        if not _as_meant(edited, before, wanted):
            raise ConfigError(
                f"{path} can't be edited line by line", "Write the settings as [chunk], [embed], [search]."
            )
        path.write_text(edited, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"can't write {path}: {error.strerror}", "Choose another file for --write.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}", "Mend the line that the message names.") from error
    return wanted


def _with_values(text: str, table: str, values: Mapping[str, Any]) -> str:
    """Return `text` with `values` in ``[table]``: known keys replaced where they stand, others put below the header."""
    header = re.search(rf"^\[{table}\][^\n]*\n?", text, re.MULTILINE)
    if not header:
        gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
        return f"{text}{gap}[{table}]\n" + "".join(_line(name, value) for name, value in values.items())
    following = re.search(r"^\s*\[", text[header.end() :], re.MULTILINE)
    end = header.end() + following.start() if following else len(text)
    body, missing = text[header.end() : end], ""
    for name, value in values.items():
        replaced, count = re.subn(rf"^\s*{name}\s*=[^#\n]*", _line(name, value).strip() + " ", body, flags=re.MULTILINE)
        body = replaced
        missing += "" if count else _line(name, value)
    start = text[: header.end()] + ("" if header.group().endswith("\n") else "\n")
    return start + missing + re.sub(r" +$", "", body, flags=re.MULTILINE) + text[end:]


def _line(name: str, value: object) -> str:
    return f"{name} = {json.dumps(value, ensure_ascii=False)}\n"


def _as_meant(text: str, before: Mapping[str, Any], wanted: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether `text` says what was there before, with what was wanted."""
    try:
        after = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    tables = {table: {**before.get(table, {}), **values} for table, values in wanted.items()}
    return after == {**before, **tables}
