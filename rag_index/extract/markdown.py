"""Markdown: the text is the file; headings, code and tables become blocks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from rag_index.extract.blocks import line_starts, nest, sections
from rag_index.extract.decode import decode
from rag_index.extract.text import as_document
from rag_index.settings import ExtractSettings
from rag_index.types import Block, Document, Source

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_KINDS = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "list_item_open": "item",
    "fence": "code",
    "code_block": "code",
    "table_open": "table",
    "tr_open": "row",
    "blockquote_open": "quote",
    "html_block": "html",
}
_FRONT_MATTER = re.compile(r"---[ \t]*(?:\r\n?|\n)(.*?(?:\r\n?|\n))(?:---|\.\.\.)[ \t]*(?:\r\n?|\n|\Z)", re.DOTALL)
_KEY_VALUE = re.compile(r"^([A-Za-z][\w -]{0,40}):[ \t]+(.+?)[ \t]*$", re.MULTILINE)
_COMMENT = re.compile(r"\s*<!--.*?-->\s*", re.DOTALL)
_MARKUP = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|[`*]+|(?<!\w)_+|_+(?!\w)|\\(?=[^\w\s])|[ \t]*\{#[^}]*\}$|[ \t]+#+$")


def read_markdown(data: bytes, source: Source, options: ExtractSettings) -> Document:
    """Read Markdown; the front matter's simple ``key: value`` lines become metadata."""
    document = as_document(decode(data, options.encoding), source)
    if not document.status.searchable:
        return document
    head = _FRONT_MATTER.match(document.text)
    meta = {key.strip().lower(): value.strip("'\"") for key, value in _KEY_VALUE.findall(head[1])} if head else {}
    blocks = markdown_blocks(document.text, head.end() if head else 0, options)
    if head:
        blocks.append(Block(0, head.end(), "metadata"))
    return replace(document, blocks=nest(blocks), meta=meta)


def markdown_blocks(text: str, begin: int = 0, options: ExtractSettings | None = None) -> list[Block]:
    """Return the blocks of Markdown `text` from offset `begin` on, sections among them, not yet nested."""
    body = text[begin:]
    starts = [begin + start for start in line_starts(body)] + [len(text)]
    flag = options is None or options.hidden_text != "keep"
    tokens = _parser().parse(body)
    blocks = [
        _block(text, starts, token, following, flag=flag)
        for token, following in zip(tokens, [*tokens[1:], None], strict=True)
        if token.type in _KINDS and token.map
    ]
    headings = [block for block in blocks if block.kind == "heading" and block.level]
    return blocks + sections(headings, len(text))


def _block(text: str, starts: Sequence[int], token: Token, following: Token | None, *, flag: bool) -> Block:
    first, after = token.map or (0, 0)
    start = starts[first]
    end = start + len(text[start : starts[min(after, len(starts) - 1)]].rstrip())
    kind = _KINDS[token.type]
    if kind == "heading" and following:
        # A heading inside a list or quote doesn't open a section: the list ends before the next one does.
        level = int(token.tag[1]) if token.level == 0 else 0
        return Block(start, end, kind, plain(following.content), level=level)
    if kind == "html" and flag and _COMMENT.fullmatch(text, start, end):
        return Block(start, end, kind, role="hidden")
    return Block(start, end, kind, token.info.strip() if kind == "code" else "")


def plain(heading: str) -> str:
    """Return a heading's words without the marks around them: ``[link](x)``, backquotes, stars, ``{#anchor}``."""
    return " ".join(_MARKUP.sub(lambda found: found[1] or "", heading).split())


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Inline marks need no parsing: positions are those of blocks, and the text stays as it is.
    return MarkdownIt("commonmark").enable("table").disable("inline")
