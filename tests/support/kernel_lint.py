"""A light check of kernels, which mypy skips: `python -m tests.support.kernel_lint`, part of `make lint`.

ruff sees names that do not exist. This sees, without compiling anything, calls of kernels' functions with arguments
that they do not take, and fields that a record (keysearch.records) does not have. The types of variables are inferred:
a record comes from a `view` or `at` function of its layout, and goes through assignments, arguments and results.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.support.folders import ROOT

PACKAGES = ("applier", "jsondiff", "keysearch")
UNTYPED = "# mypy: allow-untyped-defs"
"""How the first line of a module of kernels begins."""
_LAYOUTS = ("struct", "packed")
_ROUNDS = 8
"""The most functions through which a record is followed."""


@dataclass
class Layout:
    """A record's fields: for each None, or the layout of a record within it."""

    name: str
    fields: dict[str, Layout | None]


@dataclass
class Function:
    """A function of a module of kernels, and the known types of its parameters and its result."""

    module: Module
    node: ast.FunctionDef
    parameters: dict[str, Layout] = field(default_factory=dict)
    result: Layout | None = None

    @property
    def names(self) -> list[str]:
        """Its positional parameters, as a caller counts them: Numba passes the first one of an intrinsic."""
        names = [argument.arg for argument in (*self.node.args.posonlyargs, *self.node.args.args)]
        return names[any("intrinsic" in ast.unparse(mark) for mark in self.node.decorator_list):]


@dataclass
class Module:
    """A module: its text's tree, and what its top level names."""

    name: str
    tree: ast.Module
    functions: dict[str, Function] = field(default_factory=dict)
    layouts: dict[str, Layout] = field(default_factory=dict)
    makers: dict[str, Layout] = field(default_factory=dict)
    imported: dict[str, str] = field(default_factory=dict)


def check(texts: dict[str, str]) -> list[str]:
    """Return the errors in modules, by name (`applier.apply.index.store.store_kernel`): a line for each, in order."""
    modules = {name: _module(name, ast.parse(text)) for name, text in texts.items()}
    for module in modules.values():
        _find_layouts(module, modules)
    functions = [function for module in modules.values() for function in module.functions.values()]
    for _ in range(_ROUNDS):
        for function in functions:
            _Walk(function, modules).infer()
    found = (line for function in functions for line in _Walk(function, modules).faults())
    return sorted(set(found))


def texts_of_kernels() -> dict[str, str]:
    """All modules of kernels, and those of their records."""
    found = {}
    for path in sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        text = path.read_text()
        if text.startswith(UNTYPED) or "from keysearch.records import" in text:
            found[".".join(path.relative_to(ROOT).with_suffix("").parts)] = text
    return found


def _module(name: str, tree: ast.Module) -> Module:
    module = Module(name, tree)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            module.functions[node.name] = Function(module, node)
        elif isinstance(node, ast.ImportFrom) and node.module:
            module.imported.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})
    return module


def _find_layouts(module: Module, modules: dict[str, Module]) -> None:
    """The layouts that a module makes: `DTYPE, view, at = struct("name", a=np.int64)`."""
    for node in module.tree.body:
        if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(
                node.value.func, ast.Name) and node.value.func.id in _LAYOUTS and isinstance(
                node.targets[0], ast.Tuple)):
            continue
        fields = _fields(node.value, module, modules)
        if fields is None:
            continue
        layout = Layout(ast.unparse(node.value.args[0]).strip("'\""), fields)
        dtype, *makers = (name.id for name in node.targets[0].elts if isinstance(name, ast.Name))
        module.layouts[dtype] = layout
        module.makers.update({name: layout for name in makers if name != "_"})


def _fields(call: ast.Call, module: Module, modules: dict[str, Module]) -> dict[str, Layout | None] | None:
    """The fields that a layout is given; None where they are not written out."""
    fields: dict[str, Layout | None] = {}
    for keyword in call.keywords:
        if keyword.arg is not None:
            fields[keyword.arg] = _named(keyword.value, "layouts", module, modules)
            continue
        value = keyword.value
        if not (isinstance(value, ast.Call) and ast.unparse(value.func) == "dict.fromkeys"):
            return None
        try:
            names = ast.literal_eval(value.args[0])
        except ValueError:
            return None
        fields.update({name: _named(value.args[1], "layouts", module, modules) for name in names})
    return fields


def _named(node: ast.expr, what: str, module: Module, modules: dict[str, Module]) -> Layout | None:
    """The layout that a name means, as a dtype ("layouts") or as what makes a record ("makers")."""
    if isinstance(node, ast.Name):
        if node.id in getattr(module, what):
            found: Layout = getattr(module, what)[node.id]
            return found
        home, _, name = module.imported.get(node.id, "").rpartition(".")
        return getattr(modules[home], what).get(name) if home in modules else None
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        home = module.imported.get(node.value.id, "")
        return getattr(modules[home], what).get(node.attr) if home in modules else None
    return None


