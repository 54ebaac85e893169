"""What a template refers to: parameters, other names, and other templates."""

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from types import TracebackType
from typing import Any, TypeAlias

from jinja2 import TemplateError, nodes
from jinja2.exceptions import TemplateNotFound, TemplatesNotFound, TemplateSyntaxError

from gitcfg.render.template_child.sandbox import Missing, Sandbox
from gitcfg.render.template_child.values import encodable, without_addresses, written

_PARAMS = "params"


def parameters(tree: nodes.Template) -> Iterator[tuple[str, int]]:
    """Yield each `params.X`, `params["X"]` and `params.get("X")`, with its line."""
    if _rebound(tree):
        return
    for node in tree.find_all((nodes.Getattr, nodes.Getitem, nodes.Call)):
        name = _parameter(node)
        if name is not None:
            yield name, node.lineno


def everything(tree: nodes.Template) -> bool:
    """Return whether it uses `params` in other ways than with constant names, for example in a loop."""
    uses = sum(node.name == _PARAMS for node in tree.find_all(nodes.Name))
    return uses > sum(1 for _ in parameters(tree))


def names(tree: nodes.Template) -> frozenset[str]:
    """Return all names that it uses, whether they are given or its own."""
    return frozenset(node.name for node in tree.find_all(nodes.Name))


def computed(tree: nodes.Template) -> bool:
    """Return whether it includes templates with computed names."""
    inclusions = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)
    return any(not _constants(getattr(node, "template", None)) for node in tree.find_all(inclusions))


def templates(tree: nodes.Template) -> Iterator[tuple[tuple[str, ...], int, bool]]:
    """Yield each inclusion: names (the first that exists is used), line, whether all may be missing."""
    for node in tree.find_all((nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)):
        names = _constants(getattr(node, "template", None))
        if names:
            yield names, node.lineno, getattr(node, "ignore_missing", False)


def _parameter(node: nodes.Node) -> str | None:
    match node:
        case nodes.Getattr(node=nodes.Name(name="params"), attr=name) if not hasattr(dict, name):
            return name
        case nodes.Getitem(node=nodes.Name(name="params"), arg=nodes.Const(value=str(name))):
            return name
        case nodes.Call(
            node=nodes.Getattr(node=nodes.Name(name="params"), attr="get"),
            args=[nodes.Const(value=str(name)), *_],
        ):
            return name
    return None


def _rebound(tree: nodes.Template) -> bool:
    """Return whether `params` is rebound anywhere in it: then its meaning is not certain."""
    return (
        any(node.name == _PARAMS and node.ctx != "load" for node in tree.find_all(nodes.Name))
        or any(node.target == _PARAMS for node in tree.find_all(nodes.Import))
        or any(node.name == _PARAMS for node in tree.find_all(nodes.Macro))
        or any(
            name == _PARAMS if isinstance(name, str) else name[1] == _PARAMS
            for node in tree.find_all(nodes.FromImport)
            for name in node.names
        )
    )


def _constants(node: nodes.Expr | None) -> tuple[str, ...]:
    """Return the names in a constant name or list of names; none if any of them is computed."""
    items = node.items if isinstance(node, nodes.List | nodes.Tuple) else [node]
    names = [item.value for item in items if isinstance(item, nodes.Const) and isinstance(item.value, str)]
    return tuple(names) if len(names) == len(items) else ()


# Errors of a template, with their lines, in plain words.

Problem: TypeAlias = tuple[str, int, str, str]
"""Message, line, template and hint."""

FAILURES = (
    *(TemplateError, ArithmeticError, AssertionError, AttributeError, LookupError),
    *(NameError, RuntimeError, SyntaxError, TypeError, ValueError),
)
"""What a template can raise. MemoryError is not one of them: it ends the child."""

_TOO_DEEP = "recursion or nesting is too deep"


