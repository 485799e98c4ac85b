"""E-mail: single messages and mailboxes, headers and body; attachments are named, not read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesParser

from rag_index.extract.decode import decode
from rag_index.extract.office import finished
from rag_index.extract.webpage import write_page
from rag_index.extract.writing import Writer, clean
from rag_index.settings import ExtractSettings
from rag_index.types import Document, Source, Warn

_SHOWN = ("Subject", "From", "To", "Cc", "Date")
_NEXT_MESSAGE = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\r\n]*\d\d:\d\d[^\r\n]*\r?\n")
_DEPTH = 10


def read_mail(data: bytes, source: Source, options: ExtractSettings) -> Document:
    """Read one message."""
    return _read([data], source, options)


def read_mailbox(data: bytes, source: Source, options: ExtractSettings) -> Document:
    """Read a mailbox; the n-th ``message`` block that no other holds is message n."""
    starts = [found.span() for found in _NEXT_MESSAGE.finditer(data)]
    borders = [*(start for start, _ in starts[1:]), len(data)]
    parts = [data[after:border] for (_, after), border in zip(starts, borders, strict=True)] if starts else [data]
    return _read(parts, source, options)


def _read(parts: list[bytes], source: Source, options: ExtractSettings) -> Document:
    writer = Writer(sectioned=False)
    attached: list[str] = []
    meta: dict[str, str] = {}
    for part in parts:
        message = BytesParser().parsebytes(part)
        _message(message, writer, attached, options, 0)
        if len(parts) == 1:
            meta = {name.lower(): value for name in (*_SHOWN, "Message-ID") if (value := _header(message, name))}
    warnings: tuple[Warn, ...] = ()
    if attached:
        names = ", ".join(attached[:10]) + (", ..." if len(attached) > 10 else "")  # noqa: PLR2004 (enough to know them)
        warnings = (Warn("attachments", f"{len(attached)} attachments were not read: {names}", len(attached)),)
    return finished(writer, source, meta, warnings)


def _message(message: Message, writer: Writer, attached: list[str], options: ExtractSettings, depth: int) -> None:
    if depth > _DEPTH:
        attached.append(_name(message))
        return
    subject = _header(message, "Subject")
    with writer.inside("message", subject or "(no subject)"):
        lines = [f"{name}: {value}" for name in _SHOWN if (value := _header(message, name))]
        writer.add("\n".join(lines), "headers")
        for part in _shown_parts(message, depth):
            if part.get_content_type() == "message/rfc822":
                _inner(part, writer, attached, options, depth + 1)
            elif part.get_content_maintype() == "text" and not _is_attached(part):
                _body(part, writer, options)
            else:
                attached.append(_name(part))


def _inner(part: Message, writer: Writer, attached: list[str], options: ExtractSettings, depth: int) -> None:
    """Write the message that an attached one holds: its payload is a list of one."""
    for inner in part.get_payload():
        if isinstance(inner, Message):
            _message(inner, writer, attached, options, depth)


def _shown_parts(message: Message, depth: int) -> Iterator[Message]:
    """Yield the parts that a mail program shows: of alternatives the plain text, else the last that is text."""
    kind = message.get_content_type()
    if not message.is_multipart() or kind == "message/rfc822" or depth > _DEPTH:
        yield message
        return
    parts = [part for part in message.get_payload() if isinstance(part, Message)]
    if kind == "multipart/alternative":
        plain = [part for part in parts if part.get_content_type() == "text/plain"]
        rich = [part for part in parts if part.get_content_maintype() in {"text", "multipart"}]
        parts = plain[:1] or rich[-1:] or parts[:1]
    for part in parts:
        yield from _shown_parts(part, depth + 1)


def _body(part: Message, writer: Writer, options: ExtractSettings) -> None:
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    charset = part.get_content_charset() or ""
    decoded = decode(data, charset if _strictly(data, charset) else "")
    if decoded is None:
        return
    if part.get_content_type() != "text/html":
        writer.add(decoded.text.strip(), "paragraph")
        return
    write_page(decoded.text, writer, options)


def _strictly(data: bytes, charset: str) -> bool:
    """Tell whether the bytes are what their header says."""
    try:
        data.decode(charset)
    except (LookupError, ValueError):
        return False
    return True


def _is_attached(part: Message) -> bool:
    return part.get_content_disposition() == "attachment"


def _name(part: Message) -> str:
    try:
        name = part.get_filename()
    except (LookupError, ValueError):
        name = None
    return clean(name or part.get_content_type())


def _header(message: Message, name: str) -> str:
    """Return a header as people read it; one that can't be decoded stays as written."""
    value = message.get(name)
    if value is None:
        return ""
    try:
        shown = str(make_header(decode_header(value)))
    except (LookupError, ValueError):
        shown = str(value)
    return " ".join(clean(shown).split())
