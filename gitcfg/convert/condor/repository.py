"""The files of a repository that gives every host what its configuration says."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from gitcfg.convert.condor.annotated import annotated, declared
from gitcfg.convert.condor.chains import chains, settled
from gitcfg.convert.condor.declaring import comments, defaults, parameters
from gitcfg.convert.condor.factoring import Chains, Feature, factored
from gitcfg.convert.condor.host import Host
from gitcfg.convert.condor.known import Default
from gitcfg.convert.condor.layers import Layers
from gitcfg.convert.condor.shapes import shapes
from gitcfg.convert.definitions import parameter_files, said
from gitcfg.convert.notes import Note, Place
from gitcfg.parsers.child.circles import circles

SETTINGS = "/etc/condor/config.d/50-gitcfg.config"
TEXT = "/etc/condor/config.d/60-imported.config"
"""Read after the settings, of which it holds none."""

Content = dict[str, Any]


class Found(msgspec.Struct, frozen=True):
    """What was found: a feature, who has it, what it sets; without a name, the rest of one host."""

    feature: str
    hosts: tuple[str, ...]
    params: tuple[str, ...]


def repository(
    hosts: Mapping[str, Host], known: Mapping[str, Default], notes: list[Note]
) -> tuple[dict[str, Content], tuple[Found, ...]]:
    """Paths and contents, and what was found."""
    whole: Chains = {name: chains(host) for name, host in hosts.items()}
    kinds = shapes(whole, known)
    apart = {key: shape.separator for key, shape in kinds.items() if shape.separator is not None}
    whole = {name: settled(found, apart) for name, found in whole.items()}
    _circles(whole, notes)
    named = annotated(hosts)
    marks = declared(hosts, named, notes)
    features = factored(whole, named, {name: host.text for name, host in hosts.items()})
    includes = {name: mark.includes for name, mark in marks.items()}
    included = {inner for inners in includes.values() for inner in inners}
    common = [one.name for one in features if one.hosts == frozenset(hosts) and one.name not in included]
    layers = Layers(
        {one.name: one for one in features}, common, includes, kinds, defaults(features, kinds, notes)
    )
    rests = {name: layers.rest(name, whole) for name in sorted(hosts)}
    contents = {
        "gitcfg.yaml": {"format": 1},
        **parameter_files(parameters(layers, comments(hosts, notes))),
        "groups/default.yaml": {
            "description": "What every node has.",
            "features": common[::-1],
            "files": {SETTINGS: {"format": "condor", "params": ["*"]}},
        },
    }
    texts = _texts(features, hosts)
    for one in features:
        mark = marks.get(one.name)
        contents[f"features/{one.name}.yaml"] = said(
            include=list(mark.includes) if mark else [],
            depends=list(mark.depends) if mark else [],
            params=layers.params(one.name),
            files=_file(texts.get(one.name, "")),
        ) or {"params": {}}
    for name in sorted(hosts):
        shared = any(name in one.hosts for one in features if one.name in texts)
        contents[f"nodes/{name}.yaml"] = said(
            features=layers.listed(name), params=rests[name], files={} if shared else _file(hosts[name].text)
        ) or {"features": []}
    return contents, _found(features, layers, rests)


def _circles(hosts: Chains, notes: list[Note]) -> None:
    """Macros that lead back to themselves: `gitcfg check` has more to say of them."""
    for name in sorted(hosts):
        for found in circles({chain.name: chain.text for chain in hosts[name].values()}):
            Place(notes, "host", name).look("", f"It {found.reason}.")


def _file(text: str) -> Content:
    return {TEXT: {"text": text}} if text else {}


def _texts(features: Sequence[Feature], hosts: Mapping[str, Host]) -> dict[str, str]:
    """The text that a feature holds, which is that of exactly its hosts."""
    same: dict[str, set[str]] = {}
    for name, host in hosts.items():
        if host.text:
            same.setdefault(host.text, set()).add(name)
    result: dict[str, str] = {}
    for one in features:
        for text, who in same.items():
            if one.hosts == who and text not in result.values():
                result[one.name] = text
    return result


def _found(
    features: Sequence[Feature], layers: Layers, rests: Mapping[str, Mapping[str, Any]]
) -> tuple[Found, ...]:
    shared = [Found(one.name, tuple(sorted(one.hosts)), tuple(layers.params(one.name))) for one in features]
    own = [Found("", (name,), tuple(rest)) for name, rest in rests.items() if rest]
    return (*shared, *own)
