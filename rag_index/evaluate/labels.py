"""Questions with the places of their answers, checked against the documents before anything is embedded."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import PurePosixPath

from rag_index.errors import LabelError
from rag_index.types import Document, Place, Warn

MIN_REPEAT = 40
"""Shortest text, in characters, whose repetition elsewhere is taken for the same evidence: a name or a year
repeats by chance, a sentence does not."""


@dataclass(frozen=True, slots=True)
class Reference:
    """One piece of evidence.

    Attributes:
        places: Where it stands; any of them will do, the first is the one that was labelled first.
        repeats: Other places with the text of one of `places`, found in the documents.
    """

    places: tuple[Place, ...]
    repeats: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A question and all the evidence that its answer needs."""

    id: str
    text: str
    references: tuple[Reference, ...]
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Labels:
    """A checked question file: ids unique, every place a slice of a document, nothing empty.

    Attributes:
        questions: In the order of the file.
        warnings: What was mended or left out, each with its line.
    """

    questions: tuple[Question, ...]
    warnings: tuple[Warn, ...] = ()


@dataclass(frozen=True, slots=True)
class RawPlace:
    """A place as a file gives it: offsets, text, or both. Empty `doc`: any document that holds the text."""

    doc: str
    text: str | None = None
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class RawQuestion:
    """A question as a file gives it, with the words that say where it stands there (``line 3``)."""

    where: str
    id: str
    text: str
    references: tuple[tuple[RawPlace, ...], ...]
    tags: tuple[str, ...] = ()


def check(
    raw: Iterable[RawQuestion], documents: Mapping[str, Document], name: str, warnings: Sequence[Warn] = ()
) -> Labels:
    """Turn raw questions into checked ones; `name` is the file in messages. Raises LabelError."""
    notes = list(warnings)
    finder = _Finder(documents, notes)
    questions: list[Question] = []
    for item in raw:
        where = f"{name}: {item.where}"
        _check_shape(item, where)
        references = tuple(finder.reference(places, where) for places in item.references)
        questions.append(Question(item.id, item.text, references, item.tags))
    if not questions:
        raise LabelError(f"{name} holds no question", "Write one JSON object a line: id, question, refs.")
    _check_ids(questions, name)
    texts = Counter(question.text.strip() for question in questions)
    notes += [Warn("question_twice", f"asked {n} times: {text!r}", n) for text, n in texts.items() if n > 1]
    return Labels(tuple(_with_repeats(questions, documents, notes)), tuple(notes))


def question_line(question: Question, documents: Mapping[str, Document]) -> str:
    """Return the line of a JSON-lines file that `read_jsonl` reads back, without the line end."""
    refs = []
    for reference in question.references:
        first, *others = [_entry_of(place, documents) for place in reference.places]
        refs.append({**first, "also": others} if others else first)
    entry = {"id": question.id, "question": question.text, "refs": refs, "tags": list(question.tags)}
    return json.dumps(entry, ensure_ascii=False)


def _entry_of(place: Place, documents: Mapping[str, Document]) -> dict[str, object]:
    text = documents[place.path].text[place.start : place.end]
    return {"doc": place.path, "start": place.start, "end": place.end, "text": text}


def _check_shape(item: RawQuestion, where: str) -> None:
    if not item.text.strip():
        raise LabelError(f"{where}: the question is empty", "Write what a user would ask, or remove the line.")
    if not item.references or not all(item.references):
        raise LabelError(f"{where}: question {item.id!r} has no reference", "Give the place of its answer in refs.")


def _check_ids(questions: Sequence[Question], name: str) -> None:
    counts = Counter(question.id for question in questions)
    twice = [id_ for id_, count in counts.items() if count > 1]
    if twice:
        raise LabelError(f"{name}: the id {twice[0]!r} is used {counts[twice[0]]} times", "Give each question its id.")