class _Walk:
    """One look at a function."""

    def __init__(self, function: Function, modules: dict[str, Module]) -> None:
        self._function, self._modules = function, modules
        self._local = {argument.arg for argument in ast.walk(function.node.args) if isinstance(argument, ast.arg)}
        self._local |= {node.id for node in ast.walk(function.node)
                        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        self._known = self._variables()

    def infer(self) -> None:
        """Tell the functions that are called what records they get, and note what this one returns."""
        for call, called in self._calls():
            for name, argument in zip(called.names, call.args, strict=False):
                if (layout := self._layout(argument)) is not None:
                    called.parameters.setdefault(name, layout)
        results = [self._layout(node.value) for node in ast.walk(self._function.node)
                   if isinstance(node, ast.Return) and node.value is not None]
        if results and results[0] is not None and all(result is results[0] for result in results):
            self._function.result = results[0]

    def faults(self) -> Iterator[str]:
        """A line for each."""
        for node in ast.walk(self._function.node):
            if isinstance(node, ast.Attribute) and (layout := self._layout(node.value)) is not None \
                    and node.attr not in layout.fields:
                yield self._line(node, f"a record {layout.name!r} has no field {node.attr}")
        for call, called in self._calls():
            if why := _unfit(call, called):
                yield self._line(call, f"{called.node.name}() {why}")

    def _line(self, node: ast.expr, what: str) -> str:
        return f"{self._function.module.name}:{node.lineno}: {what}"

    def _variables(self) -> dict[str, Layout]:
        """Parameters, and variables that are records of one layout wherever they are assigned."""
        assigned: dict[str, list[ast.expr]] = {}
        for node in ast.walk(self._function.node):
            if isinstance(node, ast.Assign):
                for target, value in _pairs(node):
                    assigned.setdefault(target, []).append(value)
        known = self._known = dict(self._function.parameters)
        for name in known.keys() & assigned.keys():
            del known[name]
        for _ in range(2):  # one may be made of one that is assigned later in the text
            for name, values in assigned.items():
                first, *others = map(self._layout, values)
                if first is not None and all(other is first for other in others):
                    known[name] = first
        return known

    def _layout(self, node: ast.expr) -> Layout | None:
        """Return the record layout of an expression, if it is known."""
        if isinstance(node, ast.Name):
            return self._known.get(node.id)
        if isinstance(node, ast.Attribute):
            outer = self._layout(node.value)
            return outer.fields.get(node.attr) if outer is not None else None
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in self._local:
                return None
            made = _named(node.func, "makers", self._function.module, self._modules)
            if made is None and (called := self._called(node)) is not None:
                made = called.result
            return made
        return None

    def _calls(self) -> Iterator[tuple[ast.Call, Function]]:
        for node in ast.walk(self._function.node):
            if isinstance(node, ast.Call) and (called := self._called(node)) is not None:
                yield node, called

    def _called(self, call: ast.Call) -> Function | None:
        module, function = self._function.module, call.func
        if isinstance(function, ast.Name):
            if function.id in self._local:
                return None
            if function.id in module.functions:
                return module.functions[function.id]
            home, _, name = module.imported.get(function.id, "").rpartition(".")
        elif isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            if function.value.id in self._local:
                return None
            home, name = module.imported.get(function.value.id, ""), function.attr
        else:
            return None
        return self._modules[home].functions.get(name) if home in self._modules else None


def _pairs(node: ast.Assign) -> Iterator[tuple[str, ast.expr]]:
    """Names and what they are assigned, also of `a, b = x, y`."""
    for target in node.targets:
        if isinstance(target, ast.Name):
            yield target.id, node.value
        elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            for name, value in zip(target.elts, node.value.elts, strict=False):
                if isinstance(name, ast.Name):
                    yield name.id, value


def _unfit(call: ast.Call, called: Function) -> str:
    """Why a function does not take a call's arguments; "" if it does."""
    names, taken = called.names, called.node.args
    if taken.vararg or taken.kwarg or any(isinstance(argument, ast.Starred) for argument in call.args) \
            or any(keyword.arg is None for keyword in call.keywords):
        return ""
    given = {keyword.arg for keyword in call.keywords}
    if unknown := given - {*names, *(argument.arg for argument in taken.kwonlyargs)}:
        return f"takes no argument {min(str(name) for name in unknown)}"
    if len(call.args) > len(names):
        return f"takes {len(names)} arguments, not {len(call.args)}"
    needed = names[:len(names) - len(taken.defaults)]
    missing = [name for name in needed[len(call.args):] if name not in given]
    return f"needs an argument {missing[0]}" if missing else ""


if __name__ == "__main__":
    faults = check(texts_of_kernels())
    print(*faults, sep="\n", end="\n" * bool(faults))
    sys.exit(bool(faults))
