"""A definition under another name, with everything that certainly means it; the rest is listed."""

import re
from collections.abc import Iterator

from gitcfg.edit.changes import Rename, Set
from gitcfg.edit.draft import Draft, definitions
from gitcfg.edit.kinds import KINDS, Kind, kind_of
from gitcfg.edit.places import set_of
from gitcfg.edit.references import references
from gitcfg.edit.template_names import renamed_in_template
from gitcfg.edit.text import read
from gitcfg.git.tree import EntryKind
from gitcfg.model import GitcfgError, Origin
from gitcfg.model.names import shown

_FOLDERS = (*dict.fromkeys(kind.folder for kind in KINDS.values()), "templates")


def rename(draft: Draft, word: str, old: str, new: str) -> tuple[Origin, ...]:
    """Give a definition another name, and say where the old one still stands.

    GitcfgError: there is no such definition, or one of that name already, or the name is not legal.
    """
    kind = kind_of(word)
    file = draft.path(kind, old)
    known = definitions(draft.model, kind)
    if not kind.names.fullmatch(new):
        raise GitcfgError(f"{shown(new)} is no name for a {kind.noun}.", "`gitcfg help GC103` says what is.")
    if new in known:
        raise GitcfgError(
            f"There is a {kind.noun} {shown(new)} already.", f"See {known[new].origin}.", code=4
        )
    _refuse_members(draft, kind, old)
    paths = [path for path in _files(draft) if old.encode() in draft.held(path)]
    for path in paths:
        _follow(draft, kind, path, old, new)
    if kind.name == "group" and old == draft.model.settings.default_group:
        draft.change("gitcfg.yaml", Set(("default_group",), new))
    if kind.sheet:
        draft.change(file, Rename((kind.sheet, old), new))
    else:
        _move(draft, file, f"{file.rpartition('/')[0]}/{new}.yaml")
    return tuple(_left(draft, old))


def _files(draft: Draft) -> Iterator[str]:
    """All files that may mention a definition."""
    yield "gitcfg.yaml"
    for folder in _FOLDERS:
        for entry in list(draft.tree.entries(folder)):
            if entry.kind is EntryKind.FILE and (entry.path.endswith(".yaml") or folder == "templates"):
                yield entry.path


def _refuse_members(draft: Draft, kind: Kind, name: str) -> None:
    """GitcfgError (4): another name would take a node out of its set."""
    found = set_of(draft, name) if kind.name == "node" else None
    if found is not None:
        hint = f"Take it out of `nodes` of the node set {found} first."
        raise GitcfgError(f"{name} is in the node set {found}, which says its name.", hint, code=4)


def _follow(draft: Draft, kind: Kind, path: str, old: str, new: str) -> None:
    """What a file says of a definition, under its new name; what cannot be read stays."""
    if path.startswith("templates/"):
        text = draft.text(path) if kind.name == "parameter" else None
        if text is not None and (other := renamed_in_template(text, old, new)) != text:
            draft.write(path, other)
        return
    found = read((draft.text(path) or "").removeprefix("\ufeff"), path)
    if found is not None:
        draft.change(path, *references(kind.name, path, found.meaning, old, new))


def _move(draft: Draft, file: str, place: str) -> None:
    if draft.text(place) is not None:
        raise GitcfgError(f"{place} is there already.", code=4)
    text = draft.text(file)
    draft.write(file, None)
    draft.write(place, text)


def _left(draft: Draft, old: str) -> Iterator[Origin]:
    """Where a name still stands as a word of its own."""
    word = re.compile(rf"(?<![\w.-]){re.escape(old)}(?![\w-])")
    for path in _files(draft):
        data = draft.held(path)
        if old.encode() in data:
            for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
                if found := word.search(line):
                    yield Origin(path, number, found.start() + 1)
