"""gitcfg's hooks in git repositories: their scripts, and how these are installed and removed."""

import errno
import json
import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from enum import Enum
from pathlib import Path

import msgspec
from msgspec.structs import replace

from gitcfg.fs import write_program, write_settings
from gitcfg.git.hooks import (
    HookFolder,
    hook_folder,
    missing_settings,
    settings_file,
    with_settings,
    without_settings,
    work_tree,
)
from gitcfg.git.repository import Repository
from gitcfg.model import REFUSED, GitcfgError

BEFORE = ".before-gitcfg"
"""The suffix under which a hook that existed before is kept."""
WORK_TREE = ("pre-commit",)
SERVER = ("pre-receive", "post-receive")
_HEAD = """#!/bin/sh
# Written by gitcfg: `gitcfg hook install` writes it, `gitcfg hook remove` restores the hook from before.
"""
_MARKER = "# gitcfg.hook/1 "
# husky 9 chooses what to run by the name of the called file; other programs go by its folder.
_BY_NAME = re.compile(rb'^\. "\$\(dirname (-- )?"\$0"\)/h"', re.MULTILINE)


class Marker(msgspec.Struct, frozen=True):
    """What a script records: the folder of gitcfg.yaml in git, and whether gitcfg made the hooks folder."""

    folder: str = ""
    made: bool = False


class Script(msgspec.Struct, frozen=True):
    """A hook as it must be. `program` has the words of the command line that calls gitcfg."""

    name: str
    program: tuple[str, ...]
    marker: Marker = Marker()

    def text(self, before: bytes | None) -> bytes:
        """Return the script; `before` is the existing hook that it runs first, if any."""
        # Not msgspec's encoder: a folder's name need not be UTF-8, and `json` escapes such names in ASCII.
        marker = json.dumps(msgspec.to_builtins(self.marker))
        words = shlex.join(self.program)
        by_name = before is not None and _BY_NAME.search(before)
        start = _START.format(name=self.name, program=words, call=_CALL_BY_NAME if by_name else _CALL)
        file = f"{self.marker.folder}/gitcfg.yaml".lstrip("/")
        folder = f"./{self.marker.folder}".rstrip("/")
        body = _BODIES[self.name].format(folder=shlex.quote(folder), file=shlex.quote(file))
        escaped = re.sub(r'([\\"$`])', r"\\\1", words)
        failed = _FAILED.format(program=escaped, what=_WHAT[self.name], hint=_HINTS[self.name])
        return f"{_HEAD}{_MARKER}{marker}\n{start}{body}{failed}".encode("utf-8", "surrogateescape")


def parse_marker(text: bytes) -> Marker | None:
    """Return the marker of a script that gitcfg wrote; None: another program wrote it."""
    lines = text.split(b"\n", 3)
    if len(lines) < 3 or not lines[2].startswith(_MARKER.encode()):
        return None
    try:
        return msgspec.convert(json.loads(lines[2].removeprefix(_MARKER.encode())), Marker)
    except (ValueError, RecursionError):  # msgspec's errors are ValueErrors, too
        return None


_CALL = '"$gitcfg_before" "$@"'
_CALL_BY_NAME = """sh -c '. "$0.before-gitcfg"' "${gitcfg_before%.before-gitcfg}" "$@\""""
_START = """\
gitcfg() {{
    {program} --no-pager "$@"
}}
case $0 in
*/*) gitcfg_before=${{0%/*}}/{name}.before-gitcfg ;;
*) gitcfg_before=./{name}.before-gitcfg ;;
esac
before() {{
    {call}
}}
gitcfg_first=
"""
_GIVEN = """\
gitcfg_given=$(cat && echo .)
gitcfg_given=${{gitcfg_given%.}}
given() {{
    printf %s "$gitcfg_given" 2>/dev/null
}}
"""
_BODIES = {
    "pre-commit": """\
if [ -x "$gitcfg_before" ]; then
    before "$@" || exit
fi
# Other branches, and other repositories where they share hooks, need not be gitcfg's.
gitcfg_file={file}
git cat-file -e "HEAD:$gitcfg_file" 2>/dev/null ||
    git cat-file -e ":0:$gitcfg_file" 2>/dev/null || exit 0
gitcfg -C {folder} hook pre-commit
gitcfg_code=$?
""",
    "pre-receive": f"""\
{_GIVEN}if [ -x "$gitcfg_before" ]; then
    given | before "$@" || exit
fi
given | gitcfg -C . hook pre-receive
gitcfg_code=$?
""",
    "post-receive": f"""\
{_GIVEN}if [ -x "$gitcfg_before" ]; then
    given | before "$@" || gitcfg_first=$?
fi
given | gitcfg -C . hook post-receive
gitcfg_code=$?
""",
}
_FAILED = """\
case $gitcfg_code in
126 | 127)
    printf '%s\\n' "error: Cannot run {program}, so {what}." >&2
    printf '%s\\n' "hint: {hint}" >&2
    ;;
esac
exit "${{gitcfg_first:-$gitcfg_code}}"
"""
_WHAT = {
    "pre-commit": "nothing is checked and nothing is committed",
    "pre-receive": "nothing can be checked and nothing is accepted",
    "post-receive": "nothing is done after this push",
}
_SERVER_HINT = (
    "Ask the server's administrator to reinstall gitcfg and run "
    r"\`gitcfg hook install --server \"$(pwd)\"\`, or to delete this hook: $0."
)
_HINTS = {
    "pre-commit": r"Reinstall gitcfg and run \`gitcfg hook install\`, "
    r"or use \`git commit --no-verify\` to commit unchecked.",
    "pre-receive": _SERVER_HINT,
    "post-receive": _SERVER_HINT,
}


