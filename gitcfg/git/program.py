"""The git program itself, for what its library does not do: to sign, to note, to take many objects."""

import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from gitcfg.git.repository import Repository
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.names import shown

_OURS = frozenset(
    {
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_COMMON_DIR",
        "GIT_INDEX_FILE",
        "GIT_PREFIX",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    }
)
"""What git tells its hooks of where they are: it is said here anew, by the repository that is open."""
_IDENTITY = {"NAME": "gitcfg", "EMAIL": "gitcfg@localhost"}


class Git:
    """git in one repository; `environment` is what it is started with."""

    def __init__(self, repository: Repository, environment: Mapping[str, str]) -> None:
        """GitcfgError: there is no git repository, or what is in it has not been accepted yet."""
        git = repository.git_or_error()
        if environment.get("GIT_QUARANTINE_PATH"):
            hint = "Call it from post-receive, not from pre-receive."
            raise GitcfgError(
                "What is pushed is not accepted yet, so nothing can follow.", hint, code=REFUSED
            )
        self.folder = Path(git.path)
        kept = {name: value for name, value in environment.items() if name not in _OURS}
        # git's library follows no replacements (refs/replace/), and what git reads must be the same.
        ours = {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_REPLACE_OBJECTS": "1"}
        self._environment = {**kept, **ours}

    def say(self, *words: str, given: bytes | IO[bytes] = b"", **more: str) -> str:
        """What git answers; `more` is environment. GitcfgError: it fails, with its own last words."""
        code, told, error = self.ask(*words, given=given, **more)
        if code:
            raise GitcfgError(f"`git {words[0]}` fails: {_words(error)}.")
        return told

    def ask(self, *words: str, given: bytes | IO[bytes] = b"", **more: str) -> tuple[int, str, str]:
        """The exit code, and what git says on stdout and stderr. GitcfgError: there is no git."""
        call = ["git", f"--git-dir={self.folder}", *words]
        environment = {**self._environment, **more}
        try:
            if isinstance(given, bytes):
                done = subprocess.run(call, input=given, capture_output=True, check=False, env=environment)
            else:
                done = subprocess.run(call, stdin=given, capture_output=True, check=False, env=environment)
        except FileNotFoundError:
            raise GitcfgError("There is no git here, so nothing can be committed.", "Install git.") from None
        out, error = (told.decode("utf-8", "replace") for told in (done.stdout, done.stderr))
        return done.returncode, out.strip(), error.strip()

    def apart(self, *words: str, **more: str) -> tuple[int, str]:
        """The exit code of a git that goes on when this program is killed or interrupted; its last words."""
        environment = {**self._environment, **more}
        call = ["git", f"--git-dir={self.folder}", *words]
        with tempfile.TemporaryFile() as told:  # nobody reads on from a pipe after a kill
            process = subprocess.Popen(
                call,
                stdin=subprocess.DEVNULL,
                stdout=told,
                stderr=told,
                env=environment,
                start_new_session=True,
            )
            interrupted = False
            while process.returncode is None:
                try:
                    process.wait()
                except KeyboardInterrupt:
                    interrupted = True
            told.seek(0)
            error = told.read().decode("utf-8", "replace")
        if interrupted:
            raise KeyboardInterrupt
        return process.returncode, _words(error)

    def signing(self, required: bool = False) -> tuple[str, ...]:
        """The words that sign what this program commits: if a key is named for it, or git is told to."""
        _, key, _ = self.ask("config", "gitcfg.signingKey")
        if key:
            return (f"-S{key}",)
        _, always, _ = self.ask("config", "--type=bool", "commit.gpgSign")
        return ("-S",) if required or always == "true" else ()

    def identity(self) -> dict[str, str]:
        """Who writes and commits: whoever git is told it is; where it is not told, gitcfg itself."""
        unknown = [role for role in _ROLES if self.ask("var", f"GIT_{role}_IDENT")[0]]
        return {f"GIT_{role}_{key}": said for role in unknown for key, said in _IDENTITY.items()}


_ROLES = ("AUTHOR", "COMMITTER")


def _words(error: str) -> str:
    """What git says, on one line."""
    said = (line.strip().removeprefix("fatal: ").removeprefix("error: ") for line in error.splitlines())
    return shown("; ".join(filter(None, said)).rstrip(".") or "it does not say why", most=300)
