"""Secrets as a repository says them: who may have which, and how a value that is one is shown."""

from typing import Any

import msgspec

from gitcfg.model.origin import Origin, Ref

_KEY = "$secret"  # no plain value of type map can have it
PLAIN = "<plain text where a secret belongs>"
"""What is shown of a value that is written in plain though its parameter is secret."""


class Secret(msgspec.Struct, frozen=True, gc=False):
    """What secrets/NAME.yaml says. `where` (CEL) says which nodes may have it; None: none may.

    `recipients` are age or SSH public keys, each with its place. `sealed` is where secrets/NAME.age stands,
    None if there is none.
    """

    name: str
    origin: Origin
    description: str = ""
    where: Ref | None = None
    version: int = 1
    recipients: tuple[Ref, ...] = ()
    sealed: Origin | None = None


def secret_value(name: str, version: int | None) -> dict[str, Any]:
    """A secret as a parameter's value, everywhere but on the way into its own node; as JSON has it, too.

    One that does not exist has no version: what binds it binds no value.
    """
    return {_KEY: name, "version": version}


def has_version(value: dict[str, Any]) -> bool:
    """Does the secret exist that a value is?"""
    return value["version"] is not None


def is_secret(value: Any) -> bool:
    """Whether a value is a secret's name and version."""
    return type(value) is dict and _KEY in value


def shown(value: Any) -> Any:
    """A value as files and people see it: of a secret its name, and its version if it exists."""
    if not is_secret(value):
        return value
    version = f" v{value['version']}" if has_version(value) else ""
    return f"<secret {value[_KEY]}{version}>"


def unversioned(value: Any) -> Any:
    """A value as it is shown, whichever version of a secret it is."""
    return shown(secret_value(secret_name(value), None)) if is_secret(value) else value


def secret_name(value: Any) -> str:
    """The name of the secret that a value is; only of one that is a secret."""
    name: str = value[_KEY]
    return name
