"""The pages tell of the project as it is: links lead somewhere, and the errors that LIMITS quotes are in the code."""

import ast
import re

import pytest

from docs import write_commands, write_errors, write_tables
from tests.support.folders import ROOT

DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), *(page for name in (".", "examples", "jsondiff", "keysearch")
                                       for page in (ROOT / name).glob("*.md"))])
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


@pytest.mark.parametrize("folder", sorted({page.parent for page in DOCS.rglob("*.md")}), ids=name_of)
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


def defined_in(body, prefix=""):
    """The functions, classes and methods of a module's body, as `Class.method`."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield prefix + node.name
            yield from defined_in(node.body if isinstance(node, ast.ClassDef) else [], f"{prefix}{node.name}.")


@pytest.mark.parametrize("page", [DOCS / "ARCHITECTURE.md", DOCS / "RECIPES.md", DOCS / "KERNELS.md",
                                  ROOT / "CONTRIBUTING.md"], ids=name_of)
def test_pages_about_the_code_name_what_is_there(page):
    """`path.py` is a file, and `path.py:name` a function, class, method or constant in it."""
    for path, name in re.findall(r"`((?:[\w-]+/)*\w+\.py)(?::([\w.]+))?`", page.read_text()):
        files = [place for place in (ROOT / "applier" / path, ROOT / path) if place.exists()]
        if not files and not name and "/" not in path:
            continue  # a file beside the one that was named before
        assert len(files) == 1, f"{name_of(page)} names {path}"
        body = ast.parse(files[0].read_text()).body
        constants = {target.id for node in body for target in getattr(node, "targets", [getattr(node, "target", None)])
                     if isinstance(target, ast.Name)}
        assert not name or name in {*defined_in(body), *constants}, f"{path} has no {name}"


def test_the_pages_of_commands_are_what_the_verbs_declare():
    found = {page.name: page.read_text() for page in write_commands.FOLDER.glob("*.md")}
    assert found == write_commands.pages(), "run `make drawing`"


def test_errors_are_listed_by_their_numbers():
    text = write_errors.PAGE.read_text()
    assert text == write_errors.page(), "run `make drawing`"
    headings = re.findall(r"^## ([\d, ]+)$", text, re.MULTILINE)
    assert {int(number) for heading in headings for number in heading.split(",")} >= write_errors.numbers()


@pytest.mark.parametrize("page", write_tables.PAGES, ids=name_of)
def test_figures_are_those_that_were_measured_last(page):
    assert page.read_text() == write_tables.page(page.read_text()), "run `make drawing`"


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120


PUBLIC = sorted(path for top in ("applier", "jsondiff", "keysearch") for path in (ROOT / top).rglob("__init__.py"))


@pytest.mark.parametrize("package", PUBLIC, ids=name_of)
def test_what_others_may_use_has_a_docstring(package):
    """Of each package: its modules in `__all__`, and their public classes and functions. Kernels' steps need none."""
    exported = [ast.literal_eval(node.value) for node in ast.parse(package.read_text()).body
                if isinstance(node, ast.Assign) and [target.id for target in node.targets] == ["__all__"]]
    files = [package, *(package.parent / f"{name}.py" for names in exported for name in names)]
    bare = []
    for path in (path for path in files if path.exists()):
        tree = ast.parse(path.read_text())
        bare += [] if ast.get_docstring(tree) else [name_of(path)]
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                steps = {"inline", "kernel", "overload"}
                is_step = any(ast.unparse(decorator) in steps for decorator in node.decorator_list)
                bare += [] if is_step or ast.get_docstring(node) else [f"{name_of(path)}: {node.name}"]
    assert not bare, "these have no docstring"
