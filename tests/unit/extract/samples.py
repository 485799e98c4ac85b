"""Small files of many formats, made by the tests that need them."""

import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path

from rag_index.extract import extract_bytes
from rag_index.settings import ExtractSettings
from rag_index.types import Document

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
COMPATIBLE = "http://schemas.openxmlformats.org/markup-compatibility/2006"


def extract(data: bytes | str, name: str, **options) -> Document:
    raw = data.encode() if isinstance(data, str) else data
    return extract_bytes(raw, name, ExtractSettings(**options))


def zipped(parts: dict[str, str | bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, body in parts.items():
            archive.writestr(name, body)
    return file.getvalue()


def rels(*targets: tuple[str, str, str]) -> str:
    rows = "".join(f'<Relationship Id="{i}" Type="{REL}/{kind}" Target="{target}"/>' for i, kind, target in targets)
    return f'<Relationships xmlns="{PACKAGE}">{rows}</Relationships>'


def docx(body: str, parts: dict[str, str] | None = None, *, namespace: str = WORD, related=()) -> bytes:
    root = f'xmlns:w="{namespace}" xmlns:mc="{COMPATIBLE}" xmlns:r="{REL}"'
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": rels(("r1", "officeDocument", "word/document.xml")),
            "word/document.xml": f"<w:document {root}><w:body>{body}</w:body></w:document>",
            "word/_rels/document.xml.rels": rels(*related),
            **{name: text.replace("<w:", "<w:", 1).replace("ROOT", root) for name, text in (parts or {}).items()},
        }
    )


def para(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def pptx(*slides: str, notes: dict[int, str] | None = None) -> bytes:
    drawing = "http://schemas.openxmlformats.org/drawingml/2006/main"
    root = (
        'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
        f'xmlns:a="{drawing}" xmlns:r="{REL}" xmlns:mc="{COMPATIBLE}"'
    )
    listed = "".join(f'<p:sldId id="{256 + i}" r:id="s{i}"/>' for i in range(len(slides)))
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": rels(("r1", "officeDocument", "ppt/presentation.xml")),
        "ppt/presentation.xml": f"<p:presentation {root}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": rels(*((f"s{i}", "slide", f"slides/{i}.xml") for i in range(len(slides)))),
    }
    for i, slide in enumerate(slides):
        attributes, _, shapes = slide.partition("|")
        parts[f"ppt/slides/{i}.xml"] = (
            f"<p:sld {root} {attributes}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
        )
        if notes and i in notes:
            parts[f"ppt/slides/_rels/{i}.xml.rels"] = rels(("n", "notesSlide", f"../notes/{i}.xml"))
            shape = shape_of(notes[i], '<p:ph type="body"/>')
            parts[f"ppt/notes/{i}.xml"] = f"<p:notes {root}><p:cSld><p:spTree>{shape}</p:spTree></p:cSld></p:notes>"
    return zipped(parts)


def shape_of(text: str, place: str = "") -> str:
    paragraphs = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n"))
    return f"<p:sp><p:nvSpPr><p:nvPr>{place}</p:nvPr></p:nvSpPr><p:txBody>{paragraphs}</p:txBody></p:sp>"


def xlsx(*sheets: tuple[str, list[tuple[str, object]]], hidden: tuple[str, ...] = ()) -> bytes:
    root = f'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="{REL}"'
    listed = "".join(
        f'<sheet name="{name}" sheetId="{i}" r:id="s{i}" state="{"hidden" if name in hidden else "visible"}"/>'
        for i, (name, _) in enumerate(sheets, 1)
    )
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        "_rels/.rels": rels(("r1", "officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f"<workbook {root}><sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": rels(
            *((f"s{i}", "worksheet", f"sheet{i}.xml") for i in range(1, len(sheets) + 1))
        ),
    }
    for i, (_, cells) in enumerate(sheets, 1):
        rows: dict[str, str] = {}
        for place, value in cells:
            number = place.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
            text = isinstance(value, str)
            inner = f"<is><t>{value}</t></is>" if text else f"<v>{value}</v>"
            rows[number] = (
                rows.get(number, "")
                + f'<c r="{place}"{" t=" + chr(34) + "inlineStr" + chr(34) if text else ""}>{inner}</c>'
            )
        data = "".join(f'<row r="{number}">{inner}</row>' for number, inner in rows.items())
        parts[f"xl/sheet{i}.xml"] = f"<worksheet {root}><sheetData>{data}</sheetData></worksheet>"
    return zipped(parts)


def epub(chapters: dict[str, str], *, spine: list[str] | None = None, extra: dict[str, str] | None = None) -> bytes:
    items = "".join(f'<item id="{n}" href="{n}" media-type="application/xhtml+xml"/>' for n in chapters)
    order = "".join(f'<itemref idref="{n}"/>' for n in spine or chapters)
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container><rootfile full-path="OPS/book.opf"/></container>',
            "OPS/book.opf": f"<package><metadata><title>A Book</title><language>en</language></metadata>"
            f"<manifest>{items}</manifest><spine>{order}</spine></package>",
            **{f"OPS/{name}": body for name, body in chapters.items() if body},
            **(extra or {}),
        }
    )


def pdf(*pages, outline=(), labels=None, size=(300, 400)) -> bytes:
    """Make a PDF; each page is a function that draws on a reportlab canvas."""
    from reportlab.pdfgen.canvas import Canvas

    file = BytesIO()
    canvas = Canvas(file, size, invariant=1)
    for number, page in enumerate(pages):
        for key, title, level, at in outline:
            if at == number:
                canvas.bookmarkPage(key, fit="XYZ", top=350)
                canvas.addOutlineEntry(title, key, level)
        page(canvas)
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def lines(*texts: str, top: int = 350, step: int = 20, left: int = 30):
    """Return a page with these lines of text."""

    def page(canvas) -> None:
        canvas.setFont("Helvetica", 12)
        for number, text in enumerate(texts):
            canvas.drawString(left, top - number * step, text)

    return page


PEAK = """
import sys
from pathlib import Path
from rag_index.extract import discover, read_document
from rag_index.extract.isolated import peak_mb
from rag_index.settings import ExtractSettings
root, settings = Path(sys.argv[1]), ExtractSettings(max_parts=50)
for found in discover([root], settings, root=root):
    read_document(found, settings)
print(peak_mb())
"""


def peak_mb_of_reading(folder: Path) -> int:
    """Return the most memory that a fresh process takes that reads all files below `folder`."""
    return int(subprocess.check_output([sys.executable, "-c", PEAK, str(folder)], text=True))
