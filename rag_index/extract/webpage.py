"""HTML: the visible text in runs whose place in the source is exact; menus and hidden parts marked, not lost."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TypeAlias

from rag_index.extract.blocks import Row, line_starts, nest_rows, section_rows
from rag_index.extract.decode import decode
from rag_index.extract.runs import RunRow, pack_runs
from rag_index.extract.text import as_document
from rag_index.extract.writing import Writer, clean
from rag_index.settings import ExtractSettings
from rag_index.types import Block, Document, PositionMap, Source, Status

_TOKEN = re.compile(
    r"""
    (?:
        <(?P<raw>(?i:script|style))\b(?:[^"'>]++|"[^"]*+"|'[^']*+')*+> .*? (?:</(?i:(?P=raw))[^>]*+>|\Z)
        | <(?P<tag>/?[a-zA-Z][^\s/>]*+)(?P<attributes>(?:[^"'>]++|"[^"]*+"|'[^']*+')*+|[^>]*+)>
        | <!--.*?(?:-->|\Z)
        | <[!?/][^>]*+>
        | (?P<reference>&(?:\#[0-9]++|\#[xX][0-9a-fA-F]++|[a-zA-Z][a-zA-Z0-9]*+);?)
    )?+
    (?P<text>[^<&]*+(?:(?:<(?![a-zA-Z/!?])|&(?!\#[0-9]|\#[xX][0-9a-fA-F]|[a-zA-Z]))[^<&]*+)*+)
    """,
    re.VERBOSE | re.DOTALL,
)
"""Something marked up, if there is, and the text after it; empty where a tag begins and no ``>`` follows any more.

A quote that is never closed doesn't keep its tag open.
"""
_ATTRIBUTE = re.compile(r"""([^\s=/>"']+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?""")
_TELLING = re.compile(r"hidden|style|role", re.IGNORECASE)
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
_BLANKS = "".join(map(chr, range(0x21)))
_PRE_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_ENDS_PARAGRAPH = frozenset(_APART.split()) | {"address", "aside", "div", "fieldset", "footer", "header", "nav"}
_CLOSES: dict[str, AbstractSet[str]] = {
    **dict.fromkeys(_ENDS_PARAGRAPH, frozenset({"p"})),
    "li": {"li", "p"},
    "tr": {"tr", "td", "th"},
    "option": {"option"},
    **dict.fromkeys(("dt", "dd"), frozenset({"dt", "dd", "p"})),
    **dict.fromkeys(("td", "th"), frozenset({"td", "th"})),
}
"""Which elements an element ends that stands in them."""
_NOTHING: frozenset[str] = frozenset()
_VERBATIM = {"title", "pre", "textarea"}
"""Elements whose text is not simply the page's."""
_SPECIAL = _FURNITURE | _VERBATIM | {"html", "meta", "header", "template"}
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
    return replace(document, text=text, blocks=nest_rows(page.all_rows()), positions=positions, meta=page.meta)


def write_page(source: str, writer: Writer, options: ExtractSettings) -> tuple[int, int, str]:
    """Append a page that is part of another document; returns the span of its text and its title."""
    page = PageText(options)
    page.read(clean(source))
    start, end = writer.write(page.text())
    writer.blocks += [Block(row[0] + start, row[1] + start, *row[2:]) for row in page.all_rows()]
    return start, end, page.meta.get("title", "")


@dataclass(frozen=True, slots=True)
class _Element:
    """What the name of an element says, wherever it stands.

    Attributes:
        name: In lower case.
        gap: What parts it from its neighbours, as an index of `_GAPS`.
        kind: Of its block, or "".
        closes: The elements that it ends when it begins in them.
        void: Whether it has no content.
        special: Whether more than this must be looked at when it begins.
    """

    name: str
    gap: int
    kind: str
    closes: AbstractSet[str]
    void: bool
    special: bool


class _Elements(dict[str, _Element]):
    """Elements by their name as it is written, with the ``/`` of an end tag or without; kept for one page."""

    def __missing__(self, written: str) -> _Element:
        name = written.lower().removeprefix("/")
        self[written] = element = self[name] if name != written else _element(name)
        return element


def _element(name: str) -> _Element:
    gap, kind, closes = _BREAKS.get(name, 0), _KINDS.get(name, ""), _CLOSES.get(name, _NOTHING)
    return _Element(name, gap, kind, closes, name in _VOID, name in _SPECIAL)


_Open: TypeAlias = tuple[_Element, int, int, str]
"""An element that has not ended, the runs and text parts before it, its role or ""."""


class PageText:
    """Collects the text of a page, with ``runs``, ``rows`` of blocks and ``meta``."""

    def __init__(self, options: ExtractSettings) -> None:
        self.runs: list[RunRow] = []
        self.rows: list[Row] = []
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
        self._titles: list[Row] = []
        self._masked = 0
        self._xml = False

    def read(self, source: str) -> None:
        """Read the whole page."""
        self._xml = source.lstrip().startswith("<?xml")
        elements = _Elements()
        for token in _TOKEN.finditer(source):
            _, tag, attributes, reference, text = token.groups()
            if tag:
                if tag[0] == "/":
                    self._end_tag(elements[tag])
                else:
                    self._start_tag(elements[tag], attributes)
            elif reference:
                self._reference(reference, token.start())
            elif not token[0]:
                # No tag can end from here on: to look for one at each "<" would take time squared.
                self._take(source[token.start() :], token.start())
                break
            if text:
                self._take(text, token.end() - len(text))
        while self._open:
            self._end(self._open.pop())
        if title := " ".join("".join(self._title).split()):
            self.meta["title"] = title

    def text(self) -> str:
        """Return the text."""
        return "".join(self._parts)

    def all_rows(self) -> list[Row]:
        """Return the blocks, sections among them; what stands outside the page's main part is furniture.

        Of two with the same span, the one around the other comes first.
        """
        content = [row for row in reversed(self.rows) if row[2] not in _MAIN_SHARE]
        spans = self._around_main()
        outside: list[Row] = [(start, end, "boilerplate", "", "furniture", 0) for start, end in spans]
        titles = self._titles
        if spans:
            titles = [row for row in titles if not any(start <= row[0] < end for start, end in spans)]
        return [*content, *outside, *section_rows(sorted(titles), self._length)]

    def _around_main(self) -> list[tuple[int, int]]:
        for kind, share in _MAIN_SHARE.items():
            spans = sorted(row[:2] for row in self.rows if row[2] == kind and row[4] == "body")
            if spans and sum(end - start for start, end in spans) > share * self._length:
                borders = [0, *(at for span in _outermost(spans) for at in span), self._length]
                pairs = zip(borders[::2], borders[1::2], strict=True)
                return [(start, end) for start, end in pairs if end > start]
        return []

    # Tags and text, in order

    def _start_tag(self, element: _Element, written: str) -> None:
        """Open an element, closing those that can't hold it."""
        role = ""
        opened = self._open
        while opened and opened[-1][0].name in element.closes:
            self._end(opened.pop())
        if element.gap > self._gap:
            self._part(element.gap)
        if element.special or (written and _TELLING.search(written)):
            role = self._look_closer(element.name, _attributes(written))
        if element.void:
            return
        opened.append((element, len(self.runs), len(self._parts), role))
        self._names[element.name] += 1
        if self._xml and written.endswith("/"):
            self._end_tag(element)

    def _look_closer(self, name: str, given: dict[str, str]) -> str:
        """Take what attributes say; returns the element's role."""
        if name == "meta":
            self._read_meta(given)
        if name == "html" and given.get("lang"):
            self.meta["language"] = given["lang"]
        if name in _VOID:
            return ""
        self._verbatim += name in _VERBATIM
        role = self._role(name, given)
        if name == "template" or (role == "hidden" and self._options.hidden_text == "drop"):
            self._silent += 1
            role = "dropped"
        self._masked += bool(role)
        return role

    def _end_tag(self, element: _Element) -> None:
        """Close the element and those left open inside it; an end that opens nothing is ignored."""
        if not self._names[element.name]:
            return
        while True:
            last = self._open.pop()
            self._end(last)
            if last[0] is element:
                return

    def _take(self, data: str, begin: int) -> None:
        """Take text as it stands at offset `begin`."""
        if self._silent or (self._verbatim and self._take_verbatim(data, begin)):
            return
        core = data.strip(_BLANKS)
        at = begin + data.find(core)
        if (at > begin or not core) and not self._gap:
            self._gap = _SPACE
        if core.isprintable() and "  " not in core:  # nothing but single spaces in it
            if core:
                self._add(core, at, len(core))
        else:
            self._take_words(core, at)
        if at + len(core) < begin + len(data) and not self._gap:
            self._gap = _SPACE

    def _take_words(self, data: str, begin: int) -> None:
        """Take what stands between blanks of other kinds."""
        for found in _STRETCH.finditer(data):
            if found.start() and not self._gap:
                self._gap = _SPACE
            self._add(found.group(), begin + found.start(), found.end() - found.start())

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
        if self._silent:
            return
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
        size = len(text)
        self.runs.append((self._length, size, at, length))
        self._parts.append(text)
        self._length += size

    def _part(self, gap: int) -> None:
        """Part what was written from what comes next by `gap` or more; a first cell is not parted from its row."""
        if gap != _TAB or (self._open and self.runs):
            self._gap = gap

    def _end(self, last: _Open) -> None:
        element, run, part, role = last
        self._names[element.name] -= 1
        if element.gap > self._gap:
            self._part(element.gap)
        if element.special:
            self._verbatim -= element.name in _VERBATIM
        if role:
            self._masked -= 1
            if role == "dropped":
                self._silent -= 1
                return
        kind = element.kind or (role and element.name)
        if not kind or len(self.runs) == run:
            return
        start = self.runs[run][0]
        if kind != "heading":
            self.rows.append((start, self._length, kind, "", role or "body", 0))
            return
        label = " ".join("".join(self._parts[part:]).split())
        heading = (start, self._length, kind, label, role or "body", int(element.name[1]))
        self.rows.append(heading)
        if not role and not self._masked:
            self._titles.append(heading)

    def _role(self, name: str, given: dict[str, str]) -> str:
        """Return ``hidden``, ``furniture`` or "" for an element's own part in the page."""
        unseen = given and (
            "hidden" in given or given.get("aria-hidden") == "true" or _UNSEEN.search(given.get("style", ""))
        )
        if unseen and name not in {"body", "html"}:
            return "" if self._options.hidden_text == "keep" else "hidden"
        # The header of an article holds its title; only that of the page is furniture.
        header = name == "header" and not (self._names["article"] or self._names["main"] or self._names["section"])
        if header or name in _FURNITURE or given.get("role") in _FURNITURE_ROLES:
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
