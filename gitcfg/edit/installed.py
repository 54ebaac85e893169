"""Puts gitcfg's hooks into repositories, and takes them out again: before commits, and on a server."""

import msgspec

from gitcfg.edit.hook_plan import plan_install, plan_removal, plan_setting
from gitcfg.edit.hook_steps import Step, carry_out_steps, refusal
from gitcfg.edit.hooks import SERVER, WORK_TREE, Marker, Script
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


class HookChanges(msgspec.Struct, frozen=True):
    """What was done, and in which folder of hooks."""

    folder: HookFolder
    steps: tuple[Step, ...]


def install(repository: Repository, program: tuple[str, ...]) -> HookChanges:
    """Have every commit checked first; `program` are the words that call gitcfg.

    GitcfgError (4): something is in the way, and nothing was changed.
    """
    folder = hook_folder(repository, work_tree(repository))
    scripts = (Script(name, program, Marker(repository.prefix)) for name in WORK_TREE)
    return _done(folder, plan_install(folder.place, scripts))


def install_in_new(repository: Repository, program: tuple[str, ...]) -> HookChanges:
    """The same, but nothing is put where all repositories look: nobody has asked for that."""
    folder = hook_folder(repository, work_tree(repository))
    if folder.common:
        raise refusal(
            f"core.hooksPath names {folder.place} for all repositories, so no hook was put there.",
            "`gitcfg hook install` does it; repositories without gitcfg.yaml do not notice.",
        )
    return install(repository, program)


def install_server(repository: Repository, program: tuple[str, ...]) -> HookChanges:
    """Have every push judged that comes to a repository. GitcfgError (4): as for `install`."""
    folder = hook_folder(repository, repository.root)
    if folder.common:
        raise refusal(
            f"core.hooksPath names {folder.place} for all repositories.",
            "Give this one its own: `git config core.hooksPath hooks` in it.",
        )
    steps = plan_install(folder.place, (Script(name, program) for name in SERVER))
    keys = missing_settings(repository)
    steps += plan_setting(settings_file(repository), lambda text: with_settings(text, keys))
    return _done(folder, steps)


def remove(repository: Repository) -> HookChanges:
    """Put back what was there before `install`."""
    folder = hook_folder(repository, work_tree(repository))
    return _done(folder, plan_removal(folder.place, WORK_TREE))


def remove_server(repository: Repository) -> HookChanges:
    """Put back what was there before `install_server`."""
    folder = hook_folder(repository, repository.root)
    setting = plan_setting(settings_file(repository), without_settings)
    return _done(folder, (*setting, *plan_removal(folder.place, SERVER)))


def _done(folder: HookFolder, steps: tuple[Step, ...]) -> HookChanges:
    carry_out_steps(steps)
    return HookChanges(folder, steps)
