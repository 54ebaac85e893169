"""git's own configuration of a repository: what its administrator says, which no push can change."""

from collections.abc import Iterator
from pathlib import Path

import pygit2

from gitcfg.git.repository import Repository
from gitcfg.model import GitcfgError


class Config:
    """Values by key (`gitcfg.ratchet`), as `git config` shows them."""

    def __init__(self, repository: Repository) -> None:
        """GitcfgError: there is no git repository."""
        self._config = repository.git_or_error("it has no settings").config

    def all(self, key: str) -> tuple[str, ...]:
        """All values of a key, in order: those of the machine first, the repository's own last."""
        return tuple(value or "" for value in self._config.get_multivar(key))

    def last(self, key: str) -> str | None:
        """The value that counts."""
        found = self.all(key)
        return found[-1] if found else None

    def section(self, name: str) -> Iterator[tuple[str, str]]:
        """All that is said in a section (`gitcfg`), by names in small letters, in order."""
        for entry in self._config:
            if entry.name.startswith(f"{name}."):
                yield entry.name, entry.value or ""

    def flag(self, key: str) -> bool | None:
        """A truth, as git understands it; None: nothing is said. GitcfgError: it is none."""
        found = self.last(key)
        if found is None:
            return None
        try:
            return bool(self._config.get_bool(key))
        except (ValueError, pygit2.GitError):
            raise unknown(key, found, "`true` or `false`") from None

    def choice(self, key: str, choices: tuple[str, ...]) -> str | None:
        """One of several words; None: nothing is said. GitcfgError: it is none of them."""
        found = self.last(key)
        if found is not None and found not in choices:
            raise unknown(key, found, " or ".join(f"`{word}`" for word in choices))
        return found

    def file(self, key: str) -> bytes | None:
        """The content of the file that a key names; None: nothing is said. GitcfgError: it is not there."""
        found = self.last(key)
        if found is None:
            return None
        try:
            return Path(found).expanduser().read_bytes()
        except OSError as error:
            message = f"{key} is {found!r} in git's configuration of this repository: {error.strerror}."
            raise GitcfgError(message, "Name a file that this user can read.") from None


def unknown(key: str, value: str, wanted: str) -> GitcfgError:
    """A value is none of those that a key may have."""
    return GitcfgError(f"{key} is {value!r} in git's configuration of this repository.", f"Say {wanted}.")
