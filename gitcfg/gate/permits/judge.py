"""Judge a push or a range of commits by the rules before it (GC405), and report who may change what."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec

from gitcfg.check.findings import of
from gitcfg.check.references import JUDGING
from gitcfg.gate.permits.changes import ChargeFinder, Charges, PartialTree, Touches, find_touched
from gitcfg.gate.permits.rules import (
    Breach,
    Permits,
    Thing,
    find_breaches,
    find_reasons,
    find_refusing,
    find_rules,
    load_permits,
    overlaps,
    widen_rules,
)
from gitcfg.gate.permits.statements import ANY
from gitcfg.gate.policy import load_signers
from gitcfg.git.refs import Refs
from gitcfg.git.repository import Repository
from gitcfg.git.signatures import Flaw, Signed
from gitcfg.git.tree import Tree
from gitcfg.load.repository import load
from gitcfg.model import Finding, GitcfgError, Model, Origin, Rule
from gitcfg.model.names import did_you_mean, is_glob, shown
from gitcfg.model.rules import PERMITTED, RuleKind
from gitcfg.model.text import ABBREVIATED, counted
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


class Actor(msgspec.Struct, frozen=True):
    """The person that a change is charged to: the signer of a commit, or (no commit) the pusher.

    Without names the person is unknown. `flaw` is why no signer is known; `parents` are the parents from
    which a merge differs in things.
    """

    names: tuple[str, ...]
    commit: str = ""
    flaw: Flaw | None = None
    parents: Mapping[Thing, str] = {}


def to_findings(charged: Actor, found: Iterable[Breach]) -> Iterator[Finding]:
    """Yield a finding for each breach, with nodes together.

    Its places are that of one thing, then those of the rules in the version before the push. For an inclusion
    that is not allowed, only the inclusion is reported, and not the features that follow from it.
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
    """Yield the breaches that do not follow from another one: from an inclusion at the same place."""
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
    """Return a thing in words."""
    if kind == "rules" and name in JUDGING:
        return name
    which = _NOUNS[kind]
    return f"any of the {kind}" if name == "*" else f"{which} {shown(name)}"


def describe_rules(rules: tuple[Rule, ...], thing: Thing) -> str:
    """Return what rules say about a thing, where they are, and why they apply to it."""
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
        return f"{commit}, which is {why}," if commit else "An unknown pusher"
    return f"{names}, who signed {commit}," if commit else f"{names}, who pushes,"


def _hint(charged: Actor, breach: Breach) -> str:
    if charged.commit and not charged.names:
        return "If you may make this change, sign it: `git commit --amend --no-edit -S`."
    parent = charged.parents.get(breach.thing, "")[:ABBREVIATED]
    if parent:
        merge = charged.commit[:ABBREVIATED]
        return (
            f"Its parent {parent} has another version, and no one who may change it made this one in a "
            f"commit that {merge} merges. Keep the version of {parent}, or ask "
            "someone who may change it to merge."
        )
    if breach.by_nobody:
        return "No one may, while the rule applies. Change the rule first, if you may."
    if breach.forbidden:
        return "Ask someone whom the rule does not name to make this change."
    return "Ask one of them to make this change."


# A push