# Changes to a folder of hooks: all or none are made, and a hook exists at every moment.

# Not every file system has hard links, and Linux may forbid links to files of other users.
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


class Action(Enum):
    """What a step does at its path."""

    MAKE = "a folder is made"
    KEEP = "the hook that is there is kept under another name"
    WRITE = "a hook is written"
    STAY = "nothing: the hook is up to date"
    RESTORE = "the hook from before is restored"
    DELETE = "the hook is deleted, as there was none before"
    UNMAKE = "the folder is deleted if it is empty"
    SET = "a file of settings is written"


class Step(msgspec.Struct, frozen=True):
    """One change. `was` is the content of gitcfg's or git's own file before, `text` the new content."""

    action: Action
    place: Path
    was: bytes | None = None
    text: bytes = b""


def kept_path(place: Path) -> Path:
    """Return the path at which the existing hook is kept."""
    return place.with_name(place.name + BEFORE)


def is_same_file(one: Path, other: Path) -> bool:
    """Return whether two paths name the same file. A symbolic link is not the file that it points to."""
    return os.path.samestat(os.lstat(one), os.lstat(other)) if os.path.lexists(one) else False


def _refusal(message: str, hint: str) -> GitcfgError:
    return GitcfgError(message, hint, code=REFUSED)


def carry_out_steps(steps: Iterable[Step]) -> None:
    """Carry out all steps. Raise GitcfgError (4) if one cannot be done; all is then as it was before."""
    with ExitStack() as undone:
        for step in steps:
            try:
                _do(step, undone)
            except OSError as error:
                raise _refusal(
                    f"{error.filename or step.place}: {error.strerror}. Nothing was changed.",
                    f"You must be able to write in {step.place.parent}.",
                ) from None
        undone.pop_all()


def _do(step: Step, undone: ExitStack) -> None:
    match step.action:
        case Action.MAKE:
            step.place.mkdir()
            undone.callback(step.place.rmdir)
        case Action.KEEP:
            _keep(step.place, undone)
        case Action.WRITE:
            _write(step, undone)
        case Action.RESTORE:
            os.replace(kept_path(step.place), step.place)
            undone.callback(write_program, step.place, step.was or b"")
            undone.callback(os.rename, step.place, kept_path(step.place))
        case Action.DELETE:
            step.place.unlink()
            undone.callback(write_program, step.place, step.was or b"")
        case Action.UNMAKE:
            if not any(step.place.iterdir()):
                step.place.rmdir()
        case Action.SET:
            write_settings(step.place, step.was or b"", step.text)
            undone.callback(write_settings, step.place, step.text, step.was or b"")
        case Action.STAY:
            pass


