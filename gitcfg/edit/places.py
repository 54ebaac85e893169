"""Where definitions stand, and where new ones come to stand."""

import msgspec

from gitcfg.edit.draft import Draft, definitions
from gitcfg.edit.kinds import KINDS, Kind
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.names import did_you_mean, shown

NODE, NODESET = KINDS["node"], KINDS["nodeset"]


class Place(msgspec.Struct, frozen=True):
    """A file, and where in it a definition stands."""

    file: str
    within: tuple[str, ...] = ()


def find_place(draft: Draft, kind: Kind, name: str) -> Place:
    """Where a definition stands; of a node that only its set names, its own file is made.

    GitcfgError: there is no such definition.
    """
    known = definitions(draft.model, kind)
    if name in known:
        return Place(str(known[name].origin.file), _within(kind, name))
    if kind.name == "node" and find_set(draft, name) is not None:
        place = Place(f"{kind.folder}/{name}.yaml")
        draft.write(place.file, "{}\n")
        return place
    members = (member for found in draft.model.nodesets.values() for member in found.members)
    names = (*known, *members) if kind.name == "node" else known
    raise GitcfgError(f"There is no {kind.noun} {shown(name)}.", did_you_mean(name, names))


def find_set(draft: Draft, node: str) -> str | None:
    """The node set that a node is in."""
    sets = draft.model.nodesets.items()
    return next((name for name, found in sets if node in found.members), None)


def refuse_taken_name(draft: Draft, kind: Kind, name: str) -> None:
    """GitcfgError: nothing of a kind can be called so, as the name is not legal, or taken."""
    if not kind.names.fullmatch(name):
        said = shown(name) or "An empty text"
        raise GitcfgError(f"{said} is no name for a {kind.noun}.", "`gitcfg help GC103` says what is.")
    known = definitions(draft.model, kind)
    if name in known:
        raise GitcfgError(
            f"There is a {kind.noun} {shown(name)} already.", f"See {known[name].origin}.", code=REFUSED
        )


def choose_place(draft: Draft, kind: Kind, name: str, where: str) -> Place:
    """Where a new definition comes to stand; `where` is a file or folder.

    GitcfgError: the name is not legal, or taken, or it is not clear where.
    """
    refuse_taken_name(draft, kind, name)
    place = Place(_sheet(draft, kind, where) if kind.sheet else _file(kind, name, where), _within(kind, name))
    if not kind.sheet and draft.text(place.file) is not None:
        raise GitcfgError(f"{place.file} is there already.", code=REFUSED)
    return place


def files_beside(draft: Draft, kind: Kind, file: str) -> tuple[str, ...]:
    """The files that go wherever that of a definition goes: what a secret holds."""
    beside = sealed_path(file)
    return (beside,) if kind.name == "secret" and draft.tree.entry(beside) is not None else ()


def sealed_path(file: str) -> str:
    """Where that stands, encrypted, which a secret's file is about."""
    return f"{file.removesuffix('.yaml')}.age"


def _within(kind: Kind, name: str) -> tuple[str, ...]:
    return (kind.sheet, name) if kind.sheet else ()


def _file(kind: Kind, name: str, where: str) -> str:
    folder = _inside(kind, where)
    if folder.endswith(".yaml"):
        if folder.rpartition("/")[2] != f"{name}.yaml":
            raise GitcfgError(f"The file of {shown(name)} is called {shown(name)}.yaml.", "Name its folder.")
        return folder
    return f"{folder}/{name}.yaml"


def _sheet(draft: Draft, kind: Kind, where: str) -> str:
    """The file that was said, or the only one there is."""
    if where:
        found = _inside(kind, where)
        return found if found.endswith(".yaml") else f"{found}/{kind.sheet}.yaml"
    files = sorted(entry.path for entry in draft.tree.entries(kind.folder) if entry.path.endswith(".yaml"))
    if len(files) > 1:
        raise GitcfgError(
            f"{kind.noun.capitalize()}s stand in {len(files)} files.", f"Say `--in`: {', '.join(files[:9])}."
        )
    return files[0] if files else f"{kind.folder}/{kind.sheet}.yaml"


def _inside(kind: Kind, where: str) -> str:
    """A path below the kind's folder. GitcfgError: it leads elsewhere."""
    steps = [step for step in where.split("/") if step not in ("", ".")]
    elsewhere = steps[:1] != [kind.folder] and steps[:1] in [[other.folder] for other in KINDS.values()]
    if steps[:1] != [kind.folder]:
        steps = [kind.folder, *steps]
    if elsewhere or where.startswith("/") or any(step == ".." or step.startswith(".") for step in steps):
        raise GitcfgError(
            f"{shown(where)} is not below {kind.folder}/.", f"Definitions stand in {kind.folder}/."
        )
    return "/".join(steps)
