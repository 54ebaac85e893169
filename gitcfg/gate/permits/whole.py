"""What must be known of a whole version to say what a piece of it is about: read only if it is asked for."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from gitcfg.compile.texts import texts
from gitcfg.gate.permits.named import Thing, to_glob
from gitcfg.git.tree import Tree
from gitcfg.load.repository import load
from gitcfg.model import Feature, ListEdit, Model, Node, Ref, Rule, Use

_INCLUSION = re.compile(r"\{%[-+]?\s*(?:include|import|from|extends)\b")
_NAMED = re.compile(
    _INCLUSION.pattern + r"""\s*(?:"[^"\\]*"|'[^'\\]*')\s*(?:[-+]?%\}|(?:import|as|ignore|with|without)\b)"""
)
"""An inclusion of nothing but a plain name. All else is computed, and may give any."""


class Version:
    """A version of the repository."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._made: dict[str, tuple[Thing, ...]] = {}

    def made(self, feature: str) -> tuple[Thing, ...]:
        """The parameters and files whose names an instance of a feature makes."""
        if feature not in self._made:
            found = (thing for one in self._included(feature) for thing in _made_names(one))
            self._made[feature] = tuple(dict.fromkeys(found))
        return self._made[feature]

    def given(self, node: str, key: str) -> tuple[Use | Ref, ...]:
        """What a node gets by one of its set's lists."""
        found = self._sets.get(node)
        edit: ListEdit = getattr(found, key) if found is not None else ListEdit()
        return edit.items

    def rule(self, name: str) -> Rule | None:
        """The rule of a name."""
        return self._model.rules.get(name)

    def filled(self, folder: str, name: str) -> tuple[Thing, ...]:
        """The files on nodes that are made from a template, or are what stands under files/."""
        return self._filled.get((folder, name), ())

    @cached_property
    def _model(self) -> Model:
        return load(self._tree)

    @cached_property
    def _sets(self) -> Mapping[str, Node]:
        sets = self._model.nodesets.values()
        return {name: nodeset.definition for nodeset in sets for name in nodeset.members}

    def _included(self, name: str) -> Iterator[Feature]:
        """A feature and all that it includes, however far."""
        seen, todo = {name}, [name]
        while todo:
            feature = self._model.features.get(todo.pop())
            if feature is not None:
                yield feature
                more = {use.feature for use in feature.include} - seen
                seen |= more
                todo += more

    @cached_property
    def _filled(self) -> Mapping[tuple[str, str], tuple[Thing, ...]]:
        found: dict[tuple[str, str], dict[Thing, None]] = {}
        for layer in self._model.layers():
            for path, entry in layer.files.items():
                thing = Thing("files", to_glob(path))
                for name in self._including.get(entry.template.name, ()) if entry.template else ():
                    found.setdefault(("templates", name), {})[thing] = None
                if entry.source is not None:
                    found.setdefault(("files", entry.source.name), {})[thing] = None
        return {key: tuple(things) for key, things in found.items()}

    @cached_property
    def _including(self) -> Mapping[str, frozenset[str]]:
        """The templates that each is made from, itself among them; all, if it chooses when it is rendered."""
        read = texts(self._tree, "templates", self._model.templates)
        direct = {name: _find_mentioned(text or "", read) for name, text in read.items()}
        return {name: _find_closure(direct, name) for name in direct}


def _find_mentioned(text: str, names: Iterable[str]) -> frozenset[str]:
    if len(_INCLUSION.findall(text)) > len(_NAMED.findall(text)):
        return frozenset(names)
    return frozenset(name for name in names if name in text)


def _find_closure(direct: Mapping[str, frozenset[str]], name: str) -> frozenset[str]:
    seen, todo = {name}, [name]
    while todo:
        more = direct.get(todo.pop(), frozenset()) - seen
        seen |= more
        todo += more
    return frozenset(seen)


def _made_names(feature: Feature) -> Iterator[Thing]:
    for kind, names in (("params", feature.params), ("files", feature.files)):
        yield from (Thing(kind, to_glob(name)) for name in names if "${" in name)
