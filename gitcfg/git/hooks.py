"""Where git looks for the hooks of a repository, and git's settings of the repository for them."""

import re
from collections.abc import Iterable
from pathlib import Path

import msgspec
from pygit2.enums import ConfigLevel

from gitcfg.git.objects import common_folder
from gitcfg.git.repository import Config, Repository, not_served
from gitcfg.model import GitcfgError

PUSH_OPTIONS, FSCK = "receive.advertisePushOptions", "receive.fsckObjects"
"""Without these git accepts no `--push-option`, but accepts objects that `git fsck` refuses."""
_PATH = "core.hooksPath"
_NO_HOOKS = "it has no hooks"
_COMMENT = b"# Written by `gitcfg hook install --server`; `gitcfg hook remove --server` takes it away.\n"
_HEADING = b"[receive]\n"
_LINES = {PUSH_OPTIONS: b"\tadvertisePushOptions = true\n", FSCK: b"\tfsckObjects = true\n"}
_BLOCK = re.compile(b"%s((?:%s)+)" % (re.escape(_COMMENT + _HEADING), b"|".join(_LINES.values())))
_JOINED = b"\n# The line above had no end.\n"


class HookFolder(msgspec.Struct, frozen=True):
    """A folder of hooks. `common`: settings of the user or the machine define it for all repositories."""

    place: Path
    common: bool = False


def hook_folder(repository: Repository, top: Path) -> HookFolder:
    """Return the folder of the hooks that git runs in the folder `top`: all work trees share them."""
    git = repository.git_or_error(_NO_HOOKS)
    found = [entry for entry in git.config if entry.name == _PATH.lower()]
    if not found:
        return HookFolder(common_folder(git) / "hooks")
    # Sorting is stable: the last of equal ones counts, as for git.
    last = sorted(found, key=lambda entry: entry.level)[-1]
    return HookFolder(top / Path(last.value or "").expanduser(), last.level < ConfigLevel.LOCAL)


def work_tree(repository: Repository) -> Path:
    """Return the top of the work tree. Raise GitcfgError if there is none."""
    git = repository.git_or_error(_NO_HOOKS)
    if not git.workdir:
        hint = f"Run `gitcfg hook install --server {git.path}` to check pushes to it."
        raise GitcfgError(f"{git.path} has no work tree.", hint)
    return Path(git.workdir)


def open_exactly(path: Path) -> Repository:
    """Return the git repository in exactly this folder. Raise GitcfgError if there is none."""
    if path.is_dir():
        repository = Repository.served(path)
        own = path / ".git"  # a file in work trees and submodules, whose git folder is elsewhere
        if own.is_file() or repository.root.resolve() in (path.resolve(), own.resolve()):
            return repository
    raise not_served(path)


def settings_file(repository: Repository) -> Path:
    """Return git's own file of a repository's settings, which all its work trees share."""
    return common_folder(repository.git_or_error(_NO_HOOKS)) / "config"


def missing_settings(repository: Repository) -> tuple[str, ...]:
    """Return the settings of a server that are not as required."""
    return tuple(key for key in _LINES if not _is_set(repository, key))


def _is_set(repository: Repository, key: str) -> bool:
    try:
        return Config(repository).flag(key) or False
    except GitcfgError:  # a value that is not a boolean sets nothing
        return False


def with_settings(text: bytes, keys: Iterable[str]) -> bytes:
    """Return a file of settings with these added: the last value of a setting counts."""
    lines = b"".join(_LINES[key] for key in keys)
    joined = _JOINED if text and not text.endswith(b"\n") else b""
    return text + joined + _COMMENT + _HEADING + lines if lines else text


def without_settings(text: bytes) -> bytes:
    """Return the file as it was before; unchanged if none of our settings is in it as we wrote it."""
    for found in reversed(list(_BLOCK.finditer(text))):
        before, after = text[: found.start()], text[found.end() :]
        if after.lstrip()[:1] not in (b"", b"["):
            text = before + _HEADING + after  # settings that were added to the section later stay in it
        else:
            text = before.removesuffix(_JOINED) + after
    return text


def settings_in(text: bytes) -> frozenset[str]:
    """Return those of our settings that are in a file."""
    blocks = b"".join(found[1] for found in _BLOCK.finditer(text))
    return frozenset(key for key, line in _LINES.items() if line in blocks)
