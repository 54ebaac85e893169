"""Puts gitcfg's hooks into repositories, and takes them out again: before commits, and on a server."""

import msgspec

from gitcfg.edit.hook_plan import install_plan, removal_plan, setting_plan
from gitcfg.edit.hook_steps import Step, carry_out, refused
from gitcfg.edit.hooks import SERVER, WORK_TREE, Kept, Script
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


class Done(msgspec.Struct, frozen=True):
    """What was done, and in which folder of hooks."""

    folder: HookFolder
    steps: tuple[Step, ...]


def install(repository: Repository, program: tuple[str, ...]) -> Done:
    """Have every commit checked first; `program` are the words that call gitcfg.

    GitcfgError (4): something is in the way, and nothing was changed.
    """
    folder = hook_folder(repository, work_tree(repository))
    scripts = (Script(name, program, Kept(repository.prefix)) for name in WORK_TREE)
    return _done(folder, install_plan(folder.place, scripts))


def install_in_new(repository: Repository, program: tuple[str, ...]) -> Done:
    """The same, but nothing is put where all repositories look: nobody has asked for that."""
    folder = hook_folder(repository, work_tree(repository))
    if folder.common:
        raise refused(
            f"core.hooksPath names {folder.place} for all repositories, so no hook was put there.",
            "`gitcfg hook install` does it; repositories without gitcfg.yaml do not notice.",
        )
    return install(repository, program)


def install_server(repository: Repository, program: tuple[str, ...]) -> Done:
    """Have every push judged that comes to a repository. GitcfgError (4): as for `install`."""
    folder = hook_folder(repository, repository.root)
    if folder.common:
        raise refused(
            f"core.hooksPath names {folder.place} for all repositories.",
            "Give this one its own: `git config core.hooksPath hooks` in it.",
        )
    steps = install_plan(folder.place, (Script(name, program) for name in SERVER))
    keys = missing_settings(repository)
    steps += setting_plan(settings_file(repository), lambda text: with_settings(text, keys))
    return _done(folder, steps)


def remove(repository: Repository) -> Done:
    """Put back what was there before `install`."""
    folder = hook_folder(repository, work_tree(repository))
    return _done(folder, removal_plan(folder.place, WORK_TREE))


def remove_server(repository: Repository) -> Done:
    """Put back what was there before `install_server`."""
    folder = hook_folder(repository, repository.root)
    setting = setting_plan(settings_file(repository), without_settings)
    return _done(folder, (*setting, *removal_plan(folder.place, SERVER)))


def _done(folder: HookFolder, steps: tuple[Step, ...]) -> Done:
    carry_out(steps)
    return Done(folder, steps)
