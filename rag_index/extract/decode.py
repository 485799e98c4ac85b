"""Bytes to text: strictly, newlines and all, so that ``data[bom:].decode(encoding) == text``."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from rag_index.types import Warn

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = (
    re.compile(rb"<\?xml[^>]{0,100}?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)"),
    re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9._-]+)", re.IGNORECASE),
    re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.MULTILINE),
)
_COMMON = (
    *("cp1252", "cp1251", "cp932", "gb18030", "cp949", "big5", "euc_jp", "koi8_r", "cp1250", "cp1254", "cp1253"),
    *("cp1255", "cp1256", "cp1257", "cp874", "cp866", "iso8859_2", "mac_roman"),
)
"""Encodings that a guess may name, likeliest first: where several fit alike, the first one is taken."""
_DOUBLE_ENCODED = re.compile("â€[\x80-\xbf™œ\u009dšžŸ“”˜¦¢]|Ã[\x80-\xbf©¨¤¶¼]")
_CJK = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "FULLWIDTH", "IDEOGRAPHIC")


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text, and what gives the bytes back: ``text.encode(encoding)`` after `bom` bytes of mark."""

    text: str
    encoding: str
    bom: int = 0
    warnings: tuple[Warn, ...] = ()


def decode(data: bytes, encoding: str = "") -> Decoded | None:
    """Decode `data` strictly, or return None when it is not text.

    Order: byte order mark, the caller's `encoding`, ISO-2022-JP by its escapes, UTF-8, what the text declares of
    itself, UTF-16 by its NULs or by its letters, a statistical guess, cp1252. A guess is never asked before strict
    UTF-8: on text with double-encoded parts it would be wrong.
    """
    for mark, name in _BOMS:
        if data.startswith(mark) and (text := _strict(data[len(mark) :], name)) is not None:
            return Decoded(text, name, len(mark), _doubts(text))
    if encoding:
        return _as_told(data, encoding)
    for name in _candidates(data):
        if (text := _strict(data, name)) is not None and not _binary(text):
            return Decoded(text, name, 0, _doubts(text))
    return None if _binary(data.decode("latin-1")) else _last_resort(data)


def _as_told(data: bytes, encoding: str) -> Decoded:
    text = _strict(data, encoding)
    if text is not None:
        return Decoded(text, encoding, 0, _doubts(text))
    text = data.decode(encoding, "replace")
    count = text.count("\ufffd")
    return Decoded(text, encoding, 0, (Warn("replaced", f"{count} places are not valid {encoding}", count),))


def _candidates(data: bytes) -> Iterator[str]:
    """Yield the codecs to try, surest first; a guess only if nothing surer can be right."""
    if b"\x1b" in data and (b"\x1b$" in data or b"\x1b(" in data):
        yield "iso2022_jp"
    yield "utf-8"
    head = data[:4096]
    declared = (pattern.search(head) for pattern in _DECLARED)
    yield from filter(_known, (found.group(1).decode("ascii") for found in declared if found))
    yield from _utf16(data)


def _utf16(data: bytes) -> list[str]:
    """Return the UTF-16 codec that the bytes speak for: NULs in every other place, or mostly CJK letters."""
    if len(data) < 4 or len(data) % 2:  # noqa: PLR2004 (two code units)
        return []
    sample = data[:4000]
    half = len(sample) // 2
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if max(even, odd) > 0.4 * half and min(even, odd) < 0.1 * half:
        return ["utf-16-le" if odd > even else "utf-16-be"]
    if sample.isascii():
        return []
    return [name for name in ("utf-16-le", "utf-16-be") if _mostly_cjk(_strict(sample[: half // 2 * 4], name))]


def _mostly_cjk(text: str | None) -> bool:
    """Tell whether nearly all of `text` is CJK letters or plain ASCII, and it holds line ends or full stops."""
    if not text:
        return False
    fitting = sum(char.isascii() or unicodedata.name(char, "").startswith(_CJK) for char in text)
    return fitting >= 0.97 * len(text) and any(char in "\n 。、" for char in text)


def _last_resort(data: bytes) -> Decoded:
    """Ask the statistical detector; if it has no answer, every byte means something in cp1252 or Latin-1."""
    from charset_normalizer import from_bytes

    found = list(from_bytes(data[:200_000], cp_isolation=list(_COMMON)))
    best = [one.encoding for one in found if (one.chaos, one.coherence) == (found[0].chaos, found[0].coherence)]
    for name in [*sorted(best, key=_COMMON.index), "cp1252", "latin-1"]:
        text = _strict(data, name)
        if text is not None:
            guess = Warn("guessed_encoding", f"the encoding was guessed: {name}")
            return Decoded(text, name, 0, (guess, *_doubts(text)))
    raise AssertionError("latin-1 decodes every byte")


def _strict(data: bytes, name: str) -> str | None:
    try:
        return data.decode(name)
    except (UnicodeDecodeError, LookupError, ValueError):
        return None


def _known(name: str) -> bool:
    """Tell whether `name` is a codec from bytes to text (not ``rot13`` or ``zlib``)."""
    try:
        return codecs.lookup(name)._is_text_encoding  # noqa: SLF001 (there is no public way to ask)
    except LookupError:
        return False


def _binary(text: str) -> bool:
    """Tell whether too many characters are controls for this to be text; one or two are forgiven."""
    controls = len(text) - len(text.translate(_CONTROLS))
    return controls > max(2, 0.02 * len(text))


_CONTROLS = dict.fromkeys((*range(9), *range(14, 27), *range(28, 32), 127))


def _doubts(text: str) -> tuple[Warn, ...]:
    warnings = []
    if count := text.count("\0"):
        warnings.append(Warn("nul", f"{count} NUL characters in the text", count))
    if ("Ã" in text or "â€" in text) and (count := len(_DOUBLE_ENCODED.findall(text))):
        warnings.append(
            Warn("double_encoded", f"{count} places look encoded twice, such as 'â€™' for an apostrophe", count)
        )
    return tuple(warnings)
