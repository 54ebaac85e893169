"""A range of commits as a push of it would be judged: by the rules of where it begins."""

from datetime import datetime

from gitcfg.gate.permits.permits import load_permits
from gitcfg.gate.policy import load_signers
from gitcfg.git.refs import Refs
from gitcfg.git.repository import Repository
from gitcfg.model import Finding, GitcfgError
from gitcfg.model.text import ABBREVIATED


def check_range(
    repository: Repository,
    ends: tuple[str, str],
    commits: tuple[str, ...],
    who: str | None,
    now: datetime,
) -> dict[str, tuple[Finding, ...]]:
    """GC405 by commit; without rules about it nothing is looked at. `who` is charged with all of it.

    GitcfgError: the rules cannot be read.
    """
    old, new = ends
    tree = repository.at(old)
    found = load_permits(tree)
    if found.unreadable:
        places = ", ".join(found.unreadable)
        raise GitcfgError(f"Who may change what cannot be read in {old[:ABBREVIATED]}: {places}.")
    if not found.rules:
        return {}
    from gitcfg.gate.permits.push import PushJudge
    from gitcfg.git.signatures import Signers

    signed = Signers(repository, load_signers(tree), None, now)
    judged = PushJudge(found, repository, lambda commit: signed.of(commit)[0], tree)
    pusher = (who,) if who is not None else None
    return judged.judge(commits, (Refs(repository).base(old, new), new), pusher)
