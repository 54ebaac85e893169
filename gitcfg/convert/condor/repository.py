"""The files of a repository that gives every host what its configuration says."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from gitcfg.convert.condor.annotated import check_relations, find_feature_hosts
from gitcfg.convert.condor.chains import build_chains, settle
from gitcfg.convert.condor.declaring import collect_defaults, collect_descriptions, declare_parameters
from gitcfg.convert.condor.factoring import Chains, Feature, Hosts, factor_features
from gitcfg.convert.condor.host import Host
from gitcfg.convert.condor.known import KnownName
from gitcfg.convert.condor.layers import Layers
from gitcfg.convert.condor.shapes import infer_types
from gitcfg.convert.definitions import parameter_files, without_empty
from gitcfg.convert.notes import Note, Place
from gitcfg.parsers.child.condor import circles

SETTINGS = "/etc/condor/config.d/50-gitcfg.config"
BEFORE = "/etc/condor/config.d/40-imported.config"
AFTER = "/etc/condor/config.d/60-imported.config"
"""Text that HTCondor reads before and after the settings."""

Content = dict[str, Any]
Text = tuple[str, str]
"""The path of a file and what it says."""


class FeatureSummary(msgspec.Struct, frozen=True):
    """What was found: a feature, who has it, what it sets; without a name, the rest of one host."""

    feature: str
    hosts: tuple[str, ...]
    params: tuple[str, ...]


def build_repository(
    hosts: Mapping[str, Host], known: Mapping[str, KnownName], notes: list[Note]
) -> tuple[dict[str, Content], tuple[FeatureSummary, ...]]:
    """Paths and contents, and what was found."""
    whole: Chains = {name: build_chains(host) for name, host in hosts.items()}
    kinds = infer_types(whole, known)
    apart = {key: shape.separator for key, shape in kinds.items() if shape.separator is not None}
    whole = {name: settle(found, apart) for name, found in whole.items()}
    _note_circles(whole, notes)
    named = find_feature_hosts(hosts)
    marks = check_relations(hosts, named, notes)
    texts = _find_text_hosts(hosts)
    features = factor_features(whole, named, texts.values())
    includes = {name: mark.includes for name, mark in marks.items()}
    included = {inner for inners in includes.values() for inner in inners}
    common = [one.name for one in features if one.hosts == frozenset(hosts) and one.name not in included]
    layers = Layers(
        {one.name: one for one in features}, common, includes, kinds, collect_defaults(features, kinds, notes)
    )
    rests = {name: layers.rest(name, whole) for name in sorted(hosts)}
    contents = {
        "gitcfg.yaml": {"format": 1},
        **parameter_files(declare_parameters(kinds, layers.defaults, collect_descriptions(hosts, notes))),
        "groups/default.yaml": {
            "description": "What every node has.",
            "features": common[::-1],
            "files": {SETTINGS: {"format": "condor", "params": ["*"]}},
        },
    }
    files = _assign_texts(features, texts)
    for one in features:
        mark = marks.get(one.name)
        contents[f"features/{one.name}.yaml"] = without_empty(
            include=list(mark.includes) if mark else [],
            depends=list(mark.depends) if mark else [],
            params=layers.params(one.name),
            files=_file_entries(files[one.name]),
        ) or {"params": {}}
    for name in sorted(hosts):
        taken = {text for one in features if name in one.hosts for text in files[one.name]}
        own = [text for text, who in texts.items() if name in who and text not in taken]
        contents[f"nodes/{name}.yaml"] = without_empty(
            features=layers.listed_features(name), params=rests[name], files=_file_entries(own)
        ) or {"features": []}
    return contents, _summarize(features, layers, rests)


def _note_circles(hosts: Chains, notes: list[Note]) -> None:
    """Macros that lead back to themselves: `gitcfg check` has more to say of them."""
    for name in sorted(hosts):
        for found in circles({chain.name: chain.text for chain in hosts[name].values()}):
            Place(notes, "host", name).look("", f"It {found.reason}.")


def _find_text_hosts(hosts: Mapping[str, Host]) -> dict[Text, Hosts]:
    """The hosts of each text."""
    found: dict[Text, set[str]] = {}
    for name, host in hosts.items():
        for text in ((BEFORE, host.before), (AFTER, host.after)):
            if text[1]:
                found.setdefault(text, set()).add(name)
    return {text: frozenset(who) for text, who in found.items()}


def _assign_texts(features: Sequence[Feature], texts: Mapping[Text, Hosts]) -> dict[str, list[Text]]:
    """The texts that each feature holds, which are those of exactly its hosts; of several, the first does."""
    left = dict(texts)
    return {
        one.name: [
            text for text, who in texts.items() if who == one.hosts and text in left and left.pop(text)
        ]
        for one in features
    }


def _file_entries(texts: Iterable[Text]) -> Content:
    return {path: {"text": text} for path, text in texts}


def _summarize(
    features: Sequence[Feature], layers: Layers, rests: Mapping[str, Mapping[str, Any]]
) -> tuple[FeatureSummary, ...]:
    shared = [
        FeatureSummary(one.name, tuple(sorted(one.hosts)), tuple(layers.params(one.name))) for one in features
    ]
    own = [FeatureSummary("", (name,), tuple(rest)) for name, rest in rests.items() if rest]
    return (*shared, *own)
