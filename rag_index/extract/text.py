"""Plain text, source code and subtitles: the text is the file, character for character."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

from rag_index.extract.blocks import line_starts, nest, sections
from rag_index.extract.decode import Decoded, decode
from rag_index.settings import ExtractSettings
from rag_index.types import Block, Document, Source, Status

_LINE = re.compile(r"[^\r\n]+")
_DEFINITION = re.compile(
    r"(?P<indent>[ \t]*)"
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([^)\s]*\))?|unsafe|"
    r"virtual|override|sealed|partial|open|data|inline|extern|const)[ \t]+)*"
    r"(?:def|class|function\*?|func|fn|fun|interface|struct|enum|trait|impl|module|namespace|record|object|sub)[ \t]+"
    r"(?:\([^)\r\n]*\)[ \t]*)?(?P<name>[\w$.:]+)"
)
_UNDERLINE = re.compile(r"([=\-`:'\"~^_*+#<>.])\1{2,}[ \t]*")


def read_text(data: bytes, source: Source, options: ExtractSettings) -> Document:
    """Read plain text of any encoding."""
    return as_document(decode(data, options.encoding), source)


def read_code(data: bytes, source: Source, options: ExtractSettings) -> Document:
    """Read source code; functions and classes become nested ``definition`` blocks."""
    document = as_document(decode(data, options.encoding), source)
    return replace(document, blocks=nest(definitions(document.text)))


def read_rst(data: bytes, source: Source, options: ExtractSettings) -> Document:
    """Read reStructuredText as it stands; underlined titles become sections."""
    document = as_document(decode(data, options.encoding), source)
    titles = _rst_titles(document.text)
    return replace(document, blocks=nest([*titles, *sections(titles, len(document.text))]))


def as_document(decoded: Decoded | None, source: Source) -> Document:
    """Make the document of a text file; UNSUPPORTED when its bytes are not text, EMPTY when it is all blank."""
    if decoded is None:
        return Document(source, Status.UNSUPPORTED, "the bytes are not text in any known encoding")
    source = replace(source, encoding=decoded.encoding, bom=decoded.bom)
    if not decoded.text.strip():
        return Document(source, Status.EMPTY, "nothing but white space", decoded.text)
    return Document(source, text=decoded.text, warnings=decoded.warnings)


def definitions(text: str) -> list[Block]:
    """Find functions, classes and the like by how their lines begin; each ends where the indentation does.

    Good for code that is laid out in the usual way, in any of the common languages, complete or not.
    """
    found: list[Block] = []
    waiting: list[tuple[int, int, str]] = []
    last = 0
    for line in _LINE.finditer(text):
        content = line.group()
        body = content.lstrip()
        if not body:
            continue
        depth = len(content) - len(body)
        closing = body[0] in "})]" or body.startswith("end")
        while waiting and (depth < waiting[-1][0] or (depth == waiting[-1][0] and not closing and body[0] != "{")):
            _, start, name = waiting.pop()
            found.append(Block(start, last, "definition", name, level=len(waiting) + 1))
        last = line.end()
        definition = _DEFINITION.match(content)
        if definition:
            waiting.append((depth, line.start() + depth, definition["name"].strip(":.")))
    while waiting:
        _, start, name = waiting.pop()
        found.append(Block(start, last, "definition", name, level=len(waiting) + 1))
    return found


def _rst_titles(text: str) -> list[Block]:
    """Find underlined titles; their level is the order in which the underlines first come."""
    starts = [*line_starts(text), len(text)]
    lines = [text[a:b].rstrip() for a, b in pairwise(starts)]
    marks: list[str] = []
    titles = []
    last = -1
    for number in range(1, len(lines)):
        title, under = lines[number - 1], lines[number]
        if not _UNDERLINE.fullmatch(under) or not title.strip() or len(under) < len(title.strip()):
            continue
        if _UNDERLINE.fullmatch(title):
            continue
        over = number > 1 and lines[number - 2] == under and last != number - 2  # not the title before's underline
        last = number
        mark = under[0] + ("o" if over else "")
        if mark not in marks:
            marks.append(mark)
        start = starts[number - 1 - over]
        titles.append(Block(start, starts[number] + len(under), "heading", title.strip(), level=marks.index(mark) + 1))
    return titles
