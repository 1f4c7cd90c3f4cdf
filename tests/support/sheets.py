"""Spreadsheets written by hand, so small or so large as a test needs them."""

import datetime
import zipfile
from xml.sax.saxutils import escape

NS = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
KINDS = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def xlsx(path, sheets, shared=()):
    """A workbook of {name: rows}; a sheet may also be given as the XML of its rows."""
    names = list(sheets)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        parts = "".join(
            f'<Override PartName="/xl/worksheets/sheet{k}.xml" ContentType="{KINDS}.worksheet+xml"/>'
            for k in range(1, len(names) + 1)
        )
        file.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{TYPES}"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
            f'relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="{KINDS}.sheet.main+xml"/>{parts}'
            "</Types>",
        )
        base = REL.replace("officeDocument", "package")
        file.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{base}"><Relationship Id="r1" Type="{REL}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
        )
        listed = "".join(f'<sheet name="{name}" sheetId="{k}" r:id="r{k}"/>' for k, name in enumerate(names, start=1))
        file.writestr("xl/workbook.xml", f'<workbook {NS} xmlns:r="{REL}"><sheets>{listed}</sheets></workbook>')
        targets = "".join(
            f'<Relationship Id="r{k}" Type="{REL}/worksheet" Target="worksheets/sheet{k}.xml"/>'
            for k in range(1, len(names) + 1)
        )
        more = f'<Relationship Id="s" Type="{REL}/styles" Target="styles.xml"/>'
        more += f'<Relationship Id="t" Type="{REL}/sharedStrings" Target="sharedStrings.xml"/>' if shared else ""
        file.writestr("xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{base}">{targets}{more}</Relationships>')
        file.writestr(
            "xl/styles.xml", f'<styleSheet {NS}><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>'
        )
        if shared:
            texts = "".join(f"<si><t>{escape(text)}</t></si>" for text in shared)
            file.writestr("xl/sharedStrings.xml", f"<sst {NS}>{texts}</sst>")
        for k, rows in enumerate(sheets.values(), start=1):
            inside = rows if isinstance(rows, str) else "".join(map(_row, range(1, len(rows) + 1), rows))
            file.writestr(f"xl/worksheets/sheet{k}.xml", f"<worksheet {NS}><sheetData>{inside}</sheetData></worksheet>")
    return path


def _row(number, cells):
    return f'<row r="{number}">{"".join(_cell(f"{chr(65 + k)}{number}", cell) for k, cell in enumerate(cells))}</row>'


def _cell(place, value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, datetime.date):
        return f'<c r="{place}" s="1"><v>{(value - datetime.date(1899, 12, 30)).days}</v></c>'
    if isinstance(value, (int, float)):
        return f'<c r="{place}"><v>{value}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'


def ods(path, cells):
    """A sheet whose table rows are given as XML."""
    office = "urn:oasis:names:tc:opendocument:xmlns"
    spaces = " ".join(f'xmlns:{part}="{office}:{part}:1.0"' for part in ("office", "table", "text"))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet", zipfile.ZIP_STORED)
        file.writestr(
            "META-INF/manifest.xml",
            f'<manifest:manifest xmlns:manifest="{office}:manifest:1.0"><manifest:file-entry manifest:full-path="/" '
            'manifest:media-type="application/vnd.oasis.opendocument.spreadsheet"/></manifest:manifest>',
        )
        file.writestr(
            "content.xml",
            f'<office:document-content {spaces} office:version="1.2"><office:body><office:spreadsheet><table:table '
            f'table:name="One">{cells}</table:table></office:spreadsheet></office:body></office:document-content>',
        )
    return path
