"""The texts in pictures: ids, lists of features, numbers, and sets of nodes that are not too long."""

import json
from collections.abc import Iterable, Mapping

from gitcfg.model import Feature, Group, Node, Use
from gitcfg.model.names import NAME
from gitcfg.model.nodeset import NodeSetError, expand, fold
from gitcfg.model.text import safe
from gitcfg.picture.picture import Vertex

MOST = 60


def ident(kind: str, name: str) -> str:
    """A vertex' id. Names that are not legal, which only a mention can have, are quoted."""
    return f"{kind} {quoted(name)}"


def quoted(name: str) -> str:
    """A legal name as it is, any other so that it cannot be taken for something else."""
    return name if NAME.fullmatch(name) else json.dumps(name)


def short(text: str, most: int = MOST) -> str:
    """A text that has to fit into a picture; what is cut off is told by an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def short_set(nodeset: str, most: int = MOST) -> str:
    """A folded set of nodes, cut after a comma if it is too long."""
    if len(nodeset) <= most:
        return nodeset
    at = nodeset.rfind(",", 0, most - 1)
    return f"{nodeset[: at + 1]}…" if at > 0 else short(nodeset, most)


def described(definition: Feature | Group | Node) -> str:
    """What there is no room for: the description, and where the definition stands."""
    return "\n".join(filter(None, (definition.description.strip(), definition.origin.file)))


def listed(names: Iterable[str]) -> str:
    """Names in a title."""
    return short(", ".join(names), 100)


def by_feature(uses: Iterable[Use]) -> Mapping[str, list[Use]]:
    """Uses in a list by feature, in the order in which these are first named."""
    found: dict[str, list[Use]] = {}
    for use in uses:
        found.setdefault(use.feature, []).append(use)
    return found


def instances(uses: Iterable[Use]) -> str:
    """`as STARTD_[1-90]` for uses of one feature; nothing where it is installed plainly."""
    names = [use.instance for use in uses if use.instance is not None]
    return f"as {_folded(names)}" if names else ""


def _folded(names: list[str]) -> str:
    """Instances in the notation in which they are written, if that says the same."""
    folded = fold(names)
    try:
        same = set(expand(folded, len(names))) == set(names)
    except NodeSetError:
        same = False
    return folded if same else ", ".join(names)


def label(vertex: Vertex) -> list[str]:
    """What stands in a vertex, line by line."""
    return [short(safe(line)) for line in (vertex.name, *vertex.lines)]


def about(vertex: Vertex) -> str:
    """What is told of a vertex where there is room, with what of its label was cut off."""
    cut = (line for line in (vertex.name, *vertex.lines) if len(safe(line)) > MOST)
    return "\n".join(filter(None, (*cut, vertex.about)))
