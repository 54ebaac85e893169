"""Definitions under another name, with all that certainly refers to them; other mentions are listed."""

import re
from collections.abc import Iterable, Iterator
from functools import partial

import msgspec

from gitcfg.edit import keys
from gitcfg.edit.draft import Draft, definitions, files_beside, find_set, refuse_taken_name, sealed_path
from gitcfg.edit.kinds import KINDS, Kind
from gitcfg.edit.yaml.changes import Change, Path, Rename, Set
from gitcfg.edit.yaml.text import read_spots
from gitcfg.edit.yaml.tree import Meaning
from gitcfg.git.tree import EntryKind
from gitcfg.model import REFUSED, GitcfgError, Origin
from gitcfg.model.names import LAYERS, SETTINGS


def rename_in_list(path: Path, said: Meaning, old: str, new: str) -> Iterator[Change]:
    """Return the renames in a list, be it an operation's, features of instances included."""
    if isinstance(said, dict):
        for word, inner in said.items():
            if isinstance(inner, list):
                yield from rename_in_list((*path, word), inner, old, new)
        return
    for place, item in enumerate(said if isinstance(said, list) else ()):
        if item == old:
            yield Set((*path, place), new)
        elif isinstance(item, dict) and item.get("feature") == old:
            yield Set((*path, place, "feature"), new)


def rename_in_sheet(
    said: dict[str, Meaning], sheet: str, keys: tuple[str, ...], old: str, new: str
) -> Iterator[Change]:
    """Return the renames in lists of all definitions in a file of many."""
    found = said.get(sheet)
    for name, inner in found.items() if isinstance(found, dict) else ():
        for key in keys if isinstance(inner, dict) else ():
            yield from rename_in_list((sheet, name, key), inner.get(key), old, new)


OPERANDS = {
    "secret": ("$secret",),
    "feature": ("$collect", "feature"),
    "parameter": ("$collect", "param"),
}
"""By kind, where operations name one."""


def rename_in_bindings(path: Path, params: Meaning, kind: str, old: str, new: str) -> Iterator[Change]:
    """Return the renames in bindings of parameters that refer to a definition."""
    keys = OPERANDS.get(kind, ())
    own = kind == "parameter" and old == "name"  # what is collected then is the node's name
    for name, said in params.items() if isinstance(params, dict) and keys and not own else ():
        for key in keys:
            said = said.get(key) if isinstance(said, dict) else None
        if said == old:
            yield Set((*path, name, *keys), new)


# Where rules, and what was decided for them, mention a definition by name.

_FEATURES = ("install", "limit", "over")
_PERMITS = ("forbid", "allow")


def rename_in_rules(kind: str, said: dict[str, Meaning], old: str, new: str) -> Iterator[Change]:
    """Return the changes of a file of rules that follow a definition to its new name."""
    found = said.get("rules")
    for name, rule in found.items() if isinstance(found, dict) else ():
        if isinstance(rule, dict):
            yield from _of_rule(kind, ("rules", name), rule, old, new)


def _of_rule(kind: str, at: Path, rule: dict[str, Meaning], old: str, new: str) -> Iterator[Change]:
    for word in _PERMITS:
        permit = rule.get(word)
        key = "params" if kind == "parameter" else f"{kind}s"
        yield from rename_in_list(
            (*at, word, key), permit.get(key) if isinstance(permit, dict) else None, old, new
        )
    yield from rename_in_bindings((*at, "set"), rule.get("set"), kind, old, new)
    match kind:
        case "feature":
            yield from (Set((*at, key), new) for key in _FEATURES if rule.get(key) == old)
        case "parameter":
            for key in ("set",) if "over" in rule else ("set", "domain"):
                named = rule.get(key)
                if isinstance(named, dict) and old in named:
                    yield Rename((*at, key, old), new)


def rename_in_allocations(kind: str, said: dict[str, Meaning], old: str, new: str) -> Iterator[Change]:
    """Return the changes of an allocation that follow a node, or a parameter, to its new name."""
    values = said.get("values")
    slots = values if isinstance(values, dict) else {}
    if kind == "node":
        yield from (Rename(("values", slot), f"{new}{_rest(slot)}") for slot in slots if _node(slot) == old)
        installed = said.get("install")
        for place, slot in enumerate(installed if isinstance(installed, list) else ()):
            if isinstance(slot, str) and _node(slot) == old:
                yield Set(("install", place), f"{new}{_rest(slot)}")
    elif kind == "parameter":
        named = ((slot, found) for slot, found in slots.items() if isinstance(found, dict))
        yield from (Rename(("values", slot, old), new) for slot, found in named if old in found)


def _node(slot: str) -> str:
    return slot.partition("/")[0]


