"""Make the two documents of the handbook that can't be written by hand: a PDF (needs reportlab) and a DOCX.

    python data/make_documents.py [FOLDER]

Both come out the same, byte for byte, on each run with the same reportlab.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.lib.units import cm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

HANDBOOK = Path(__file__).resolve().parent / "handbook"
FRONT_PAGES = 2  # title and contents have roman page numbers

MANUAL: list[tuple[str, str | list[list[str]]]] = [
    ("Title", "NV-P45 booster pump"),
    (
        "Normal",
        "Installation, operation and service manual. Edition 9, January 2026. Translation of the Portuguese original.",
    ),
    (
        "Normal",
        "Norvane, Rua do Poço 117, 4470-208 Maia, Portugal. Keep this manual beside the pump. Give it to the next owner.",
    ),
    (
        "Normal",
        "This manual is for certified installers. The owner of the pump needs chapters 3 and 5 only. Signs in the margin: a"
        " triangle means danger to people, a drop means danger to the pump.",
    ),
    ("break", ""),
    ("Heading1", "Contents"),
    ("Normal", "1 Description . . . 1"),
    ("Normal", "2 Installation . . . 2"),
    ("Normal", "3 Operation . . . 3"),
    ("Normal", "4 Service . . . 4"),
    ("Normal", "5 Faults . . . 5"),
    ("break", ""),
    ("Heading1", "1 Description"),
    (
        "Normal",
        "The NV-P45 raises the pressure of clean water in buildings of up to nine floors and in irrigation lines. It is an"
        " upright pump with five stages, a dry motor and a speed drive on top. It is delivered ready for connection, with a"
        " pressure sensor, a check valve and a dry-run guard.",
    ),
    (
        "Normal",
        "It must not be used for fuel, for water above 60 °C, or for sea water. For sea water there is the marine version"
        " with bronze wheels, whose serial number ends in M.",
    ),
    (
        "table",
        [
            ["Property", "Value"],
            ["Flow at best point", "9 m³/h"],
            ["Head at best point", "45 m"],
            ["Motor", "2.2 kW, three phases, 400 V"],
            ["Speed", "900 to 3450 turns a minute"],
            ["Highest pressure", "10 bar"],
            ["Noise at one metre", "52 dB(A) with hood"],
            ["Weight", "31 kg"],
            ["Protection", "IP55"],
        ],
    ),
    (
        "Normal",
        "The type plate is on the drive. It shows the serial number, the week of building in the form YYWW and the revision"
        " of the seal. Pumps built between weeks 31 and 44 of 2025 may have a shaft seal of revision F; see chapter 4.",
    ),
    ("break", ""),
    ("Heading1", "2 Installation"),
    ("Heading2", "2.1 Place"),
    (
        "Normal",
        "Choose a dry room that does not freeze, with a drain in the floor. Leave 60 cm free in front of the drive and 30 cm"
        " above it, so that the hood can be lifted. The room must not be warmer than 40 °C. Above 1,000 m of altitude the motor"
        " gives one percent less for each 100 m.",
    ),
    ("Heading2", "2.2 Pipes"),
    (
        "Normal",
        "Use pipes of at least DN 40 on both sides. The suction pipe must rise towards the pump by one centimetre a metre;"
        " air that collects in a high point is the most frequent cause of noise. Put in a stop valve on each side. Carry the pipes on"
        " their own brackets: the pump must not hold them.",
    ),
    ("Heading2", "2.3 Electricity"),
    (
        "Normal",
        "Connection is work for an electrician. Protect the line with a 10 A breaker of curve C and a residual current device of"
        " type B, 30 mA. Devices of type A do not see the direct current that a faulty drive can produce. After switching off, wait five"
        " minutes before you open the drive: its capacitors keep 560 volts.",
    ),
    ("Heading2", "2.4 Filling"),
    (
        "Normal",
        "Close the valve on the pressure side. Open the vent screw by two turns and let water in until it comes out without"
        " bubbles. Turn the shaft by hand three times and vent once more. A pump that is started with air in it ruins its seal within"
        " ninety seconds.",
    ),
    ("break", ""),
    ("Heading1", "3 Operation"),
    (
        "Normal",
        "Set the wanted pressure on the panel with the arrow keys and press the round key. The drive changes the speed so that the"
        " pressure stays within 0.1 bar. When nobody draws water for 30 seconds the pump stops; it starts again when the pressure has"
        " fallen by 0.4 bar.",
    ),
    (
        "Normal",
        "Two pumps can work as twins. Join their drives with the yellow cable. They share the hours: the pump that has run less"
        " starts first. If one fails, the other takes over within four seconds and the panel shows E115.",
    ),
    (
        "Normal",
        "For a pause of more than a month, close both valves and drain the pump through the lower plug. Before starting again, turn"
        " the shaft by hand. In a room that can freeze, drain it each time.",
    ),
    (
        "table",
        [
            ["Panel", "Meaning", "What to do"],
            ["green", "running", "nothing"],
            ["green, slow blinking", "waiting for demand", "nothing"],
            ["yellow", "limit reached", "lower the wanted pressure"],
            ["red and code", "stopped by a fault", "see chapter 5"],
        ],
    ),
    ("break", ""),
    ("Heading1", "4 Service"),
    (
        "Normal",
        "The bearings are of ceramics and run in water. They need no grease. Change the bearing set CB-45 after 20,000 hours or when"
        " Spring raises W201. Change the shaft seal after 12,000 hours, or at once when more than 20 drops a minute come out of the"
        " lantern.",
    ),
    ("Heading2", "4.1 Changing the shaft seal"),
    (
        "Normal",
        "Time: about 50 minutes. Tools: 5 mm and 8 mm hex keys, torque key, wooden wedge. Take off the hood, loosen the coupling (four"
        " screws, 22 Nm when putting it back) and lift the motor with the drive. Pull out the old seal with the wedge; a screwdriver"
        " scratches the seat. Wet the new seal with clean water, never with grease or oil, and press it in by hand until it clicks.",
    ),
    (
        "Normal",
        "Use seal SK-45-G only. Rings of revision F and revision G must never be mixed: the carbon ring of revision F is 0.06 mm"
        " thicker and cracks on the motor side. The exchange is free of charge for pumps of the weeks named in chapter 1.",
    ),
    ("Heading2", "4.2 Once a year"),
    (
        "Normal",
        "Check the air in the pressure tank with the water let out: it must be 0.3 bar below the starting pressure. Check the vent"
        " screw, the earth wire and the grip of all cable glands. Write the current at full flow into Spring; a rise of 15 percent"
        " announces a worn bearing.",
    ),
    ("break", ""),
    ("Heading1", "5 Faults"),
    (
        "table",
        [
            ["Code", "Cause", "Remedy"],
            ["E101", "no water", "fill, vent, look for a closed valve"],
            ["E102", "rotor blocked", "turn by hand; if it does not turn, send it in"],
            ["E104", "drive too hot", "clean the filter mat, cool the room"],
            ["E109", "pressure sensor broken", "replace the NV-S5 on the outlet"],
            ["E113", "one phase missing", "call an electrician"],
            ["E115", "twin has failed", "read the code on the other pump"],
        ],
    ),
    (
        "Normal",
        "To delete a fault, hold the round key for three seconds. After the third E101 within an hour the drive stays off until"
        " somebody comes to the panel; this can't be undone from Spring.",
    ),
    ("Heading1", "Warranty and taking back"),
    (
        "Normal",
        "The warranty is 36 months from commissioning and 12 months more when the pump is registered in Spring within 60 days. Norvane"
        " takes back every pump, whatever its age.",
    ),
]

TERMS: list[tuple[str, str]] = [
    ("Heading1", "Prices and discounts 2026"),
    (
        "Normal",
        "Owner: Sales, Maia. In force from 1 January to 31 December 2026. For the sales team and certified partners; not for customers.",
    ),
    ("Heading2", "List prices"),
    (
        "Normal",
        "The NV-P20 costs 649 euros, the NV-P45 1,890 euros and the NV-P90 5,240 euros. The NV-S3 costs 219 euros, the NV-S5 189 euros"
        " and the NV-S7 745 euros. The gateway NV-G2 costs 398 euros. All prices are without tax, from the Maia factory.",
    ),
    (
        "Normal",
        "Spring is free of charge for private people with up to three sensors. Everybody else pays 1.20 euros a sensor and month, or 12"
        " euros a year when it is paid in advance. Towns with more than 500 sensors get a price of their own.",
    ),
    ("Heading2", "Discounts"),
    (
        "Normal",
        "A certified partner gets 18 percent, and 22 percent after the fiftieth pump of a year. Farms' cooperatives get 12 percent. Nobody"
        " gets two discounts at once; the better one counts.",
    ),
    (
        "Normal",
        "A salesperson may grant up to 5 percent alone, a head of sales up to 10. More needs Hugo Brandt's word, in writing. There is no"
        " discount on spare parts, batteries and courses.",
    ),
    ("Heading2", "Tenders of towns"),
    (
        "Normal",
        "We answer a tender only when we can be there within four hours in case of a fault. The offer names the energy that the pumps use"
        " in a year; since 2023 this has decided eleven tenders out of nineteen in our favour. An offer is good for 90 days.",
    ),
    ("Heading2", "Paying"),
    (
        "Normal",
        "Partners pay within 30 days. Two percent may be kept back when the invoice is paid within ten days. After the second reminder"
        " delivery stops, except for spare parts of pumps that supply people with drinking water.",
    ),
    ("Heading2", "Exchange rates"),
    (
        "Normal",
        "Prices in pounds and yen are fixed on the first working day of each quarter and hold until its end. For the second quarter of"
        " 2026 one euro is 0.86 pounds and 163 yen.",
    ),
]


def manual(path: Path) -> None:
    """Write the PDF: a running header, roman and arabic page labels, tables."""
    styles = getSampleStyleSheet()
    story = []
    for kind, content in MANUAL:
        if kind == "break":
            story.append(PageBreak())
        elif kind == "table":
            look = [("GRID", (0, 0), (-1, -1), 0.5, colors.grey), ("BACKGROUND", (0, 0), (-1, 0), colors.lightgrey)]
            story += [Spacer(1, 8), Table(content, hAlign="LEFT", style=TableStyle(look)), Spacer(1, 8)]
        else:
            story += [Paragraph(content, styles[kind]), Spacer(1, 6)]
    document = SimpleDocTemplate(
        str(path), pagesize=A4, invariant=1, title="NV-P45 booster pump: manual", author="Norvane", subject="Edition 9"
    )
    document.build(story, onFirstPage=_frame, onLaterPages=_frame)


def _frame(canvas: Canvas, document: SimpleDocTemplate) -> None:
    page = document.page
    if page == 1:
        canvas.addPageLabel(0, "ROMAN_LOWER", 1)
        canvas.addPageLabel(FRONT_PAGES, "ARABIC", 1)
        canvas.showOutline()
    label = ("i", "ii")[page - 1] if page <= FRONT_PAGES else str(page - FRONT_PAGES)
    canvas.setFont("Helvetica", 8)
    canvas.drawString(2.5 * cm, 28.2 * cm, "Norvane NV-P45 manual, edition 9")
    canvas.drawRightString(18.5 * cm, 28.2 * cm, f"page {label}")
    canvas.drawString(2.5 * cm, 1.5 * cm, "Paper copies are not current. Service line: +44 117 496 0100")


def terms(path: Path) -> None:
    """Write the DOCX with nothing in it that the words don't need."""
    body = "".join(
        f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p>'
        for style, text in TERMS
    )
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    office = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    relations = "http://schemas.openxmlformats.org/package/2006/relationships"
    links = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{name.replace(" ", "").title()}"><w:name w:val="{name}"/></w:style>'
        for name in ("Normal", "heading 1", "heading 2")
    )
    parts = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{office}.document.main+xml"/>'
        f'<Override PartName="/word/styles.xml" ContentType="{office}.styles+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{relations}">'
        f'<Relationship Id="r1" Type="{links}/officeDocument" Target="word/document.xml"/></Relationships>',
        "word/_rels/document.xml.rels": f'<Relationships xmlns="{relations}">'
        f'<Relationship Id="r1" Type="{links}/styles" Target="styles.xml"/></Relationships>',
        "word/styles.xml": f'<w:styles xmlns:w="{word}">{styles}</w:styles>',
        "word/document.xml": f'<w:document xmlns:w="{word}"><w:body>{body}</w:body></w:document>',
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, xml in parts.items():
            entry = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n{xml}')


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HANDBOOK
    manual(folder / "manuals/nv-p45-manual.pdf")
    terms(folder / "sales/prices-and-discounts.docx")
