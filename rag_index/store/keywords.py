"""Terms for the keyword index: what words of any script are stored as, and how a question asks for them.

A text becomes a list of *terms*, separated by spaces: first its words in order (case and accents folded, runs without
spaces as overlapping pairs of characters), so that phrases can be asked for; then other forms of the same words: the
accented form as written, compounds joined (`user_name` and `userName` are both `username`), parts of compounds, stems.
A question asks for each of its words in one form, and for the others to tell equals apart (`lesser_terms`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from rag_index.store.stop_words import STOP

TOKENIZER = "unicode61 remove_diacritics 0 categories 'L* M* N* Co'"
"""FTS5 tokenizer that splits our terms at the spaces and nowhere else (the default cuts Hindi at its vowel signs)."""

# Scripts written without spaces between words (and Hangul, whose words carry their grammar with them): pairs of
# characters find any part of a word there. The second line keeps vowel and tone marks with their letters.
_UNSPACED = (
    "\u3005-\u3007\u3031-\u3035\u3040-\u309f\u30a1-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff\uac00-\ud7af\u1100-\u11ff\u3130-\u318f"
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u1049\u1780-\u17d3"
)
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0900-\u0963\u0966-\u0dff\u0f18-\u0fbc\u1ab0-\u1aff"
    "\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f\u00ad\u200c\u200d"
)
_LETTERS = rf"[^\W_{_UNSPACED}]+(?:[{_MARKS}]+[^\W_{_UNSPACED}]*)*"
_WORD = re.compile(
    rf"[{_UNSPACED}]+"
    # Joined by an apostrophe, hyphen, dot or underscore: a compound. Commas join the groups of a number.
    rf"|{_LETTERS}(?:(?:[-_.'’]+|(?<=\d),(?=\d)){_LETTERS})*(?:\+\+|\#(?![\w\#]))?"
)
_JOIN = re.compile(r"[-_.'’,]+")
_CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")
_UNSPACED_CHAR = re.compile(f"[{_UNSPACED}]")
_MARKUP = re.compile(r'(?<!\S)(?P<minus>-(?=["\w]))?"(?P<quoted>[^"]*)"|(?<!\S)-(?P<bare>\w\S*)')
_CLUSTERED = re.compile(
    "[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b6-\u17d3\u3099\u309a\uff9e\uff9f]"
)
_CLUSTER = re.compile(f".{_CLUSTERED.pattern}*")
# Marks that may be left out: accents, Hebrew points, Arabic vowels and the tatweel, soft hyphen and joiners. Vowel
# signs of Indic scripts and Japanese voicing marks are letters, not accents.
_ACCENT = re.compile(
    "[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff"
    "\u20d0-\u20ff\ufe20-\ufe2f\u00ad\u200c\u200d]+"
)
# English endings, longest first, and what stays of them. Stored beside the word itself, a stem lifts recall at 1,000
# characters by 0.9 points and the best five chunks by 1.0; the Snowball and Porter stemmers measured the same.
_ENDINGS = (
    ("ization", "ize"), ("ational", "ate"), ("iveness", "ive"), ("fulness", "ful"), ("ations", "ate"), ("ation", "ate"),
    ("ments", "ment"), ("ingly", ""), ("edly", ""), ("ings", ""), ("ing", ""), ("ied", "y"), ("ies", "y"), ("ely", "e"),
    ("ed", ""), ("ly", ""), ("es", "e"), ("ss", "ss"), ("us", "us"), ("is", "is"), ("s", ""),
)  # fmt: skip
_STROKES = str.maketrans({"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})

SHORTEST_STEMMED = 4
MAX_TERMS = 96
"""Most terms of one question; a longer question is a text, and its first words stand for it."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a text: where it stands, its terms in order, and other terms for the same word.

    Attributes:
        start: First code point.
        end: One past the last.
        terms: What a phrase is matched with, in order.
        forms: Accented, joined and split forms that aren't among `terms`.
        stop: Says nothing by itself: an article, a preposition, "what".
    """

    start: int
    end: int
    terms: tuple[str, ...]
    forms: tuple[str, ...] = ()
    stop: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a question asks of the keywords: terms to rank by, phrases that must occur, terms that must not.

    Attributes:
        words: The words to rank by, those inside phrases included.
        phrases: Terms of each quoted phrase, in order.
        excluded: Terms of each ``-word`` or ``-"phrase"``, in order.
        text: The question without quotes and exclusions, for the dense side.
    """

    words: tuple[Word, ...]
    phrases: tuple[tuple[str, ...], ...]
    excluded: tuple[tuple[str, ...], ...]
    text: str


