"""What can be said of a template without a node: its parameters, what it takes in, its first problem."""

from collections.abc import Mapping
from typing import Any

from gitcfg.render.template_child.mentions import computed, everything, names, parameters, templates
from gitcfg.render.template_child.problems import FAILURES, Problem, missing_template, problem
from gitcfg.render.template_child.sandbox import Sandbox
from gitcfg.render.template_child.values import encodable


class Analysis:
    """One template and, through it, those that it takes in; a line is always one of the first template's."""

    def __init__(self, sandbox: Sandbox, sources: Mapping[str, str]) -> None:
        self._sandbox, self._sources = sandbox, sources
        self._params: dict[str, int] = {}
        self._includes: dict[str, None] = {}
        self._everything = False
        self._names: set[str] = set()
        self._computed = False
        self._problem: Problem | None = None

    def of(self, name: str) -> Mapping[str, Any]:
        """The analysis as plain data."""
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
        self._sandbox.get_template(name)  # unknown filters and tests show when it is compiled
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
