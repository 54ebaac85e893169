"""The import of HTCondor's configuration, verified: a repository that gives every host its settings."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, TypeVar

import msgspec

import gitcfg.progress as progress
from gitcfg.compile.fleet import Fleet, compile_tree
from gitcfg.compile.values import split_list
from gitcfg.convert.base import Note, Place, parameter_files, sort_notes, without_empty
from gitcfg.convert.condor.factoring import (
    Action,
    Chains,
    Feature,
    Hosts,
    Step,
    build_chains,
    compose_items,
    factor_features,
    settle_chains,
)
from gitcfg.convert.condor.host import AFTER, BEFORE, SETTINGS, Host, ReadFile, Relations, walk_files
from gitcfg.convert.condor.htcondor import Builtins, HTCondor, KnownName
from gitcfg.convert.condor.parameters import (
    ParameterType,
    collect_defaults,
    collect_descriptions,
    declare_parameters,
    infer_types,
)
from gitcfg.convert.condor.reader import read_host
from gitcfg.convert.condor.sources import MAX_ALL, Input, no_files_error
from gitcfg.convert.condor.syntax import StatementKind, parse_statements
from gitcfg.git.tree import DictTree
from gitcfg.load import yaml
from gitcfg.model import GitcfgError
from gitcfg.model.graph import components
from gitcfg.model.names import shown
from gitcfg.parsers.child.condor import circles, lines
from gitcfg.render.files import find_separators
from gitcfg.render.formats import Condor

_LARGEST = 1 << 20  # of a repository's file
UNSET = {"$unset": True}
T = TypeVar("T")
State = dict[str, Any]
Content = dict[str, Any]
Text = tuple[str, str]
"""The path and the content of a file."""


class FeatureSummary(msgspec.Struct, frozen=True):
    """A feature that was found, with its hosts and parameters; without a name, the rest of one host."""

    feature: str
    hosts: tuple[str, ...]
    params: tuple[str, ...]


class CondorImport(msgspec.Struct, frozen=True):
    """The result of an import: the files of a repository, the features in it, and notes.

    `hosts`, and how many of them are proved to be `alike`; `read` is the number of files that they have.
    """

    files: Mapping[str, str]
    found: tuple[FeatureSummary, ...]
    notes: tuple[Note, ...]
    hosts: int
    alike: int
    read: int


class Layers(msgspec.Struct, frozen=True):
    """The features (lowest first), those of the default group, what each includes, and declared defaults."""

    features: Mapping[str, Feature]
    common: Collection[str]
    includes: Mapping[str, Sequence[str]]
    types: Mapping[str, ParameterType]
    defaults: Mapping[str, Any]

    def params(self, feature: str) -> dict[str, Any]:
        """Return the bindings of a feature by parameter."""
        found = {
            key: self._binding(key, steps) for key, steps in self.features[feature].steps.items() if steps
        }
        return {self.types[key].name: binding for key, binding in sorted(found.items())}

    def _binding(self, key: str, steps: Sequence[Step]) -> Any:
        type_ = self.types[key]
        if steps[-1].default and key in self.defaults:
            return None
        if type_.separator is None:
            return type_.value(steps[-1].text)
        sets = [at for at, step in enumerate(steps) if step.act is Action.SET]
        if sets:
            return compose_items(steps[sets[-1] :], type_.separator)
        act = steps[-1].act
        return {str(act): compose_items([step for step in steps if step.act is act], type_.separator)}

    def listed_features(self, host: str) -> list[str]:
        """Return the features that a host lists, highest first, without those that others of its include."""
        held = [name for name, feature in self.features.items() if host in feature.hosts]
        within = {inner for name in held for inner in self._all_included(name)}
        return [name for name in reversed(held) if name not in within and name not in self.common]

    def _all_included(self, name: str) -> set[str]:
        inner = set(self.includes.get(name, ()))
        return inner.union(*map(self._all_included, inner))

    def state(self, host: str) -> State:
        """Return the values that a host has from its features."""
        state: State = {}
        common = (name for name in self.features if name in self.common)
        for name in (*common, *reversed(self.listed_features(host))):
            self._apply(name, state)
        return state

    def _apply(self, name: str, state: State) -> None:
        for inner in reversed(self.includes.get(name, ())):
            self._apply(inner, state)
        for key, steps in self.features[name].steps.items():
            if not steps:
                continue
            below = state.get(key, [])
            match self._binding(key, steps):
                case None:
                    state[key] = self.defaults[key]
                case {"$append": items}:
                    state[key] = [*below, *items]
                case {"$prepend": items}:
                    state[key] = [*items, *below]
                case value:
                    state[key] = value

    def rest(self, host: str, chains: Chains) -> dict[str, Any]:
        """Return the bindings of a node itself that give it all values of its host."""
        state = self.state(host)
        result: dict[str, Any] = {}
        for key, chain in chains[host].items():
            type_ = self.types[key]
            value = type_.value(chain.text)
            if type_.separator is not None:
                value = compose_items(chain.steps, type_.separator)
            below = state.get(key)
            if key not in state or type(below) is not type(value) or below != value:
                result[type_.name] = _bind_above(below, value)
        extra = {self.types[key].name: UNSET for key in state if key not in chains[host]}
        return dict(sorted({**result, **extra}.items()))


def _bind_above(below: Any, value: Any) -> Any:
    """Return the binding that turns what is below into a value."""
    if isinstance(below, list) and below and isinstance(value, list) and len(value) > len(below):
        if value[: len(below)] == below:
            return {"$append": value[len(below) :]}
        if value[-len(below) :] == below:
            return {"$prepend": value[: -len(below)]}
    return value


def import_condor(
    given: Mapping[str, Sequence[Input]], condor: HTCondor, noted: Iterable[Note] = ()
) -> CondorImport:
    """Convert the files of hosts; `noted` are notes from before, for the result.

    Raise GitcfgError if a host has no files, HTCondor would not accept them, or they are too large.
    """
    notes = list(noted)
    hosts = _read_hosts(given, condor, notes)
    contents, found = build_repository(hosts, condor.defaults, notes)
    files = {path: yaml.dump(contents[path]) for path in sorted(contents)}
    for path, text in files.items():
        if len(text.encode()) > _LARGEST:
            raise GitcfgError(f"{path} would be larger than {_LARGEST >> 20} MiB.", "Import fewer hosts.")
    alike = verify_hosts(files, {name: one.read for name, one in hosts.items()}, condor, notes)
    read = len({one.source.name for host in hosts.values() for one in walk_files(host.read)})
    return CondorImport(files, found, sort_notes(list(dict.fromkeys(notes))), len(hosts), alike, read)


def _read_hosts(given: Mapping[str, Sequence[Input]], condor: HTCondor, notes: list[Note]) -> dict[str, Host]:
    builtins = Builtins(condor.knob, condor.defaults if condor.version else None)
    hosts, size = {}, 0
    for name in sorted(given):
        progress.note("reading the configuration of", name, len(given))
        hosts[name] = read_host(name, given[name], builtins, notes)
        size += sum(len(one.source.text) for one in walk_files(hosts[name].read))
        if size > MAX_ALL:
            raise GitcfgError(
                f"The files of all hosts are larger than {MAX_ALL >> 20} MiB.", "Import fewer hosts."
            )
    empty = [name for name, one in hosts.items() if not one.read]
    if empty:
        raise no_files_error(empty, len(hosts))
    return hosts


def build_repository(
    hosts: Mapping[str, Host], known: Mapping[str, KnownName], notes: list[Note]
) -> tuple[dict[str, Content], tuple[FeatureSummary, ...]]:
    """Return the contents of files by path, and a summary of features."""
    whole: Chains = {name: build_chains(host) for name, host in hosts.items()}
    types = infer_types(whole, known)
    apart = {key: type_.separator for key, type_ in types.items() if type_.separator is not None}
    whole = {name: settle_chains(found, apart) for name, found in whole.items()}
    _note_circles(whole, notes)
    named = _group_hosts((name, host) for host in sorted(hosts) for name in hosts[host].features)
    relations = check_relations(hosts, named, notes)
    texts = _group_hosts(
        (text, name)
        for name, host in hosts.items()
        for text in ((BEFORE, host.before), (AFTER, host.after))
        if text[1]
    )
    features = factor_features(whole, named, texts.values())
    includes = {name: each.includes for name, each in relations.items()}
    included = {inner for inners in includes.values() for inner in inners}
    common = [one.name for one in features if one.hosts == frozenset(hosts) and one.name not in included]
    layers = Layers(
        {one.name: one for one in features}, common, includes, types, collect_defaults(features, types, notes)
    )
    rests = {name: layers.rest(name, whole) for name in sorted(hosts)}
    contents = {
        "gitcfg.yaml": {"format": 1},
        **parameter_files(declare_parameters(types, layers.defaults, collect_descriptions(hosts, notes))),
        "groups/default.yaml": {
            "description": "What every node has.",
            "features": common[::-1],
            "files": {SETTINGS: {"format": "condor", "params": ["*"]}},
        },
    }
    files = _assign_texts(features, texts)
    for one in features:
        related = relations.get(one.name, Relations())
        contents[f"features/{one.name}.yaml"] = without_empty(
            include=list(related.includes),
            depends=list(related.depends),
            params=layers.params(one.name),
            files=_file_entries(files[one.name]),
        ) or {"params": {}}
    for name in sorted(hosts):
        shared = {text for one in features if name in one.hosts for text in files[one.name]}
        own = [text for text, group in texts.items() if name in group and text not in shared]
        contents[f"nodes/{name}.yaml"] = without_empty(
            features=layers.listed_features(name), params=rests[name], files=_file_entries(own)
        ) or {"features": []}
    return contents, _summarize(features, layers, rests)


def _note_circles(hosts: Chains, notes: list[Note]) -> None:
    """Note macros that refer to themselves in a cycle; `gitcfg check` has the details."""
    for name in sorted(hosts):
        for found in circles({chain.name: chain.text for chain in hosts[name].values()}):
            Place(notes, "host", name).look("", f"It {found.reason}.")


def _group_hosts(pairs: Iterable[tuple[T, str]]) -> dict[T, Hosts]:
    """Return the hosts of each thing, by pairs of both, in order of first mention."""
    found: dict[T, set[str]] = {}
    for thing, host in pairs:
        found.setdefault(thing, set()).add(host)
    return {thing: frozenset(group) for thing, group in found.items()}


def _assign_texts(features: Sequence[Feature], texts: Mapping[Text, Hosts]) -> dict[str, list[Text]]:
    """Assign each text to the first feature that has exactly its hosts."""
    result: dict[str, list[Text]] = {one.name: [] for one in features}
    for text, group in texts.items():
        name = next((one.name for one in features if one.hosts == group), None)
        if name is not None:
            result[name].append(text)
    return result


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


def check_relations(
    hosts: Mapping[str, Host], named: Mapping[str, Hosts], notes: list[Note]
) -> dict[str, Relations]:
    """Return what features include and depend on by annotations; note what is not true on all hosts."""
    result: dict[str, Relations] = {}
    for name in named:
        given = [hosts[host].features[name] for host in sorted(named[name])]
        place = Place(notes, "feature", name)
        includes = dict.fromkeys(inner for one in given for inner in one.includes)
        depends = dict.fromkeys(inner for one in given for inner in one.depends)
        result[name] = Relations(
            tuple(inner for inner in includes if _may_include(name, inner, named, place)),
            tuple(inner for inner in depends if _may_depend(name, inner, named, place)),
        )
    return _drop_circles(result, notes)


def _may_include(name: str, inner: str, named: Mapping[str, Hosts], place: Place) -> bool:
    lacking = _hosts_without(name, inner, named)
    if lacking is None:
        place.dropped("includes", f"It cannot include {inner}: no annotation defines that feature.")
    elif lacking:
        place.dropped(
            "includes", f"It cannot include {inner}: {lacking[0]} has this feature without {inner}."
        )
    return lacking == []


def _may_depend(name: str, inner: str, named: Mapping[str, Hosts], place: Place) -> bool:
    lacking = _hosts_without(name, inner, named)
    if lacking is None:
        place.dropped("depends", f"It cannot depend on {inner}: no annotation defines that feature.")
    elif lacking:
        place.look("depends", f"{lacking[0]} has it without {inner}: `gitcfg check` will report this.")
    return lacking is not None


def _hosts_without(name: str, inner: str, named: Mapping[str, Hosts]) -> list[str] | None:
    """Return the hosts that have a feature and not the inner one; None if that does not exist."""
    return sorted(named[name] - named[inner]) if inner in named and inner != name else None


def _drop_circles(relations: dict[str, Relations], notes: list[Note]) -> dict[str, Relations]:
    """Remove, and note, all includes and dependences in a cycle."""
    edges = {name: (*one.includes, *one.depends) for name, one in relations.items()}
    result = dict(relations)
    for members in components(edges):
        within = frozenset(members)
        for name in members if len(members) > 1 else ():
            one = relations[name]
            result[name] = Relations(
                tuple(inner for inner in one.includes if inner not in within),
                tuple(inner for inner in one.depends if inner not in within),
            )
            place = Place(notes, "feature", name)
            place.dropped("includes", f"It includes itself through {', '.join(sorted(within - {name}))}.")
    return result


# Verification: HTCondor reads the rendered files like the given ones.

_ANY_DAY = date(1970, 1, 1)  # no imported definition depends on it
_MOST_SILENT = 20  # each may use the whole time limit of a child
_INCLUDE = re.compile(r"[@:\s]*include\b", re.IGNORECASE)
_USE = re.compile(r"[@:\s]*use\b(.*)", re.IGNORECASE | re.DOTALL)


def verify_hosts(
    files: Mapping[str, str], hosts: Mapping[str, Sequence[ReadFile]], condor: HTCondor, notes: list[Note]
) -> int:
    """Return the number of hosts with equal values; note the differences of all others."""
    if not condor.version:
        reason = (
            "HTCondor's bindings are not installed, so nothing was compared: install the extra [htcondor]."
        )
        Place(notes, "host", "").look("", reason)
        return 0
    fleet = compile_tree(DictTree(dict(files)), _ANY_DAY)
    alike = silent = 0
    for name in sorted(hosts):
        progress.note("comparing the configuration of", name, len(hosts))
        if silent >= _MOST_SILENT:
            reason = f"It was not compared: HTCondor's parser did not answer for {silent} other hosts."
            Place(notes, "host", name).look("", reason)
            continue
        before = "".join(map(_insert_included, hosts[name]))
        problems = list(_find_differences(before, _render_texts(fleet, name), fleet, condor))
        alike += not problems
        silent += any(not field for field, _ in problems)
        for field, reason in problems:
            Place(notes, "host", name).look(field, reason)
    return alike


def _insert_included(read: ReadFile) -> str:
    """Return the text that HTCondor reads, with each `include` replaced by its file, or by nothing."""
    text = read.source.text
    lines = (text if text.endswith("\n") or not text else f"{text}\n").split("\n")
    for statement in parse_statements(read.source):
        if statement.kind is StatementKind.INCLUDE:
            first = statement.line.number - 1
            last = first + statement.line.raw.count("\n")
            lines[first:last] = [""] * (last - first)
            if statement.line.number in read.included:
                lines[first] = _insert_included(read.included[statement.line.number]).removesuffix("\n")
    return "\n".join(lines)


def _render_texts(fleet: Fleet, name: str) -> list[str]:
    """Return the files of a node in the order in which HTCondor reads them."""
    node = fleet[name]
    settings = Condor().write(node.params, find_separators(fleet, node.params))
    return [settings if path == SETTINGS else node.entries[path].text or "" for path in sorted(node.entries)]


def _find_differences(
    before: str, after: Sequence[str], fleet: Fleet, condor: HTCondor
) -> Iterator[tuple[str, str]]:
    if not all(_reads_nothing_else(text, condor) for text in (before, *after)):
        yield "", "It was not compared: one of its knobs reads other files."
        return
    was, now = condor.read([before]), condor.read(after)
    if isinstance(was, str) or isinstance(now, str):
        which, why = ("the given files", was) if isinstance(was, str) else ("what is rendered", now)
        yield "", f"It was not compared: with {which}, HTCondor's own parser {why}."
        return
    kinds = {name.lower(): (each.type, each.separator) for name, each in fleet.model.parameters.items()}
    for name in sorted({*was, *now}):
        old, new = was.get(name), now.get(name)
        if old != new and _normalize(old, kinds.get(name)) != _normalize(new, kinds.get(name)):
            yield name.upper(), f"HTCondor read {_quote(old)} before, and reads {_quote(new)} now."


def _reads_nothing_else(text: str, condor: HTCondor) -> bool:
    """Return whether neither a text nor the knobs that it uses include other files."""
    known: set[str] = set()
    texts = [text]
    while texts:
        one = texts.pop()
        for _, line in (*enumerate(one.split("\n")), *lines(one)):
            if _INCLUDE.match(line):
                return False
            found = _USE.match(line)
            bodies = _knob_bodies(found[1], condor) if found is not None else ()
            texts += [body for body in bodies if body not in known]
            known.update(bodies)
    return True


def _knob_bodies(use: str, condor: HTCondor) -> list[str]:
    """Return the texts of the knobs that a `use` may name."""
    category, _, rest = use.partition(":")
    found = (condor.knob(category.strip(), name) for name in re.findall(r"[A-Za-z_]\w*", rest))
    return [body for body in found if body is not None]


def _normalize(text: str | None, kind: tuple[Any, Any] | None) -> object:
    """Return a value without insignificant blanks, list separators, and the case of booleans."""
    if text is None or kind is None:
        return text
    if str(kind[0]) == "list":
        return split_list(text, kind[1])
    # HTCondor itself keeps the case of a default that differs only in that.
    return text.lower() if text.lower() in ("true", "false") else " ".join(text.split())


def _quote(text: str | None) -> str:
    return "nothing" if text is None else shown(repr(text))
