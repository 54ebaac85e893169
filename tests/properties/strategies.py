"""Small random repositories, drawn so that their layers interact a lot and failures shrink well."""

from collections.abc import Mapping

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from gitcfg.generate.files import secret
from tests.properties.declarations import declarations
from tests.properties.documents import document, mapping, sequence
from tests.properties.drawing import Drawing
from tests.properties.universe import (
    ABSENT,
    FEATURES,
    GROUPS,
    INSTANCED,
    MEMBERS,
    NODES,
    OUTER,
    SECRETS,
    SET,
)

Files = dict[str, str]


def valid() -> SearchStrategy[Files]:
    """A repository without errors."""
    return _repositories(wild=False)


def wild() -> SearchStrategy[Files]:
    """A well-formed repository in which names may be missing, circles close and types not fit."""
    return _repositories(wild=True)


@st.composite
def _repositories(draw: DrawFn, wild: bool) -> Files:
    drawing = Drawing(draw, wild)
    return {
        "gitcfg.yaml": _settings(drawing),
        "parameters/p.yaml": declarations(draw, drawing.params, wild),
        **_features(drawing),
        **_groups(drawing),
        **_nodes(drawing),
        **_overrides(drawing),
        **_secrets(draw),
    }


def _settings(drawing: Drawing) -> str:
    choice = ("allow", "warning", "error") if drawing.wild else ("allow", "warning")
    return document(
        {
            "format": "1",
            "undeclared": drawing.draw(st.sampled_from(choice)),
            "default_group": drawing.draw(st.sampled_from((GROUPS[0], ABSENT))),
        }
    )


def _features(drawing: Drawing) -> Files:
    found = {}
    for number, name in enumerate(FEATURES):
        include = drawing.uses(FEATURES if drawing.wild else FEATURES[:number])
        plain = [entry for entry in include if entry in FEATURES]
        depends = drawing.names(FEATURES if drawing.wild else plain, 1)
        drawing.needed.update(depends)
        said = {"include": sequence(include), "depends": sequence(depends), "params": drawing.bindings()}
        if drawing.wild:
            said |= {key: sequence(drawing.names(FEATURES, 1)) for key in ("conflicts", "after")}
        found[f"features/{name}.yaml"] = document({"description": name, **said})
    return {**found, **_instanced(drawing)}


def _instanced(drawing: Drawing) -> Files:
    values = ('"${with.v}/${as}"', '"$${as} ${nothing} ${as}"', '"${as}"', '{$default: "${with.v}"}')
    params = {"INS_${as}": drawing.draw(st.sampled_from(values))}
    if "LIS" in drawing.params:
        params["LIS"] = drawing.draw(st.sampled_from(('{$append: "${as}"}', '{$prepend: [a, "${with.v}"]}')))
    inner = f'[{{feature: {INSTANCED}, as: "${{as}}-[1-2]", with: {{v: "${{with.v}}_${{as}}"}}}}]'
    return {
        f"features/{INSTANCED}.yaml": document({"params": mapping(params)}),
        f"features/{OUTER}.yaml": document({"include": inner, "params": drawing.bindings()}),
    }


def _groups(drawing: Drawing) -> Files:
    return {
        f"groups/{name}.yaml": document(
            {
                "description": name,
                "features": sequence(drawing.uses()),
                "params": drawing.bindings(),
            }
        )
        for name in GROUPS
    }


Lists = dict[str, list[str]]


def _lists(drawing: Drawing) -> Lists:
    return {
        "groups": drawing.names(GROUPS[1:]),
        "features": drawing.uses(),
        "without": drawing.without(),
    }


def _machine(drawing: Drawing, lists: Mapping[str, str]) -> str:
    said = {**lists, "params": drawing.bindings(), "facts": drawing.facts()}
    return document({"description": "one", **said})


def _nodes(drawing: Drawing) -> Files:
    files = {f"nodes/{name}.yaml": _machine(drawing, _plain(_lists(drawing))) for name in NODES}
    given = _lists(drawing)
    head = document({"nodes": "s[1-2]", "node_facts": f"{{s1: {drawing.facts()}, s2: {drawing.facts()}}}"})
    files[f"nodesets/{SET}.yaml"] = head + _machine(drawing, _plain(given))
    if drawing.draw(st.booleans()):
        own = {key: _edit(drawing, given[key], mine) for key, mine in _lists(drawing).items()}
        files[f"nodes/{MEMBERS[0]}.yaml"] = _machine(drawing, own)
    return files


def _plain(lists: Lists) -> dict[str, str]:
    return {key: sequence(items) for key, items in lists.items()}


def _edit(drawing: Drawing, given: list[str], own: list[str]) -> str:
    """A list of a node that is in a set: nothing, a list that replaces, or an operation on the set's."""
    kind = drawing.draw(st.sampled_from(("nothing", "set", "append", "prepend", "remove")))
    if kind == "nothing":
        return "[]"
    if kind == "set":
        return sequence(own)
    common = [item for item in given if "{" not in item]
    new = [item for item in own if "{" not in item and item not in given]
    items = common[:1] if kind == "remove" else new
    return f"{{${kind}: {sequence(items)}}}" if items else "[]"


def _overrides(drawing: Drawing) -> Files:
    names = drawing.draw(st.lists(st.sampled_from(("o1", "o2")), unique=True))
    return {
        f"overrides/{name}.yaml": document(
            {
                "nodes": drawing.draw(st.sampled_from(("n1", "s[1-2]", '"n1,s2"'))),
                "reason": "test",
                "until": "2999-12-31",
                "features": sequence(drawing.uses()),
                "without": sequence(drawing.without()),
                "params": drawing.bindings(),
            }
        )
        for name in names
    }


def _secrets(draw: DrawFn) -> Files:
    """Secrets that every node may have."""
    made = (secret(name, draw(st.integers(1, 3)), name.encode() * 160) for name in SECRETS)
    return dict(pair for pairs in made for pair in pairs)
