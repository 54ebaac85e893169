"""What went wrong with a template, in words, with its line."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from types import TracebackType
from typing import Any, TypeAlias

from jinja2 import TemplateError
from jinja2.exceptions import TemplateNotFound, TemplatesNotFound, TemplateSyntaxError

from gitcfg.render.template_child.sandbox import Missing
from gitcfg.render.template_child.values import encodable, without_addresses, written

Problem: TypeAlias = tuple[str, int, str, str]
"""Message, line, template, hint."""

FAILURES = (
    *(TemplateError, ArithmeticError, AssertionError, AttributeError, LookupError),
    *(NameError, RuntimeError, SyntaxError, TypeError, ValueError),
)
"""What a template can raise. Not MemoryError: that ends the child."""

_TOO_DEEP = "recursion or nesting is too deep"


def problem(error: BaseException, template: str, sources: Iterable[str], sees: Mapping[str, Any]) -> Problem:
    """What an error says to someone who wrote the template; `sees` are its variables."""
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
    """An inclusion of what is not under templates/."""
    near = get_close_matches(str(missing), list(sources), 1)
    return f"there is no template '{missing}'", line, template, f"did you mean '{near[0]}'?" if near else ""


def _missing_hint(error: Missing, sees: Mapping[str, Any]) -> str:
    params = sees.get("params", {})
    if not error.path and error.name in params:
        return f"write {written('params', error.name)}"
    if error.path and error.name in error.known:
        return f"write {written(error.path, error.name)}: `attr` finds nothing that a map holds"
    known = list(error.known if error.path else sees)
    nested = [name for name in known if name.startswith(f"{error.name}.")]
    near = nested or get_close_matches(str(error.name), known, 1)
    return f"did you mean {written(error.path, near[0])}?" if near else ""


def _place(trace: TracebackType | None, template: str) -> tuple[str, int]:
    """The innermost line of a template."""
    place = template, 1
    while trace is not None:
        inside = trace.tb_frame.f_globals.get("__jinja_template__")
        if inside is not None:
            place = inside.name, inside.get_corresponding_lineno(trace.tb_lineno)
        trace = trace.tb_next
    return place


def _sentence(message: str | None) -> str:
    """One line, without what differs from run to run, of a length that people read."""
    line = encodable(" ".join(without_addresses(message or "").split())).rstrip(".")
    return line if len(line) <= 300 else line[:300] + "..."