def index_terms(text: str) -> str:
    """Return the terms of `text`, separated by spaces, for an FTS5 column with `TOKENIZER`."""
    order: list[str] = []
    forms: list[str] = []
    for run in _WORD.findall(text):
        if is_unspaced(run[0]):
            pairs = _cut(run)
            order += [pair for _, _, pair in pairs[:-1]]
            (forms if pairs[:-1] else order).append(pairs[-1][2])
        else:
            terms, more, _ = _forms(run)
            order += terms
            if more:
                forms += more
    return " ".join(order + forms)


def find_words(text: str) -> Iterator[Word]:
    """Yield the words of `text` in order; a run of a script without spaces gives a word for each pair of characters."""
    for found in _WORD.finditer(text):
        run = found[0]
        if is_unspaced(run[0]):
            yield from _pairs(run, found.start())
            continue
        terms, forms, stop = _forms(run)
        if terms:
            yield Word(found.start(), found.end(), terms, forms, stop)


def forms_of(word: str) -> tuple[str, ...]:
    """Return all terms that the word `word` is stored as, each once."""
    if word and is_unspaced(word[0]):
        return (_same_width(word),)
    terms, forms, _ = _forms(word)
    return tuple(dict.fromkeys((*terms, *forms)))


def fold_word(word: str) -> str:
    """Return `word` without case, accents, vowel points and widths; letters of any script stay."""
    if word.isascii():
        return word.lower()
    plain = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", word).casefold())
    return unicodedata.normalize("NFC", _ACCENT.sub("", plain)).translate(_STROKES)


def stem(term: str) -> str:
    """Return `term` without its English ending, or as it is: too short, other letters, nothing to take off."""
    if len(term) < SHORTEST_STEMMED or not (term.isascii() and term.isalpha()):
        return term
    for ending, rest in _ENDINGS:
        if term.endswith(ending) and len(term) >= len(ending) + 3:
            term = term.removesuffix(ending) + rest
            break
    if len(term) >= SHORTEST_STEMMED and term[-1] == term[-2] and term[-1] not in "lsz":
        term = term[:-1]
    return term.removesuffix("e") if len(term) > SHORTEST_STEMMED else term


def parse_question(question: str) -> Wanted:
    """Read the quotes and exclusions of `question`; anything else, FTS5 operators included, is only text.

    A question of nothing but exclusions means them literally (``-v`` is a flag that someone looks for).
    """
    phrases = []
    excluded = []
    rest = []
    at = 0
    for found in _MARKUP.finditer(question):
        rest.append(question[at : found.start()])
        at = found.end()
        terms = tuple(term for word in find_words(found["quoted"] or found["bare"] or "") for term in word.terms)
        if found["minus"] or found["bare"]:
            excluded += [terms] if terms else []
            rest.append(" ")
        else:
            phrases += [terms] if terms else []
            rest.append(found["quoted"])
    text = "".join([*rest, question[at:]])
    words = tuple(find_words(text))
    if not words and excluded:
        return Wanted(tuple(find_words(question)), (), (), question)
    return Wanted(words, tuple(phrases), tuple(excluded), text)


def question_terms(wanted: Wanted) -> list[str]:
    """Return the terms to rank by, each once, in order; stop words only where there is nothing else."""
    words = [word for word in wanted.words if not word.stop] or wanted.words
    return list(dict.fromkeys(term for word in words for term in _telling(word)))[:MAX_TERMS]


def lesser_terms(wanted: Wanted, *, english: bool) -> frozenset[str]:
    """Return the terms that only say again what another term of the question says, so that each word counts once.

    These are accented forms beside folded ones, and of a word and its English stem the word, which every text that
    holds it has stored as its stem too; of a question that isn't `english` the stem.
    """
    return frozenset(term for word in wanted.words for term in _repeated(word, english=english))


def _repeated(word: Word, *, english: bool) -> Iterator[str]:
    for form in word.forms:
        for term in word.terms:
            if not form.isascii() and fold_word(form) == term and term not in STOP:
                yield form
            elif form == stem(term) and len(word.terms) == 1:
                yield term if english else form


def match_expression(question: str) -> str:
    """Return the FTS5 expression that finds what `question` asks for, or "" when it holds no word.

    Terms are alternatives, quoted phrases must occur, ``-term`` must not.
    """
    return expression_of(parse_question(question))


