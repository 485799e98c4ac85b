"""Each rule of the walk and of the cutters is needed: a copy of the code without it breaks a promise.

A mutant is made of the real source with one place changed. The texts and the promises are the same for all; the real
code keeps them (first test), every mutant breaks one, loops or raises.
"""

from __future__ import annotations

import importlib.util
import sys
from itertools import pairwise, product
from pathlib import Path
from types import ModuleType

import pytest

import rag_index.chunk
from rag_index.chunk import graphemes
from rag_index.settings import ChunkSettings
from rag_index.types import Span, Tokens

FOLDER = Path(rag_index.chunk.__file__).parent
MODULES = ("graphemes", "bounds", "cutting", "characters")
"""In the order of their imports; each copy imports the copies before it."""

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
TEXTS = [
    "The Go programming language favors standard libraries and simple tools. The use of iterators is new.",
    "A " + "x" * 100,
    "漢" * 39 + "」」" + "字" * 60,
    "x" * 100 + " tail of it",
    "Key " + "k" * 500 + " end",
    "  one two",
    " " * 70 + "one" + " " * 70 + "two" + " " * 70,
    "ab cd  ef\n\n\ngh ij kl\r\nmn op " * 5,
    "e\u0301" * 40 + " " + "a\u0301\u0302" * 20,
    FAMILY * 12,
    "\U0001f1eb\U0001f1f7" * 30,
    "\U0001f44d\U0001f3fd" * 30,
    "\u1112\u1161\u11ab" * 30,
    "a\r\n" * 30,
    "雨が降った。電車は来ない、だろうか？「はい。」次の文章。" * 6,
    "a b c d e f g h i j k l m n o p q r s t u v w x y z " * 3,
    "alpha beta\u00a0gamma\tdelta " * 8,
    "no. end! now? yes. " * 9,
    "One is. " + "longer" * 9 + " and words. " * 9,
]
SIZES = [(1, 0), (5, 2), (9, 4), (10, 9), (15, 0), (40, 30), (60, 15)]


def load(module: str = "", old: str = "", new: str = "") -> dict[str, ModuleType]:
    """Return copies of the modules, `module` with its one `old` replaced by `new`."""
    copies: dict[str, ModuleType] = {}
    for name in MODULES:
        source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
        if name == module:
            assert source.count(old) == 1, f"{old!r} is {source.count(old)} times in {name}.py"
            source = source.replace(old, new)
        for known in copies:
            source = source.replace(f"from rag_index.chunk.{known} import", f"from mutant_{known} import")
        spec = importlib.util.spec_from_loader(f"mutant_{name}", loader=None)
        copy = importlib.util.module_from_spec(spec)
        sys.modules[copy.__name__] = copy
        exec(compile(source, f"mutant of {name}.py", "exec"), copy.__dict__)
        copies[name] = copy
    return copies


@pytest.fixture(autouse=True)
def no_copies_left():
    yield
    for name in MODULES:
        sys.modules.pop(f"mutant_{name}", None)


def broken(code: dict[str, ModuleType]) -> str:
    """Return which promise the code breaks, or ""."""
    try:
        for text, (size, overlap), kind in product(TEXTS, SIZES, ("window", "character")):
            found = _broken_by(code, kind, text, size, overlap)
            if found:
                return f"{found}: {kind} {size}/{overlap} of {text[:20]!r}"
        return _broken_limit(code)
    except (IndexError, ValueError) as error:
        return f"raises {error!r}"


def _walk(code, kind, text, bounds):
    cutters = {"window": code["characters"].WindowCutter, "character": code["characters"].CharacterCutter}
    spans = []
    for span in code["cutting"].walk(text, Span(0, len(text)), bounds, cutters[kind](text)):
        spans.append(span)
        if len(spans) > len(text):
            return None
    return spans


def _broken_by(code, kind: str, text: str, size: int, overlap: int) -> str:
    spans = _walk(code, kind, text, _Counted(code["bounds"].Characters(size, overlap), 20 * len(text) + 100))
    if spans is None:
        return "loops"
    return (
        _wrong_spans(text, spans, size)
        or _wrong_neighbours(spans, size, overlap)
        or _cut_inside(text, spans, size)
        or _weak_overlap(text, spans, size, overlap)
        or _begins_badly(kind, text, spans, size)
    )


