"""Make labelled questions from documents, without a language model.

Four kinds, each tagged, none a substitute for questions that people asked:

- ``heading``: the title of a section (after that of its document) asks for the section's first paragraph.
- ``definition``: "A relay is a switch ..." answers "What is a relay?".
- ``link``: the words of a link ask for what they point at: a section, or the beginning of a document.
- ``sentence``: a sentence from inside a paragraph asks for the rest of that paragraph.

They show whether a chunking keeps together what belongs together. They share words with their answers, so they
flatter keyword search and can't say how people's questions fare.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from urllib.parse import unquote

from rag_index.evaluate.labels import MIN_REPEAT, Question, Reference
from rag_index.extract.positions import heading_path
from rag_index.types import Block, Document, Place, Span

KINDS = ("heading", "definition", "link", "sentence")
_DEFINITION = re.compile(
    r"(?P<subject>(?:(?:The|An?|Les?|La|L['’]|Une?|Os?|As?|Uma?|El|Los|Las|Una?|Der|Die|Das|Eine?)\s?)?"
    r"[\w-]+(?: [\w-]+){0,3}) (?P<verb>is|are|means|est|sont|é|são|es|son|ist|sind) "
    r"(?:an?|the|une?|des|uma?|una?|eine?) "
)
_ASK = {
    **dict.fromkeys(("is", "are", "means"), "What {verb} {subject}?"),
    **dict.fromkeys(("est", "sont"), "Qu'est-ce que {subject} ?"),
    **dict.fromkeys(("é", "são"), "O que {verb} {subject}?"),
    **dict.fromkeys(("es", "son"), "¿Qué {verb} {subject}?"),
    **dict.fromkeys(("ist", "sind"), "Was {verb} {subject}?"),
}
_LINK = re.compile(r"(?<!!)\[(?P<words>[^\[\]\n]{8,90})\]\((?P<target>[^()\s]+)\)")
_SENTENCE = re.compile(r"\w(?:[^.!?。！？\n]|\n(?!\s*\n)|[.!?](?=\w))*[.!?。！？]")
"""A sentence of prose; a line end inside is only where the line was full."""
_PRONOUNS = {
    *("it", "this", "that", "there", "these", "those", "they", "he", "she", "we", "you", "here", "which"),
    *("il", "elle", "ce", "ele", "ela", "isto", "esto", "es", "er", "sie"),
}


def make_questions(documents: Mapping[str, Document], count: int = 60) -> list[Question]:
    """Return up to `count` questions, the kinds and documents taken in turn; the same for the same documents."""
    found = {kind: _in_turn(documents, maker) for kind, maker in _MAKERS.items()}
    chosen: list[tuple[str, str, Place]] = []
    asked: set[str] = set()
    while len(chosen) < count and any(found.values()):
        for kind, waiting in found.items():
            text, place = waiting.pop(0) if waiting else ("", Place("", 0, 0))
            if text and text.casefold() not in asked and len(chosen) < count:
                asked.add(text.casefold())
                chosen.append((kind, text, place))
    return [
        Question(f"made-{number:03d}", text, (Reference((place,)),), ("synthetic", kind))
        for number, (kind, text, place) in enumerate(chosen, 1)
    ]


Maker = Callable[[str, Document, Mapping[str, Document]], Iterator[tuple[str, Place]]]


def _in_turn(documents: Mapping[str, Document], maker: Maker) -> list[tuple[str, Place]]:
    """Return what `maker` finds, one of each document in turn; in a document in an order that shows no pattern."""
    queues = [
        sorted(maker(name, document, documents), key=lambda found: hashlib.sha256(found[0].encode()).digest())
        for name, document in sorted(documents.items())
    ]
    longest = max(map(len, queues), default=0)
    return [queue[turn] for turn in range(longest) for queue in queues if turn < len(queue)]


def _headings(name: str, document: Document, _all: Mapping[str, Document]) -> Iterator[tuple[str, Place]]:
    for section in document.blocks:
        if section.kind != "section" or section.role != "body":
            continue
        body = _first_paragraph(document, section)
        titles = heading_path(document, section.start)
        if body and titles:
            asked = titles if len(titles) == 1 else (titles[0], titles[-1])
            yield ": ".join(asked), Place(name, body.start, body.end)


def _first_paragraph(document: Document, section: Block) -> Span | None:
    """Return the first paragraph below the heading and above the next one, if it is long enough to be one."""
    inside = [block for block in document.blocks if section.start <= block.start and block.end <= section.end]
    later = [block.start for block in inside if block.kind == "heading" and block.start > section.start]
    until = min(later, default=section.end)
    below = [b for b in inside if b.kind == "paragraph" and b.role == "body" and b.start < until]
    paragraphs = [b for b in below if not _is_byline(document.text[b.start : b.end])]
    first = min(paragraphs, key=lambda block: block.start, default=None)
    return Span(first.start, first.end) if first and first.end - first.start >= MIN_REPEAT else None


def _is_byline(text: str) -> bool:
    """Whether a whole paragraph is emphasised: owners, dates, editions stand so below a title."""
    return text[:1] in {"*", "_"} and text[-1:] in {"*", "_"}


def _definitions(name: str, document: Document, _all: Mapping[str, Document]) -> Iterator[tuple[str, Place]]:
    for span in (span for sentences in _prose(document) for span in sentences):
        sentence = span.of(document.text)
        match = _DEFINITION.match(sentence) if sentence[:1].isupper() and len(sentence) >= MIN_REPEAT else None
        if match and not _PRONOUNS & set(match["subject"].casefold().split()):
            subject = (
                match["subject"][0].lower() + match["subject"][1:] if " " in match["subject"] else match["subject"]
            )
            verb = "is" if match["verb"] == "means" else match["verb"]
            yield _ASK[match["verb"]].format(verb=verb, subject=subject), Place(name, span.start, span.end)


def _links(name: str, document: Document, everything: Mapping[str, Document]) -> Iterator[tuple[str, Place]]:
    for match in _LINK.finditer(document.text):
        path, _, anchor = unquote(match["target"]).partition("#")
        target = _resolve(name, path) if path else name
        if target in everything and " " in match["words"].strip():
            place = _pointed_at(everything[target], target, anchor)
            if place and not (target == name and place.start <= match.start() < place.end):
                yield match["words"].strip("*_` "), place


def _resolve(name: str, path: str) -> str:
    parts: list[str] = []
    for part in (PurePosixPath(name).parent / path).parts:
        parts = parts[:-1] if part == ".." else [*parts, part]
    return "/".join(parts)


def _pointed_at(document: Document, name: str, anchor: str) -> Place | None:
    sections = [block for block in document.blocks if block.kind == "section" and block.role == "body"]
    if anchor:
        sections = [block for block in sections if _slug(block.label) == anchor.casefold()]
    body = _first_paragraph(document, sections[0]) if sections else None
    return Place(name, body.start, body.end) if body else None


def _slug(title: str) -> str:
    return re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", title.casefold()).strip())


def _held_out(name: str, document: Document, _all: Mapping[str, Document]) -> Iterator[tuple[str, Place]]:
    for sentences in _prose(document):
        if len(sentences) < 3:  # noqa: PLR2004 (one to ask, and some to find)
            continue
        asked = sentences[0]
        if MIN_REPEAT <= len(asked) <= 4 * MIN_REPEAT:
            yield " ".join(asked.of(document.text).split()), Place(name, sentences[1].start, sentences[-1].end)


def _paragraphs(document: Document) -> Iterator[Span]:
    """Yield the paragraphs that the format names; where it names none, what blank lines part."""
    named = [Span(b.start, b.end) for b in document.blocks if b.kind == "paragraph" and b.role == "body"]
    yield from named or (Span(*match.span()) for match in re.finditer(r"\S(?:.|\n(?!\s*\n))*", document.text))


def _prose(document: Document) -> Iterator[list[Span]]:
    """Yield the sentences of each paragraph, code and what is not meant to be read left out."""
    if any(block.kind == "definition" for block in document.blocks):
        return  # source code
    apart = [block for block in document.blocks if block.role != "body" or block.kind in {"code", "table"}]
    for paragraph in _paragraphs(document):
        if not any(block.start < paragraph.end and paragraph.start < block.end for block in apart):
            found = _SENTENCE.finditer(document.text, paragraph.start, paragraph.end)
            yield [Span(*match.span()) for match in found]


_MAKERS: dict[str, Maker] = {
    "heading": _headings,
    "definition": _definitions,
    "link": _links,
    "sentence": _held_out,
}
