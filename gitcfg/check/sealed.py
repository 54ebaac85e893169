"""GC210: secrets are whole: each is encrypted for those whom it names. Judged without any key."""

from collections import Counter
from collections.abc import Iterator

from gitcfg.check.fold import of
from gitcfg.compile.fleet import Fleet
from gitcfg.git.tree import Entry, EntryKind, Tree
from gitcfg.load.conflicts import conflicts, unresolved
from gitcfg.model import Finding, Origin, Secret
from gitcfg.model.age import X25519, Header, Recipient, Stanza, header, recipient
from gitcfg.model.names import shown
from gitcfg.model.text import counted

FOLDER = "secrets"
_ENDING = ".age"
_AGE = Stanza(X25519)
_MOST = 2 << 20  # 1 MiB of content, armored, for as many recipients as a header may name


def sealed(fleet: Fleet) -> Iterator[Finding]:
    """What is wrong with secrets and their encrypted files."""
    if not fleet.model.secrets and not any(fleet.tree.entries(FOLDER)):
        return
    unread = fleet.model.unread.get(FOLDER, frozenset())
    headers: dict[str, Header] = {}
    for name, secret in fleet.model.secrets.items():
        if name not in unread:
            yield from _secret(fleet.tree, secret, headers)
    yield from _copies(fleet, headers)
    yield from _stray(fleet)


def _secret(tree: Tree, secret: Secret, headers: dict[str, Header]) -> Iterator[Finding]:
    named, wrong = recipients(secret)
    yield from wrong
    if not secret.recipients:
        hint = "Name the server's key, and your own: `gitcfg secret rekey NAME --add KEY`."
        yield _told(secret, f"The secret {secret.name} names no recipients.", secret.origin, hint)
    entry = tree.entry(path_of(secret))
    if entry is None:
        message = f"The secret {secret.name} has no content: there is no {path_of(secret)}."
        hint = f"`gitcfg secret set {secret.name}` writes it."
        yield _told(secret, message, secret.origin, hint)
    elif entry.kind is EntryKind.FILE:  # else that has been told (GC101)
        yield from _content(tree, entry, secret, None if wrong else named, headers)


def path_of(secret: Secret) -> str:
    """Where a secret's encrypted content stands, or should."""
    return secret.origin.file.removesuffix(".yaml") + _ENDING


def recipients(secret: Secret) -> tuple[tuple[Recipient, ...], tuple[Finding, ...]]:
    """Those whom a secret names, and what is wrong with the others. What they hold is not told: it may be
    a private key."""
    named, wrong = [], []
    for ref in secret.recipients:
        try:
            named.append(recipient(ref.name))
        except ValueError as error:
            message = f"A recipient of the secret {secret.name} is no public key: {error}."
            wrong.append(of("GC210", secret.name, message, [ref.origin], veiled=True))
    return tuple(named), tuple(wrong)


def _content(
    tree: Tree,
    entry: Entry,
    secret: Secret,
    named: tuple[Recipient, ...] | None,
    headers: dict[str, Header],
) -> Iterator[Finding]:
    """What is wrong with an encrypted file; without `named` it is not known for whom it should be."""
    try:
        found = header_of(tree, entry)
    except ValueError as error:
        blocks = conflicts(tree.read(entry).decode("utf-8", "replace")) if entry.size <= _MOST else ()
        if blocks:
            yield unresolved(entry.path, blocks)
            return
        hint = f"`gitcfg secret set {secret.name}` writes it anew."
        yield _told(secret, f"{shown(entry.path)} {error}.", Origin(entry.path), hint)
        return
    headers[secret.name] = found
    reason = _differs(found, named) if named else ""
    if reason:
        message = f"{shown(entry.path)} is not encrypted for those whom the secret names: {reason}."
        hint = f"`gitcfg secret rekey {secret.name}` encrypts it for them; it asks for no new content."
        yield _told(secret, message, secret.recipients[0].origin, hint, Origin(entry.path))


def header_of(tree: Tree, entry: Entry) -> Header:
    """The header of an encrypted file. ValueError: it is none, in words that go on after its name."""
    if entry.size > _MOST:
        raise ValueError("is larger than 2 MiB")
    return header(tree.read(entry))


def _differs(found: Header, named: tuple[Recipient, ...]) -> str:
    """How the stanzas of a header are others than the recipients'; age keys can only be counted."""
    have, want = Counter(found.stanzas), Counter(one.stanza for one in named)
    ages = have.pop(_AGE, 0), want.pop(_AGE, 0)
    lacking = next((one for one in named if have[one.stanza] < want[one.stanza]), None)
    if lacking is not None:
        return f"{shown(lacking.comment or lacking.key)} cannot read it"
    if ages[0] != ages[1]:
        return f"it is for {counted(ages[0], 'age key')}, and the secret names {ages[1]}"
    more = min((stanza.kind, stanza.tag) for stanza in have - want) if have - want else None
    return f"it is for somebody else, too ({shown(' '.join(more).strip())})" if more else ""


def _copies(fleet: Fleet, headers: dict[str, Header]) -> Iterator[Finding]:
    """One content under two names: whoever can copy a file could let other nodes have a secret."""
    first: dict[str, str] = {}
    for name, found in headers.items():
        other = first.setdefault(found.identity, name)
        if other != name:
            pair = (min(name, other), max(name, other))
            message = f"The secrets {pair[0]} and {pair[1]} are one: both have the same encrypted file."
            hint = "Bind one of them wherever it is meant, or give each a content of its own."
            places = [Origin(path_of(fleet.model.secrets[one])) for one in pair]
            yield of("GC210", pair, message, places, hint=hint)


def _stray(fleet: Fleet) -> Iterator[Finding]:
    """Encrypted files of which nobody says who may have them."""
    known = {path_of(secret) for secret in fleet.model.secrets.values()}
    for entry in fleet.tree.entries(FOLDER):
        if entry.kind is EntryKind.FILE and entry.path.endswith(_ENDING) and entry.path not in known:
            said = entry.path.removesuffix(_ENDING) + ".yaml"
            message = (
                f"{shown(entry.path)} is nobody's: there is no {shown(said)}, which says who may have it."
            )
            name = entry.path.rpartition("/")[2].removesuffix(_ENDING)
            yield of("GC210", name, message, [Origin(entry.path)], hint="Write it, or delete the file.")


def _told(secret: Secret, message: str, at: Origin, hint: str = "", more: Origin | None = None) -> Finding:
    return of("GC210", secret.name, message, [at, *([more] if more else [])], hint=hint)
