"""Definitions renamed with all certain references to them; other mentions are listed."""

import re
from collections.abc import Iterable, Iterator

import msgspec

from gitcfg.edit import keys
from gitcfg.edit.draft import Draft, definitions, files_beside, find_set, refuse_existing_name, sealed_path
from gitcfg.edit.kinds import KINDS, Kind
from gitcfg.edit.yaml.changes import Change, Path, Rename, Set
from gitcfg.edit.yaml.tree import Meaning
from gitcfg.git.tree import EntryKind
from gitcfg.model import REFUSED, GitcfgError, Origin
from gitcfg.model.names import LAYERS, SETTINGS


def _rename_in_list(path: Path, meaning: Meaning, old: str, new: str) -> Iterator[Change]:
    """Return the renames in a list or the list of an operation, including features of instances."""
    if isinstance(meaning, dict):
        for word, inner in meaning.items():
            if isinstance(inner, list):
                yield from _rename_in_list((*path, word), inner, old, new)
        return
    for place, item in enumerate(meaning if isinstance(meaning, list) else ()):
        if item == old:
            yield Set((*path, place), new)
        elif isinstance(item, dict) and item.get("feature") == old:
            yield Set((*path, place, "feature"), new)


def _rename_in_sheet(
    meaning: dict[str, Meaning], sheet: str, keys: tuple[str, ...], old: str, new: str
) -> Iterator[Change]:
    """Return the renames in lists of all definitions in a file that has many."""
    found = meaning.get(sheet)
    for name, inner in found.items() if isinstance(found, dict) else ():
        for key in keys if isinstance(inner, dict) else ():
            yield from _rename_in_list((sheet, name, key), inner.get(key), old, new)


_OPERANDS = {
    "secret": ("$secret",),
    "feature": ("$collect", "feature"),
    "parameter": ("$collect", "param"),
}
"""The operations with a name as operand, by kind."""


def _rename_in_bindings(path: Path, params: Meaning, kind: str, old: str, new: str) -> Iterator[Change]:
    """Return the renames in bindings of parameters that refer to a definition."""
    keys = _OPERANDS.get(kind, ())
    own = kind == "parameter" and old == "name"  # `name` in a collection is the node's name
    for name, value in params.items() if isinstance(params, dict) and keys and not own else ():
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if value == old:
            yield Set((*path, name, *keys), new)


# Where rules and allocations mention a definition by name.

_FEATURES = ("install", "limit", "over")
_PERMITS = ("forbid", "allow")


def _rename_in_rules(kind: str, meaning: dict[str, Meaning], old: str, new: str) -> Iterator[Change]:
    """Return the changes of a file of rules for the new name of a definition."""
    found = meaning.get("rules")
    for name, rule in found.items() if isinstance(found, dict) else ():
        if isinstance(rule, dict):
            yield from _rename_in_rule(kind, ("rules", name), rule, old, new)


def _rename_in_rule(kind: str, at: Path, rule: dict[str, Meaning], old: str, new: str) -> Iterator[Change]:
    key = "params" if kind == "parameter" else f"{kind}s"
    for word in _PERMITS:
        permit = rule.get(word)
        if isinstance(permit, dict):
            yield from _rename_in_list((*at, word, key), permit.get(key), old, new)
    yield from _rename_in_bindings((*at, "set"), rule.get("set"), kind, old, new)
    match kind:
        case "feature":
            yield from (Set((*at, key), new) for key in _FEATURES if rule.get(key) == old)
        case "parameter":
            for key in ("set",) if "over" in rule else ("set", "domain"):
                named = rule.get(key)
                if isinstance(named, dict) and old in named:
                    yield Rename((*at, key, old), new)


