"""The pages tell of the project as it is: links lead somewhere, and the errors that LIMITS quotes are in the code."""

import ast
import re

import pytest

from tests.support.folders import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(page for folder in (ROOT, DOCS, DOCS / "adr", ROOT / "jsondiff", ROOT / "keysearch")
               for page in folder.glob("*.md"))
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)


def name_of(page):
    return str(page.relative_to(ROOT))


def links(page):
    return [link for link in LINK.findall(FENCE.sub("", page.read_text())) if not link.startswith(("http:", "https:"))]


def anchors(page):
    """The anchors of a page's headings, as code hosts make them."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{name_of(page)} links to {link}"
        if anchor:
            assert anchor in anchors(target), f"{name_of(page)} links to {link}"


@pytest.mark.parametrize("folder", [DOCS, DOCS / "adr"], ids=name_of)
def test_each_page_is_in_its_index(folder):
    linked = {link.partition("#")[0] for link in links(folder / "README.md")}
    assert {page.name for page in folder.glob("*.md")} - {"README.md"} <= linked


def literals():
    """Every text in the code, an f-string's values as `…`."""
    for top in ("applier", "jsondiff", "keysearch"):
        for path in (ROOT / top).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.JoinedStr):
                    yield "".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value


def test_limits_quotes_errors_that_the_code_has():
    """The last column of each table: what stands in backticks is a message or a part of one, values as `…`."""
    rows = [line for line in (DOCS / "LIMITS.md").read_text().splitlines() if line.startswith("| ")]
    quoted = [text for row in rows for text in re.findall(r"`([^`]+)`", row.split(" | ")[-1])
              if " " in text and not text.startswith(("applier ", "--"))]
    assert len(quoted) > 60
    known = list(literals())
    patterns = {text: re.compile(".*".join(map(re.escape, text.split("…"))), re.DOTALL) for text in quoted}
    unknown = [text for text, pattern in patterns.items() if not any(map(pattern.search, known))]
    assert not unknown, "no message in the code says so"