def problem(error: BaseException, template: str, sources: Iterable[str], sees: Mapping[str, Any]) -> Problem:
    """Return an error as the author of the template should read it; `sees` are the template's variables."""
    if isinstance(error, TemplateSyntaxError):
        return _sentence(error.message), error.lineno, error.name or template, ""
    name, line = _place(error.__traceback__, template)
    match error:
        case TemplatesNotFound():
            return missing_template(error.templates[-1], line, name, sources)
        case TemplateNotFound():
            return missing_template(error.name or "", line, name, sources)
        case Missing():
            return _sentence(str(error)), line, name, _missing_hint(error, sees)
        case RecursionError() | SyntaxError():
            return _TOO_DEEP, line, name, ""
    return _sentence(str(error) or type(error).__name__), line, name, ""


def missing_template(missing: object, line: int, template: str, sources: Iterable[str]) -> Problem:
    """Return the error for an inclusion of a file that is not under templates/."""
    near = get_close_matches(str(missing), list(sources), 1)
    return f"there is no template '{missing}'", line, template, f"did you mean '{near[0]}'?" if near else ""


def _missing_hint(error: Missing, sees: Mapping[str, Any]) -> str:
    params = sees.get("params", {})
    if not error.path and error.name in params:
        return f"write {written('params', error.name)}"
    if error.path and error.name in error.known:
        return f"write {written(error.path, error.name)}: `attr` does not search in a map"
    known = list(error.known if error.path else sees)
    nested = [name for name in known if name.startswith(f"{error.name}.")]
    near = nested or get_close_matches(str(error.name), known, 1)
    return f"did you mean {written(error.path, near[0])}?" if near else ""


def _place(trace: TracebackType | None, template: str) -> tuple[str, int]:
    """Return the innermost line in a template."""
    place = template, 1
    while trace is not None:
        inside = trace.tb_frame.f_globals.get("__jinja_template__")
        if inside is not None:
            place = inside.name, inside.get_corresponding_lineno(trace.tb_lineno)
        trace = trace.tb_next
    return place


def _sentence(message: str | None) -> str:
    """Return a message on one line, shortened, without parts that differ between runs."""
    line = encodable(" ".join(without_addresses(message or "").split())).rstrip(".")
    return line if len(line) <= 300 else line[:300] + "..."


# What is known of a template without a node: its parameters, its inclusions, its first problem.


class Analysis:
    """The analysis of a template and of those that it includes. All lines are lines of the first template."""

    def __init__(self, sandbox: Sandbox, sources: Mapping[str, str]) -> None:
        self._sandbox, self._sources = sandbox, sources
        self._params: dict[str, int] = {}
        self._includes: dict[str, None] = {}
        self._everything = False
        self._names: set[str] = set()
        self._computed = False
        self._problem: Problem | None = None

    def of(self, name: str) -> Mapping[str, Any]:
        """Return the analysis as plain data."""
        if name not in self._sources:
            self._problem = missing_template(name, 1, name, self._sources)
        else:
            try:
                self._read(name, None)
            except FAILURES as error:
                self._problem = self._problem or problem(error, name, self._sources, {})
        return {
            "params": list(self._params.items()),
            "includes": list(self._includes),
            "everything": self._everything,
            "names": sorted(self._names & {"node", "features", "groups"}),
            "computed": self._computed,
            "problem": self._problem,
        }

    def _read(self, name: str, line: int | None) -> None:
        tree = self._sandbox.parse(self._sources[name], name, name)
        self._sandbox.get_template(name)  # compilation reports unknown filters and tests
        self._everything = self._everything or everything(tree)
        self._names |= names(tree)
        self._computed = self._computed or computed(tree)
        for parameter, at in parameters(tree):
            self._params.setdefault(encodable(parameter), line or at)
        for choice, at, optional in templates(tree):
            self._follow(choice, name, at, line or at, optional)

    def _follow(self, choice: tuple[str, ...], name: str, at: int, line: int, optional: bool) -> None:
        found = [candidate for candidate in choice if candidate in self._sources]
        if found and found[0] not in self._includes:
            self._includes[found[0]] = None
            self._read(found[0], line)
        elif not found and not optional and self._problem is None:
            self._problem = missing_template(choice[-1], at, name, self._sources)
