"""GC405 in words: who may not change what, and which rules say so."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from gitcfg.check.fold import of
from gitcfg.check.rule_names import JUDGING
from gitcfg.gate.permits.permits import Breach
from gitcfg.gate.permits.statement import ANY, Thing
from gitcfg.git.envelope import Flaw
from gitcfg.model import Finding, Rule
from gitcfg.model.names import shown
from gitcfg.model.texts import ABBREVIATED, counted
from gitcfg.nodeset import fold

_NOUNS = {
    "features": "the feature",
    "params": "the parameter",
    "groups": "the group",
    "nodes": "the node",
    "files": "the file",
    "subsystems": "the subsystem",
    "templates": "the template",
    "secrets": "the secret",
    "rules": "the rule",
}


class Charged(msgspec.Struct, frozen=True):
    """Whom a change is charged to: who signed a commit, or (no commit) who pushes. No names: nobody knows.

    `flaw` is why nobody is known to have signed; `parents` are those from which a merge differs in things.
    """

    names: tuple[str, ...]
    commit: str = ""
    flaw: Flaw | None = None
    parents: Mapping[Thing, str] = {}


def told(charged: Charged, found: Iterable[Breach]) -> Iterator[Finding]:
    """A finding for each, nodes together: with where one stands, and then the rules as they were before."""
    nodes: dict[tuple[str, ...], list[Breach]] = {}
    for breach in found:
        if breach.thing.kind == "nodes" and breach.thing != ANY:
            nodes.setdefault(tuple(rule.name for rule in breach.rules), []).append(breach)
        else:
            yield _finding(charged, breach, breach.thing.name, called(*breach.thing))
    for alike in nodes.values():
        names = [breach.thing.name for breach in alike]
        what = called(*alike[0].thing) if len(names) == 1 else counted(len(names), "node")
        subject = names[0] if len(names) == 1 else fold(names)
        yield _finding(charged, alike[0], subject, what, sorted(names) if len(names) > 1 else ())


def _finding(charged: Charged, breach: Breach, subject: str, what: str, nodes: Iterable[str] = ()) -> Finding:
    return of(
        "GC405",
        (subject, *charged.names[:1]),
        f"{_who(charged)} may not change {what}: {because(breach.rules)}.",
        dict.fromkeys((breach.origin, *(rule.origin for rule in breach.rules))),
        nodes,
        hint=_hint(charged, breach),
    )


def called(kind: str, name: str) -> str:
    """A thing in words."""
    if kind == "rules" and name in JUDGING:
        return name
    which = _NOUNS[kind]
    return f"any of the {kind}" if name == "*" else f"{which} {shown(name)}"


def because(rules: tuple[Rule, ...]) -> str:
    """What rules say, and where they stand."""
    places = " and ".join(f"{rule.name} ({rule.origin})" for rule in rules)
    many = len(rules) > 1
    if rules[0].kind == "forbid":
        return f"the rule{'s' if many else ''} {places} forbid{'' if many else 's'} it"
    names = dict.fromkeys(ref.name for rule in rules for ref in (rule.permit.by if rule.permit else ()))
    only = ", ".join(map(shown, names))
    return f"the rule{'s' if many else ''} {places} allow{'' if many else 's'} it only to {only}"


def _who(charged: Charged) -> str:
    names, commit = " or ".join(map(shown, charged.names)), charged.commit[:ABBREVIATED]
    if not names:
        why = (charged.flaw or Flaw.NONE).value
        return f"{commit} is {why}, and" if commit else "Who pushes is not known, and"
    return f"{names}, who signed {commit}," if commit else f"{names}, who pushes,"


def _hint(charged: Charged, breach: Breach) -> str:
    if charged.commit and not charged.names:
        return "Sign it, if you may: `git commit --amend --no-edit -S`."
    parent = charged.parents.get(breach.thing, "")[:ABBREVIATED]
    if parent:
        merge = charged.commit[:ABBREVIATED]
        return (
            f"In its parent {parent} it is different, and nobody who may change it has made it so in what "
            f"{merge} merges. Keep what {parent} has, or let somebody merge who may change it."
        )
    return "" if breach.forbidden else "Let one of them make this change."
