"""Definitions without what a question does not look at, so that commits which change only that stand out."""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec

from gitcfg.history.meaning import said
from gitcfg.load.terms import NEVER
from gitcfg.model import Allocation, Feature, Node, NodeSet, Override

_MARK = re.compile(r"\$\{[^{}]*\}")

replace = msgspec.structs.replace


class Outline:
    """Keeps of definitions their lists, facts and labels, and the bindings of some parameters.

    What says the same becomes the same object, wherever it is written.
    """

    def __init__(self, binds: Callable[[str], bool]) -> None:
        self._binds = binds
        self._kept: dict[tuple[str, str], Any] = {}

    def of(self, definition: Any) -> Any:
        """A definition in outline; rules, and what was decided for them, as they are."""
        if isinstance(definition, tuple | Allocation):
            return self._same(definition)
        if isinstance(definition, NodeSet):
            return self._same(replace(definition, definition=self.of(definition.definition)))
        params = {name: bound for name, bound in definition.params.items() if self._binds(name)}
        plain = replace(definition, params=params, files={})
        match plain:
            case Override():
                plain = replace(plain, reason="", until=NEVER)
            case Feature():
                plain = replace(plain, description="", depends=(), conflicts=(), after=())
            case Node():
                plain = replace(plain, description="", address=None)
            case _:
                plain = replace(plain, description="")
        return self._same(plain)

    def _same(self, definition: Any) -> Any:
        return self._kept.setdefault((type(definition).__name__, said(definition)), definition)


def binding(param: str) -> Callable[[str], bool]:
    """Whether a name in a definition is a parameter's, or may become it in an instance."""
    return lambda name: name == param or ("${" in name and _becomes(name).fullmatch(param) is not None)


@cache
def _becomes(name: str) -> re.Pattern[str]:
    """What a name with an instance's marks can become, and perhaps more."""
    return re.compile(".*".join(map(re.escape, _MARK.split(name))), re.DOTALL)
