"""Parts that definitions of several kinds share: bindings, feature lists, names."""

from collections.abc import Mapping
from sys import intern
from typing import Any

from gitcfg.load.context import Reading, once
from gitcfg.load.document import Document, place, source
from gitcfg.model import Binding, Op, Origin, Ref, Use
from gitcfg.model.names import shown
from gitcfg.nodeset import NodeSetError, expand

MAX_INSTANCES = 10_000
MAX_LISTED = 100_000
NONE: Mapping[str, Any] = {}
"""Shared by all definitions that say nothing of a kind."""
_OPS = {f"${op.value}": op for op in Op if op not in (Op.SET, Op.NULL)}


def bindings(reading: Reading, doc: Document, key: str = "params") -> Mapping[str, Binding]:
    """Return what a mapping of parameters says."""
    given = doc.value.get(key)
    return bound(reading, doc.file, doc.top[key], given) if given else NONE


def bound(reading: Reading, file: str, node: Any, given: Mapping[str, Any]) -> Mapping[str, Binding]:
    """Return what a mapping says of each of its keys."""
    result: dict[str, Binding] = {}
    for (name, inner), (param, value) in zip(node.value, given.items(), strict=True):
        said = binding(reading, file, name, inner, value)
        if said is not None:
            result[intern(param)] = said
    return result


def binding(reading: Reading, file: str, key: Any, node: Any, given: Any) -> Binding | None:
    """Return what a mapping says of one of its keys; None: an operation this version does not know."""
    origin = place(file, key)
    at = place(file, node)
    if type(given) is dict and len(given) == 1:
        (word,) = given
        if word in _OPS:
            text = source(node.value[0][1], given[word])
            return Binding(_OPS[word], given[word], text, origin, at)
    if given is None:
        return Binding(Op.NULL, None, None, origin, at)
    return Binding(Op.SET, given, source(node, given), origin, at)


def refs(reading: Reading, file: str, node: Any, given: list[str], banned: str = "") -> tuple[Ref, ...]:
    """Return a list of names, each once; the banned one is not to be in it."""
    found = []
    for item in node.value:
        mark = item.start_mark  # not by `place`: here a call costs a third
        found.append(Ref(intern(item.value), Origin(file, mark.line + 1, mark.column + 1)))
    sound = len(set(given)) == len(given) and banned not in given
    return tuple(found if sound else once(reading, found, banned))


def names(reading: Reading, doc: Document, key: str) -> tuple[Ref, ...]:
    """Return the names that stand under a key of a document."""
    return refs(reading, doc.file, doc.top[key], doc.value[key]) if key in doc.top else ()


def uses(reading: Reading, file: str, node: Any, given: list[Any]) -> tuple[Use, ...]:
    """Return a list of features, plain or as instances; instances are listed one by one, highest first."""
    result: dict[tuple[str, str | None], Use] = {}
    for inner, item in zip(node.value, given, strict=True):
        if len(result) > MAX_LISTED:
            message = f"The list installs more than {MAX_LISTED:,} instances."
            at = place(file, inner)
            reading.report("GC103", str(file), message, at, hint="Name fewer, or divide them among groups.")
            break
        for use in _use(reading, file, inner, item):
            key = (use.feature, use.instance)
            if key in result:
                name = use.feature if use.instance is None else f"{use.feature} as {use.instance}"
                message = f"{shown(name)} stands twice in this list."
                reading.report("GC103", use.feature, message, use.origin, result[key].origin)
            else:
                result[key] = use
    return tuple(result.values())


def listed(reading: Reading, doc: Document, key: str) -> tuple[Use, ...]:
    """Return the features that stand under a key of a document."""
    return uses(reading, doc.file, doc.top[key], doc.value[key]) if key in doc.top else ()


def _use(reading: Reading, file: str, node: Any, item: Any) -> tuple[Use, ...]:
    if isinstance(item, str):
        return (Use(intern(item), place(file, node), None, NONE),)
    said = {key.value: value for key, value in node.value}
    origin = place(file, said["feature"])
    attributes = _attributes(file, said["with"], item["with"]) if "with" in item else NONE
    if "as" not in item:
        return (Use(item["feature"], origin, None, attributes),)
    names = instance_names(reading, item["as"], place(file, said["as"]))
    return tuple(Use(item["feature"], origin, name, attributes) for name in names)


def _attributes(file: str, node: Any, given: Mapping[str, Any]) -> dict[str, Binding]:
    result = {}
    for (_, inner), (name, value) in zip(node.value, given.items(), strict=True):
        at = place(file, inner)
        result[name] = Binding(Op.SET, value, source(inner, value), at, at)
    return result


def instance_names(reading: Reading, text: str, at: Origin) -> tuple[str, ...]:
    """Return the instances that `as` names; one that holds `${` is left for its outer instance to say."""
    if "${" in text:
        return (text,)
    try:
        return expand(text, MAX_INSTANCES)
    except NodeSetError as error:
        reading.report("GC103", text, f"{shown(text)!r} names no instances: {error}.", at)
        return ()


def description(doc: Document) -> str:
    """Return the definition's description, as text."""
    return str(doc.value.get("description") or "")
