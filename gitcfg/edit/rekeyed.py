"""Secrets for other recipients: which are meant, and who can read them then."""

from collections.abc import Iterable, Sequence

from gitcfg.edit.readers import find_recipients, parse_recipients
from gitcfg.edit.secrets import SecretPlan
from gitcfg.model import REFUSED, GitcfgError, Secret
from gitcfg.model.age import Recipient
from gitcfg.model.names import did_you_mean, shown


def choose_secrets(known: Iterable[Secret], names: Sequence[str], remove: Sequence[str]) -> list[Secret]:
    """The secrets that are named; else those with a recipient that goes; else all.

    GitcfgError: there is no such secret, or one of those that go is nowhere a recipient.
    """
    all_of = {secret.name: secret for secret in known}
    for name in names:
        if name not in all_of:
            raise GitcfgError(f"There is no secret {shown(name)}.", did_you_mean(name, all_of))
    meant = [all_of[name] for name in dict.fromkeys(names) or sorted(all_of)]
    for word in remove:
        if not any(find_recipients(parse_recipients(secret), word) for secret in meant):
            comments = {one.comment for secret in meant for one in parse_recipients(secret) if one.comment}
            hint = did_you_mean(word, comments) or "`gitcfg secret who NAME` shows who can read one."
            raise GitcfgError(f"{shown(word)} is a recipient of none of them.", hint)
    if names or not remove:
        return meant
    return [
        secret for secret in meant if any(find_recipients(parse_recipients(secret), word) for word in remove)
    ]


def plan_rekey(secret: Secret, add: Iterable[Recipient], remove: Iterable[str]) -> SecretPlan:
    """A secret for more recipients, or for fewer. GitcfgError: nobody would be left."""
    before = parse_recipients(secret)
    going = {one.key for word in remove for one in find_recipients(before, word)}
    known = {one.key for one in before}
    after = [one for one in before if one.key not in going]
    after += [one for one in add if one.key not in known or one.key in going]
    if not after:
        hint = f"Add another one with --add KEY, or take it all away: `gitcfg delete secret {secret.name}`."
        raise GitcfgError(f"Nobody could read {shown(secret.name)} any more.", hint, code=REFUSED)
    return SecretPlan(secret.name, secret.origin.file, secret.version, before, tuple(after))
