"""Files made to hurt: each ends in its typed status, and the others are read."""

import os
import struct
import zipfile
import zlib
from io import BytesIO
from pathlib import Path

import pytest

from rag_index.extract import Workers, discover
from rag_index.extract.decode import decode
from rag_index.extract.fold import fold
from rag_index.settings import ExtractSettings
from rag_index.types import Status
from tests.unit.extract.samples import docx, epub, extract, lines, para, pdf, peak_mb_of_reading, xlsx, zipped


def lying(data: bytes, declared: int) -> bytes:
    """Make a zip say that its parts are `declared` bytes long."""
    changed = bytearray(data)
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = changed.find(signature)
        while at >= 0:
            changed[at + offset : at + offset + 4] = struct.pack("<I", declared)
            at = changed.find(signature, at + 4)
    return bytes(changed)


def encrypted_zip() -> bytes:
    data = bytearray(docx(para("secret")))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(signature)
        while at >= 0:
            data[at + offset] |= 1
            at = data.find(signature, at + 4)
    return bytes(data)


def ole(name: str) -> bytes:
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + name.encode("utf-16-le") + bytes(600)


BOMB = docx("<w:p>" + "<w:r><w:t>aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa</w:t></w:r>" * 400_000 + "</w:p>")
ODT = zipped({"mimetype": "application/vnd.oasis.opendocument.text"})
MANY = zipped({f"{number}": "" for number in range(60)} | {"word/document.xml": "<d/>"})
DEEP = "<w:sdt>" * 5000 + "</w:sdt>" * 5000
LAUGHS = '<!DOCTYPE l [<!ENTITY a "haha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
for letter in "cdefghij":
    before = chr(ord(letter) - 1)
    LAUGHS = LAUGHS.replace("]>", f'<!ENTITY {letter} "{f"&{before};" * 10}">]>')

CASES = [
    pytest.param("zero.txt", b"", Status.EMPTY, "no bytes", id="0 bytes"),
    pytest.param("blank.txt", b" \n\t ", Status.EMPTY, "white space", id="blank"),
    pytest.param("bomb.docx", BOMB, Status.TOO_LARGE, "zip bomb", id="zip bomb"),
    pytest.param("lie.docx", lying(BOMB, 1000), Status.DAMAGED, "can't be unpacked", id="lying zip bomb"),
    pytest.param("lie2.xlsx", lying(xlsx(("S", [("A1", "x" * 9000)])), 10), Status.DAMAGED, "", id="lying sheet"),
    pytest.param("deep.docx", docx(DEEP), Status.DAMAGED, "nested more than 256 deep", id="deep XML"),
    pytest.param(
        "laugh.docx",
        zipped({"word/document.xml": LAUGHS + "<d>&j;</d>"}),
        Status.DAMAGED,
        "declares a document type",
        id="XML bomb",
    ),
    pytest.param(
        "laugh16.docx",
        zipped({"word/document.xml": (LAUGHS + "<d>&j;</d>").encode("utf-16")}),
        Status.DAMAGED,
        "declares a document type",
        id="XML bomb in UTF-16",
    ),
    pytest.param(
        "laugh.epub",
        epub({"a.xhtml": "<p>x</p>"}, extra={"OPS/book.opf": LAUGHS + "<package>&j;</package>"}),
        Status.DAMAGED,
        "not well-formed",
        id="XML bomb in a book",
    ),
    pytest.param(
        "outside.docx",
        zipped({"word/document.xml": '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]><d>&x;</d>'}),
        Status.DAMAGED,
        "declares a document type",
        id="external entity",
    ),
    pytest.param("cut.docx", docx(para("x"))[:200], Status.DAMAGED, "not a readable zip", id="cut zip"),
    pytest.param("locked.docx", encrypted_zip(), Status.ENCRYPTED, "encrypted", id="encrypted zip"),
    pytest.param("locked2.docx", ole("EncryptedPackage"), Status.ENCRYPTED, "password", id="encrypted Office"),
    pytest.param("old.doc", ole("WordDocument"), Status.UNSUPPORTED, "old Word file", id="old Word"),
    pytest.param("damaged.xls", ole("Workbook"), Status.DAMAGED, "not a readable workbook", id="damaged sheet"),
    pytest.param("page.pdf", b"<html><body>404</body></html>", Status.MISMATCH, "holds HTML", id="HTML named .pdf"),
    pytest.param("text.docx", b"just text", Status.MISMATCH, "named .docx but holds plain text", id="text named .docx"),
    pytest.param("image.pdf", b"\x89PNG\r\n\x1a\n\x00\x01", Status.MISMATCH, "a PNG image", id="PNG named .pdf"),
    pytest.param("image.png", b"\x89PNG\r\n\x1a\n\x00\x01", Status.UNSUPPORTED, "a PNG image", id="PNG"),
    pytest.param("a.zip", zipped({"a.txt": "x"}), Status.UNSUPPORTED, "a zip archive", id="zip"),
    pytest.param("a.odt", ODT, Status.UNSUPPORTED, "OpenDocument", id="ODT"),
    pytest.param("noise.pdf", b"\x00\x01\x02" * 500, Status.DAMAGED, "not a PDF", id="noise named .pdf"),
    pytest.param("noise.bin", bytes(range(256)) * 4, Status.UNSUPPORTED, "not text", id="noise"),
    pytest.param("cut.pdf", b"%PDF-1.7\n1 0 obj", Status.DAMAGED, "not a PDF", id="cut PDF"),
    pytest.param("nul.txt", b"one\0two", Status.OK, "", id="NUL"),
    pytest.param("cr.txt", b"one\rtwo\rthree", Status.OK, "", id="CR only"),
    pytest.param("deep.json", b"[" * 100_000 + b"]" * 100_000, Status.OK, "", id="deep JSON"),
    pytest.param("deep.ipynb", b"[" * 100_000, Status.DAMAGED, "not valid JSON", id="deep notebook"),
    pytest.param("deep.html", b"<div>" * 50_000 + b"x", Status.OK, "", id="deep HTML"),
    pytest.param("deep.md", b"> " * 5000 + b"x", Status.OK, "", id="deep Markdown"),
    pytest.param("open.html", b"<!--" * 20_000 + b"<p>x", Status.NO_TEXT, "", id="open comments"),
    pytest.param("tags.html", b"<p>x" + b"<a " * 300_000, Status.OK, "", id="tags that never end"),
    pytest.param("quotes.html", b"<p>x" + b'<a "' * 200_000, Status.OK, "", id="quotes in tags that never end"),
    pytest.param("scripts.html", b"<p>x" + b"<script " * 100_000, Status.OK, "", id="scripts that never begin"),
    pytest.param("titles.rst", b"a\n===\n" * 50_000, Status.OK, "", id="underlines that could be overlines"),
    pytest.param("u16.txt", "Grüße und mehr".encode("utf-16-le"), Status.OK, "", id="UTF-16 without BOM"),
    pytest.param("line.txt", b"a" * 30_000_000, Status.PARTIAL, "max_text", id="30 MB line"),
    pytest.param("many.docx", MANY, Status.TOO_LARGE, "max_parts", id="many parts"),
]


