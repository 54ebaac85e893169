"""What nodes need in their own policy: the paths of their files and the commands of their subsystems."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

import msgspec

from gitcfg.install.policy import holds_own, is_own, name_of, parent_of, stops_agent
from gitcfg.library import Fleet
from gitcfg.render.files import find_subsystems

INTERPRETERS = frozenset(
    (
        *("ash", "bash", "busybox", "csh", "dash", "fish", "ksh", "rbash", "sh", "tcsh", "zsh"),
        *("awk", "expect", "gawk", "lua", "make", "mawk", "node", "perl", "php", "python", "ruby", "tclsh"),
        *("chroot", "doas", "env", "find", "ionice", "nice", "nohup", "nsenter", "pkexec", "runuser"),
        *("setpriv", "setsid", "ssh", "stdbuf", "su", "sudo", "systemd-run", "taskset", "timeout"),
        *("unshare", "xargs"),
    )
)
"""Programs that run their arguments, without version numbers at the end of their names."""

_FOLDERS = {
    **dict.fromkeys(("sh", "bash"), "/bin"),
    **dict.fromkeys(
        (
            *("condor_master", "condor_off", "condor_on", "condor_preen", "condor_reconfig"),
            *("condor_restart", "service", "sysctl", "ldconfig", "runuser", "chroot", "nginx", "sshd"),
            *("exportfs", "nft"),
        ),
        "/usr/sbin",
    ),
}
"""The folders of Debian's and HTCondor's programs outside /usr/bin: an assumption, to be confirmed."""
_SETS = re.compile(r"\w+=")
_DEEP = 3
_OF_ALL = frozenset({"bin", "sbin", "lib", "lib64", "libexec", "share", "system", "systemd"})


class PathNeed(msgspec.Struct, frozen=True):
    """A glob of paths, and the files for which it is needed."""

    glob: str
    files: tuple[str, ...]


class CommandNeed(msgspec.Struct, frozen=True):
    """A command with its words.

    `program` is the path that a policy needs, None if there is none; `assumed`: the repository does not name
    the path. `risks` are reasons to consider before allowing the command.
    """

    words: tuple[str, ...]
    program: str | None
    assumed: bool
    risks: tuple[str, ...]

    @property
    def pattern(self) -> tuple[str, ...]:
        """The words for agent.toml. Only if there is a program."""
        return (self.program or "", *self.words[1:])


class Needs(msgspec.Struct, frozen=True):
    """The needs of some nodes together. For `retired` nodes, an earlier commit has more.

    `own` are paths that nodes never allow anyone to write, and `ending` commands that would stop the agent.
    """

    nodes: tuple[str, ...]
    retired: tuple[str, ...]
    paths: tuple[PathNeed, ...]
    commands: tuple[CommandNeed, ...]
    own: tuple[str, ...]
    ending: tuple[tuple[str, ...], ...]


def find_needs(fleet: Fleet, names: Iterable[str]) -> Needs:
    """Return what nodes need to run what is described here, and to stop it later."""
    chosen = tuple(names)
    paths: set[str] = set()
    commands: set[tuple[str, ...]] = set()
    compiled = fleet.compiled
    for name in chosen:
        node = compiled[name]
        paths.update(node.entries)
        for subsystem in find_subsystems(compiled, node).values():
            commands.update(words for _, words in subsystem.commands())
    retired = tuple(name for name in chosen if compiled[name].definition.retired)
    never = tuple(sorted(filter(is_own, paths))), tuple(sorted(filter(stops_agent, commands)))
    paths.difference_update(never[0])
    uses = tuple(_command_need(words, paths) for words in sorted(commands.difference(never[1])))
    return Needs(chosen, retired, tuple(_path_needs(paths)), uses, *never)


def _path_needs(paths: Iterable[str]) -> Iterator[PathNeed]:
    """Yield the needs; several files in a folder of a single application are one glob."""
    ordered = sorted(paths, key=lambda path: (parent_of(path), path))
    for folder, group in groupby(ordered, parent_of):
        files, names = tuple(group), folder.split("/")[1:]
        is_own = len(names) >= _DEEP and not _OF_ALL & set(names) and not holds_own(folder)
        if len(files) > 1 and is_own:
            yield PathNeed(f"{folder}/*", files)
        else:
            yield from (PathNeed(path, (path,)) for path in files)


def _command_need(words: tuple[str, ...], paths: set[str]) -> CommandNeed:
    named = words[0]
    if named.startswith("/"):
        program: str | None = named
    else:
        program = None if "/" in named else f"{_FOLDERS.get(named, '/usr/bin')}/{named}"
    return CommandNeed(words, program, program not in (None, named), tuple(_risks(words, paths)))


def _risks(words: tuple[str, ...], paths: set[str]) -> Iterator[str]:
    name = name_of(words[0])
    interprets = name.rstrip("0123456789.") in INTERPRETERS
    scripts = [
        word for word in words[1:] if interprets and not _SETS.match(word)
    ]  # `env` does not run an assignment
    own = [path for path in paths if words[0] == path or any(path in word for word in scripts)]
    if own:
        yield f"runs {min(own)}, which the repository writes, so the repository can do anything"
    elif interprets:
        yield f'{name} runs its arguments: only this command as written, any command with "*" or "**"'
    if "*" in words[1:] or words[-1] == "**":
        yield 'a word of it is "*" or "**", which allows other words, too'
