"""`gitcfg secret`: passwords, keys and tokens, encrypted in the repository."""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.text import Text

from gitcfg.cli import edits as editing
from gitcfg.cli import secret_options as options
from gitcfg.cli.declaration import AtOption, FoldedOption, Group, OutputOption, command
from gitcfg.cli.edits import EditOptions, make_options, try_edit, write_result
from gitcfg.cli.records import Items, Record, write_record
from gitcfg.cli.session import Output, Session, fleet_of
from gitcfg.cli.trails import aligned, place_text
from gitcfg.explain.show import Reach, add_allowed, find_reaches, secrets_record
from gitcfg.library import Fleet
from gitcfg.model import GitcfgError, Model, Secret
from gitcfg.model.names import did_you_mean, shown
from gitcfg.model.text import counted, safe
from gitcfg.nodeset import IN_JSON, abridged
from gitcfg.secrets.store import (
    armor,
    describe_recipient,
    find_readers,
    forbid_core_dumps,
    make_password,
    open_secret,
    seal,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitcfg.edit.draft import Draft
    from gitcfg.edit.secrets import SecretOptions, SecretPlan
    from gitcfg.git.tree import Tree
    from gitcfg.secrets.identities import Identities


_OWN_WORDS = {"allow_extra_args": True}  # typer's own error would repeat what may be a secret's content
_SET_EPILOG = """\
The content comes from a file, from stdin, or is typed and not shown; never from an argument.
The end of a single line is not part of it. Nodes get the new content because its version is higher.

Examples:

  gitcfg secret set pool-password --for '"ExecuteNode" in node.features' --recipient ~/.ssh/id_ed25519.pub

  gitcfg secret set tls-key --from key.pem --commit -m 'The key that was signed today'

  pwgen 40 1 | gitcfg secret set db-password"""
_SHOW_EPILOG = """--reveal needs the private key of a recipient. The rest needs no key.

Examples:

  gitcfg secret show pool-password

  gitcfg secret show pool-password --reveal

  gitcfg secret show pool-password --at HEAD~3 --reveal --identity ~/keys/age.txt"""
_ROTATE_EPILOG = """You need no private key. Nodes get the new content with the commit that contains it.

Examples:

  gitcfg secret rotate pool-password

  gitcfg secret rotate pool-password --length 64 --commit -m 'Bob has left'

  gitcfg secret rotate tls-key --from new.pem"""
_REKEY_EPILOG = """\
Versions stay, and nothing changes for nodes. Without names, --add is for all secrets, and --remove for those
that the recipient can read. Without both, secrets are sealed for the recipients in their files. A recipient
that you remove may have read the contents: rotate them afterwards.

Examples:

  gitcfg secret rekey --add ~/carol.pub                              carol may read all of them

  gitcfg secret rekey --remove bob --commit -m 'Bob has left'        those that bob can read

  gitcfg secret rekey pool-password --remove old-server --add 'ssh-ed25519 AAAAC3Nz... new-server'"""
_LIST_EPILOG = """The nodes are those that get the secret. `gitcfg secret who` shows all that may.

Examples:

  gitcfg secret list

  gitcfg secret list --at main

  gitcfg secret list -o json --folded"""
_WHO_EPILOG = """\
Nodes may have it where `for` in its file holds; they get it where it is the value of a parameter.

Examples:

  gitcfg secret who pool-password

  gitcfg secret who pool-password --at main

  gitcfg secret who pool-password -o json"""
_PLACE = typer.Option("--in", help="The folder of a new secret; default: secrets.", metavar="DIR")
_REVEAL = typer.Option("--reveal", help="Print only the content.")
_LETTERS = typer.Option(
    "--length", help="Generate this number of random letters and digits.", metavar="N", min=8, max=4096
)
_ADD = typer.Option(
    "--add", help="A public key to add to the recipients, or a file of keys.", metavar="KEY|FILE"
)
_REMOVE = typer.Option(
    "--remove", help="A recipient to remove: its key, or the comment behind the key.", metavar="KEY|TEXT"
)


@command(_SET_EPILOG, editing.EDIT, settings=_OWN_WORDS)
def set_secret(
    context: typer.Context,
    name: options.New,
    file: options.From = None,
    where: options.For = None,
    recipient: options.Readers = None,
    description: editing.Description = None,
    place: Annotated[str, _PLACE] = "",
    force: editing.Force = False,
    commit: editing.Commit = False,
    message: editing.Message = None,
    output: OutputOption = Output.TEXT,
) -> int:
    """Create a secret, or replace its content and increase its version."""
    from gitcfg.edit.secrets import SecretOptions, find_last_version

    session: Session = context.obj
    forbid_core_dumps()
    options.refuse_arguments(context.args)
    edit_options = make_options(force, commit, message, f"Set the secret {name}", output=output)
    recipients = options.parse_recipients(recipient) if recipient else None
    request = SecretOptions(where, description, recipients, place)
    check_writable(session, name, request)
    request = msgspec.structs.replace(request, last=find_last_version(session.open().repository, name))
    return write_content(session, name, request, options.read_content(name, file), edit_options)


@command(_ROTATE_EPILOG, editing.EDIT, settings=_OWN_WORDS)
def rotate_secret(
    context: typer.Context,
    name: options.Name,
    length: Annotated[int | None, _LETTERS] = None,
    file: options.From = None,
    force: editing.Force = False,
    commit: editing.Commit = False,
    message: editing.Message = None,
    output: OutputOption = Output.TEXT,
) -> int:
    """Replace the content of a secret: by 32 random letters and digits, unless you provide it."""
    from gitcfg.edit.secrets import SecretOptions, find_last_version

    session: Session = context.obj
    forbid_core_dumps()
    options.refuse_arguments(context.args)
    if file is not None and length is not None:
        raise GitcfgError("Cannot combine --length with --from.", "Use one of them.")
    edit_options = make_options(force, commit, message, f"Rotate the secret {name}", output=output)
    with session.fleet(None) as fleet:
        find_secret(fleet.model, name)
    check_writable(session, name, SecretOptions())
    text = make_password(length or 32) if file is None else options.read_content(name, file)
    request = SecretOptions(last=find_last_version(session.open().repository, name))
    return write_content(session, name, request, text, edit_options)


def check_writable(session: Session, name: str, request: "SecretOptions") -> None:
    """Raise GitcfgError if a secret cannot be written, before its content is asked for."""
    from gitcfg.edit.draft import Draft
    from gitcfg.edit.secrets import plan_secret

    repository = session.open().repository
    if repository.git is not None and not repository.git.workdir:
        raise GitcfgError(f"{repository.root} has no work tree.", "Edit a clone of it.")
    plan_secret(Draft(repository.worktree()), name, request)


def write_content(
    session: Session, name: str, request: "SecretOptions", text: str, edit_options: EditOptions
) -> int:
    """Encrypt a content for the recipients, and write both files; return 1 if that would add errors.

    The next version is computed while no other edit runs, so that two rotations at once get two versions.
    """
    from gitcfg.edit.secrets import plan_secret, write_secret

    done: list[SecretPlan] = []

    def work(draft: "Draft") -> None:
        done.append(plan_secret(draft, name, request))
        write_secret(draft, done[-1], request, armor(seal(text, done[-1].after)))

    result = try_edit(session, work, edit_options)
    write_result(session, result, edit_options.output, _versions_to_json(done))
    if not result.refused:
        _print_version(session, done[-1], text)
    return result.code


def _versions_to_json(plans: "Iterable[SecretPlan]") -> Record:
    """Return the fields about secrets in the record of an edit: their new versions."""
    return {"secrets": [{"name": plan.name, "version": plan.version} for plan in plans]}


def _print_version(session: Session, plan: "SecretPlan", text: str) -> None:
    """Print a secret's new version, and warn if the content does not fit a parameter that is bound to it.

    A check without a key cannot find that.
    """
    from gitcfg.render.secrets import find_misfits
    from gitcfg.secrets.identities import Identities

    console = session.console(stderr=True)
    name = plan.name
    console.print(f"{safe(name)} now has version {plan.version}.")
    try:
        own = options.load_identities(session, None)
    except (OSError, GitcfgError):
        own = Identities()
    note_unreadable(session, [plan], own)
    with session.fleet(None) as fleet:
        found = tuple(find_misfits(fleet.compiled, name, text))
    for problem in found:
        console.print(f"warning: {safe(problem.message)}", style="yellow")
    for hint in found[0].hints if found else ():
        consequence = "Its nodes keep their configuration until the content is valid."
        console.print(f"hint: {consequence} {safe(hint)}", style="cyan")


def note_unreadable(session: Session, plans: "Iterable[SecretPlan]", own: "Identities") -> None:
    """Print a note on secrets that none of the private keys here can decrypt."""
    keys = set(own.keys)
    closed = [plan.name for plan in plans if keys and not keys & {one.key for one in plan.after}]
    if closed:
        names = safe(", ".join(closed))
        text = f"note: None of your keys is a recipient of {names}, so you cannot decrypt it."
        session.console(stderr=True).print(text)


@command(_REKEY_EPILOG, editing.EDIT)
def rekey_secrets(
    context: typer.Context,
    names: options.Names = None,
    add: Annotated[list[str] | None, _ADD] = None,
    remove: Annotated[list[str] | None, _REMOVE] = None,
    identity: options.Identity = None,
    force: editing.Force = False,
    commit: editing.Commit = False,
    message: editing.Message = None,
    output: OutputOption = Output.TEXT,
) -> int:
    """Change who can read secrets: encrypt the same contents for other recipients."""
    from gitcfg.edit.secrets import choose_secrets, plan_rekey, reseal_secret

    session: Session = context.obj
    forbid_core_dumps()
    subject = f"Rekey {', '.join(names) if names else 'secrets'}"
    edit_options = make_options(force, commit, message, subject, output=output)
    own = cache(lambda: options.load_identities(session, identity))
    added, removed = options.parse_recipients(add or ()), remove or ()
    done: list[SecretPlan] = []

    def work(draft: "Draft") -> None:
        """Encrypt what changes again or, if no recipient is added or removed, everything chosen."""
        known = draft.model.secrets
        chosen = choose_secrets(known.values(), names or (), removed)
        plans = [plan_rekey(secret, added, removed) for secret in chosen]
        if added or removed:
            plans = [plan for plan in plans if plan.before != plan.after]
        if plans:
            texts = _open_contents(draft.tree, [known[plan.name] for plan in plans], own())
            for plan, text in zip(plans, texts, strict=True):
                reseal_secret(draft, plan, armor(seal(text, plan.after)))
        done.extend(plans)

    result = try_edit(session, work, edit_options)
    write_result(session, result, edit_options.output, _versions_to_json(done))
    if done and not result.refused:
        _print_rekeyed(session, done, own())
    return result.code


def _open_contents(tree: "Tree", secrets: "Iterable[Secret]", own: "Identities") -> list[str]:
    """Return the contents of all. Raise GitcfgError naming each one that cannot be decrypted."""
    texts, closed = [], dict[str, GitcfgError]()
    for secret in secrets:
        try:
            texts.append(open_secret(tree, secret, own))
        except GitcfgError as problem:
            closed[secret.name] = problem
    if closed:
        first = next(iter(closed.values()))
        if len(closed) == 1:
            raise first
        message = f"Cannot decrypt {counted(len(closed), 'secret')}, so nothing was changed."
        raise GitcfgError(message, f"{safe(', '.join(closed))}.", first.message, *first.hints)
    return texts


def _print_rekeyed(session: Session, plans: "Sequence[SecretPlan]", own: "Identities") -> None:
    gone = {one.key: describe_recipient(one) for plan in plans for one in plan.gone}
    if gone:
        names = " ".join(plan.name for plan in plans if plan.gone)
        console = session.console(stderr=True)
        who = f"{safe(', '.join(gone.values()))} {'has' if len(gone) == 1 else 'have'}"
        console.print(f"warning: {who} seen the contents of these secrets.", style="yellow")
        console.print(f"hint: Run `gitcfg secret rotate` for each of them: {safe(names)}.", style="cyan")
    note_unreadable(session, plans, own)


@command(_SHOW_EPILOG)
def show_secret(
    context: typer.Context,
    name: options.Name,
    reveal: Annotated[bool, _REVEAL] = False,
    identity: options.Identity = None,
    at: AtOption = None,
    output: OutputOption = Output.TEXT,
    folded: FoldedOption = False,
) -> int:
    """Show a secret: its nodes, its recipients, and with --reveal its content."""
    session: Session = context.obj
    if reveal and output is not Output.TEXT:
        raise GitcfgError("Cannot combine --reveal with -o.", "Remove -o.")
    with open_fleet(session, at) as fleet:
        if not reveal:
            print_secrets(session, fleet, [name], (output, folded), _describe_all)
            return 0
        forbid_core_dumps()
        secret = find_secret(fleet.model, name)
        text = open_secret(fleet.tree, secret, options.load_identities(session, identity))
    # Without the pager, which might keep it, and byte for byte; a terminal gets a line end.
    end = "\n" if sys.stdout.isatty() and not text.endswith("\n") else ""
    sys.stdout.buffer.write(f"{text}{end}".encode())
    return 0


@command(_LIST_EPILOG, Items("gitcfg.secrets/1", "secrets", "secret"))
def list_secrets(
    context: typer.Context,
    at: AtOption = None,
    output: OutputOption = Output.TEXT,
    folded: FoldedOption = False,
) -> None:
    """List the secrets with their versions, recipients, parameters, and numbers of nodes."""
    session: Session = context.obj
    with open_fleet(session, at) as fleet:
        if output is not Output.TEXT:
            print_secrets(session, fleet, sorted(fleet.model.secrets), (output, folded), lambda _: iter(()))
            return
        rows = [_row(one) for one in find_reaches(fleet.compiled)]
        console = session.console()
        for line in aligned(rows):
            console.print(line)
        if not rows:
            hint = "Use `gitcfg secret set NAME --for CEL --recipient KEY` to create one."
            session.console(stderr=True).print(f"There are no secrets. {hint}")


@command(_WHO_EPILOG)
def show_readers(
    context: typer.Context,
    name: options.Name,
    at: AtOption = None,
    output: OutputOption = Output.TEXT,
    folded: FoldedOption = False,
) -> None:
    """Show which nodes get a secret, which may have it, and who can read it."""
    session: Session = context.obj
    with open_fleet(session, at) as fleet:
        print_secrets(session, fleet, [name], (output, folded), _describe_reach)


def open_fleet(session: Session, at: str | None) -> "Fleet":
    """Open the fleet at a revision or in the work tree; warn if an edit of that was interrupted."""
    from gitcfg.edit.transaction import is_pending

    source = session.open()
    repository = source.repository
    folder = repository.root / ".gitcfg" if repository.git is None else Path(repository.git.path)
    if at is None and is_pending(folder):
        console = session.console(stderr=True)
        console.print("warning: An edit was interrupted, so files may be incomplete.", style="yellow")
        console.print(
            "hint: The next command that edits, such as `gitcfg secret rekey`, completes it.", style="cyan"
        )
    return fleet_of(source, at)


def find_secret(model: Model, name: str) -> Secret:
    """Return the secret with this name. Raise GitcfgError if it does not exist."""
    if name not in model.secrets:
        make = f"Use `gitcfg secret set {name} --for CEL --recipient KEY` to create it."
        raise GitcfgError(f"There is no secret {shown(name)}.", did_you_mean(name, model.secrets) or make)
    return model.secrets[name]


Rows = Iterator[tuple[str, str]]


def print_secrets(
    session: Session,
    fleet: Fleet,
    names: Sequence[str],
    form: tuple[Output, bool],
    rows: Callable[[Reach], Rows],
) -> None:
    """Print secrets, each with these rows. Raise GitcfgError if one does not exist."""
    for name in names:
        find_secret(fleet.model, name)
    found = add_allowed(fleet.compiled, find_reaches(fleet.compiled, names))
    output, folded = form
    if output is not Output.TEXT:
        write_record(secrets_record(fleet.commit, found, folded), output)
        return
    console = session.console()
    for one in found:
        head = Text.assemble((safe(one.secret.name), "bold"), f"  version {one.secret.version}  at ")
        console.print(head + place_text(one.secret.origin))
        for line in aligned([(Text(f"  {label}", "cyan"), Text(text)) for label, text in rows(one)]):
            console.print(line)


def _describe_all(one: Reach) -> Rows:
    secret = one.secret
    if secret.description:
        yield "about", safe(" ".join(secret.description.split()))
    make = f"none: `gitcfg secret set {secret.name}`"
    yield "content", safe(secret.sealed.file if secret.sealed is not None else make)
    yield "params", safe(", ".join(one.params)) or "none"
    yield from _describe_reach(one)


def _describe_reach(one: Reach) -> Rows:
    """Yield which nodes get a secret and may have it, and whose keys decrypt it."""
    where = one.secret.where
    yield "get it", _format_nodes(one.nodes)
    yield "may have it", _format_nodes(one.may) + (f"; {safe(one.problem)}" if one.problem else "")
    yield "for", safe(where.name) if where is not None else "no node"
    label = "can read it"
    for recipient in find_readers(one.secret):
        named = (
            f"{describe_recipient(recipient)} ({recipient.kind})"
            if recipient.comment
            else safe(recipient.key)
        )
        yield label, named
        label = ""
    if label:
        yield label, "no one"


def _format_nodes(names: Sequence[str]) -> str:
    return f"{counted(len(names), 'node')}{f': {safe(abridged(names, IN_JSON))}' if names else ''}"


def _row(one: Reach) -> tuple[Text, ...]:
    secret = one.secret
    state = "" if secret.sealed is not None else " (no content)"
    return (
        Text(safe(secret.name), "bold"),
        Text(f"version {secret.version}") + Text(state, "red"),
        Text(counted(len(secret.recipients), "recipient")),
        Text(counted(len(one.nodes), "node")),
        Text(safe(", ".join(one.params)), "green"),
    )


secret = Group(
    "Keep passwords, keys and tokens in the repository, encrypted.",
    {
        "set": set_secret,
        "show": show_secret,
        "rotate": rotate_secret,
        "rekey": rekey_secrets,
        "list": list_secrets,
        "who": show_readers,
    },
)
