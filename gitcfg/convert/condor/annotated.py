"""What annotations say of features: which hosts have them, and what they include and depend on."""

from collections.abc import Mapping

from gitcfg.convert.condor.factoring import Hosts
from gitcfg.convert.condor.host import Declared, Host
from gitcfg.convert.notes import Note, Place
from gitcfg.model.graph import components


def annotated(hosts: Mapping[str, Host]) -> dict[str, Hosts]:
    """The hosts of each feature that is named, in order of first mention."""
    found: dict[str, set[str]] = {}
    for host in sorted(hosts):
        for name in hosts[host].features:
            found.setdefault(name, set()).add(host)
    return {name: frozenset(who) for name, who in found.items()}


def declared(hosts: Mapping[str, Host], named: Mapping[str, Hosts], notes: list[Note]) -> dict[str, Declared]:
    """What is certain of all that annotations say of features."""
    said: dict[str, Declared] = {}
    for name in named:
        given = [hosts[host].features[name] for host in sorted(named[name])]
        place = Place(notes, "feature", name)
        includes = dict.fromkeys(inner for one in given for inner in one.includes)
        depends = dict.fromkeys(inner for one in given for inner in one.depends)
        said[name] = Declared(
            tuple(inner for inner in includes if _included(name, inner, named, place)),
            tuple(inner for inner in depends if _depended(name, inner, named, place)),
        )
    return _without_circles(said, notes)


def _included(name: str, inner: str, named: Mapping[str, Hosts], place: Place) -> bool:
    lacking = _lacking(name, inner, named)
    if lacking is None:
        place.dropped("includes", f"No annotation makes a feature {inner} that it could include.")
    elif lacking:
        place.dropped("includes", f"It cannot include {inner}: {lacking[0]} has it, and not {inner}.")
    return lacking == []


def _depended(name: str, inner: str, named: Mapping[str, Hosts], place: Place) -> bool:
    lacking = _lacking(name, inner, named)
    if lacking is None:
        place.dropped("depends", f"No annotation makes a feature {inner} that it could depend on.")
    elif lacking:
        place.look("depends", f"{lacking[0]} has it, and not {inner}: `gitcfg check` will say so.")
    return lacking is not None


def _lacking(name: str, inner: str, named: Mapping[str, Hosts]) -> list[str] | None:
    """The hosts that have a feature, and not the other one; None: there is no other one."""
    return sorted(named[name] - named[inner]) if inner in named and inner != name else None


def _without_circles(said: dict[str, Declared], notes: list[Note]) -> dict[str, Declared]:
    """Includes and dependencies that lead back to where they began are left out, all of a circle."""
    edges = {name: (*one.includes, *one.depends) for name, one in said.items()}
    result = dict(said)
    for members in components(edges):
        within = frozenset(members)
        for name in members if len(members) > 1 else ():
            one = said[name]
            result[name] = Declared(
                tuple(inner for inner in one.includes if inner not in within),
                tuple(inner for inner in one.depends if inner not in within),
            )
            place = Place(notes, "feature", name)
            place.dropped("includes", f"It leads back to itself, by {', '.join(sorted(within - {name}))}.")
    return result
