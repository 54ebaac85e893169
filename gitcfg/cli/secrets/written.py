"""A new content of a secret, written: sealed for its readers, with the next version."""

from typing import TYPE_CHECKING

from gitcfg.cli.edited import Wish, carry
from gitcfg.cli.session import Session
from gitcfg.model import GitcfgError
from gitcfg.model.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitcfg.edit.draft import Draft
    from gitcfg.edit.secrets import SecretOptions, SecretPlan
    from gitcfg.secrets import Identities

_KEPT = "Nodes that it is for keep what they have until it fits."


def refuse_early(session: Session, name: str, said: "SecretOptions") -> "SecretPlan":
    """Nobody is asked for the content of a secret that cannot be written. GitcfgError: it cannot."""
    from gitcfg.edit.draft import Draft
    from gitcfg.edit.secrets import plan_secret

    repository = session.open().repository
    if repository.git is not None and not repository.git.workdir:
        raise GitcfgError(f"{repository.root} has no work tree.", "Edit a clone of it.")
    return plan_secret(Draft(repository.worktree()), name, said)


def write_content(session: Session, name: str, said: "SecretOptions", text: str, wished: Wish) -> int:
    """Seal a content for whoever reads a secret, and write both files; 1 if that would add errors.

    The version is counted on while nobody else edits, so that of two who rotate at once each has their own.
    """
    from gitcfg.edit.secrets import plan_secret, write_secret
    from gitcfg.secrets import armored, sealed

    done: list[SecretPlan] = []

    def work(draft: "Draft") -> None:
        done.append(plan_secret(draft, name, said))
        write_secret(draft, done[-1], said, armored(sealed(text, done[-1].after)))

    code = carry(session, work, wished)
    if code == 0:
        _tell(session, done[-1])
        _warn(session, name, text)
    return code


def _warn(session: Session, name: str, text: str) -> None:
    """Say it where a content cannot be what is bound to it: a check, which has no key, does not see that."""
    from gitcfg.render.secrets import misfits

    console = session.console(stderr=True)
    with session.fleet(None) as fleet:
        found = tuple(misfits(fleet.compiled, name, text))
    for problem in found:
        console.print(f"warning: {safe(problem.message)}", style="yellow")
    for hint in found[0].hints if found else ():
        console.print(f"hint: {_KEPT} {safe(hint)}", style="cyan")


def last_version(session: Session, name: str) -> int:
    """The highest version that a secret ever had, as far as git knows."""
    from gitcfg.edit.secrets import find_last_version

    return find_last_version(session.open().repository, name)


def _tell(session: Session, plan: "SecretPlan") -> None:
    console = session.console(stderr=True)
    console.print(f"{safe(plan.name)} has version {plan.version} now.")
    tell_of_own(session, [plan], _own(session))


def _own(session: Session) -> "Identities":
    """Whose keys are here; nobody's, where they cannot be read."""
    from gitcfg.cli.secrets.keys import held
    from gitcfg.secrets import Identities

    try:
        return held(session, None)
    except (OSError, GitcfgError):
        return Identities()


def tell_of_own(session: Session, plans: "Iterable[SecretPlan]", own: "Identities") -> None:
    """Say it where who can open secrets here could not open these."""
    keys = set(own.keys)
    closed = [plan.name for plan in plans if keys and not keys & {one.key for one in plan.after}]
    if closed:
        names = safe(", ".join(closed))
        text = f"note: None of your own keys is a recipient of {names}, so you cannot open it."
        session.console(stderr=True).print(text)
