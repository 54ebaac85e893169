"""The sandbox of templates: they cannot change or reach anything, and nothing differs between runs."""

from collections.abc import Callable, Mapping, MutableMapping
from functools import partial, wraps
from types import BuiltinMethodType, CodeType, FunctionType, MethodType
from typing import Any, NoReturn, cast

from jinja2 import DictLoader, Environment, StrictUndefined, Template
from jinja2.exceptions import TemplateRuntimeError, UndefinedError
from jinja2.runtime import BlockReference
from jinja2.sandbox import ImmutableSandboxedEnvironment, safe_range
from jinja2.utils import Cycler, Joiner, Namespace, missing

from gitcfg.render.template_child.values import NAMED, Method, Textless, find_foreign_values, kind, written

_METHODS = frozenset({BuiltinMethodType, MethodType, FunctionType, BlockReference})
_LAZY = (
    "batch",
    "items",
    "map",
    "reject",
    "rejectattr",
    "reverse",
    "select",
    "selectattr",
    "slice",
    "unique",
)


class Missing(UndefinedError):
    """The error for a missing name: in a map with a name, or (path "") among the variables."""

    def __init__(self, path: str, name: object, known: Mapping[str, Any], message: str) -> None:
        super().__init__(message)
        self.path, self.name, self.known = path, name, known


class NamedUndefined(StrictUndefined):
    """An undefined value that knows which map it is missing from."""

    __slots__ = ()

    def __init__(
        self,
        hint: str | None = None,
        obj: Any = missing,
        name: str | None = None,
        exc: type[TemplateRuntimeError] = UndefinedError,
    ) -> None:
        path = "" if obj is missing else NAMED.get(type(obj))
        if path is not None and hint is None:
            known = {} if obj is missing else obj
            exc = cast(type[TemplateRuntimeError], partial(Missing, path, name, known))
        super().__init__(hint or _absence(path, obj, name), obj, name, exc)


class WordlessCycler(Textless, Cycler):
    """A `cycler(...)` that cannot be written as text."""


class WordlessJoiner(Textless, Joiner):
    """A `joiner(...)` that cannot be written as text."""


class Sources(DictLoader):
    """A loader that compiles each template once.

    It creates a new Template each time, so that the state of an imported template does not reach the next
    rendering.
    """

    def __init__(self, sources: Mapping[str, str]) -> None:
        super().__init__(sources)
        self._compiled: dict[str, CodeType] = {}

    def load(
        self, environment: Environment, name: str, globals: MutableMapping[str, Any] | None = None
    ) -> Template:
        if name not in self._compiled:
            source = self.get_source(environment, name)[0]
            self._compiled[name] = environment.compile(source, name, name)
        return environment.template_class.from_code(environment, self._compiled[name], globals or {})


class Sandbox(ImmutableSandboxedEnvironment):
    """Jinja2's immutable sandbox, without randomness, and without text for what is not data."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        super().__init__(
            loader=Sources(sources),
            undefined=NamedUndefined,
            finalize=_plain,
            keep_trailing_newline=True,
            autoescape=False,
            cache_size=0,
        )
        del self.filters["random"]
        for name in _LAZY:
            self.filters[name] = _eager(self.filters[name])
        self._builtin = {
            "range": Method(safe_range),
            "dict": dict,
            "cycler": WordlessCycler,
            "joiner": WordlessJoiner,
            "namespace": Namespace,
        }

    def open(self, name: str, context: Mapping[str, Any]) -> Template:
        """Return a template with these variables; templates that it includes or imports have them too."""
        self.globals = {**self._builtin, **context}
        return self.get_template(name)

    def getattr(self, obj: Any, attribute: str) -> Any:
        value = super().getattr(obj, attribute)
        return Method(value) if type(value) in _METHODS else value

    def getitem(self, obj: Any, argument: Any) -> Any:
        value = super().getitem(obj, argument)
        return Method(value) if type(value) in _METHODS else value

    def handle_exception(self, source: str | None = None) -> NoReturn:
        raise  # as raised, so that the traceback includes the template's line


def _absence(path: str | None, obj: object, name: object) -> str:
    if path is None:
        return f"{kind(obj)} has no {name!r}"
    return f"'{written(path, name)}' is undefined"


def _plain(value: Any) -> Any:
    """Return what `{{ ... }}` writes: data, or an empty text for a bare parameter.

    Raise TypeError for what is not data.
    """
    if value is None:
        return ""
    for stranger in () if type(value) is str else find_foreign_values(value):
        if isinstance(stranger, StrictUndefined):
            str(stranger)  # raises the error of an undefined value
        raise TypeError(f"{kind(stranger)} cannot be written")
    return value


def _eager(filter_: Callable[..., Any]) -> Callable[..., Any]:
    """Return a filter that returns a list where Jinja2's returns a generator, whose text has an address."""

    @wraps(filter_)
    def eager(*args: Any, **kwargs: Any) -> Any:
        value = filter_(*args, **kwargs)
        return value if isinstance(value, str) else list(value)

    return eager
