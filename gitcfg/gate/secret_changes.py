"""What a push changes of who may have secrets, and of who can decrypt them."""

from collections.abc import Iterator

from gitcfg.gate.secrets import Before
from gitcfg.library import Fleet
from gitcfg.model import Secret
from gitcfg.model.age import X25519, recipient
from gitcfg.model.names import shown

_KEY = 20  # so many letters of a key tell it from others


def secret_changes(before: Before, new: Fleet) -> tuple[str, ...]:
    """A line for each."""
    return tuple(_changes(before, new))


def _changes(before: Before, new: Fleet) -> Iterator[str]:
    old, after = before.secrets, new.model.secrets
    for name in sorted(before.touched(new.tree)):
        was, is_ = old.get(name), after.get(name)
        if is_ is not None and was is not None:
            yield from _of(name, was, is_)
        elif is_ is not None:
            yield f"secret {name}: new, for {_where(is_)}, read by {_listed(_keys(is_))}"
        elif was is not None:
            yield f"secret {name}: gone"
        if is_ is not None:
            yield from _old_content(before, new, is_)


def _old_content(before: Before, new: Fleet, secret: Secret) -> Iterator[str]:
    """Whose encrypted file one has: what is bound later is judged by what is said of it from now on."""
    holders: dict[str, dict[str, bool]] = {}
    for one in before.holders(new.tree, secret):
        holders.setdefault(one.secret.name, {})[_where(one.secret)] = one.former
    for name, said in sorted(holders.items()):
        begins = f"secret {secret.name}: the encrypted file is one that"
        if name != secret.name:
            yield f"{begins} {name} had, for {' and for '.join(said)}"
        elif any(said.values()):
            yield f"{begins} it had before"


def _of(name: str, was: Secret, is_: Secret) -> Iterator[str]:
    if _where(was) != _where(is_):
        yield f"secret {name}: for {_where(was)} -> {_where(is_)}"
    were, are = _keys(was), _keys(is_)
    signs = [f"+{are[key]}" for key in are if key not in were]
    signs += [f"-{were[key]}" for key in were if key not in are]
    if signs:
        yield f"secret {name}: recipients {' '.join(signs)}"


def _where(secret: Secret) -> str:
    return shown(secret.where.name, 200) if secret.where is not None else "nobody"


def _keys(secret: Secret) -> dict[str, str]:
    """The keys that can decrypt a secret, each with how it is called."""
    found: dict[str, str] = {}
    for ref in secret.recipients:
        try:
            one = recipient(ref.name)
        except ValueError:
            continue  # that is told of it (GC210)
        brief = one.key[:_KEY] if one.kind == X25519 else f"{one.kind} ...{one.key[-_KEY:]}"
        found[one.key] = shown(f"{brief} ({one.comment})" if one.comment else brief, 100)
    return found


def _listed(keys: dict[str, str]) -> str:
    return ", ".join(keys.values()) or "nobody"