def expression_of(wanted: Wanted, leave_out: Collection[str] = ()) -> str:
    """Return the FTS5 expression for a question that was read; terms in `leave_out` don't rank."""
    terms = [term for term in question_terms(wanted) if term not in leave_out]
    if not terms:
        return ""
    expression = " OR ".join(_alternatives(terms))
    if wanted.phrases:
        expression = f"({' AND '.join(map(_phrase, wanted.phrases))}) AND ({expression})"
    if wanted.excluded:
        expression = f"({expression}) NOT ({' OR '.join(map(_phrase, wanted.excluded))})"
    return expression


def holds(terms: Sequence[str], phrase: Sequence[str]) -> bool:
    """Tell whether `phrase` stands in `terms` as `expression_of` would find it."""
    *first, last = phrase
    wide = len(last) == 1 and is_unspaced(last)
    return any(
        list(terms[at : at + len(first)]) == first
        and (terms[at + len(first)] == last or (wide and terms[at + len(first)].startswith(last)))
        for at in range(len(terms) - len(first))
    )


@lru_cache(maxsize=100_000)
def _forms(word: str) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
    """Return the terms of a word as written, its other forms, and whether it is a stop word."""
    parts = [part for part in _JOIN.split(word) if part]
    terms = tuple(folded for part in parts if (folded := fold_word(part).rstrip("+#")))
    forms = dict.fromkeys(term for part in parts for term in _other_forms(part))
    if len(terms) > 1 and not (word[0].isdigit() and "." in word):  # 1.5 is not 15, but 1,500 is 1500
        forms["".join(terms)] = None
    written = unicodedata.normalize("NFC", word).replace("’", "'")
    shouted = len(written) > 1 and written.isupper()  # "US", "IT", "WHO" are names
    stop = not shouted and all(part in STOP for part in written.lower().split("'"))
    return terms, tuple(form for form in forms if form not in terms), stop


def _other_forms(part: str) -> Iterator[str]:
    """Yield what else `part` of a compound may be asked for as."""
    written = unicodedata.normalize("NFKC", part).lower()
    if part.endswith(("++", "#")):
        yield fold_word(part).replace("+", "plus").replace("#", "sharp")
    elif not written.isascii() and written.isalnum():
        yield written
    folded = fold_word(part)  # with the accents off: `resume` and `résumé` have one stem
    if written not in STOP and folded.isascii() and folded.isalpha():
        yield stem(folded)
    pieces = _CAMEL.split(part)
    if len(pieces) > 1:
        yield from (fold_word(piece) for piece in pieces if len(piece) > 1)


def _telling(word: Word) -> tuple[str, ...]:
    """Return all terms but letters and stop words in a compound or under an accent ("l'eau", "ship's", "thé")."""
    if len(word.terms) + len(word.forms) == 1:
        return word.terms
    told = (term for term in word.terms if not (term in STOP or (len(term) == 1 and term.isascii() and term.isalpha())))
    return (*told, *word.forms) or word.terms


def _alternatives(terms: list[str]) -> Iterator[str]:
    """Quote each term; a lone character of an unspaced script also stands for all pairs that begin with it."""
    for term in terms:
        yield f'"{term}"*' if len(term) == 1 and is_unspaced(term) else f'"{term}"'


def _phrase(terms: tuple[str, ...]) -> str:
    last = terms[-1]
    return f'"{" ".join(terms)}"' + ("*" if len(last) == 1 and is_unspaced(last) else "")


def is_unspaced(char: str) -> bool:
    """Tell whether `char` belongs to a script that is stored as pairs of characters."""
    return char > "\u0e00" and _UNSPACED_CHAR.match(char) is not None


def _pairs(run: str, at: int) -> Iterator[Word]:
    *pairs, (start, end, last) = _cut(run)
    for first, past, pair in pairs:
        yield Word(at + first, at + past, (pair,))
    yield Word(at + start, at + end, (), (last,), stop=True) if pairs else Word(at + start, at + end, (last,))


def _cut(run: str) -> list[tuple[int, int, str]]:
    """Return each pair of neighbouring characters, then the last by itself so that any single one can be found."""
    if _CLUSTERED.search(run):
        spots = [found.span() for found in _CLUSTER.finditer(run)]
    else:
        spots = [(at, at + 1) for at in range(len(run))]
    pairs = [(start, end, _same_width(run[start:end])) for (start, _), (_, end) in pairwise(spots)]
    start, end = spots[-1]
    return [*pairs, (start, end, _same_width(run[start:end]))]


def _same_width(text: str) -> str:
    return text if unicodedata.is_normalized("NFKC", text) else unicodedata.normalize("NFKC", text)
