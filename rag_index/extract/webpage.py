"""HTML: the visible text in runs whose place in the source is exact; menus and hidden parts marked, not lost."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from rag_index.extract.blocks import line_starts, nest, sections
from rag_index.extract.decode import decode
from rag_index.extract.runs import RunColumns, pack_runs
from rag_index.extract.text import as_document
from rag_index.extract.writing import Writer, clean
from rag_index.settings import ExtractSettings
from rag_index.types import Block, Document, PositionMap, Source, Status

_TOKEN = re.compile(
    r"""
    (?P<text>[^<&]++ | [<&](?![a-zA-Z/!?\#]))
    | <(?P<raw>(?i:script|style))\b(?:[^"'>]++|"[^"]*+"|'[^']*+')*+> .*? (?:</(?i:(?P=raw))[^>]*+>|\Z)
    | <(?P<tag>[a-zA-Z][^\s/>]*+)(?P<attributes>(?:[^"'>]++|"[^"]*+"|'[^']*+')*+)>
    | </(?P<end>[a-zA-Z][^\s/>]*+)[^>]*+>
    | (?P<aside><!--.*?(?:-->|\Z) | <[!?][^>]*+> | </[^>]*+>)
    | (?P<reference>&(?:\#[0-9]++|\#[xX][0-9a-fA-F]++|[a-zA-Z][a-zA-Z0-9]*+);?)
    """,
    re.VERBOSE | re.DOTALL,
)
_ATTRIBUTE = re.compile(r"""([^\s=/>"']+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?""")
_TELLING = re.compile(r"hidden|style|role", re.IGNORECASE)
_ATTRIBUTES_MATTER = {"html", "meta"}
_VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr")
)
_APART = "p h1 h2 h3 h4 h5 h6 ul ol dl table blockquote pre section article figure hr main form"
_LINES = "div br li tr dt dd nav header footer aside address details summary fieldset caption figcaption option body"
_GAPS = ("", " ", "\t", "\n", "\n\n")
"""What may part two runs; of several that meet, the strongest is written."""
_SPACE, _TAB = 1, 2
_BREAKS = {"td": 2, "th": 2} | dict.fromkeys(_LINES.split(), 3) | dict.fromkeys(_APART.split(), 4)
_KINDS = dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "heading")
_KINDS |= {"p": "paragraph", "li": "item", "dt": "item", "dd": "item", "pre": "code", "table": "table", "tr": "row"}
_KINDS |= {"blockquote": "quote", "main": "main", "article": "article"}
_FURNITURE = {"nav", "footer", "aside", "noscript", "select", "button", "dialog", "svg", "datalist"}
_FURNITURE_ROLES = {"navigation", "banner", "contentinfo", "complementary", "search", "menu", "menubar", "dialog"}
_UNSEEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|(?:font-size|opacity)\s*:\s*0(?![.\d]*[1-9])", re.IGNORECASE
)
_STRETCH = re.compile(r"[^\x00-\x20]++(?: [^\x00-\x20]++)*+")
_PRE_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_CLOSED_BY: dict[str, AbstractSet[str]] = {"li": {"li"}, "tr": {"tr", "td", "th"}, "option": {"option"}}
_CLOSED_BY |= {"dt": {"dt", "dd"}, "dd": {"dt", "dd"}, "td": {"td", "th"}, "th": {"td", "th"}}
_ENDS_PARAGRAPH = frozenset(_APART.split()) | {"address", "aside", "div", "fieldset", "footer", "header", "nav"}
_NEVER: frozenset[str] = frozenset()
_VERBATIM = {"title", "pre", "textarea"}
"""Elements whose text is not simply the page's."""
_META_NAMES = {"author", "description", "keywords", "date", "generator"}
_MAIN_SHARE = {"main": 0.1, "article": 0.5}
"""Least share of the visible text that makes an element the page's content and all the rest furniture."""


def read_html(data: bytes, source: Source, options: ExtractSettings) -> Document:
    """Read HTML or XHTML."""
    decoded = decode(data, options.encoding)
    document = as_document(decoded, source)
    if decoded is None or not document.status.searchable:
        return document
    page = PageText(options)
    page.read(decoded.text)
    text = page.text()
    if not text.strip():
        return replace(document, status=Status.NO_TEXT, reason="the page holds no text", text="", meta=page.meta)
    positions = PositionMap("runs", pack_runs(page.runs, line_starts(decoded.text)))
    return replace(document, text=text, blocks=nest(page.all_blocks()), positions=positions, meta=page.meta)


def write_page(source: str, writer: Writer, options: ExtractSettings) -> tuple[int, int, str]:
    """Append a page that is part of another document; returns the span of its text and its title."""
    page = PageText(options)
    page.read(clean(source))
    start, end = writer.write(page.text())
    writer.blocks += [replace(block, start=block.start + start, end=block.end + start) for block in page.all_blocks()]
    return start, end, page.meta.get("title", "")


@dataclass(slots=True)
class _Open:
    """An element that has not ended: its name, the runs and text parts before it, its role or ""."""

    tag: str
    runs: int
    parts: int
    role: str = ""


class PageText:
    """Collects the text of a page, with ``runs``, ``blocks`` and ``meta``."""

    def __init__(self, options: ExtractSettings) -> None:
        self.runs = RunColumns()
        self.blocks: list[Block] = []
        self.meta: dict[str, str] = {}
        self._options = options
        self._parts: list[str] = []
        self._length = 0
        self._gap = 0
        self._open: list[_Open] = []
        self._names: defaultdict[str, int] = defaultdict(int)
        self._verbatim = 0
        self._silent = 0
        self._title: list[str] = []
        self._titles: list[Block] = []
        self._masked = 0
        self._xml = False

    def read(self, source: str) -> None:
        """Read the whole page."""
        self._xml = source.lstrip().startswith("<?xml")
        for token in _TOKEN.finditer(source):
            kind = token.lastgroup
            if kind == "text":
                if not self._silent:
                    self._take(token[0], token.start())
            elif kind == "attributes":
                self._start_tag(token["tag"].lower(), token["attributes"])
            elif kind == "end":
                self._end_tag(token["end"].lower())
            elif kind == "reference" and not self._silent:
                self._reference(token.group(), token.start())
        while self._open:
            self._end(self._open.pop())
        if title := " ".join("".join(self._title).split()):
            self.meta["title"] = title

    def text(self) -> str:
        """Return the text."""
        return "".join(self._parts)

    def all_blocks(self) -> list[Block]:
        """Return the blocks, sections among them; what stands outside the page's main part is furniture."""
        content = [block for block in self.blocks if block.kind not in _MAIN_SHARE]
        spans = self._around_main()
        outside = [Block(start, end, "boilerplate", role="furniture") for start, end in spans]
        titles = [block for block in self._titles if not any(start <= block.start < end for start, end in spans)]
        titles.sort(key=lambda block: block.start)
        return [*content, *outside, *sections(titles, self._length)]

    def _around_main(self) -> list[tuple[int, int]]:
        for kind, share in _MAIN_SHARE.items():
            spans = sorted(
                (block.start, block.end) for block in self.blocks if block.kind == kind and block.role == "body"
            )
            if spans and sum(end - start for start, end in spans) > share * self._length:
                borders = [0, *(at for span in _outermost(spans) for at in span), self._length]
                pairs = zip(borders[::2], borders[1::2], strict=True)
                return [(start, end) for start, end in pairs if end > start]
        return []

    # Tags and text, in order

    def _start_tag(self, tag: str, written: str) -> None:
        """Open an element, closing those that can't hold it."""
        given: dict[str, str] = {}
        if written and (tag in _ATTRIBUTES_MATTER or _TELLING.search(written)):
            given = _attributes(written)
        if tag == "meta":
            self._read_meta(given)
        if tag == "html" and given.get("lang"):
            self.meta["language"] = given["lang"]
        if self._open:
            self._close_implied(tag)
        self._break(tag)
        if tag in _VOID:
            return
        self._verbatim += tag in _VERBATIM
        role = self._role(tag, given)
        if role == "hidden" and self._options.hidden_text == "drop":
            role = "dropped"
        if tag == "template" or role == "dropped":
            self._silent += 1
            role = "dropped"
        self._masked += bool(role)
        self._open.append(_Open(tag, len(self.runs.starts), len(self._parts), role))
        self._names[tag] += 1
        if self._xml and written.endswith("/"):
            self._end_tag(tag)

    def _end_tag(self, tag: str) -> None:
        """Close the element and those left open inside it; an end that opens nothing is ignored."""
        if not self._names[tag]:
            return
        while True:
            element = self._open.pop()
            self._end(element)
            if element.tag == tag:
                return

    def _take(self, data: str, begin: int) -> None:
        """Take text as it stands at offset `begin`."""
        if self._verbatim and self._take_verbatim(data, begin):
            return
        whole = _STRETCH.match(data)
        if whole and whole.end() == len(data):
            self._add(data, begin, len(data))
            return
        done = 0
        for found in _STRETCH.finditer(data):
            if found.start() > done and not self._gap:
                self._gap = _SPACE
            self._add(found.group(), begin + found.start(), found.end() - found.start())
            done = found.end()
        if done < len(data) and not self._gap:
            self._gap = _SPACE

    def _take_verbatim(self, data: str, begin: int) -> bool:
        """Take text inside of `title`, `pre` or `textarea`; False if it is none of theirs."""
        if self._names["title"] and not self._names["svg"]:
            self._title.append(data)
            return True
        if not (self._names["pre"] or self._names["textarea"]):
            return False
        for line in _PRE_LINE.finditer(data):
            self._add(line.group(), begin + line.start(), len(line.group()))
        return True

    def _reference(self, written: str, begin: int) -> None:
        """Take ``&name;`` or ``&#number;``."""
        char = html.unescape(written)
        if self._names["title"] and not self._names["svg"]:
            self._title.append(char)
        elif clean(char).strip(" \t\n"):
            self._add(char, begin, len(written))
        elif not self._gap:
            self._gap = _SPACE

    # Text and elements

    def _add(self, text: str, at: int, length: int) -> None:
        if self._gap:
            if self._parts:
                gap = _GAPS[self._gap]
                self._parts.append(gap)
                self._length += len(gap)
            self._gap = 0
        runs, size = self.runs, len(text)
        runs.starts.append(self._length)
        runs.lengths.append(size)
        runs.sources.append(at)
        runs.source_lengths.append(length)
        self._parts.append(text)
        self._length += size

    def _break(self, tag: str) -> None:
        wanted = _BREAKS.get(tag, 0)
        if wanted > self._gap and (wanted != _TAB or (self._open and self.runs.starts)):
            self._gap = wanted

    def _close_implied(self, tag: str) -> None:
        if self._open[-1].tag == "p" and tag in _ENDS_PARAGRAPH:
            self._end_tag("p")
        closes = _CLOSED_BY.get(tag, _NEVER)
        while self._open and self._open[-1].tag in closes:
            self._end(self._open.pop())

    def _end(self, element: _Open) -> None:
        self._names[element.tag] -= 1
        self._verbatim -= element.tag in _VERBATIM
        self._break(element.tag)
        if element.role:
            self._masked -= 1
        if element.role == "dropped":
            self._silent -= 1
            return
        kind = _KINDS.get(element.tag, element.tag if element.role else "")
        if not kind or len(self.runs.starts) == element.runs:
            return
        start = self.runs.starts[element.runs]
        if kind != "heading":
            self.blocks.append(Block(start, self._length, kind, "", element.role or "body"))
            return
        label = " ".join("".join(self._parts[element.parts :]).split())
        heading = Block(start, self._length, kind, label, element.role or "body", int(element.tag[1]))
        self.blocks.append(heading)
        if not element.role and not self._masked:
            self._titles.append(heading)

    def _role(self, tag: str, given: dict[str, str]) -> str:
        """Return ``hidden``, ``furniture`` or "" for an element's own part in the page."""
        unseen = given and (
            "hidden" in given or given.get("aria-hidden") == "true" or _UNSEEN.search(given.get("style", ""))
        )
        if unseen and tag not in {"body", "html"}:
            return "" if self._options.hidden_text == "keep" else "hidden"
        # The header of an article holds its title; only that of the page is furniture.
        header = tag == "header" and not (self._names["article"] or self._names["main"] or self._names["section"])
        if header or tag in _FURNITURE or given.get("role") in _FURNITURE_ROLES:
            return "furniture"
        return ""

    def _read_meta(self, given: dict[str, str]) -> None:
        name, content = given.get("name", "").lower(), given.get("content")
        if name in _META_NAMES and content:
            self.meta[name] = " ".join(content.split())


def _outermost(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans that no other holds."""
    kept: list[tuple[int, int]] = []
    for span in spans:
        if not kept or span[0] >= kept[-1][1]:
            kept.append(span)
    return kept


def _attributes(written: str) -> dict[str, str]:
    """Return the attributes of a tag; one without a value has an empty one."""
    found = _ATTRIBUTE.finditer(written)
    return {one[1].lower(): html.unescape(one[2] or one[3] or one[4] or "") for one in found}
