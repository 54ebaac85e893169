"""Laws of answers, each as a function of a repository's files: against the nodes' own trails and values."""

from collections.abc import Mapping
from typing import Any

import gitcfg
from gitcfg.compile.fleet import Fleet
from gitcfg.explain.definition import layer_settings
from gitcfg.explain.kinds.layers import counts, members_bound, settings_of
from gitcfg.explain.kinds.parameters import PARAMETER
from gitcfg.explain.trail import walk_layers
from gitcfg.explain.values import find_values
from gitcfg.explain.why import why_feature, why_file
from gitcfg.model import Origin
from tests.properties.laws import TODAY, Files, compiled
from tests.reference import evaluate, read_repository
from tests.reference.values import key


def features_are_had_where_they_stand(files: Files) -> None:
    """A node has a feature exactly if there is a place for it, and every place is in the files it names."""
    fleet = compiled(files)
    for name in fleet.names:
        node = fleet[name]
        for feature in fleet.model.features:
            answer = why_feature(fleet, node, feature)
            assert answer.has == (feature in node.features), (name, feature)
            assert not answer.taken or node.node_class.without
            for place in (*answer.places, *(taken.place for taken in answer.taken)):
                assert len(place.layers) == len(place.origins) > 0
                for layer, origin in zip(place.layers, place.origins, strict=True):
                    assert origin.file.endswith(f"/{layer.split(' ')[-1]}.yaml"), (layer, origin)


def places_are_those_of_naive_trails(files: Files) -> None:
    """A feature stands at the places that the naive evaluator's steps of its own bindings come from."""
    fleet, repository = compiled(files), read_repository(files)
    for name in repository.names:
        trails = evaluate(repository, name).trails
        for feature in fleet.model.features:
            label = f"feature {feature}"
            found = {
                param: {step.path for step in steps if step.path[0] == label}
                for param, steps in trails.items()
            }
            places = {(label, *place.layers) for place in why_feature(fleet, fleet[name], feature).places}
            for param, paths in found.items():
                whole = param in fleet.model.features[feature].params and "${" not in param
                assert paths <= places, (name, feature, param)
                assert paths == places or not (whole and paths), (name, feature, param)


def deciding_entries_are_rendered(files: Files) -> None:
    """The entry that is said to decide is the one whose text is rendered; where none is, nothing is."""
    paths = {path for layer in compiled(files).model.layers() for path in layer.files}
    with gitcfg.in_memory(files, TODAY) as library:
        fleet = library.compiled
        for name in fleet.names:
            answers = {path: why_file(fleet, fleet[name], path, library.engine) for path in sorted(paths)}
            told = {
                path: answer.deciding.entry.text
                for path, answer in answers.items()
                if answer.has and answer.deciding is not None
            }
            assert told == library[name].files, name


def settings_win_where_trails_say(files: Files) -> None:
    """Each binding wins on those nodes in whose trails a step of it is not overridden."""
    fleet = compiled(files)
    brute = _acting(fleet)
    for label, layer in walk_layers(fleet.model):
        for setting in layer_settings(fleet, label, layer):
            assert set(setting.nodes) == brute.get(setting.origin, {}).keys(), (label, setting.param)
            assert list(setting.nodes) == sorted(setting.nodes)
    for name in PARAMETER.names(fleet):
        family = members_bound(fleet, name)
        for setting in settings_of(fleet, family):
            acting = brute.get(setting.origin, {})
            assert set(setting.nodes) == {node for node in acting if acting[node] & family}, (name, setting)


def _acting(fleet: Fleet) -> dict[Origin, dict[str, set[str]]]:
    """By place and node: the parameters in whose trails a step from that place counts."""
    found: dict[Origin, dict[str, set[str]]] = {}
    for name in fleet.names:
        for param in fleet[name].node_class.stack.cells:
            for step in fleet[name].trail(param):
                if not step.overridden:
                    found.setdefault(step.origin, {}).setdefault(name, set()).add(param)
    return found


def values_unfolded_are_every_nodes(files: Files) -> None:
    """The values of all parameters, told by parameter, are those of all nodes, told by node."""
    fleet = compiled(files)
    told: dict[str, dict[str, str]] = {name: {} for name in fleet.names}
    params = {param for kind in fleet.classes for param in kind.stack.cells}
    for param in params:
        held = find_values(fleet, param)
        assert sorted(name for one in held for name in one.nodes) == list(fleet.names)
        for one in held:
            for name in one.nodes if one.bound else ():
                told[name][param] = key(one.value)
                deciding = fleet[name].deciding(param)
                assert deciding is not None
                assert one.step is not None
                assert (one.step.origin, one.step.path) == (deciding.origin, deciding.path)
    assert told == {name: _keys(fleet[name].params) for name in fleet.names}


def _keys(params: Mapping[str, Any]) -> dict[str, str]:
    return {name: key(value) for name, value in params.items()}


def counts_are_those_of_nodes(files: Files) -> None:
    """As many nodes bind a parameter, or a member of a family, as have it among their values."""
    fleet = compiled(files)
    brute: dict[str, int] = {}
    for name in fleet.names:
        declared = {param: fleet.declarations.find(param) for param in fleet[name].params}
        for one in {found.name if found else param for param, found in declared.items()}:
            brute[one] = brute.get(one, 0) + 1
    assert {name: count for name, count in counts(fleet).items() if count} == brute