@dataclass(slots=True)
class _Finder:
    """Find the place that a label means, and note what had to be mended."""

    documents: Mapping[str, Document]
    notes: list[Warn]
    known: dict[str, str] = field(default_factory=dict)

    def reference(self, raw: Sequence[RawPlace], where: str) -> Reference:
        places = dict.fromkeys(place for one in raw for place in self._places(one, where))
        return Reference(tuple(places))

    def _places(self, raw: RawPlace, where: str) -> list[Place]:
        if not raw.doc:
            return self._anywhere(raw.text or "", where)
        doc = self._document(raw.doc, where)
        text = self.documents[doc].text
        if raw.start is not None and raw.end is not None and self._slice_holds(raw, text, doc, where):
            return [Place(doc, raw.start, raw.end)]
        if not raw.text or not raw.text.strip():
            hint = "Give doc and text, or doc, start and end, or all four."
            raise LabelError(f"{where}: a reference in {doc} has neither text nor offsets", hint)
        found = _occurrences(raw.text, text) or _loose(raw.text, text)
        if not found:
            raise LabelError(
                f"{where}: {doc} does not hold {_short(raw.text)!r}",
                "Copy the text from `rag-index extract`, which shows it as it is indexed.",
            )
        if raw.start is None:
            return [Place(doc, *span) for span in found]
        nearest = min(found, key=lambda span: abs(span[0] - (raw.start or 0)))
        self.notes.append(Warn("moved", f"{where}: found at {nearest[0]} in {doc}, not at {raw.start}"))
        return [Place(doc, *nearest)]

    def _slice_holds(self, raw: RawPlace, text: str, doc: str, where: str) -> bool:
        start, end = raw.start or 0, raw.end or 0
        if raw.text is not None:
            return 0 <= start < end and text[start:end] == raw.text
        if not 0 <= start < end <= len(text):
            raise LabelError(
                f"{where}: {start} to {end} is no span of {doc}, which has {len(text)} characters",
                "Give half-open code point offsets, or the text.",
            )
        return True

    def _anywhere(self, text: str, where: str) -> list[Place]:
        exact = [Place(doc, *span) for doc, d in self.documents.items() for span in _occurrences(text, d.text)]
        if exact:
            return exact
        loose = [Place(doc, *span) for doc, d in self.documents.items() for span in _loose(text, d.text)]
        if not loose:
            raise LabelError(f"{where}: no document holds {_short(text)!r}", "Copy the text from a document.")
        self.notes.append(Warn("white_space", f"{where}: found with other white space in {loose[0].path}"))
        return loose

    def _document(self, name: str, where: str) -> str:
        if name not in self.known:
            self.known[name] = self._resolve(name, where)
        return self.known[name]

    def _resolve(self, name: str, where: str) -> str:
        if name in self.documents:
            return name
        fits = [path for path in self.documents if name in _short_names(path)]
        if len(fits) == 1:
            return fits[0]
        if fits:
            raise LabelError(f"{where}: {name!r} may be {' or '.join(sorted(fits)[:3])}", "Give the whole path.")
        close = get_close_matches(name, list(self.documents), n=1)
        hint = f"Did you mean {close[0]!r}?" if close else "Point --docs at the folder that the labels speak of."
        raise LabelError(f"{where}: there is no document {name!r}", hint)


def _short_names(path: str) -> set[str]:
    """Return the names by which a label may call `path`: any tail of it, with or without the suffix."""
    parts = PurePosixPath(path).parts
    tails = ["/".join(parts[n:]) for n in range(len(parts))]
    return {*tails, *(str(PurePosixPath(tail).with_suffix("")) for tail in tails)}


def _occurrences(needle: str, text: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    at = text.find(needle) if needle else -1
    while at >= 0:
        found.append((at, at + len(needle)))
        at = text.find(needle, at + len(needle))
    return found


def _loose(needle: str, text: str) -> list[tuple[int, int]]:
    """Find `needle` where only white space differs: labels are often copied from a rendered page."""
    words = needle.split()
    if not words:
        return []
    return [match.span() for match in re.finditer(r"\s+".join(map(re.escape, words)), text)]


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004 (fits a terminal line)


def _with_repeats(
    questions: Sequence[Question], documents: Mapping[str, Document], notes: list[Warn]
) -> Iterator[Question]:
    """Add to each reference the other places of its text; say how many references that concerns."""
    found: dict[str, list[Place]] = {}
    repeated = total = 0
    for question in questions:
        references: list[Reference] = []
        for reference in question.references:
            texts = {documents[p.path].text[p.start : p.end] for p in reference.places}
            for text in sorted(texts - found.keys()):
                long = len(text) >= MIN_REPEAT
                found[text] = [Place(d, *s) for d in documents for s in _occurrences(text, documents[d].text) if long]
            repeats = {place for text in texts for place in found[text]} - set(reference.places)
            total += 1
            repeated += bool(repeats)
            ordered = sorted(repeats, key=lambda place: (place.path, place.start))
            references.append(replace(reference, repeats=tuple(ordered)))
        yield replace(question, references=tuple(references))
    if repeated:
        message = f"{repeated} of {total} references stand in more than one place; each place is accepted"
        notes.append(Warn("gold_repeated", message, repeated))