def _rename_in_allocations(kind: str, meaning: dict[str, Meaning], old: str, new: str) -> Iterator[Change]:
    """Return the changes of an allocation for the new name of a node or a parameter."""
    values = meaning.get("values")
    slots = values if isinstance(values, dict) else {}
    if kind == "node":
        for slot in slots:
            node, slash, instance = slot.partition("/")
            if node == old:
                yield Rename(("values", slot), f"{new}{slash}{instance}")
        installed = meaning.get("install")
        for place, slot in enumerate(installed if isinstance(installed, list) else ()):
            node, slash, instance = slot.partition("/") if isinstance(slot, str) else ("", "", "")
            if node == old:
                yield Set(("install", place), f"{new}{slash}{instance}")
    elif kind == "parameter":
        for slot, found in slots.items():
            if isinstance(found, dict) and old in found:
                yield Rename(("values", slot, old), new)


# Where files mention a definition by name, and the changes for its new name.

_ABOUT = {
    "parameter": ("GC201", "GC501", "GC503", "GC504", "GC508", "GC509", "GC510", "GC514"),
    "feature": ("GC502", "GC505"),
    "group": ("GC502",),
    "node": ("GC201", "GC506", "GC511"),
    "override": ("GC505", "GC507"),
    "hold": ("GC505", "GC507"),
    "secret": ("GC512",),
}
"""The warnings about definitions of each kind."""
_FEATURE_LISTS = ("include", "depends", "conflicts", "after", "features", "without")


def find_references(kind: str, file: str, meaning: Meaning, old: str, new: str) -> Iterator[Change]:
    """Return the changes of one file for the new name of a definition."""
    if not isinstance(meaning, dict):
        return
    folder = file.partition("/")[0]
    if folder == "rules":
        yield from _rename_in_rules(kind, meaning, old, new)
    elif folder == "allocations":
        yield from _rename_in_allocations(kind, meaning, old, new)
    elif file == SETTINGS:
        # Subjects of ignored warnings, if the code is about definitions of this kind.
        entries = meaning.get("ignore")
        codes = _ABOUT.get(kind, ())
        for place, entry in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(entry, dict) and entry.get("subject") == old and entry.get("code") in codes:
                yield Set(("ignore", place, "subject"), new)
    else:
        yield from _rename_in_definitions(kind, folder, meaning, old, new)


def _rename_in_definitions(
    kind: str, folder: str, meaning: dict[str, Meaning], old: str, new: str
) -> Iterator[Change]:
    if folder in LAYERS:
        yield from _rename_in_bindings(("params",), meaning.get("params"), kind, old, new)
    match kind:
        case "feature" if folder in LAYERS:
            for key in _FEATURE_LISTS:
                yield from _rename_in_list((key,), meaning.get(key), old, new)
        case "feature" if folder == "subsystems":
            yield from _rename_in_sheet(meaning, "subsystems", ("features",), old, new)
        case "group" if folder in ("nodes", "nodesets"):
            yield from _rename_in_list(("groups",), meaning.get("groups"), old, new)
        case "node" if folder in ("nodesets", "overrides", "holds") and meaning.get("nodes") == old:
            yield Set(("nodes",), new)
            node_facts = meaning.get("node_facts")
            if isinstance(node_facts, dict) and old in node_facts:
                yield Rename(("node_facts", old), new)
        case "subsystem" if folder == "subsystems":
            yield from _rename_in_sheet(meaning, "subsystems", ("covers",), old, new)
        case "parameter":
            yield from _rename_parameter(folder, meaning, old, new)


def _rename_parameter(folder: str, meaning: dict[str, Meaning], old: str, new: str) -> Iterator[Change]:
    if folder == "parameters":
        yield from _rename_in_sheet(meaning, "parameters", ("depends", "conflicts"), old, new)
    elif folder == "subsystems":
        yield from _rename_in_sheet(meaning, "subsystems", ("params",), old, new)
    elif folder in LAYERS:
        files = meaning.get("files")
        for path, entry in files.items() if isinstance(files, dict) else ():
            listed = entry.get("params") if isinstance(entry, dict) else None
            yield from _rename_in_list(("files", path, "params"), listed, old, new)
            yield from _rename_in_list(("files", path, "params"), listed, f"!{old}", f"!{new}")
        params = meaning.get("params")
        if isinstance(params, dict) and old in params:
            yield Rename(("params", old), new)


