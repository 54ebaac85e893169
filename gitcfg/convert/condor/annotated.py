"""What annotations say of features: which hosts have them, and what they include and depend on."""

from collections.abc import Mapping

from gitcfg.convert.condor.factoring import Hosts
from gitcfg.convert.condor.host import Host, Relations
from gitcfg.convert.notes import Note, Place
from gitcfg.model.graph import components


def find_feature_hosts(hosts: Mapping[str, Host]) -> dict[str, Hosts]:
    """The hosts of each feature that is named, in order of first mention."""
    found: dict[str, set[str]] = {}
    for host in sorted(hosts):
        for name in hosts[host].features:
            found.setdefault(name, set()).add(host)
    return {name: frozenset(who) for name, who in found.items()}


def check_relations(
    hosts: Mapping[str, Host], named: Mapping[str, Hosts], notes: list[Note]
) -> dict[str, Relations]:
    """What is certain of all that annotations say of features."""
    said: dict[str, Relations] = {}
    for name in named:
        given = [hosts[host].features[name] for host in sorted(named[name])]
        place = Place(notes, "feature", name)
        includes = dict.fromkeys(inner for one in given for inner in one.includes)
        depends = dict.fromkeys(inner for one in given for inner in one.depends)
        said[name] = Relations(
            tuple(inner for inner in includes if _may_include(name, inner, named, place)),
            tuple(inner for inner in depends if _may_depend(name, inner, named, place)),
        )
    return _drop_circles(said, notes)


def _may_include(name: str, inner: str, named: Mapping[str, Hosts], place: Place) -> bool:
    lacking = _hosts_without(name, inner, named)
    if lacking is None:
        place.dropped("includes", f"No annotation makes a feature {inner} that it could include.")
    elif lacking:
        place.dropped("includes", f"It cannot include {inner}: {lacking[0]} has it, and not {inner}.")
    return lacking == []


def _may_depend(name: str, inner: str, named: Mapping[str, Hosts], place: Place) -> bool:
    lacking = _hosts_without(name, inner, named)
    if lacking is None:
        place.dropped("depends", f"No annotation makes a feature {inner} that it could depend on.")
    elif lacking:
        place.look("depends", f"{lacking[0]} has it, and not {inner}: `gitcfg check` will say so.")
    return lacking is not None


def _hosts_without(name: str, inner: str, named: Mapping[str, Hosts]) -> list[str] | None:
    """The hosts that have a feature, and not the other one; None: there is no other one."""
    return sorted(named[name] - named[inner]) if inner in named and inner != name else None


def _drop_circles(said: dict[str, Relations], notes: list[Note]) -> dict[str, Relations]:
    """Includes and dependencies that lead back to where they began are left out, all of a circle."""
    edges = {name: (*one.includes, *one.depends) for name, one in said.items()}
    result = dict(said)
    for members in components(edges):
        within = frozenset(members)
        for name in members if len(members) > 1 else ():
            one = said[name]
            result[name] = Relations(
                tuple(inner for inner in one.includes if inner not in within),
                tuple(inner for inner in one.depends if inner not in within),
            )
            place = Place(notes, "feature", name)
            place.dropped("includes", f"It leads back to itself, by {', '.join(sorted(within - {name}))}.")
    return result