def _keep(place: Path, undone: ExitStack) -> None:
    # For a moment the hook has two names: without a hook, git would accept any push.
    kept = kept_path(place)
    if not (os.path.lexists(kept) and is_same_file(place, kept)):
        try:
            os.link(place, kept, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            os.rename(place, kept)
    undone.callback(_put_back, place)


def _put_back(place: Path) -> None:
    os.replace(kept_path(place), place)
    # Renaming one of two names of the same file to the other does nothing, without an error.
    kept_path(place).unlink(missing_ok=True)


def _write(step: Step, undone: ExitStack) -> None:
    existed = os.path.lexists(step.place) or os.path.lexists(kept_path(step.place))
    write_program(step.place, step.text)
    if step.was is not None:
        undone.callback(write_program, step.place, step.was)
    elif not existed:
        undone.callback(step.place.unlink)


# The steps that install gitcfg's hooks in a folder, or remove them.


def plan_install(folder: Path, scripts: Iterable[Script]) -> tuple[Step, ...]:
    """Return the steps that install scripts in a folder of hooks.

    Raise GitcfgError (4) if a file is in the way.
    """
    if os.path.lexists(folder) and not folder.is_dir():
        raise _refusal(
            f"{folder} is not a folder, so git runs no hooks.", "Check `git config core.hooksPath`."
        )
    make = () if folder.is_dir() else (Step(Action.MAKE, folder),)
    return (*make, *(step for script in scripts for step in _plan_hook(folder, script, bool(make))))


def _plan_hook(folder: Path, script: Script, made: bool) -> Iterator[Step]:
    place = folder / script.name
    kept = kept_path(place)
    current, before = _content(place), _content(kept)
    marker = _marker(place, current)
    if marker is None:
        if os.path.lexists(kept) and not is_same_file(place, kept):
            hint = f"It is a hook from before. Look at it, then delete it or rename it to {place}."
            raise _refusal(f"{kept} already exists.", hint)
        if current is not None:
            yield Step(Action.KEEP, place)
        new = replace(script, marker=replace(script.marker, made=made))
        yield Step(Action.WRITE, place, None, new.text(current))
        return
    if marker.folder != script.marker.folder:
        raise _refusal(
            f"{place} already checks the folder {marker.folder or '.'}.",
            "A hook checks only one folder: remove this one with `gitcfg hook remove` first.",
        )
    text = replace(script, marker=marker).text(before)
    is_installed = text == current and os.access(place, os.X_OK)
    yield Step(Action.STAY if is_installed else Action.WRITE, place, current, text)


def plan_removal(folder: Path, names: Iterable[str]) -> tuple[Step, ...]:
    """Return the steps that remove gitcfg's own scripts from a folder of hooks; other scripts stay."""
    steps = list[Step]()
    made = False
    for place in (folder / name for name in names):
        current = _content(place) if folder.is_dir() else None
        marker = _marker(place, current)
        if marker is not None:
            made = made or marker.made
            action = Action.RESTORE if os.path.lexists(kept_path(place)) else Action.DELETE
            steps.append(Step(action, place, current))
    return (*steps, Step(Action.UNMAKE, folder)) if made else tuple(steps)


def plan_setting(file: Path, change: Callable[[bytes], bytes]) -> tuple[Step, ...]:
    """Return the steps that change a file of settings; none if nothing changes."""
    was = file.read_bytes()
    text = change(was)
    return (Step(Action.SET, file.resolve(), was, text),) if text != was else ()


def _marker(place: Path, content: bytes | None) -> Marker | None:
    """Return the marker of gitcfg's own script. A symbolic link is never gitcfg's."""
    return parse_marker(content) if content is not None and not place.is_symlink() else None


def _content(place: Path) -> bytes | None:
    """Return the content of a hook; None: there is none. Raise GitcfgError (4) if it is not a file."""
    if place.is_file():
        return place.read_bytes()
    if place.exists():
        raise _refusal(
            f"{place} is not a file.", "git cannot run it: look at it, then move it to another place."
        )
    return b"" if place.is_symlink() else None  # a dangling link is moved like other hooks


# Installs gitcfg's hooks in repositories and removes them: before commits, and on a server.


class HookChanges(msgspec.Struct, frozen=True):
    """The changes made, and the folder of hooks."""

    folder: HookFolder
    steps: tuple[Step, ...]


def install(repository: Repository, program: tuple[str, ...]) -> HookChanges:
    """Install the hook that checks every commit first; `program` has the words that call gitcfg.

    Raise GitcfgError (4) if a file is in the way; nothing is then changed.
    """
    folder = hook_folder(repository, work_tree(repository))
    scripts = (Script(name, program, Marker(repository.prefix)) for name in WORK_TREE)
    return _carry_out(folder, plan_install(folder.place, scripts))


def install_in_new(repository: Repository, program: tuple[str, ...]) -> HookChanges:
    """Install as `install` does, but not into a folder that all repositories share."""
    folder = hook_folder(repository, work_tree(repository))
    if folder.common:
        raise _refusal(
            f"core.hooksPath is {folder.place} for all repositories, so no hook was installed.",
            "Run `gitcfg hook install` to install it; it does nothing in repositories without gitcfg.yaml.",
        )
    return install(repository, program)


def install_server(repository: Repository, program: tuple[str, ...]) -> HookChanges:
    """Install the hooks that judge every push. Raise GitcfgError (4) as `install` does."""
    folder = hook_folder(repository, repository.root)
    if folder.common:
        raise _refusal(
            f"core.hooksPath is {folder.place} for all repositories.",
            "Run `git config core.hooksPath hooks` in this repository to use its own.",
        )
    steps = plan_install(folder.place, (Script(name, program) for name in SERVER))
    keys = missing_settings(repository)
    steps += plan_setting(settings_file(repository), lambda text: with_settings(text, keys))
    return _carry_out(folder, steps)


def remove(repository: Repository) -> HookChanges:
    """Restore the hooks from before `install`."""
    folder = hook_folder(repository, work_tree(repository))
    return _carry_out(folder, plan_removal(folder.place, WORK_TREE))


def remove_server(repository: Repository) -> HookChanges:
    """Restore the hooks from before `install_server`."""
    folder = hook_folder(repository, repository.root)
    setting = plan_setting(settings_file(repository), without_settings)
    return _carry_out(folder, (*setting, *plan_removal(folder.place, SERVER)))


def _carry_out(folder: HookFolder, steps: tuple[Step, ...]) -> HookChanges:
    carry_out_steps(steps)
    return HookChanges(folder, steps)
