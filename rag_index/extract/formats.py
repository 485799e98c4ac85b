"""The table of formats: what a file is by its content first, its name second, and who reads it."""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from io import BytesIO
from pathlib import PurePosixPath

from rag_index.registry import Registry
from rag_index.types import Extractor, Status


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file.

    Attributes:
        extract: ``"module:function"`` of its Extractor.
        suffixes: Endings of names, lower case, with the dot; or whole names such as ``makefile``.
        magic: What the content begins with; empty for formats that only names tell.
        text: Whether the content is text of some encoding, so that any text will do.
    """

    extract: str
    suffixes: tuple[str, ...] = ()
    magic: tuple[bytes, ...] = ()
    text: bool = True

    def extractor(self) -> Extractor:
        """Import the function that reads this format."""
        module, _, name = self.extract.partition(":")
        return getattr(import_module(module), name)  # type: ignore[no-any-return]


_TEXT = "rag_index.extract.text:read_text"
_CODE = "rag_index.extract.text:read_code"
_SHEETS = "rag_index.extract.sheets:read_sheets"
_LANGUAGES = {
    "python": (".py", ".pyi", ".pyw"),
    "javascript": (".js", ".mjs", ".cjs", ".jsx"),
    "typescript": (".ts", ".tsx", ".mts"),
    "go": (".go",),
    "rust": (".rs",),
    "java": (".java",),
    "kotlin": (".kt", ".kts"),
    "scala": (".scala",),
    "c": (".c", ".h"),
    "cpp": (".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx"),
    "csharp": (".cs",),
    "swift": (".swift",),
    "php": (".php",),
    "ruby": (".rb", "rakefile", "gemfile"),
    "lua": (".lua",),
    "perl": (".pl", ".pm"),
    "r": (".r",),
    "julia": (".jl",),
    "shell": (".sh", ".bash", ".zsh", ".fish"),
    "powershell": (".ps1",),
    "sql": (".sql",),
    "css": (".css", ".scss", ".less"),
    "haskell": (".hs",),
    "elixir": (".ex", ".exs"),
    "vue": (".vue", ".svelte"),
}
FORMATS: dict[str, Format] = {
    "text": Format(_TEXT, (".txt", ".text", ".log", "readme", "license", "copying", "notice", "authors")),
    "markdown": Format(
        "rag_index.extract.markdown:read_markdown", (".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd", ".rmd")
    ),
    "rst": Format("rag_index.extract.text:read_rst", (".rst", ".rest")),
    "html": Format("rag_index.extract.webpage:read_html", (".html", ".htm", ".xhtml", ".xht")),
    "pdf": Format("rag_index.extract.pdf:read_pdf", (".pdf",), (b"%PDF-",), text=False),
    "docx": Format("rag_index.extract.docx:read_docx", (".docx", ".docm", ".dotx", ".dotm"), text=False),
    "pptx": Format("rag_index.extract.pptx:read_pptx", (".pptx", ".pptm", ".ppsx", ".potx"), text=False),
    "xlsx": Format(_SHEETS, (".xlsx", ".xlsm", ".xltx", ".xlsb"), text=False),
    "xls": Format(_SHEETS, (".xls",), text=False),
    "ods": Format(_SHEETS, (".ods",), text=False),
    "epub": Format("rag_index.extract.epub:read_epub", (".epub",), text=False),
    "csv": Format("rag_index.extract.tables:read_csv", (".csv", ".tsv", ".tab")),
    "json": Format(_TEXT, (".json", ".geojson", ".json5", ".webmanifest")),
    "jsonl": Format("rag_index.extract.tables:read_jsonl", (".jsonl", ".ndjson")),
    "notebook": Format("rag_index.extract.notebook:read_notebook", (".ipynb",)),
    "mail": Format("rag_index.extract.mail:read_mail", (".eml",)),
    "mailbox": Format("rag_index.extract.mail:read_mailbox", (".mbox", ".mbx")),
    "subtitles": Format("rag_index.extract.tables:read_subtitles", (".srt", ".vtt")),
    "config": Format(
        _TEXT, (".toml", ".yaml", ".yml", ".ini", ".cfg", ".conf", ".env", ".properties", "makefile", "dockerfile")
    ),
    "xml": Format(_TEXT, (".xml", ".xsd", ".xsl", ".svg", ".rss", ".atom", ".plist")),
    "tex": Format(_TEXT, (".tex", ".bib", ".sty")),
    **{name: Format(_CODE, suffixes) for name, suffixes in _LANGUAGES.items()},
}
plugins = Registry("format", {})
"""Formats that installed packages add: entry points of the group ``rag_index.formats``."""

_FOREIGN = (
    (b"{\\rtf", "RTF"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\x00", "xz data"),
    (b"(\xb5/\xfd", "zstd data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"II*\x00", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"),
    (b"RIFF", "RIFF media (WebP, WAV, AVI)"),
    (b"ID3", "MP3 audio"),
    (b"OggS", "Ogg media"),
    (b"fLaC", "FLAC audio"),
    (b"\x00\x00\x00\x18ftyp", "MP4 media"),
    (b"\x00\x00\x00\x20ftyp", "MP4 media"),
    (b"\x1aE\xdf\xa3", "Matroska media"),
    (b"\x7fELF", "an ELF program"),
    (b"MZ", "a Windows program"),
    (b"\xca\xfe\xba\xbe", "a Java class or macOS program"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"%!PS", "PostScript"),
    (b"wOFF", "a font"),
    (b"PAR1", "Parquet data"),
)
_IN_ZIP = (
    ("word/document.xml", "docx"),
    ("ppt/presentation.xml", "pptx"),
    ("xl/workbook.xml", "xlsx"),
    ("xl/workbook.bin", "xlsx"),
    ("META-INF/container.xml", "epub"),
    ("[Content_Types].xml", "an Office file of another kind"),
)
_MIMETYPES = {
    b"application/epub+zip": "epub",
    b"application/vnd.oasis.opendocument.spreadsheet": "ods",
    b"application/vnd.oasis.opendocument.text": "an OpenDocument text",
    b"application/vnd.oasis.opendocument.presentation": "an OpenDocument presentation",
}
_DAMAGED, _ENCRYPTED = "a damaged zip archive", "an encrypted Office file"
_FATES = {
    _DAMAGED: (Status.DAMAGED, "not a readable zip file"),
    _ENCRYPTED: (Status.ENCRYPTED, "a password is needed to open it"),
}
_IN_OLE = (
    ("EncryptedPackage", _ENCRYPTED),
    ("Workbook", "xls"),
    ("WordDocument", "an old Word file (.doc)"),
    ("PowerPoint Document", "an old PowerPoint file (.ppt)"),
    ("__substg1.0_", "an Outlook message (.msg)"),
    ("Book", "xls"),
)
_HTML = re.compile(rb"\s*(?:<!--.{0,2000}?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_XHTML = re.compile(rb"\s*<\?xml.{0,3000}?<html\b", re.IGNORECASE | re.DOTALL)
_PDF_REACH = 1024
_SHEBANG = re.compile(rb"#!.{0,80}?\b(python|node|bash|sh|zsh|ruby|perl|lua|Rscript|php)", re.DOTALL)
_SHELLS = {"node": "javascript", "bash": "shell", "sh": "shell", "zsh": "shell", "Rscript": "r"}


@dataclass(frozen=True, slots=True)
class Kind:
    """What a file is.

    Attributes:
        name: Format, or "" when nothing here reads it.
        format: Who reads it, or None.
        says: What the content is, for people, where it is not what the name promises.
        status: What becomes of a file that nothing reads.
    """

    name: str
    format: Format | None
    says: str = ""
    status: Status = Status.UNSUPPORTED


def kind_of(data: bytes, name: str) -> Kind:
    """Tell the format of a file by its content, then by its name."""
    named = _by_name(name)
    found = _by_signature(data, named)
    if found in FORMATS:
        says = f"named {_suffix(name)} but holds {found}" if named and named != found else ""
        return Kind(found, FORMATS[found], says)
    if plugin := _plugin(data, name, named):
        return plugin
    promised = bool(named) and not FORMATS[named].text
    if found:
        return _unread(found, name, promised=promised)
    html = bool(_HTML.match(data) or _XHTML.match(data))
    if promised and (html or _is_text(data)):
        return _unread("HTML" if html else "plain text", name, promised=True)
    if html and named in {"", "text", "xml"}:
        return Kind("html", FORMATS["html"])
    chosen = named or _by_first_line(data)
    return Kind(chosen, FORMATS[chosen])


def _unread(found: str, name: str, *, promised: bool) -> Kind:
    """Return the kind of a file that nothing reads, whose content is `found`."""
    if found in _FATES:
        status, says = _FATES[found]
        return Kind("", None, says, status)
    if promised:
        return Kind("", None, f"named {_suffix(name)} but holds {found}", Status.MISMATCH)
    return Kind("", None, f"{found}: nothing here reads it")


def _by_name(name: str) -> str:
    """Return the format that a file's name promises, or ""."""
    path = PurePosixPath(name.lower())
    return _suffixes().get(path.suffix) or _suffixes().get(path.name) or _suffixes().get(path.stem, "")