# Names of parameters in templates: renamed where they are certain.

_TAG = re.compile(r"\{#.*?#\}|\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_UNCERTAIN = re.compile(
    r"\{%-?\+?\s*(?:raw|include|import|from|extends|macro|call|set\s[^%]*\bparams\b|for\s[^%]*\bparams\b[^%]*\bin\b)"
)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_TEXT = r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'"""


def rename_in_template(text: str, old: str, new: str) -> str:
    """Return the template with `params.OLD` and `params["OLD"]` renamed.

    Return it unchanged if `params` may mean something else, or if text and code cannot be separated.
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


# Where old names of renamed definitions are left: only people know what these mean.


class Leftover(msgspec.Struct, frozen=True):
    """An old name that is left, its place, and its line."""

    name: str
    origin: Origin
    line: str


class FreedName(msgspec.Struct, frozen=True):
    """The old name of a renamed definition, and where it was left at that time."""

    kind: Kind
    name: str
    leftovers: tuple[Leftover, ...]


def list_files(draft: Draft) -> Iterator[str]:
    """Return all files that may mention a definition."""
    yield "gitcfg.yaml"
    for folder in (*(kind.folder for kind in KINDS.values()), "templates"):
        for entry in list(draft.tree.entries(folder)):
            if entry.kind is EntryKind.FILE and (entry.path.endswith(".yaml") or folder == "templates"):
                yield entry.path


def find_leftovers(draft: Draft, name: str) -> Iterator[Leftover]:
    """Return where a name occurs as a whole word."""
    word = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])")
    for path in list_files(draft):
        data = draft.content(path)
        if name.encode() in data:
            for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
                if found := word.search(line):
                    yield Leftover(name, Origin(path, number, found.start() + 1), line)


def recheck_leftovers(draft: Draft, freed: Iterable[FreedName]) -> tuple[Leftover, ...]:
    """Return where freed names are left after all edits.

    If another definition of the kind has got a freed name since, most mentions are rightly of that one: only
    lines that had the name at the time of the renaming count.
    """
    found: dict[Leftover, None] = {}
    for one in freed:
        lines = {leftover.line for leftover in one.leftovers}
        is_taken = one.name in definitions(draft.model, one.kind)
        leftovers = find_leftovers(draft, one.name)
        found |= dict.fromkeys(each for each in leftovers if not is_taken or each.line in lines)
    return tuple(found)


# A definition renamed with all certain references; other mentions are listed.


def rename(draft: Draft, kind: Kind, old: str, new: str) -> FreedName:
    """Rename a definition, and return where the old name is left.

    Raise GitcfgError if there is no such definition, or if the new name is taken or not legal.
    """
    file = draft.path(kind, old)
    refuse_existing_name(draft, kind, new)
    node_set = find_set(draft, old) if kind.name == "node" else None
    if node_set is not None:
        hint = f"Remove it from `nodes` of the node set {node_set} first."
        raise GitcfgError(f"{old} is a member of the node set {node_set}.", hint, code=REFUSED)
    for path in [path for path in list_files(draft) if old.encode() in draft.content(path)]:
        _update_references(draft, kind, path, old, new)
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


def _update_references(draft: Draft, kind: Kind, path: str, old: str, new: str) -> None:
    """Rename a definition in a file; a file that cannot be read stays as it is."""
    if path.startswith("templates/"):
        text = draft.text(path) if kind.name == "parameter" else None
        if text is not None and (other := rename_in_template(text, old, new)) != text:
            draft.write(path, other)
        return
    meaning = draft.meaning(path)
    if kind.name == "parameter" and path.startswith("allocations/"):
        rule = draft.model.rules.get(path.rpartition("/")[2].removesuffix(".yaml"))
        if rule is not None and rule.over is not None:
            return  # an allocation for instances has names of their attributes, not of parameters
    draft.change(path, *find_references(kind.name, path, meaning, old, new))
