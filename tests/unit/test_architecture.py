"""The structure that docs/ARCHITECTURE.md tells of is that of the code. `make lint` sees that imports go down."""

import ast
import functools
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.folders import ROOT

PAGE = ROOT / "docs" / "ARCHITECTURE.md"
TOPS = ("applier", "jsondiff", "keysearch")
PACKAGES = sorted(path.parent for top in TOPS for path in (ROOT / top).rglob("__init__.py"))


def dotted(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {dotted(path) for package in PACKAGES for path in package.glob("*.py")}


def statements(node):
    """The statements in a module, a statement or a part of one; to look into expressions takes longer."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield child
            yield from statements(child)


@functools.cache
def imported(path):
    """The modules that a file imports, wherever in it."""
    found = set()
    for node in statements(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name in MODULES}
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in MODULES else node.module for name in names}
    return found


@functools.cache
def sources():
    return [path for top in TOPS for path in (ROOT / top).rglob("*.py")]


def exported(package):
    """What a package's __init__ has in __all__."""
    for node in ast.parse((package / "__init__.py").read_text()).body:
        if isinstance(node, ast.Assign) and [target.id for target in node.targets] == ["__all__"]:
            return set(ast.literal_eval(node.value))
    return set()


def test_the_drawing_is_that_of_the_code():
    sys.path.insert(0, str(PAGE.parent))
    import draw_packages

    assert draw_packages.drawing() in PAGE.read_text(), "run `make drawing`"


@pytest.mark.parametrize("package", [package for package in PACKAGES if package.name != "applier"], ids=dotted)
def test_other_packages_import_what_a_package_exports(package):
    """And whatever it says that it exports is there."""
    name, own = dotted(package), exported(package)
    users = (path for path in sources() if package not in path.parents)
    used = {module.removeprefix(f"{name}.").split(".")[0] for path in users for module in imported(path)
            if module.startswith(f"{name}.")}
    assert used <= own, f"{name}: others import {sorted(used - own)}, which are not in its __all__"
    there = {path.stem for path in package.iterdir()}
    for node in ast.walk(ast.parse((package / "__init__.py").read_text())):
        if isinstance(node, ast.FunctionDef):
            there.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            there |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Assign):
            there |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    assert own <= there


def private_names(path):
    """What a file takes of other objects whose names begin with `_`."""
    text = path.read_text()
    for node in ast.walk(ast.parse(text)) if PRIVATE.search(text) else ():
        if isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names if alias.name.startswith("_"))
        elif isinstance(node, ast.Attribute):
            if node.attr.startswith("_") and ast.unparse(node.value) not in ("self", "cls", "os"):
                yield node.attr
        elif isinstance(node, ast.Call):
            names = [str(argument.value) for argument in node.args[1:2] if isinstance(argument, ast.Constant)]
            if names and ast.unparse(node.func).endswith(("setattr", "patch.object", "getattr")):
                yield from names


PRIVATE = re.compile(r"(?<!\w)_[a-zA-Z]")
"""Without it in a text there is none to be found in the tree, which takes longer."""


def test_tests_go_through_public_doors():
    """A test that knows what is private in a module, or in a kernel's memory, stops whoever changes it. What tests the
    doors of other libraries names those, and recorders are no tests."""
    paths = [path for path in (ROOT / "tests").rglob("*.py") if not path.match("record_*.py")
             and not path.match("test_*_private.py")]
    private = {f"{path.relative_to(ROOT)}: {name}" for path in paths for name in private_names(path)
               if name.startswith("_") and not name.endswith("__")}
    assert not private, "make public what a test needs"


def kernels_words(path):
    """What a file takes of the memory of kernels: how it is read and written, and words of modules of kernels and of
    their records. What a kernel answers is public to its own test, which is named like its module."""
    modules, text = {}, path.read_text()
    nodes = list(ast.walk(ast.parse(text))) if re.search(rf"{OF_KERNELS.pattern[:-1]}|keysearch", text) else []
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in TOPS:
            for alias in node.names:
                if OF_KERNELS.search(alias.name):
                    modules[alias.asname or alias.name] = alias.name
                elif alias.name.isupper() and OF_KERNELS.search(node.module):
                    yield f"{node.module}.{alias.name}"
                elif node.module == "keysearch.memory" and alias.name.startswith(("load", "store")):
                    yield alias.name
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr.isupper() and isinstance(node.value, ast.Name) \
                and path.stem != f"test_{modules.get(node.value.id)}" and node.value.id in modules:
            yield f"{modules[node.value.id]}.{node.attr}"


OF_KERNELS = re.compile(r"_(kernel|records|layout)$")


def test_tests_know_nothing_of_kernels_memory():
    paths = [path for path in (ROOT / "tests").rglob("*.py") if path.name != "test_checked.py"]
    known = {f"{path.relative_to(ROOT)}: {name}" for path in paths for name in kernels_words(path)}
    assert not known, "go through functions that the package itself uses"


def test_the_page_names_files_that_are_there():
    for path in re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.py|(?:[a-z_]+/)+)`", PAGE.read_text()):
        there = [ROOT / top / path for top in ("", "applier")]
        assert any(place.exists() for place in there) or any(ROOT.glob(f"applier/**/{path}")), path


def test_the_lint_of_imports_runs_on_all_packages():
    """A contract that names a package which is not there would hold for nothing."""
    lint = str(Path(sys.executable).parent / "lint-imports")
    run = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout
