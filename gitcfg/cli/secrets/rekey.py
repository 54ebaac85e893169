"""`gitcfg secret rekey`: the same contents, sealed for others."""

from functools import cache
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from gitcfg.cli import editing
from gitcfg.cli.secrets import say
from gitcfg.cli.session import Session
from gitcfg.model import GitcfgError
from gitcfg.model.text import counted, safe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gitcfg.edit.draft import Draft
    from gitcfg.edit.secrets import SecretPlan
    from gitcfg.git.tree import Tree
    from gitcfg.model import Secret
    from gitcfg.model.age import Recipient
    from gitcfg.secrets import Identities

EPILOG = """Versions stay, and nodes see nothing of it. Without names it is about all secrets with --add,
and about those that somebody can read who goes with --remove. Without --add and --remove secrets are sealed
for the recipients that stand in their files. Who goes has seen the contents: rotate those afterwards.

Examples:

  gitcfg secret rekey --add ~/carol.pub                              carol may read all of them

  gitcfg secret rekey --remove bob --commit -m 'Bob has left'        those that bob can read

  gitcfg secret rekey pool-password --remove old-server --add 'ssh-ed25519 AAAAC3Nz... new-server'"""

_ADD = typer.Option("--add", help="A public key, or a file of them, to read it too.", metavar="KEY|FILE")
_REMOVE = typer.Option(
    "--remove", help="A recipient that goes: its key, or what is behind it.", metavar="KEY|TEXT"
)


class Wanted(msgspec.Struct, frozen=True):
    """Which secrets, who comes and who goes, and whence to have the keys to open them with."""

    names: "Sequence[str]"
    add: "tuple[Recipient, ...]"
    remove: "Sequence[str]"
    own: "Callable[[], Identities]"


def command(
    context: typer.Context,
    names: say.Names = None,
    add: Annotated[list[str] | None, _ADD] = None,
    remove: Annotated[list[str] | None, _REMOVE] = None,
    identity: say.Identity = None,
    force: editing.Force = False,
    commit: editing.Commit = False,
    message: editing.Message = None,
) -> int:
    """Change who can read secrets: seal the same contents for other recipients."""
    from gitcfg.cli.edited import carry, wish
    from gitcfg.cli.secrets.keys import held, readers
    from gitcfg.secrets.dumps import no_core_dumps

    session: Session = context.obj
    no_core_dumps()
    wished = wish(force, commit, message, f"Rekey {', '.join(names) if names else 'secrets'}")
    own = cache(lambda: held(session, identity))
    wanted = Wanted(names or (), readers(add or ()), remove or (), own)
    done: list[SecretPlan] = []
    code = carry(session, lambda draft: done.extend(_rekey(draft, wanted)), wished)
    if code == 0 and done:
        _tell(session, done, own())
    return code


def _rekey(draft: "Draft", wanted: Wanted) -> "list[SecretPlan]":
    """Seal anew what changes, or all that is meant where nobody comes or goes."""
    from gitcfg.edit.secrets import choose_secrets, plan_rekey, reseal_secret
    from gitcfg.secrets import armored, sealed

    tree, known = draft.tree, draft.model.secrets
    plans = [
        plan_rekey(secret, wanted.add, wanted.remove)
        for secret in choose_secrets(known.values(), wanted.names, wanted.remove)
    ]
    if wanted.add or wanted.remove:
        plans = [plan for plan in plans if plan.before != plan.after]
    if not plans:
        return []
    texts = _opened(tree, [known[plan.name] for plan in plans], wanted.own())
    for plan, text in zip(plans, texts, strict=True):
        reseal_secret(draft, plan, armored(sealed(text, plan.after)))
    return plans


def _opened(tree: "Tree", secrets: "Iterable[Secret]", own: "Identities") -> list[str]:
    """The contents of all. GitcfgError: some cannot be opened; it names every one."""
    from gitcfg.secrets import opened

    texts, closed = [], dict[str, GitcfgError]()
    for secret in secrets:
        try:
            texts.append(opened(tree, secret, own))
        except GitcfgError as problem:
            closed[secret.name] = problem
    first = next(iter(closed.values()), None)
    if first is not None and len(closed) > 1:
        message = f"{counted(len(closed), 'secret')} cannot be opened, so nothing was changed."
        raise GitcfgError(message, f"{safe(', '.join(closed))}.", first.message, *first.hints)
    if first is not None:
        raise first
    return texts


def _tell(session: Session, plans: "Sequence[SecretPlan]", own: "Identities") -> None:
    from gitcfg.cli.secrets.written import tell_of_own
    from gitcfg.secrets.opening import called

    gone = {one.key: called(one) for plan in plans for one in plan.gone}
    if gone:
        names = " ".join(plan.name for plan in plans if plan.gone)
        console = session.console(stderr=True)
        who = f"{safe(', '.join(gone.values()))} {'has' if len(gone) == 1 else 'have'}"
        console.print(f"warning: {who} seen these contents.", style="yellow")
        console.print(f"hint: `gitcfg secret rotate` each of them: {safe(names)}.", style="cyan")
    tell_of_own(session, plans, own)