class PushJudge:
    """Judge changes by rules.

    `signed` returns who signed a commit: it is called only if a rule names something that the commit touches.
    `tree` has the rules; by default it is the commit at which a push begins.
    """

    def __init__(
        self,
        permits: Permits,
        repository: Repository,
        signed: Callable[[str], Signed],
        tree: Tree | None = None,
    ) -> None:
        """Raise GitcfgError if there is no git repository."""
        self._permits = permits
        self._law = tree
        self._repository = repository
        self._signed = signed

    def judge(
        self,
        commits: tuple[str, ...],
        ends: tuple[str | None, str],
        pusher: tuple[str, ...] | None,
        law: str | None = None,
    ) -> dict[str, tuple[Finding, ...]]:
        """Return by commit what its signer may not do, and at the last one what the pusher may not.

        `ends` are the commits where a push begins, if any, and where it ends. Without names the pusher is
        unknown. None: the push is not charged to a pusher, and changes that no commit made itself are charged
        to the last signer. `law` is the commit whose rules count, if it is not the first of `ends`.
        """
        old, new = ends
        before = self._law if self._law is not None else self._tree(law if law is not None else old)
        rules = widen_rules(self._permits.rules, (before, self._tree(new)))
        finder = ChargeFinder(rules, self._repository, frozenset(commits), self._signed)
        found = {commit: self._check_charges(rules, commit, finder.charges_of(commit)) for commit in commits}
        if pusher is not None:
            things = dict(_find_ruled(rules, find_touched(self._tree(old), self._repository.at(new))))
            if law is not None and law != old:
                # A push that begins with other rules than those that count is a change of rules.
                others = _find_ruled(rules, find_touched(self._tree(law), self._repository.at(new)))
                things |= {thing: origin for thing, origin in others.items() if thing.kind == "rules"}
            more = tuple(to_findings(Actor(pusher), find_breaches(rules, pusher, things)))
        elif old is not None and not Refs(self._repository).includes(new, old):
            more = self._check_charges(rules, new, finder.charges_of_rewind(old, new))
        else:
            more = ()
        found[new] = (*found.get(new, ()), *more)
        return {commit: findings for commit, findings in found.items() if findings}

    def _check_charges(self, rules: tuple[Rule, ...], commit: str, charges: Charges) -> tuple[Finding, ...]:
        touches = {key: charge.touch for key, charge in charges.items()}
        things = _find_ruled(rules, touches)
        if not things:
            return ()
        signed = self._signed(commit)
        parents = {thing: charge.parent for charge in charges.values() for thing in charge.touch.things()}
        actor = Actor(signed.signers, commit, signed.flaw, parents)
        return tuple(to_findings(actor, find_breaches(rules, signed.signers, things)))

    def _tree(self, commit: str | None) -> Tree | None:
        return self._repository.at(commit) if commit is not None else None


def _find_ruled(rules: tuple[Rule, ...], change: Touches) -> Mapping[Thing, Origin]:
    """Return the things of a change that any rule names, each with one place."""
    found: dict[Thing, Origin] = {}
    for touch in change.values():
        for thing in touch.things():
            found.setdefault(thing, touch.origin)
    return {thing: origin for thing, origin in found.items() if find_rules(rules, thing)}


def check_range(
    repository: Repository,
    ends: tuple[str, str],
    commits: tuple[str, ...],
    who: str | None,
    now: datetime,
) -> dict[str, tuple[Finding, ...]]:
    """Return GC405 by commit of a range, judged like a push of it by the rules at its start.

    All changes are charged to `who`. Raise GitcfgError if the rules cannot be read.
    """
    old, new = ends
    tree = repository.at(old)
    found = load_permits(tree)
    if found.unreadable:
        places = ", ".join(found.unreadable)
        raise GitcfgError(f"Cannot read the permission rules in {old[:ABBREVIATED]}: {places}.")
    if not found.rules:
        return {}
    from gitcfg.git.signatures import Signers

    signers = Signers(repository, load_signers(tree), None, now)
    judge = PushJudge(found, repository, lambda commit: signers.of(commit)[0], tree)
    pusher = (who,) if who is not None else None
    return judge.judge(commits, (Refs(repository).base(old, new), new), pusher)


# Report whether a person may change a thing, or everything in a file: `gitcfg may`.

KINDS_BY_WORD = {
    "feature": "features",
    "param": "params",
    "parameter": "params",
    "group": "groups",
    "node": "nodes",
    "file": "files",
    "subsystem": "subsystems",
    "template": "templates",
    "secret": "secrets",
    "rule": "rules",
}
"""Kinds by their names in the singular, and by the keys of `forbid` and `allow`."""
_COMING = ("nodes", "files")
"""Kinds with names that rules may use before they exist."""


