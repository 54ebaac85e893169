"""Templates, rendered and analysed in a child process."""

from collections.abc import Mapping
from typing import Any

import msgspec

import gitcfg.progress as progress
from gitcfg.render.template_child.values import OUTPUT_LIMIT
from gitcfg.sandbox import Closing, Guard, GuardError, Limits

_CHILD = "gitcfg.render.template_child"
_LIMITS = Limits(answer=OUTPUT_LIMIT + (1 << 16))


class TemplateProblem(Exception):
    """The reason why a template cannot be rendered; `line` is in the template `name`."""

    def __init__(self, message: str, line: int, name: str, hint: str = "") -> None:
        super().__init__(message, line, name, hint)
        self.message, self.line, self.name, self.hint = message, line, name, hint

    def __str__(self) -> str:
        return f"{self.name}:{self.line}: {self.message}"


class Analysis(msgspec.Struct, frozen=True):
    """What is known of a template without any node.

    `params` are the parameters that it certainly mentions, each once, with a line in this template (that of
    the inclusion, for what another template mentions); `includes` are all templates that it includes,
    directly or not. `everything`: it may use any parameter, for example in a loop. `names` are those it uses
    of `node`, `features` and `groups`. `computed`: it may include any template.
    """

    params: tuple[tuple[str, int], ...] = ()
    includes: tuple[str, ...] = ()
    everything: bool = False
    names: frozenset[str] = frozenset()
    computed: bool = False
    problem: TemplateProblem | None = None


class TemplateEngine(Closing):
    """The templates of one tree by name. The first request starts the child; close it at the end.

    Engines of several trees may share a guard (`template_guard`), and with it one child.
    """

    def __init__(self, templates: Mapping[str, str], shared: Guard | None = None) -> None:
        self._opening = {"sources": dict(templates)}
        self._shared = shared is not None
        self._guard = shared or Guard(_CHILD, _LIMITS, opening=self._opening)
        self._analyses: dict[str, Analysis] = {}

    def analyse(self, name: str) -> Analysis:
        """Return the parameters and templates that a template refers to, and its first problem."""
        if name not in self._analyses:
            self._analyses[name] = self._analyse(name)
        return self._analyses[name]

    def _analyse(self, name: str) -> Analysis:
        try:
            answer = self._ask({"analyse": name})
        except GuardError as error:
            return Analysis(problem=_ended(error, name))
        params = tuple((param, line) for param, line in answer["params"])
        problem = answer["problem"]
        return Analysis(
            params,
            tuple(answer["includes"]),
            answer["everything"],
            frozenset(answer["names"]),
            answer["computed"],
            problem and TemplateProblem(*problem),
        )

    def render(self, name: str, context: Mapping[str, Any]) -> str:
        """Return the output of a template for `params`, `node`, ... Raise TemplateProblem if it fails."""
        progress.note("rendering the template", name)
        try:
            answer = self._ask({"render": name, "context": context})
        except GuardError as error:
            raise _ended(error, name) from error
        if answer["problem"]:
            raise TemplateProblem(*answer["problem"])
        output: str = answer["output"]
        return output

    def _ask(self, request: Mapping[str, Any]) -> Any:
        if self._shared:
            self._guard.reopen(self._opening)
        return self._guard.request(request)

    def close(self) -> None:
        """End the child."""
        self._guard.close()


def template_guard() -> Guard:
    """Return a guard for the engines of several trees; close it at the end."""
    return Guard(_CHILD, _LIMITS)


def _ended(error: GuardError, name: str) -> TemplateProblem:
    return TemplateProblem(f"the template {error.reason}", 1, name)
