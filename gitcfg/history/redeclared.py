"""What of a parameter's declaration says something else."""

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET

from gitcfg.comparison.change import Delta
from gitcfg.history.meaning import said
from gitcfg.model import Binding, Origin, Parameter, Ref

_UNDECLARED = Parameter("", Origin(""))
_FIELDS = tuple(field for field in Parameter.__struct_fields__ if not field.endswith("origin"))


def redeclared(old: Mapping[str, Parameter], new: Mapping[str, Parameter]) -> dict[str, Delta]:
    """The keys that say something else, `name` among them: that may be a family's pattern."""
    before, after = (next(iter(declared.values()), _UNDECLARED) for declared in (old, new))
    if before is after:
        return {}
    deltas = ((field, _delta(field, before, after)) for field in _FIELDS)
    return {field: delta for field, delta in deltas if delta is not None}


def _delta(field: str, before: Parameter, after: Parameter) -> Delta | None:
    old, new = (getattr(declared, field) for declared in (before, after))
    return None if said(old) == said(new) else Delta(_shown(field, old), _shown(field, new))


def _shown(field: str, value: Any) -> Any:
    """A part of a declaration as it is written; UNSET where nothing is."""
    if value == getattr(_UNDECLARED, field):
        return UNSET
    if isinstance(value, Binding):
        return value.given if value.text is None else value.text
    return (
        [item.name if isinstance(item, Ref) else item for item in value]
        if isinstance(value, tuple)
        else value
    )
