"""PDF, Office files and web pages, read by the libraries that know them."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from aiservices import MissingExtraError
from aiservices.rag import LoadingError, load_directory, load_file

PAGE = """<html><head><title>Bees</title></head><body><nav><a href="/">Home</a></nav>
<article><h1>Bees</h1><p>Bees live in hives of many thousands, and they make honey all summer long.</p>
<p>In winter they stay together to keep warm, and eat what they have gathered.</p></article></body></html>"""


def pdf(*texts: str) -> bytes:
    """A PDF of one page for each text, written by hand."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(texts)))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(texts)}>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for number, text in enumerate(texts):
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
        page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>"
        objects.append(f"{page}/Contents {5 + 2 * number} 0 R>>")
        objects.append(f"<</Length {len(stream)}>>stream\n{stream}\nendstream")
    body, places = "%PDF-1.4\n", []
    for number, each in enumerate(objects, start=1):
        places.append(len(body))
        body += f"{number} 0 obj{each}endobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"trailer<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{len(body)}\n%%EOF"
    return f"{body}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{end}".encode("ascii")


def docx(path: Path, text: str) -> None:
    """A Word file with one paragraph, written by hand."""
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    relations = "http://schemas.openxmlformats.org/package/2006/relationships"
    document = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "[Content_Types].xml",
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            '<Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/word/document.xml" ContentType="{kind}"/></Types>',
        )
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{relations}"><Relationship Id="r1" Type="{document}" '
            'Target="word/document.xml"/></Relationships>',
        )
        archive.writestr(
            "word/document.xml",
            f'<w:document xmlns:w="{word}"><w:body>'
            f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body></w:document>",
        )


def test_a_pdf_is_read_page_by_page(tmp_path: Path) -> None:
    (tmp_path / "two.PDF").write_bytes(pdf("Page one.", "Page two."))
    assert load_file(tmp_path / "two.PDF").text == "Page one.\n\nPage two."


def test_a_web_page_is_read_without_its_menu(tmp_path: Path) -> None:
    (tmp_path / "bees.html").write_text(PAGE, encoding="utf-8")
    text = load_file(tmp_path / "bees.html").text
    assert "# Bees" in text
    assert "eat what they have gathered" in text
    assert "Home" not in text
    (tmp_path / "empty.htm").write_text("<html><body></body></html>", encoding="utf-8")
    assert load_file(tmp_path / "empty.htm").text == ""


@pytest.mark.filterwarnings("default")  # those of the libraries are theirs
def test_an_office_file_is_read(tmp_path: Path) -> None:
    docx(tmp_path / "letter.docx", "Dear bees.")
    assert load_file(tmp_path / "letter.docx").text.strip() == "Dear bees."


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.pdf").write_bytes(b"%PDF-1.4 and no more")
    with pytest.raises(LoadingError, match=r"bad\.pdf cannot be read: "):
        load_file(tmp_path / "bad.pdf")


@pytest.mark.parametrize(
    ("name", "module"), [("a.pdf", "pypdf"), ("a.html", "trafilatura"), ("a.docx", "markitdown")]
)
def test_a_missing_library_is_an_extra_to_install_also_where_failures_are_skipped(
    tmp_path: Path, name: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).write_bytes(b"")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"aiservices\[documents\]"):
        load_directory(tmp_path, on_error="skip")


def test_importing_retrieval_loads_none_of_the_libraries() -> None:
    heavy = {"numpy", "pypdf", "markitdown", "trafilatura", "semantic_text_splitter", "rich", "sqlalchemy"}
    program = f"import sys, aiservices.rag; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "set()"
