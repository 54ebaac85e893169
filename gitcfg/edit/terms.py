"""Orders for holds and overrides: which begin, which are lifted, and which have expired."""

from collections.abc import Iterable, Mapping
from datetime import date
from enum import StrEnum

import msgspec

from gitcfg.compile.nodes import Roster
from gitcfg.edit.orders import Action, Order
from gitcfg.edit.yaml.changes import Given
from gitcfg.model import GitcfgError, Model
from gitcfg.model.names import did_you_mean, shown
from gitcfg.nodeset import NodeSetError, expand


class Term(StrEnum):
    """What counts for some time, as the kind of its definitions."""

    HOLD = "hold"
    OVERRIDE = "override"

    def of(self, model: Model) -> Mapping[str, date]:
        """Return the last day of each, by name, in order of name."""
        found = model.holds if self is Term.HOLD else model.overrides
        return {name: found[name].until for name in sorted(found)}


class TermEnd(msgspec.Struct, frozen=True):
    """For how long, and why."""

    day: date
    reason: str


def parse_scope(model: Model, words: Iterable[str], where: str | None) -> Mapping[str, Given]:
    """Return the fields that select nodes: names, sets of them, groups (`@rack3`) or a condition (CEL).

    Raise GitcfgError if nothing is said, or too much, or there is no such node or group.
    """
    words = tuple(words)
    groups = [word[1:] for word in words if word.startswith("@")]
    if (where is not None and words) or (groups and len(groups) < len(words)):
        hint = "Say all of it in one condition: --where '\"rack3\" in node.groups'."
        raise GitcfgError("Nodes are named, or selected by a group or a condition.", hint)
    if groups:
        where = " || ".join(_members(model, group) for group in groups)
    if where is not None:
        return {"where": _condition(where)}
    if not words:
        raise GitcfgError("It is not said for which nodes.", "Name them, or say --where CEL.")
    _refuse_strangers(model, words)
    return {"nodes": Given(",".join(words))}


def _condition(where: str) -> Given:
    """In single quotes, as conditions hold double ones."""
    return Given(where, "'" + where.replace("'", "''") + "'" if where.isprintable() else None)


def _refuse_strangers(model: Model, words: Iterable[str]) -> None:
    try:
        names = [name for word in words for name in expand(word, model.settings.max_nodes)]
    except NodeSetError as error:
        raise GitcfgError(f"{shown(','.join(words))} is no set of nodes: {error}.") from None
    roster = Roster(model)
    strange = next((name for name in names if name not in roster), None)
    if strange is not None and model.settings.walk_in is None:
        raise GitcfgError(f"There is no node {shown(strange)}.", did_you_mean(strange, roster.names()))


def _members(model: Model, group: str) -> str:
    if group == model.settings.default_group:
        return "true"
    if group not in model.groups:
        raise GitcfgError(f"There is no group {shown(group)}.", did_you_mean(group, model.groups))
    return f'"{group}" in node.groups'


def begin_term(order: Order, who: Mapping[str, Given], until: TermEnd, today: date) -> Order:
    """Return the order for a new one. Raise GitcfgError if it would be over already, or gives no reason."""
    if until.day < today:
        raise GitcfgError(f"{until.day} is over already.", "Say the last day on which it shall count.")
    if not until.reason.strip():
        raise GitcfgError("It has no reason.", "Say --reason TEXT: whoever finds it will want to know.")
    end = {"reason": Given(until.reason), "until": Given(str(until.day), str(until.day))}
    return msgspec.structs.replace(order, fields={**order.fields, **who, **end})


def find_expired(model: Model, term: Term, today: date) -> tuple[str, ...]:
    """Return the names of those past their end."""
    return tuple(name for name, day in term.of(model).items() if day < today)


def lift_terms(term: Term, names: Iterable[str]) -> list[Order]:
    """Return the orders that take some away."""
    return [Order(Action.DELETE, term.value, name) for name in dict.fromkeys(names)]


def parse_last_day(text: str) -> date:
    """Return a day as it is written. Raise GitcfgError if it is none."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise GitcfgError(f"{shown(text)} is no date.", "Write YYYY-MM-DD.") from None
