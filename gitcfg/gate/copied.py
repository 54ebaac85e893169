"""Which secrets have an encrypted file that another one had, or that they had themselves, before a push."""

from collections.abc import Iterator

from gitcfg.gate.secret_words import describe_condition
from gitcfg.gate.secrets import SecretsBefore
from gitcfg.library import Fleet
from gitcfg.model import Secret


def describe_copies(before: SecretsBefore, new: Fleet) -> tuple[str, ...]:
    """A line for each: what is bound later is judged by what is said of the secret from now on."""
    secrets = new.model.secrets
    touched = sorted(name for name in before.changed(new.tree) if name in secrets)
    return tuple(line for name in touched for line in _describe_copy(before, new, secrets[name]))


def _describe_copy(before: SecretsBefore, new: Fleet, secret: Secret) -> Iterator[str]:
    holders: dict[str, dict[str, bool]] = {}
    for one in before.holders(new.tree, secret):
        holders.setdefault(one.secret.name, {})[describe_condition(one.secret)] = one.former
    for name, said in sorted(holders.items()):
        begins = f"secret {secret.name}: the encrypted file is one that"
        if name != secret.name:
            yield f"{begins} {name} had, for {' and for '.join(said)}"
        elif any(said.values()):
            yield f"{begins} it had before"
