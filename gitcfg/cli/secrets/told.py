"""Secrets for eyes: what is known of each without opening it."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, repeat

from rich.text import Text

from gitcfg.cli.records import write_record
from gitcfg.cli.secrets.found import known
from gitcfg.cli.session import Output, Session
from gitcfg.cli.trails import aligned, placed
from gitcfg.explain.show import Reach, allowed, reaches, secrets_record
from gitcfg.library import Fleet
from gitcfg.model import Secret
from gitcfg.model.nodeset import IN_JSON, abridged
from gitcfg.model.text import counted, safe
from gitcfg.secrets.opening import called, readers

Rows = Iterator[tuple[str, str]]


def tell(
    session: Session,
    fleet: Fleet,
    names: Sequence[str],
    form: tuple[Output, bool],
    rows: Callable[[Reach], Rows],
) -> None:
    """Write some secrets with these rows about each; GitcfgError: there is no such secret."""
    for name in names:
        known(fleet.model, name)
    found = allowed(fleet.compiled, reaches(fleet.compiled, names))
    output, folded = form
    if output is not Output.TEXT:
        write_record(secrets_record(fleet.commit, found, folded), output)
        return
    console = session.console()
    for one in found:
        head = Text.assemble((safe(one.secret.name), "bold"), f"  version {one.secret.version}  at ")
        console.print(head + placed(one.secret.origin))
        for line in aligned([(Text(f"  {label}", "cyan"), Text(said)) for label, said in rows(one)]):
            console.print(line)


def whole(one: Reach) -> Rows:
    """All that is known of one."""
    secret = one.secret
    if secret.description:
        yield "about", safe(" ".join(secret.description.split()))
    make = f"none: `gitcfg secret set {secret.name}`"
    yield "content", safe(secret.sealed.file if secret.sealed is not None else make)
    yield "params", safe(", ".join(one.params)) or "none"
    yield from who(one)


def who(one: Reach) -> Rows:
    """Who has it, who may have it, and who can read it."""
    where = one.secret.where
    yield "get it", _nodes(one.nodes)
    yield "may have it", _nodes(one.may) + (f"; {safe(one.problem)}" if one.problem else "")
    yield "for", safe(where.name) if where is not None else "nobody"
    yield from zip(chain(["can read it"], repeat("")), _readers(one.secret), strict=False)


def _readers(secret: Secret) -> Iterator[str]:
    """Each line of its recipients, shortened where a name stands behind the key."""
    found = readers(secret)
    yield from (f"{called(one)} ({one.kind})" if one.comment else safe(one.key) for one in found)
    if not found:
        yield "nobody"


def _nodes(names: Sequence[str]) -> str:
    return f"{counted(len(names), 'node')}{f': {safe(abridged(names, IN_JSON))}' if names else ''}"


def tell_rows(session: Session, fleet: Fleet) -> None:
    """A line for each secret."""
    rows = [_row(one) for one in reaches(fleet.compiled)]
    console = session.console()
    for line in aligned(rows):
        console.print(line)
    if not rows:
        hint = "`gitcfg secret set NAME --for CEL --recipient KEY` makes one."
        session.console(stderr=True).print(f"There is no secret. {hint}")


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
