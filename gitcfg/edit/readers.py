"""Who can read a secret, as secrets/NAME.yaml says it."""

from collections.abc import Iterable

from gitcfg.model import GitcfgError, Ref, Secret
from gitcfg.model.age import Recipient, recipient


def parse_recipients(secret: Secret) -> tuple[Recipient, ...]:
    """The recipients of a secret, in order. GitcfgError: its file is wrong."""
    if secret.where is None:
        raise GitcfgError(f"{secret.origin.file} is not understood.", "`gitcfg check` says what is wrong.")
    return tuple({one.key: one for one in map(_understood, secret.recipients)}.values())


def find_recipients(among: Iterable[Recipient], word: str) -> tuple[Recipient, ...]:
    """Those recipients that a word means: a key, or what is said behind one."""
    try:
        key = recipient(word).key
    except ValueError:
        return tuple(one for one in among if one.comment == word.strip())
    return tuple(one for one in among if one.key == key)


def _understood(ref: Ref) -> Recipient:
    try:
        return recipient(ref.name)
    except ValueError as problem:
        raise GitcfgError(f"{ref.origin}: The recipient is no key: {problem}.", "Mend it first.") from None
