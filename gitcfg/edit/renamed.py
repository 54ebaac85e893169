"""A definition under another name, with everything that certainly means it; the rest is listed."""

from gitcfg.edit import keys
from gitcfg.edit.changes import Rename, Set
from gitcfg.edit.draft import Draft
from gitcfg.edit.kinds import Kind
from gitcfg.edit.left import FreedName, find_leftovers, list_files
from gitcfg.edit.places import files_beside, find_set, refuse_taken_name, sealed_path
from gitcfg.edit.references import find_references
from gitcfg.edit.template_names import rename_in_template
from gitcfg.edit.text import read_spots
from gitcfg.model import REFUSED, GitcfgError


def rename(draft: Draft, kind: Kind, old: str, new: str) -> FreedName:
    """Give a definition another name, and say where the old one still stands.

    GitcfgError: there is no such definition, or one of that name already, or the name is not legal.
    """
    file = draft.path(kind, old)
    refuse_taken_name(draft, kind, new)
    _refuse_members(draft, kind, old)
    paths = [path for path in list_files(draft) if old.encode() in draft.held(path)]
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
    """GitcfgError (4): another name would take a node out of its set."""
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
    """Does a file say what was decided for instances? What it names are attributes of theirs."""
    folder, _, rest = path.partition("/")
    rule = draft.model.rules.get(rest.rpartition("/")[2].removesuffix(".yaml"))
    return folder == "allocations" and rule is not None and rule.over is not None