def _rest(slot: str) -> str:
    """Return the part of a slot that names the instance."""
    return slot.removeprefix(_node(slot))


# Where files mention a definition by name, and the changes that let them name it otherwise.

_ABOUT = {
    "parameter": ("GC201", "GC501", "GC503", "GC504", "GC508", "GC509", "GC510", "GC514"),
    "feature": ("GC502", "GC505"),
    "group": ("GC502",),
    "node": ("GC201", "GC506", "GC511"),
    "override": ("GC505", "GC507"),
    "hold": ("GC505", "GC507"),
    "secret": ("GC512",),
}
"""What warnings are about, by kind."""
_FEATURE_LISTS = ("include", "depends", "conflicts", "after", "features", "without")


def find_references(kind: str, file: str, said: Meaning, old: str, new: str) -> Iterator[Change]:
    """Return the changes of one file that follow a definition to its new name."""
    if not isinstance(said, dict):
        return
    folder = file.partition("/")[0]
    if folder == "rules":
        yield from rename_in_rules(kind, said, old, new)
    elif folder == "allocations":
        yield from rename_in_allocations(kind, said, old, new)
    elif file == SETTINGS:
        yield from _of_ignored(kind, said, old, new)
    else:
        yield from _of_definitions(kind, folder, said, old, new)


def _of_ignored(kind: str, said: dict[str, Meaning], old: str, new: str) -> Iterator[Change]:
    """Return the renames of subjects of ignored warnings, where a code is about definitions of the kind."""
    entries = said.get("ignore")
    for place, entry in enumerate(entries if isinstance(entries, list) else ()):
        if (
            isinstance(entry, dict)
            and entry.get("subject") == old
            and entry.get("code") in _ABOUT.get(kind, ())
        ):
            yield Set(("ignore", place, "subject"), new)


def _of_definitions(kind: str, folder: str, said: dict[str, Meaning], old: str, new: str) -> Iterator[Change]:
    items = partial(rename_in_list, old=old, new=new)
    if folder in LAYERS:
        yield from rename_in_bindings(("params",), said.get("params"), kind, old, new)
    match kind:
        case "feature" if folder in LAYERS:
            for key in _FEATURE_LISTS:
                yield from items((key,), said.get(key))
        case "feature" if folder == "subsystems":
            yield from rename_in_sheet(said, "subsystems", ("features",), old, new)
        case "group" if folder in ("nodes", "nodesets"):
            yield from items(("groups",), said.get("groups"))
        case "node" if folder in ("nodesets", "overrides", "holds") and said.get("nodes") == old:
            yield Set(("nodes",), new)
        case "subsystem" if folder == "subsystems":
            yield from rename_in_sheet(said, "subsystems", ("covers",), old, new)
        case "parameter":
            yield from _of_parameter(folder, said, old, new)


def _of_parameter(folder: str, said: dict[str, Meaning], old: str, new: str) -> Iterator[Change]:
    if folder == "parameters":
        yield from rename_in_sheet(said, "parameters", ("depends", "conflicts"), old, new)
    elif folder == "subsystems":
        yield from rename_in_sheet(said, "subsystems", ("params",), old, new)
    elif folder in LAYERS:
        files = said.get("files")
        for path, entry in files.items() if isinstance(files, dict) else ():
            named = entry.get("params") if isinstance(entry, dict) else None
            yield from rename_in_list(("files", path, "params"), named, old, new)
            yield from rename_in_list(("files", path, "params"), named, f"!{old}", f"!{new}")
        params = said.get("params")
        if isinstance(params, dict) and old in params:
            yield Rename(("params", old), new)


# Names of parameters in templates: those that certainly are names, under a new name.

_TAG = re.compile(r"\{#.*?#\}|\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_UNCERTAIN = re.compile(
    r"\{%-?\+?\s*(?:raw|include|import|from|extends|macro|call|set\s[^%]*\bparams\b|for\s[^%]*\bparams\b[^%]*\bin\b)"
)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_TEXT = r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'"""


def rename_in_template(text: str, old: str, new: str) -> str:
    """Return the template with `params.OLD` and `params["OLD"]` under the new name.

    Where `params` may be something else, or what is text cannot be told, the template stays as it is.
    """
    if _UNCERTAIN.search(text):
        return text
    name = re.escape(old)
    found = re.compile(
        rf"""(?<![\w.])params\[(?P<quote>["']){name}(?P=quote)\]"""
        rf"""|(?<![\w.])params\.(?P<dotted>{name})(?![\w(])|{_TEXT}"""
    )

    def other(match: re.Match[str]) -> str:
        if match["dotted"] and _IDENTIFIER.fullmatch(new):
            return f"params.{new}"
        if match["dotted"]:
            return f'params["{new}"]'
        return f"params[{match['quote']}{new}{match['quote']}]" if match["quote"] else match[0]

    def tag(match: re.Match[str]) -> str:
        return match[0] if match[0].startswith("{#") else found.sub(other, match[0])

    return _TAG.sub(tag, text)


