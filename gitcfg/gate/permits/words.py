"""GC405 in words: who may not change what, and which rules say so."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from gitcfg.check.base import of
from gitcfg.check.references import JUDGING
from gitcfg.gate.permits.inheritance import find_reasons
from gitcfg.gate.permits.named import Thing
from gitcfg.gate.permits.permits import Breach
from gitcfg.gate.permits.statement import ANY
from gitcfg.git.signatures import Flaw
from gitcfg.model import Finding, Rule
from gitcfg.model.names import shown
from gitcfg.model.nodeset import fold
from gitcfg.model.text import ABBREVIATED, counted

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


class Actor(msgspec.Struct, frozen=True):
    """Whom a change is charged to: who signed a commit, or (no commit) who pushes. No names: nobody knows.

    `flaw` is why nobody is known to have signed; `parents` are those from which a merge differs in things.
    """

    names: tuple[str, ...]
    commit: str = ""
    flaw: Flaw | None = None
    parents: Mapping[Thing, str] = {}


def to_findings(charged: Actor, found: Iterable[Breach]) -> Iterator[Finding]:
    """A finding for each, nodes together: with where one stands, and then the rules as they were before.

    Whoever includes what they may not is told that, and not of the feature that therefore is not theirs.
    """
    nodes: dict[tuple[str, ...], list[Breach]] = {}
    for breach in _find_causes(tuple(found)):
        if breach.thing.kind == "nodes" and breach.thing != ANY:
            nodes.setdefault(tuple(rule.name for rule in breach.rules), []).append(breach)
        else:
            yield _finding(charged, breach, breach.thing.name, describe_thing(*breach.thing))
    for alike in nodes.values():
        names = [breach.thing.name for breach in alike]
        what = describe_thing(*alike[0].thing) if len(names) == 1 else counted(len(names), "node")
        subject = names[0] if len(names) == 1 else fold(names)
        yield _finding(charged, alike[0], subject, what, sorted(names) if len(names) > 1 else ())


def _find_causes(found: tuple[Breach, ...]) -> Iterator[Breach]:
    """Those that do not follow from another one: from an inclusion that stands where that does."""
    places = [{reason.origin for reason in find_reasons(breach.rules, breach.thing)} for breach in found]
    causes = {breach.origin for breach, own in zip(found, places, strict=True) if breach.origin not in own}
    for breach, own in zip(found, places, strict=True):
        if not own or not own <= causes:
            yield breach


def _finding(charged: Actor, breach: Breach, subject: str, what: str, nodes: Iterable[str] = ()) -> Finding:
    inherited = (reason.origin for reason in find_reasons(breach.rules, breach.thing))
    return of(
        "GC405",
        (subject, *charged.names[:1]),
        f"{_describe_actor(charged)} may not change {what}: {describe_rules(breach.rules, breach.thing)}.",
        dict.fromkeys((breach.origin, *(rule.origin for rule in breach.rules), *inherited)),
        nodes,
        hint=_hint(charged, breach),
    )


def describe_thing(kind: str, name: str) -> str:
    """A thing in words."""
    if kind == "rules" and name in JUDGING:
        return name
    which = _NOUNS[kind]
    return f"any of the {kind}" if name == "*" else f"{which} {shown(name)}"


def describe_rules(rules: tuple[Rule, ...], thing: Thing) -> str:
    """What rules say of a thing, where they stand, and why they are about it."""
    places = " and ".join(f"{rule.name} ({rule.origin})" for rule in rules)
    many = len(rules) > 1
    why = " and ".join(reason.why for reason in find_reasons(rules, thing))
    inherited = f", because {why}" if why else ""
    if rules[0].kind == "forbid":
        return f"the rule{'s' if many else ''} {places} forbid{'' if many else 's'} it{inherited}"
    names = dict.fromkeys(ref.name for rule in rules for ref in (rule.permit.by if rule.permit else ()))
    only = ", ".join(map(shown, names))
    return f"the rule{'s' if many else ''} {places} allow{'' if many else 's'} it only to {only}{inherited}"


def _describe_actor(charged: Actor) -> str:
    names, commit = " or ".join(map(shown, charged.names)), charged.commit[:ABBREVIATED]
    if not names:
        why = (charged.flaw or Flaw.NONE).value
        return f"{commit} is {why}, and" if commit else "Who pushes is not known, and"
    return f"{names}, who signed {commit}," if commit else f"{names}, who pushes,"


def _hint(charged: Actor, breach: Breach) -> str:
    if charged.commit and not charged.names:
        return "Sign it, if you may: `git commit --amend --no-edit -S`."
    parent = charged.parents.get(breach.thing, "")[:ABBREVIATED]
    if parent:
        merge = charged.commit[:ABBREVIATED]
        return (
            f"In its parent {parent} it is different, and nobody who may change it has made it so in what "
            f"{merge} merges. Keep what {parent} has, or let somebody merge who may change it."
        )
    if breach.by_nobody:
        return "Nobody may, as long as the rule stands: change that first, if you may."
    if breach.forbidden:
        return "Let somebody make this change whom the rule does not name."
    return "Let one of them make this change."
