"""One operation applied to what lies below."""

from enum import Enum
from typing import Any

from tests.reference.joining import join
from tests.reference.repository import Document
from tests.reference.values import Misfit, distinct, items, key, typed
from tests.reference.yaml12 import Plain, Raw


class Unbound(Enum):
    """What may lie below that is no value."""

    NOTHING = "not bound"
    BARE = "bound without a value"


State = Any
"""An Unbound, or a value as JSON."""
_SIGNS = {"and": "&&", "or": "||"}
IMPLIED = {
    "append": "list",
    "prepend": "list",
    "remove": "list",
    "and": "expression",
    "or": "expression",
    "merge": "map",
}


def operation(raw: Raw) -> tuple[str, Raw]:
    """What a binding does: the name after the `$`, `set` or `null`, and the operand."""
    if isinstance(raw, Plain) and raw.value is None:
        return "null", None
    if isinstance(raw, dict) and any(name.startswith("$") for name in raw):
        ((name, operand),) = raw.items()
        return name[1:], operand
    return "set", raw


def resets(name: str, declared: Document) -> bool:
    """Does nothing below matter, whatever it is?"""
    return name in ("set", "unset", "fact", "secret") or (name == "null" and _default(declared) is not None)


def apply(name: str, operand: Raw, below: State, declared: Document, facts: Document) -> State:
    """The result. Misfit: the operation or what it is given does not fit the parameter."""
    result = _apply(name, operand, below, declared, facts)
    unique = "unique" in declared and declared["unique"].value and isinstance(result, list)
    return distinct(result) if unique else result


def _apply(name: str, operand: Raw, below: State, declared: Document, facts: Document) -> State:
    kind = declared.get("type") or ("list" if "separator" in declared else None)
    if "secret" in declared and declared["secret"].value and name not in ("secret", "unset", "null"):
        raise Misfit
    if name in IMPLIED and kind not in (None, IMPLIED[name]):
        raise Misfit
    match name:
        case "set":
            return typed(operand, declared)
        case "null":
            return _null(below, declared)
        case "unset":
            return Unbound.NOTHING
        case "default":
            return typed(operand, declared) if isinstance(below, Unbound) else below
        case "fact":
            return typed(facts[operand], declared) if operand in facts else Unbound.BARE
        case "secret":
            return operand
    if isinstance(below, dict) and "$secret" in below:
        return below
    return _compose(name, operand, below, declared)


def _default(declared: Document) -> Raw:
    must_change = "must_change" in declared and declared["must_change"].value
    return None if must_change else declared.get("default")


def _null(below: State, declared: Document) -> State:
    default = _default(declared)
    if default is not None:
        return typed(default, declared)
    return Unbound.BARE if isinstance(below, Unbound) else below


def _compose(name: str, operand: Raw, below: State, declared: Document) -> State:
    if name in ("append", "prepend", "remove"):
        return _lists(
            name, [] if isinstance(below, Unbound) else _only(below, list), items(operand, declared)
        )
    if name == "merge":
        merged = typed(operand, {"type": "map"})
        return merged if isinstance(below, Unbound) else _merge(_only(below, dict), merged)
    expression = typed(operand, {"type": "expression"})
    return expression if isinstance(below, Unbound) else join(_only(below, str), expression, _SIGNS[name])


def _lists(name: str, below: list[Any], operand: list[Any]) -> list[Any]:
    if name == "append":
        return below + operand
    if name == "prepend":
        return operand + below
    return [item for item in below if key(item) not in map(key, operand)]


def _merge(below: Any, above: Any) -> Any:
    if not isinstance(below, dict) or not isinstance(above, dict):
        return above
    return below | {
        name: _merge(below[name], item) if name in below else item for name, item in above.items()
    }


def _only(what: Any, kind: type) -> Any:
    if not isinstance(what, kind):
        raise Misfit
    return what
