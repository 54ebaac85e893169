"""Finds texts in the YAML files of definitions."""

from collections.abc import Iterable, Iterator

from gitcfg.compile.fleet import Fleet
from gitcfg.explain.excerpt import Hit, in_value, whole
from gitcfg.explain.match import Found, match
from gitcfg.explain.veil import Veil
from gitcfg.explain.wanted import Wanted
from gitcfg.explain.written import Written, written
from gitcfg.load.document import parse
from gitcfg.model import Model
from gitcfg.model.nodeset import fold


def documents(model: Model) -> dict[str, tuple[str, str]]:
    """The YAML files of definitions: what kind they hold, and of what name, where they hold just one."""
    files = {"gitcfg.yaml": ("setting", "")}
    files |= {found.origin.file: ("parameter", "") for found in model.parameters.values()}
    files |= {found.origin.file: ("subsystem", "") for found in model.subsystems.values()}
    files |= {found.origin.file: ("rule", "") for found in model.rules.values()}
    for kind, definitions in (
        ("node", model.nodes),
        ("group", model.groups),
        ("feature", model.features),
        ("nodeset", model.nodesets),
        ("override", model.overrides),
        ("hold", model.holds),
        ("secret", model.secrets),
        ("allocation", model.allocations),
    ):
        files |= {found.origin.file: (kind, name) for name, found in definitions.items()}
    return files


def in_document(
    fleet: Fleet, wanted: Wanted, veil: Veil, file: str, definition: tuple[str, str]
) -> Iterator[Found]:
    """Where texts are found in a file that holds definitions of a kind, or the one of a name."""
    kind, name = definition
    entry = fleet.tree.entry(file)
    data = fleet.tree.read(entry) if entry is not None else b""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    members = wanted.among(_members(fleet.model, kind, name))
    if not (members or wanted.may_hold(text)):
        return
    lines = text.split("\n")
    everything = tuple(written(kind, parse(file, data)))
    shows = veil.over(text, everything)
    for one in everything:
        own = _own(one, kind, name)
        extra = members if one.path == ("nodes",) else ()
        held = wanted.held(one.text, *extra)
        if own is None or not held:
            continue
        for hit in shows.told(one, _hits(lines, one, wanted, extra)):
            yield held, match(kind, *own, file, hit)


def _members(model: Model, kind: str, name: str) -> Iterable[str]:
    """The nodes that `nodes` of a set, an override or a hold stands for."""
    if kind == "nodeset":
        return model.nodesets[name].members
    named = model.overrides if kind == "override" else model.holds if kind == "hold" else {}
    return named[name].members or () if name in named else ()


def _own(one: Written, kind: str, name: str) -> tuple[str, str] | None:
    """The name of the definition that something is written in, and its field; None: it is in none."""
    path = [str(step) for step in one.path if isinstance(step, str) and not step.startswith("$")]
    if name:
        return name, " ".join(path)
    if kind == "setting":
        return (path[0], "value") if path else None
    return (path[1], " ".join(path[2:]) or "name") if len(path) > 1 and path[0] != "defaults" else None


def _hits(lines: list[str], one: Written, wanted: Wanted, members: tuple[str, ...]) -> Iterator[Hit]:
    if members and not wanted.spans(one.text):
        yield whole(*one.start, fold(members))
    else:
        yield from in_value(lines, one, wanted.pattern)
