"""What a template mentions: parameters, other names, and other templates."""

from collections.abc import Iterator

from jinja2 import nodes

_PARAMS = "params"


def parameters(tree: nodes.Template) -> Iterator[tuple[str, int]]:
    """Each `params.X`, `params["X"]` and `params.get("X")`, with its line."""
    if _rebound(tree):
        return
    for node in tree.find_all((nodes.Getattr, nodes.Getitem, nodes.Call)):
        name = _parameter(node)
        if name is not None:
            yield name, node.lineno


def everything(tree: nodes.Template) -> bool:
    """Does it use `params` other than by names that are certain, as a loop over all of them does?"""
    uses = sum(node.name == _PARAMS for node in tree.find_all(nodes.Name))
    return uses > sum(1 for _ in parameters(tree))


def names(tree: nodes.Template) -> frozenset[str]:
    """The names that it uses at all, of what a template is given or of its own."""
    return frozenset(node.name for node in tree.find_all(nodes.Name))


def computed(tree: nodes.Template) -> bool:
    """Does it take in templates whose names only rendering tells?"""
    inclusions = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)
    return any(not _constants(getattr(node, "template", None)) for node in tree.find_all(inclusions))


def templates(tree: nodes.Template) -> Iterator[tuple[tuple[str, ...], int, bool]]:
    """Each inclusion: the names of which the first that exists is taken, line, and whether none may."""
    for node in tree.find_all((nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)):
        names = _constants(getattr(node, "template", None))
        if names:
            yield names, node.lineno, getattr(node, "ignore_missing", False)


def _parameter(node: nodes.Node) -> str | None:
    match node:
        case nodes.Getattr(node=nodes.Name(name="params"), attr=name) if not hasattr(dict, name):
            return name
        case nodes.Getitem(node=nodes.Name(name="params"), arg=nodes.Const(value=str(name))):
            return name
        case nodes.Call(
            node=nodes.Getattr(node=nodes.Name(name="params"), attr="get"),
            args=[nodes.Const(value=str(name)), *_],
        ):
            return name
    return None


def _rebound(tree: nodes.Template) -> bool:
    """Does `params` mean something else anywhere in it? Then nothing is certain."""
    return (
        any(node.name == _PARAMS and node.ctx != "load" for node in tree.find_all(nodes.Name))
        or any(node.target == _PARAMS for node in tree.find_all(nodes.Import))
        or any(node.name == _PARAMS for node in tree.find_all(nodes.Macro))
        or any(
            name == _PARAMS if isinstance(name, str) else name[1] == _PARAMS
            for node in tree.find_all(nodes.FromImport)
            for name in node.names
        )
    )


def _constants(node: nodes.Expr | None) -> tuple[str, ...]:
    """The names in a constant name or list of names; none if any is computed."""
    items = node.items if isinstance(node, nodes.List | nodes.Tuple) else [node]
    names = [item.value for item in items if isinstance(item, nodes.Const) and isinstance(item.value, str)]
    return tuple(names) if len(names) == len(items) else ()