def _wrong_spans(text: str, spans, size: int) -> str:
    covered = set()
    for start, end in spans:
        if not 0 <= start < end <= len(text) or end - start > size:
            return "size"
        if text[start].isspace() or text[end - 1].isspace():
            return "white space"
        covered.update(range(start, end))
    lost = any(not text[at].isspace() for at in set(range(len(text))) - covered)
    return "lost" if lost else ""


def _wrong_neighbours(spans, size: int, overlap: int) -> str:
    for (one, first), (two, second) in pairwise(spans):
        if not (one < two and first < second):
            return "order"
        if first - two > overlap:
            return "overlap"
        if two < first and two - one < max(1, (size - overlap) // 4):
            return "progress"
    return ""


def _begins_badly(kind: str, text: str, spans, size: int) -> str:
    bad = kind == "character" and size >= 40 and any(text[start] in "。、？」" for start, _ in spans)
    return "begins with a closing mark" if bad else ""


def _cut_inside(text: str, spans, size: int) -> str:
    """Words and visible characters stay whole, where they fit."""
    for at in {place for span in spans for place in span if 0 < place < len(text)}:
        if text[at - 1].isascii() and text[at].isascii() and text[at - 1].isalnum() and text[at].isalnum():
            begin = max(text.rfind(space, 0, at) for space in " \n\t\u00a0") + 1
            word = text[begin:].split(None, 1)[0]
            if len(word) <= size:
                return "word"
        if not text[at - 1].isspace() and graphemes.joins(text, at):
            begin, end = at, at
            while graphemes.joins(text, begin):
                begin -= 1
            while end < len(text) and graphemes.joins(text, end):
                end += 1
            if end - begin <= size:
                return "grapheme"
    return ""


def _weak_overlap(text: str, spans, size: int, overlap: int) -> str:
    """A hard cut overlaps hard; words overlap where one fits."""
    if set(text) == {"x"} or text.startswith("Key"):
        inner = [(a, b) for a, b in pairwise(spans) if b[1] - b[0] == size == a[1] - a[0] and a[1] >= b[0]]
        if any(a[1] - b[0] != overlap for a, b in inner):
            return "hard overlap"
    letters = text.startswith("a b c") and overlap >= 2 and size - overlap >= 4
    return "no overlap" if letters and any(a[1] <= b[0] for a, b in pairwise(spans)) else ""


def _broken_limit(code) -> str:
    """The model's limit, for a tokenizer that reads the first word of a text and what it cuts byte by byte."""
    for text, size in product([text for text in TEXTS if text[0] not in "雨漢"], (10, 60)):  # each Han letter is a word
        starts, ends = [], []
        for at in range(0, len(text), 3):
            starts.append(at)
            ends.append(min(len(text), at + 3))
        tokens = Tokens(starts, ends, limit=14, extra=2)
        bounds = code["bounds"].TokenBounds(ChunkSettings(size=size, overlap=size // 5), text, tokens)
        spans = _walk(code, "window", text, _Counted(bounds, 200 * len(text) + 1000))
        if spans is None:
            return "loops"
        if any(bounds_count(text, starts, ends, *span) > 12 for span in spans if span[1] - span[0] > 1):
            return "limit"
    return ""


def bounds_count(text: str, starts, ends, start: int, end: int) -> int:
    """Count as the worst tokenizer would: a byte a token in the first word and in a token that is cut."""
    first = start
    if start:
        first += 1
        while first < end and text[first].isalnum():
            first += 1
    whole = [(a, b) for a, b in zip(starts, ends, strict=True) if a >= first and b <= end]
    cut = [(max(a, first), end) for a, b in zip(starts, ends, strict=True) if first <= a < end < b]
    pieces = [(start, first), *cut]
    return len(whole) + sum(len(text[a:b].encode()) for a, b in pieces)


class _Counted:
    """Bounds that end a walk which asks for ever."""

    def __init__(self, bounds, most: int) -> None:
        self._bounds, self._left = bounds, most

    def reach(self, start):
        self._left -= 1
        if not self._left:
            raise ValueError("asks for ever")
        return self._bounds.reach(start)

    def __getattr__(self, name):
        return getattr(self._bounds, name)


def test_the_real_code_keeps_all_promises():
    assert broken(load()) == ""


# Not here, for nothing but time is lost without them: the end of the region (R8: a chunk in the overlap would add
# nothing), and CRLF (cuts at white space are trimmed).
MUTANTS = {
    "R2: begin behind white space": (
        "cutting",
        "    start = skip_space(text, region.start, region.end)",
        "    start = region.start",
    ),
    "R3: cut at white space": (
        "characters",
        "        place = last_space(self.text, start, far)\n        return (place",
        "        place = 0\n        return (place",
    ),
    "R3: white space right at the end": ("characters", "    if text[far].isspace():\n        return far\n", ""),
    "R3: hard cuts at graphemes": (
        "graphemes",
        "        if not joins(text, place):\n            return place\n    return at\n\n\ndef border_after",
        "        return place\n    return at\n\n\ndef border_after",
    ),
    "R4: trimmed at the end": ("cutting", "    end = trim_space(text, start, cut)", "    end = cut"),
    "R4: only what adds something": (
        "cutting",
        "        if end > done:\n            yield",
        "        if end > start:\n            yield",
    ),
    "R5: the overlap begins behind the start": (
        "cutting",
        "back = max(bounds.back(cut), start + 1)",
        "back = bounds.back(cut)",
    ),
    "R5: the overlap is kept": (
        "bounds",
        "        return end - self.overlap\n",
        "        return end - self.overlap - 1\n",
    ),
    "R5: words are whole in the overlap": (
        "characters",
        'that begins in the overlap."""\n        return word_start(self.text, back, end)',
        'that begins in the overlap."""\n        return back',
    ),
    "R5: a hard cut overlaps hard": (
        "cutting",
        "border_after(text, back, end) if forced else cutter.resume(back, end)",
        "cutter.resume(back, end)",
    ),
    "R5: soft cuts overlap": ("cutting", "    if back < end:\n", "    if back < end and forced:\n"),
    "R5: graphemes are whole in the overlap": ("cutting", "border_after(text, back, end) if forced", "back if forced"),
    "R6: white space is skipped behind a cut": (
        "cutting",
        "    return end, skip_space(text, after, stop)",
        "    return end, after",
    ),
    "R7: progress": ("cutting", "        if after < bounds.least(start) or after >= end:", "        if after >= end:"),
    "go on behind what is covered": (
        "cutting",
        "        return end, skip_space(text, done, stop)",
        "        return end, start",
    ),
    "the limit is kept": (
        "cutting",
        "    while (over := bounds.excess(start, cut)) and cut > start + 1:",
        "    while False:",
    ),
    "the first word counts by its bytes": (
        "bounds",
        "        return self._bytes(start, first) + last - at + tail",
        "        return 1 + last - at + tail",
    ),
    "a token that is cut counts by its bytes": ("bounds", "if cut else 0", "if cut else 0\n        tail = 0"),
    "joiners": ("graphemes", "    if before == _ZWJ or char in (_ZWJ, ", "    if char in ("),
    "skin tones": ("graphemes", ' or "\\U0001f3fb" <= char <= "\\U0001f3ff"', ""),
    "flags": ("graphemes", "% 2 == 1", "% 2 == 2"),
    "marks": ("graphemes", 'category(char) in ("Mn", "Me", "Mc") or ', ""),
    "conjoining jamo": ("graphemes", " or _hangul_joins(before, char)", ""),
    "closing marks stay with what they close": (
        "characters",
        "        tidy = border_before(self.text, low, place)",
        "        tidy = border_before(self.text, low, far)",
    ),
}


@pytest.mark.parametrize("rule", MUTANTS)
def test_without_a_rule_a_promise_is_broken(rule):
    assert broken(load(*MUTANTS[rule])), f"nothing notices that the rule is gone: {rule}"
