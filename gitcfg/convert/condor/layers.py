"""The bindings of features and nodes, and what every host has of them in the end."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec

from gitcfg.convert.condor.chains import Action, Step, compose_items
from gitcfg.convert.condor.factoring import Chains, Feature
from gitcfg.convert.condor.shapes import ParameterType

State = dict[str, Any]
UNSET = {"$unset": True}


class Layers(msgspec.Struct, frozen=True):
    """The features (lowest first), those of the default group, what they include, and declared defaults."""

    features: Mapping[str, Feature]
    common: Collection[str]
    includes: Mapping[str, Sequence[str]]
    shapes: Mapping[str, ParameterType]
    defaults: Mapping[str, Any]

    def params(self, feature: str) -> dict[str, Any]:
        """A feature's bindings by parameter."""
        found = {
            key: self._binding(key, steps) for key, steps in self.features[feature].steps.items() if steps
        }
        return {self.shapes[key].name: said for key, said in sorted(found.items())}

    def _binding(self, key: str, steps: Sequence[Step]) -> Any:
        shape = self.shapes[key]
        if steps[-1].default and key in self.defaults:
            return None
        if shape.separator is None:
            return shape.value(steps[-1].text)
        sets = [at for at, step in enumerate(steps) if step.act is Action.SET]
        if sets:
            return compose_items(steps[sets[-1] :], shape.separator)
        act = steps[-1].act
        return {str(act): compose_items([step for step in steps if step.act is act], shape.separator)}

    def listed_features(self, host: str) -> list[str]:
        """The features that a host lists itself, highest first: without those that others of it include."""
        held = [name for name, feature in self.features.items() if host in feature.hosts]
        within = {inner for name in held for inner in self._within(name)}
        return [name for name in reversed(held) if name not in within and name not in self.common]

    def _within(self, name: str) -> set[str]:
        inner = set(self.includes.get(name, ()))
        return inner.union(*(self._within(one) for one in inner))

    def state(self, host: str) -> State:
        """What a host has of its features."""
        state: State = {}
        for name in self.features:
            if name in self.common:
                self._apply(name, state)
        for name in reversed(self.listed_features(host)):
            self._apply(name, state)
        return state

    def _apply(self, name: str, state: State) -> None:
        for inner in reversed(self.includes.get(name, ())):
            self._apply(inner, state)
        for key, steps in self.features[name].steps.items():
            if not steps:
                continue
            said = self._binding(key, steps)
            below = state.get(key, [])
            match said:
                case None:
                    state[key] = self.defaults[key]
                case {"$append": items}:
                    state[key] = [*below, *items]
                case {"$prepend": items}:
                    state[key] = [*items, *below]
                case _:
                    state[key] = said

    def rest(self, host: str, chains: Chains) -> dict[str, Any]:
        """What is left for a node itself to say, so that it has what its host has."""
        state = self.state(host)
        result: dict[str, Any] = {}
        for key, chain in chains[host].items():
            shape = self.shapes[key]
            wanted = shape.value(chain.text)
            if shape.separator is not None:
                wanted = compose_items(chain.steps, shape.separator)
            if key not in state or _differs(state[key], wanted):
                result[shape.name] = _bind_above(state.get(key), wanted)
        extra = {self.shapes[key].name: UNSET for key in state if key not in chains[host]}
        return dict(sorted({**result, **extra}.items()))


def _differs(one: Any, other: Any) -> bool:
    return type(one) is not type(other) or one != other


def _bind_above(below: Any, wanted: Any) -> Any:
    """What to say above a value, so that it becomes another."""
    if isinstance(below, list) and below and isinstance(wanted, list) and len(wanted) > len(below):
        if wanted[: len(below)] == below:
            return {"$append": wanted[len(below) :]}
        if wanted[-len(below) :] == below:
            return {"$prepend": wanted[: -len(below)]}
    return wanted