@lru_cache(maxsize=1)
def _suffixes() -> dict[str, str]:
    return {suffix: name for name, form in FORMATS.items() for suffix in form.suffixes}


def _suffix(name: str) -> str:
    path = PurePosixPath(name)
    return path.suffix or path.name


def _by_signature(data: bytes, named: str) -> str:
    """Return the format of a file with a signature, or what a person would call it when nothing reads it, or ""."""
    # Some PDFs begin with junk; some texts speak of PDFs.
    if data.startswith(b"%PDF-") or (
        b"%PDF-" in data[:_PDF_REACH] and (named == "pdf" or b"startxref" in data[-2048:])
    ):
        return "pdf"
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _in_zip(data)
    if data.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return next((says for name, says in _IN_OLE if name.encode("utf-16-le") in data), "an old Office file")
    return next((says for magic, says in _FOREIGN if data.startswith(magic)), "")


def _in_zip(data: bytes) -> str:
    """Tell a zip-based document by the parts that it must have."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            names = set(archive.namelist())
            with archive.open("mimetype") as part:
                kind = part.read(80)
    except KeyError:
        kind = b""
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError, zlib.error, EOFError, struct.error):
        return _DAMAGED
    if kind.strip() in _MIMETYPES:
        return _MIMETYPES[kind.strip()]
    return next((says for part, says in _IN_ZIP if part in names), "a zip archive")


def _by_first_line(data: bytes) -> str:
    shebang = _SHEBANG.match(data)
    if not shebang:
        return "text"
    program = shebang[1].decode("ascii")
    return _SHELLS.get(program, program)


def _is_text(data: bytes) -> bool:
    """Tell whether bytes that should be something else are plain text."""
    head = data[:4096]
    controls = sum(byte < 9 or 13 < byte < 27 for byte in head)  # noqa: PLR2004 (control characters)
    return not controls


def _plugin(data: bytes, name: str, named: str) -> Kind | None:
    """Ask installed plug-ins about a file that nothing here knows by its name or signature."""
    if named:
        return None
    suffix = PurePosixPath(name.lower()).suffix
    for plugin, form in _plugin_formats().items():
        if suffix in form.suffixes or data.startswith(form.magic or (b"\0never",)):
            return Kind(plugin, form)
    return None


@lru_cache(maxsize=1)
def _plugin_formats() -> dict[str, Format]:
    return {name: plugins.load(name) for name in plugins.names()}
