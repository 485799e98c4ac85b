"""Zip-based documents: parts are inflated in memory, counted as they come, and never more than the limits allow."""

from __future__ import annotations

import posixpath
import struct
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from urllib.parse import unquote
from xml.etree import ElementTree as ET

from rag_index.settings import ExtractSettings
from rag_index.types import Status

_PIECE = 1 << 16
_RATIO = 200
_RATIO_FROM = 10 << 20
_DEPTH = 256
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, struct.error, RuntimeError, OSError, ValueError)


class Refused(Exception):  # noqa: N818 (no error of the program: a file's fate)
    """Ends the reading of one file; its document gets the status and the reason."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(status, reason)
        self.status = status
        self.reason = reason


class Archive:
    """The parts of a zip file by name.

    Names are looked up, never used as paths. Sizes that the file declares are checked at once and not believed: what
    is inflated is counted too. Archives inside are not opened.

    Raises:
        Refused: DAMAGED, ENCRYPTED or TOO_LARGE.
    """

    def __init__(self, data: bytes, settings: ExtractSettings) -> None:
        self._limit = int(settings.max_unpacked_mb * 1e6)
        self._inflated = 0
        try:
            self._zip = zipfile.ZipFile(BytesIO(data))
            parts = self._zip.infolist()
        except _DAMAGE as error:
            raise Refused(Status.DAMAGED, f"not a readable zip file: {error}") from error
        if len(parts) > settings.max_parts:
            raise Refused(Status.TOO_LARGE, f"{len(parts)} parts are more than max_parts = {settings.max_parts}")
        declared = sum(part.file_size for part in parts)
        self._check(declared)
        if declared > _RATIO_FROM and declared > _RATIO * len(data):
            raise Refused(Status.TOO_LARGE, f"{len(data)} bytes that unpack to {declared} are a zip bomb")
        self._parts = {part.filename: part for part in parts}

    def __contains__(self, name: str) -> bool:
        return name in self._parts

    def names(self) -> list[str]:
        """Return the names of the parts, in the order of the file."""
        return list(self._parts)

    def read(self, name: str) -> bytes:
        """Return the bytes of a part."""
        return b"".join(self._pieces(name))

    def measure(self) -> None:
        """Inflate every part and keep nothing: whoever reads the file next meets no surprise."""
        for name in self._parts:
            for _ in self._pieces(name):
                pass

    def xml(self, name: str, *, doctype: bool = False) -> ET.Element:
        """Parse a part that is XML; a document type declaration is refused unless `doctype`."""
        return parse_xml(self.read(name), name, doctype=doctype)

    def _pieces(self, name: str) -> Iterator[bytes]:
        part = self._parts.get(name)
        if part is None:
            raise Refused(Status.DAMAGED, f"its part {name!r} is missing")
        if part.flag_bits & 1:
            raise Refused(Status.ENCRYPTED, "its parts are encrypted")
        try:
            with self._zip.open(part) as stream:
                while piece := stream.read(_PIECE):
                    self._inflated += len(piece)
                    self._check(self._inflated)
                    yield piece
        except _DAMAGE as error:
            raise Refused(Status.DAMAGED, f"its part {name!r} can't be unpacked: {error}") from error

    def _check(self, size: int) -> None:
        if size > self._limit:
            limit = f"max_unpacked_mb = {self._limit / 1e6:g}"
            raise Refused(Status.TOO_LARGE, f"unpacks to more than {limit}")


def parse_xml(data: bytes, name: str, *, doctype: bool = False) -> ET.Element:
    """Parse XML without external entities; expat bounds what internal ones may grow to."""
    head = data[:2048].replace(b"\0", b"")  # UTF-16 too
    if not doctype and b"<!DOCTYPE" in head:
        raise Refused(Status.DAMAGED, f"its part {name!r} declares a document type, which Office files may not")
    try:
        return ET.fromstring(data)  # noqa: S314 (no external entities, bounded size and growth)
    except ET.ParseError as error:
        raise Refused(Status.DAMAGED, f"its part {name!r} is not well-formed: {error}") from error
    except (LookupError, ValueError) as error:
        raise Refused(Status.DAMAGED, f"its part {name!r} can't be decoded: {error}") from error


def local(element: ET.Element) -> str:
    """Return an element's name without its namespace, so that Strict and transitional files read alike."""
    return element.tag.rpartition("}")[2]


def attribute(element: ET.Element, name: str) -> str:
    """Return an attribute by its name without a namespace, or ""."""
    for key, value in element.attrib.items():
        if key.rpartition("}")[2] == name:
            return value
    return ""


def child(element: ET.Element | None, *path: str) -> ET.Element | None:
    """Follow local names downward; None where one is missing."""
    for name in path:
        if element is None:
            return None
        element = next((inner for inner in element if local(inner) == name), None)
    return element


def descend(depth: int) -> int:
    """Return the next depth of a walk.

    Raises:
        Refused: the walk is too deep for any real document.
    """
    if depth >= _DEPTH:
        raise Refused(Status.DAMAGED, f"nested more than {_DEPTH} deep")
    return depth + 1


def relations(archive: Archive, part: str) -> dict[str, tuple[str, str]]:
    """Return the relations of a part: id -> (last word of the type, name of the target), in their order."""
    folder, _, file = part.rpartition("/")
    rels = f"{folder}/_rels/{file}.rels".lstrip("/")
    if rels not in archive:
        return {}
    found = {}
    for relation in archive.xml(rels):
        if attribute(relation, "TargetMode") == "External":
            continue
        kind = attribute(relation, "Type").rpartition("/")[2]
        found[attribute(relation, "Id")] = (kind, resolve(folder, attribute(relation, "Target")))
    return found


def resolve(folder: str, target: str) -> str:
    """Return the name of the part that `target` means, seen from `folder`."""
    path = unquote(target.partition("#")[0])
    return posixpath.normpath(posixpath.join("/", folder, path)).lstrip("/")