@pytest.mark.parametrize(("name", "data", "status", "reason"), CASES)
def test_each_ends_in_its_status(name: str, data: bytes, status: Status, reason: str) -> None:
    document = extract(data, name, max_parts=50)
    assert (document.status, reason in document.reason) == (status, True), document.reason


def test_a_folder_of_them_is_read_in_isolation_and_the_good_ones_are_there(tmp_path: Path) -> None:
    for case in CASES:
        name, data, _, _ = case.values
        (tmp_path / name).write_bytes(data)
    (tmp_path / "good.md").write_text("# Good\n\nwords")
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "loop").symlink_to(tmp_path)
    settings = ExtractSettings(max_parts=50, timeout_s=10, memory_mb=1024)  # a file that takes longer is a TIMEOUT
    with Workers(settings) as workers:
        read = {doc.source.path: doc for doc in workers.documents(discover([tmp_path], settings, root=tmp_path))}
    assert read["good.md"].status is Status.OK
    assert {name: doc.status for name, doc in read.items() if doc.status in {Status.TIMEOUT, Status.CRASHED}} == {}
    assert [read[case.values[0]].status for case in CASES] == [case.values[2] for case in CASES]
    assert read["pipe.txt"].reason == "not a regular file but a FIFO"


def test_reading_them_takes_less_than_400_megabytes(tmp_path: Path) -> None:
    for case in CASES:
        (tmp_path / case.values[0]).write_bytes(case.values[1])
    assert peak_mb_of_reading(tmp_path) < 400


LONG_LINES = {
    "line.txt": (b"", b"word ", b""),
    "line.md": (b"", b"word ", b""),
    "line.csv": (b"", b"word,", b""),
    "line.json": (b"[", b'"wo",', b"1]"),
    "line.html": (b"<p>", b"word ", b""),
}


