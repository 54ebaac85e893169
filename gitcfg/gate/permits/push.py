"""A push as rules before it see it: each commit is its signer's change, and all of it that of who pushes."""

from collections.abc import Callable, Iterator, Mapping

from gitcfg.gate.permits.charges import Charges, Charging
from gitcfg.gate.permits.permits import Permits, breaches, named
from gitcfg.gate.permits.statement import Thing
from gitcfg.gate.permits.touched import Touched, touched
from gitcfg.gate.permits.words import Charged, told
from gitcfg.git.refs import Refs
from gitcfg.git.repository import Repository
from gitcfg.git.signatures import Signed
from gitcfg.git.tree import Tree
from gitcfg.guard import progress
from gitcfg.model import Finding, Origin, Rule


class Judged:
    """Changes judged by rules. `signed` says who signed a commit: it is asked only where a rule names
    something that the commit touches.
    """

    def __init__(self, permits: Permits, repository: Repository, signed: Callable[[str], Signed]) -> None:
        """GitcfgError: there is no git repository."""
        self._rules = permits.rules
        self._repository = repository
        self._signed = signed

    def all(
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
        charging = Charging(self._rules, self._repository, frozenset(commits), self._signed)
        found = {commit: self._charged(commit, charging.of(commit)) for commit in commits}
        if pusher is not None:
            more = tuple(self._pushed(old, new, pusher, law))
        elif old is not None and not Refs(self._repository).includes(new, old):
            more = self._charged(new, charging.of_rewind(old, new))
        else:
            more = ()
        found[new] = (*found.get(new, ()), *more)
        return {commit: findings for commit, findings in found.items() if findings}

    def _charged(self, commit: str, charges: Charges) -> tuple[Finding, ...]:
        progress.note("looking at who may make the changes of", commit)
        touches = {key: charge.touch for key, charge in charges.items()}
        things = _ruled(self._rules, touches)
        if not things:
            return ()
        signed = self._signed(commit)
        parents = {thing: charge.parent for charge in charges.values() for thing in charge.touch.things()}
        charged = Charged(signed.signers, commit, signed.flaw, parents)
        return tuple(told(charged, breaches(self._rules, signed.signers, things)))

    def _pushed(
        self, old: str | None, new: str, pusher: tuple[str, ...], law: str | None
    ) -> Iterator[Finding]:
        tree = self._tree(law) if law != old else None
        return pushed(self._rules, self._tree(old), self._repository.at(new), pusher, tree)

    def _tree(self, commit: str | None) -> Tree | None:
        return self._repository.at(commit) if commit is not None else None


def pushed(
    rules: tuple[Rule, ...], old: Tree | None, new: Tree, pusher: tuple[str, ...], law: Tree | None = None
) -> Iterator[Finding]:
    """What somebody may not do who pushes all that differs; without names nobody knows who that is.

    Whoever begins with other rules than those of `law`, which count, changes the rules.
    """
    things = dict(_ruled(rules, touched(old, new)))
    if law is not None:
        others = _ruled(rules, touched(law, new))
        things |= {thing: origin for thing, origin in others.items() if thing.kind == "rules"}
    return told(Charged(pusher), breaches(rules, pusher, things))


def _ruled(rules: tuple[Rule, ...], change: Touched) -> Mapping[Thing, Origin]:
    """What of a change any rule names, each with one place."""
    found: dict[Thing, Origin] = {}
    for touch in change.values():
        for thing in touch.things():
            found.setdefault(thing, touch.origin)
    return {thing: origin for thing, origin in found.items() if named(rules, thing)}