def known_names(model: Model, kind: str) -> Collection[str]:
    """Return the names of definitions for things of a kind."""
    if kind == "params":
        return {*model.parameters, *(name for name, _ in model.bindings())}
    if kind == "templates":
        return {*model.templates, *model.sources}
    if kind == "rules":
        return {*model.rules, *JUDGING}
    if kind == "groups":
        return {*model.groups, model.settings.default_group}
    return () if kind == "files" else getattr(model, kind)


def describe_unknown(model: Model, thing: Thing) -> str:
    """Return a note that nothing has this name, which may be a typing error; or ""."""
    known = known_names(model, thing.kind)
    if thing.kind in _COMING or is_glob(thing.name) or any(overlaps(one, thing.name) for one in known):
        return ""
    word = next(word for word, kind in KINDS_BY_WORD.items() if kind == thing.kind)
    return f"There is no {word} {shown(thing.name)} yet. {did_you_mean(thing.name, known)}".rstrip()


# Answers


class Answer(msgspec.Struct, frozen=True):
    """Whether a person may change a thing. `rules` are those that refuse it, or else those about it."""

    thing: Thing
    may: bool
    rules: tuple[Rule, ...]


def find_answers(tree: Tree, who: str, what: str) -> tuple[Answer, ...]:
    """Return the answers by the rules of a tree.

    Raise GitcfgError if the rules cannot be read, or `what` has no meaning.
    """
    permits = load_permits(tree)
    if permits.unreadable:
        raise GitcfgError(f"Cannot read the permission rules: {', '.join(permits.unreadable)}.")
    rules = widen_rules(permits.rules, (tree,))
    found = []
    for thing in _find_things(tree, what):
        against = find_refusing(rules, (who,), thing)
        allowing = tuple(rule for rule in find_rules(rules, thing) if rule.kind is RuleKind.ALLOW)
        found.append(Answer(thing, not against, against or allowing))
    return tuple(found)


def _find_things(tree: Tree, what: str) -> tuple[Thing, ...]:
    word, _, name = what.partition("/")
    stands = tree.entry(what) is not None
    is_path = stands or name.endswith(".yaml")
    if name and (word in KINDS_BY_WORD or (word in PERMITTED and not is_path)):
        return (Thing(KINDS_BY_WORD.get(word, word), name),)
    if what.startswith("/"):
        return (Thing("files", what),)
    if what in JUDGING:
        return (Thing("rules", what),)
    if not stands:
        called = [kind for kind, key in KINDS_BY_WORD.items() if what in known_names(load(tree), key)]
        near = did_you_mean(word, KINDS_BY_WORD) if name and not is_path else ""
        hint = f"Did you mean {called[0]}/{what}?" if called else near
        known = "Write a kind and a name (feature/X), a path on nodes, or a file of the repository."
        raise GitcfgError(f"{shown(what)} is not a known thing or file.", hint or known)
    change = find_touched(tree, PartialTree(tree, lambda path: path != what))
    return tuple(sorted({thing for touch in change.values() for thing in touch.things()}))


def answers_to_json(commit: str | None, who: str, found: tuple[Answer, ...]) -> dict[str, Any]:
    """Return the record of answers: `gitcfg.may/1`."""
    return {
        "schema": "gitcfg.may/1",
        "commit": commit,
        "who": who,
        "answers": [
            {
                "kind": answer.thing.kind,
                "name": answer.thing.name,
                "may": answer.may,
                "rules": [
                    {
                        "name": rule.name,
                        "kind": str(rule.kind),
                        "by": [ref.name for ref in rule.permit.by] if rule.permit is not None else [],
                        "because": next((one.why for one in find_reasons((rule,), answer.thing)), None),
                        "origin": msgspec.to_builtins(rule.origin),
                    }
                    for rule in answer.rules
                ],
            }
            for answer in found
        ],
    }