@pytest.mark.nightly
def test_a_line_of_a_hundred_megabytes_is_cut_at_the_limit_and_said(tmp_path: Path) -> None:
    for name, (before, middle, after) in LONG_LINES.items():
        (tmp_path / name).write_bytes(before + middle * ((100_000_000 - 5) // 5) + after)
    settings = ExtractSettings(workers=1)
    with Workers(settings) as workers:
        read = [*workers.documents(discover([tmp_path], settings, root=tmp_path))]
    assert [(doc.source.path, doc.status) for doc in read] == [(name, Status.PARTIAL) for name in sorted(LONG_LINES)]
    assert {len(doc.text) for doc in read} == {settings.max_text}
    assert all("max_text" in doc.reason for doc in read)


def test_a_name_that_is_not_unicode_is_kept(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/caf\xe9.txt"
    Path(os.fsdecode(path)).write_text("words")
    settings = ExtractSettings()
    with Workers(settings) as workers:
        (document,) = workers.documents(discover([tmp_path], settings, root=tmp_path))
    assert (document.source.path, document.text) == ("caf\udce9.txt", "words")


def test_members_of_archives_are_never_paths(tmp_path: Path) -> None:
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("../../escaped.txt", "x")
        archive.writestr("word/document.xml", "<document><body><p><r><t>in</t></r></p></body></document>")
    before = sorted(tmp_path.rglob("*"))
    assert extract(file.getvalue(), "a.docx").text == "in"
    assert sorted(tmp_path.rglob("*")) == before


def test_pdf_after_junk_and_text_about_pdf() -> None:
    assert extract(b"\r\njunk\r\n" + pdf(lines("found")), "a.pdf").text == "found"
    assert extract("A PDF begins with %PDF-1.4, says this text.", "a.md").source.format == "markdown"


def test_content_decides_and_the_name_that_lied_is_said() -> None:
    document = extract(docx(para("x")), "a.xlsx")
    assert (document.source.format, document.text) == ("docx", "x")
    assert [(warn.code, warn.message) for warn in document.warnings] == [("mismatch", "named .xlsx but holds docx")]


ENCODED = [
    ("Déjà vu à l'été, où êtes-vous ?", "cp1252"),
    ("Привет, как дела? Это обычный русский текст.", "koi8_r"),
    ("Здравствуйте, это обычный русский текст для проверки.", "cp1251"),
    ("これは日本語のテキストです。文字コードを調べます。", "cp932"),
    ("これは日本語のテキストです。文字コードを調べます。", "iso2022_jp"),
    ("これは日本語のテキストです。文字コードを調べます。", "euc_jp"),
    ("这是一个中文文本，用来测试编码的检测。", "gb18030"),
    ("日本語のテキスト、改行\nと句点。", "utf-16-le"),
    ("plain and simple", "utf-16-be"),
    ("with a mark", "utf-8-sig"),
    ("with a mark", "utf-32"),
]


@pytest.mark.parametrize(("text", "encoding"), ENCODED, ids=[encoding for _, encoding in ENCODED])
def test_encodings_are_found_out(text: str, encoding: str) -> None:
    decoded = decode(text.encode(encoding))
    assert decoded is not None
    assert decoded.text == text


def test_what_a_text_declares_of_itself_counts() -> None:
    assert decode('<meta charset="cp1251"><p>Привет'.encode("cp1251")).encoding == "cp1251"
    assert decode("# -*- coding: koi8_r -*-\nx = 'Привет'".encode("koi8_r")).encoding == "koi8_r"
    assert decode('<?xml version="1.0" encoding="rot13"?><p>déjà vu'.encode("cp1252")).text.endswith("déjà vu")


def test_an_encoding_that_was_asked_for_is_used_and_losses_are_counted() -> None:
    assert decode("Привет".encode("cp866"), "cp866").text == "Привет"
    wrong = decode(b"ab\xff\xfecd\xff", "utf-8")
    assert [(warn.code, warn.count) for warn in wrong.warnings] == [("replaced", 3)]


def test_text_that_was_encoded_twice_is_named_and_left_alone() -> None:
    text = "it’s".encode().decode("cp1252")
    decoded = decode(text.encode())
    assert decoded.text == text
    assert [warn.code for warn in decoded.warnings] == ["double_encoded"]
    assert [warn.code for warn in extract(b"one\0two", "a.txt").warnings] == ["nul"]


FOLDED = [
    ("ofﬁce", "office"),
    ("œuvre Æsop", "oeuvre AEsop"),
    ("im\u00ad\nportant", "important"),
    ("soft\u00adly", "softly"),
    ("dual\u00ad\nencoder, a dual-encoder", "dual-encoder, a dual-encoder"),
    ("docu-\nment, the document", "document, the document"),
    ("long-\nterm and long-term", "long-term and long-term"),
    ("never-\nseen", "never-\nseen"),
    ("a\x00b\x07c\td\n", "a b c\td\n"),
    ("e\u0301te\u0301", "été"),
    ("ｶﾞﾗｽ", "ガラス"),
    ("lone \ud800", "lone \ufffd"),
    ("zero\u200bwidth\ufeff", "zerowidth"),
]


@pytest.mark.parametrize(("text", "folded"), FOLDED)
def test_the_search_text_is_what_people_type(text: str, folded: str) -> None:
    assert fold(text).text == folded


def test_zlib_noise_in_a_part_is_damage() -> None:
    data = bytearray(docx(para("x" * 5000)))
    at = data.find(zlib.compress(b"x")[2:4])
    start = data.find(b"word/document.xml") + 30
    data[start : start + 8] = b"\xff" * 8
    assert at is not None
    assert extract(bytes(data), "a.docx").status is Status.DAMAGED
