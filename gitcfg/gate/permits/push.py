"""A push as rules before it see it: each commit is its signer's change, and all of it that of who pushes."""

from collections.abc import Callable, Iterator, Mapping

from gitcfg.gate.permits.charges import ChargeFinder, Charges
from gitcfg.gate.permits.inheritance import widen_rules
from gitcfg.gate.permits.named import Thing
from gitcfg.gate.permits.permits import Permits, find_breaches, find_rules
from gitcfg.gate.permits.touched import Touches, find_touched
from gitcfg.gate.permits.words import Actor, to_findings
from gitcfg.git.refs import Refs
from gitcfg.git.repository import Repository
from gitcfg.git.signatures import Signed
from gitcfg.git.tree import Tree
from gitcfg.model import Finding, Origin, Rule


class PushJudge:
    """Changes judged by rules. `signed` says who signed a commit: it is asked only where a rule names
    something that the commit touches. `tree` is what the rules stand in, if not where a push begins.
    """

    def __init__(
        self,
        permits: Permits,
        repository: Repository,
        signed: Callable[[str], Signed],
        tree: Tree | None = None,
    ) -> None:
        """GitcfgError: there is no git repository."""
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
        """By commit what its signer may not do, and by the last one what who pushes may not.

        `ends` are where a push begins, if anywhere, and ends. Without names nobody knows who pushes; None:
        nobody is charged with it, and what comes of no commit's own change is the last signer's. `law` is
        the commit whose rules count, where that is not the one at which it begins.
        """
        old, new = ends
        before = self._law if self._law is not None else self._tree(law if law is not None else old)
        rules = widen_rules(self._permits.rules, (before, self._tree(new)))
        charging = ChargeFinder(rules, self._repository, frozenset(commits), self._signed)
        found = {commit: self._charged(rules, commit, charging.charges_of(commit)) for commit in commits}
        if pusher is not None:
            more = tuple(self._pushed(rules, old, new, pusher, law))
        elif old is not None and not Refs(self._repository).includes(new, old):
            more = self._charged(rules, new, charging.charges_of_rewind(old, new))
        else:
            more = ()
        found[new] = (*found.get(new, ()), *more)
        return {commit: findings for commit, findings in found.items() if findings}

    def _charged(self, rules: tuple[Rule, ...], commit: str, charges: Charges) -> tuple[Finding, ...]:
        touches = {key: charge.touch for key, charge in charges.items()}
        things = _find_ruled(rules, touches)
        if not things:
            return ()
        signed = self._signed(commit)
        parents = {thing: charge.parent for charge in charges.values() for thing in charge.touch.things()}
        charged = Actor(signed.signers, commit, signed.flaw, parents)
        return tuple(to_findings(charged, find_breaches(rules, signed.signers, things)))

    def _pushed(
        self, rules: tuple[Rule, ...], old: str | None, new: str, pusher: tuple[str, ...], law: str | None
    ) -> Iterator[Finding]:
        tree = self._tree(law) if law != old else None
        return _check_all(rules, self._tree(old), self._repository.at(new), pusher, tree)

    def _tree(self, commit: str | None) -> Tree | None:
        return self._repository.at(commit) if commit is not None else None


def check_push(
    rules: tuple[Rule, ...], old: Tree | None, new: Tree, pusher: tuple[str, ...]
) -> Iterator[Finding]:
    """What somebody may not do who pushes all that differs, by the rules of before.

    Without names nobody knows who that is.
    """
    return _check_all(widen_rules(rules, (old, new)), old, new, pusher)


def _check_all(
    rules: tuple[Rule, ...], old: Tree | None, new: Tree, pusher: tuple[str, ...], law: Tree | None = None
) -> Iterator[Finding]:
    """The same by rules that name what they take with them.

    Whoever begins with other rules than those of `law`, which count, changes the rules.
    """
    things = dict(_find_ruled(rules, find_touched(old, new)))
    if law is not None:
        others = _find_ruled(rules, find_touched(law, new))
        things |= {thing: origin for thing, origin in others.items() if thing.kind == "rules"}
    return to_findings(Actor(pusher), find_breaches(rules, pusher, things))


def _find_ruled(rules: tuple[Rule, ...], change: Touches) -> Mapping[Thing, Origin]:
    """What of a change any rule names, each with one place."""
    found: dict[Thing, Origin] = {}
    for touch in change.values():
        for thing in touch.things():
            found.setdefault(thing, touch.origin)
    return {thing: origin for thing, origin in found.items() if find_rules(rules, thing)}