# Where names still stand that definitions had before they were renamed: only people know what is meant.


class Leftover(msgspec.Struct, frozen=True):
    """An old name, where it still stands, and the line there."""

    name: str
    origin: Origin
    line: str


class FreedName(msgspec.Struct, frozen=True):
    """A name that a definition of a kind had before, and where it stood when that was renamed."""

    kind: Kind
    name: str
    left: tuple[Leftover, ...]


def list_files(draft: Draft) -> Iterator[str]:
    """Return all files that may mention a definition."""
    yield "gitcfg.yaml"
    for folder in (*(kind.folder for kind in KINDS.values()), "templates"):
        for entry in list(draft.tree.entries(folder)):
            if entry.kind is EntryKind.FILE and (entry.path.endswith(".yaml") or folder == "templates"):
                yield entry.path


def find_leftovers(draft: Draft, name: str) -> Iterator[Leftover]:
    """Return where a name stands as a word of its own."""
    word = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])")
    for path in list_files(draft):
        data = draft.content(path)
        if name.encode() in data:
            for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
                if found := word.search(line):
                    yield Leftover(name, Origin(path, number, found.start() + 1), line)


def recheck_leftovers(draft: Draft, freed: Iterable[FreedName]) -> tuple[Leftover, ...]:
    """Return where freed names stand after all edits.

    A name that another definition of that kind has got since is rightly in most places: then only the lines
    count that held it before.
    """
    found: dict[Leftover, None] = {}
    for one in freed:
        before = {place.line for place in one.left}
        taken = one.name in definitions(draft.model, one.kind)
        found |= dict.fromkeys(
            place for place in find_leftovers(draft, one.name) if not taken or place.line in before
        )
    return tuple(found)


# A definition under another name, with everything that certainly means it; the rest is listed.


def rename(draft: Draft, kind: Kind, old: str, new: str) -> FreedName:
    """Give a definition another name, and say where the old one still stands.

    Raise GitcfgError if there is no such definition, or one of that name already, or the name is not legal.
    """
    file = draft.path(kind, old)
    refuse_taken_name(draft, kind, new)
    _refuse_members(draft, kind, old)
    paths = [path for path in list_files(draft) if old.encode() in draft.content(path)]
    for path in paths:
        _follow(draft, kind, path, old, new)
    if kind.name == "group" and old == draft.model.settings.default_group:
        draft.change("gitcfg.yaml", Set(("default_group",), new))
    if kind.name == "node":
        keys.rename_key(draft, old, new)
    if kind.name == "rule" and old in draft.model.allocations:
        decided = draft.model.allocations[old].origin.file
        draft.move(decided, f"{decided.rpartition('/')[0]}/{new}.yaml")
    if kind.sheet:
        draft.change(file, Rename((kind.sheet, old), new))
    else:
        place = f"{file.rpartition('/')[0]}/{new}.yaml"
        draft.move(file, place)
        for beside in files_beside(draft, kind, file):
            draft.move(beside, sealed_path(place))
    return FreedName(kind, old, tuple(find_leftovers(draft, old)))


def _refuse_members(draft: Draft, kind: Kind, name: str) -> None:
    """Raise GitcfgError (4) if another name would take a node out of its set."""
    found = find_set(draft, name) if kind.name == "node" else None
    if found is not None:
        hint = f"Take it out of `nodes` of the node set {found} first."
        raise GitcfgError(f"{name} is in the node set {found}, which says its name.", hint, code=REFUSED)


def _follow(draft: Draft, kind: Kind, path: str, old: str, new: str) -> None:
    """What a file says of a definition, under its new name; what cannot be read stays."""
    if path.startswith("templates/"):
        text = draft.text(path) if kind.name == "parameter" else None
        if text is not None and (other := rename_in_template(text, old, new)) != text:
            draft.write(path, other)
        return
    found = read_spots((draft.text(path) or "").removeprefix("\ufeff"), path)
    if found is not None and not (kind.name == "parameter" and _of_instances(draft, path)):
        draft.change(path, *find_references(kind.name, path, found.meaning, old, new))


def _of_instances(draft: Draft, path: str) -> bool:
    """Return whether a file holds an allocation for instances: what it names are attributes of theirs."""
    folder, _, rest = path.partition("/")
    rule = draft.model.rules.get(rest.rpartition("/")[2].removesuffix(".yaml"))
    return folder == "allocations" and rule is not None and rule.over is not None
