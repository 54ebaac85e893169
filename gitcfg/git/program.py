"""The git program itself, for what its library does not do: to sign, to note, to take many objects."""

import hashlib
import os
import re
import subprocess
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import msgspec

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
_ROLES = ("AUTHOR", "COMMITTER")
_IDENTITY = {"NAME": "gitcfg", "EMAIL": "gitcfg@localhost"}


class Git:
    """git in one repository; `environment` is what it is started with."""

    def __init__(self, repository: Repository, environment: Mapping[str, str]) -> None:
        """GitcfgError: there is no git repository, or what is in it has not been accepted yet."""
        git = repository.git_or_error()
        if environment.get("GIT_QUARANTINE_PATH"):
            hint = "Run it from post-receive, not from pre-receive."
            raise GitcfgError("The push is not accepted yet, so nothing can be written.", hint, code=REFUSED)
        self.folder = Path(git.path)
        kept = {name: value for name, value in environment.items() if name not in _OURS}
        # git's library follows no replacements (refs/replace/), and what git reads must be the same.
        ours = {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_REPLACE_OBJECTS": "1"}
        self._environment = {**kept, **ours}

    def run(self, *words: str, stdin: bytes | IO[bytes] = b"", **more: str) -> str:
        """Run git and return its output; `more` is environment. GitcfgError: it fails."""
        code, output, error = self.try_run(*words, stdin=stdin, **more)
        if code:
            raise GitcfgError(f"`git {words[0]}` failed: {_last_words(error)}.")
        return output

    def try_run(self, *words: str, stdin: bytes | IO[bytes] = b"", **more: str) -> tuple[int, str, str]:
        """Run git and return its exit code, stdout and stderr. GitcfgError: there is no git."""
        call = ["git", f"--git-dir={self.folder}", *words]
        environment = {**self._environment, **more}
        source: dict[str, Any] = {"input" if isinstance(stdin, bytes) else "stdin": stdin}
        try:
            done = subprocess.run(call, capture_output=True, check=False, env=environment, **source)
        except FileNotFoundError:
            raise GitcfgError("git is not installed, so nothing can be committed.", "Install git.") from None
        output, error = (raw.decode("utf-8", "replace").strip() for raw in (done.stdout, done.stderr))
        return done.returncode, output, error

    def run_detached(self, *words: str, **more: str) -> tuple[int, str]:
        """Run a git that goes on when this program is killed; return its exit code and last words."""
        environment = {**self._environment, **more}
        call = ["git", f"--git-dir={self.folder}", *words]
        with tempfile.TemporaryFile() as output:  # nobody reads on from a pipe after a kill
            process = subprocess.Popen(
                call,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=environment,
                start_new_session=True,
            )
            interrupted = False
            while process.returncode is None:
                try:
                    process.wait()
                except KeyboardInterrupt:
                    interrupted = True
            output.seek(0)
            error = output.read().decode("utf-8", "replace")
        if interrupted:
            raise KeyboardInterrupt
        return process.returncode, _last_words(error)

    def signing(self, required: bool = False) -> tuple[str, ...]:
        """The words that sign what this program commits: if a key is named for it, or git is told to."""
        _, key, _ = self.try_run("config", "gitcfg.signingKey")
        if key:
            return (f"-S{key}",)
        _, always, _ = self.try_run("config", "--type=bool", "commit.gpgSign")
        return ("-S",) if required or always == "true" else ()

    def identity(self) -> dict[str, str]:
        """Return who writes and commits: whoever git is told it is; where it is not told, gitcfg itself."""
        unknown = [role for role in _ROLES if self.try_run("var", f"GIT_{role}_IDENT")[0]]
        return {f"GIT_{role}_{key}": value for role in unknown for key, value in _IDENTITY.items()}


def _last_words(error: str) -> str:
    """Return what git says, on one line."""
    lines = (line.strip().removeprefix("fatal: ").removeprefix("error: ") for line in error.splitlines())
    return shown("; ".join(filter(None, lines)).rstrip(".") or "no reason given", most=300)


# New objects of a repository, written all at once: files and folders by the ids that git gives them.

FOLDER_MODE = b"40000"
EMPTY = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""The folder in which there is nothing: git knows it without being told."""
_TREE, _BLOB = 2, 3
_KINDS = {_TREE: b"tree", _BLOB: b"blob"}
_LEVEL = 1  # of compression: 6 takes three times as long, and `git gc` packs again anyway
_FEW = 100  # as git's own limit: so few objects are no pack of their own
_HEAD = 12
_BLOCK = 1 << 20
_RESERVED = re.compile(r"\.git[ .]*(:.*)?|git~1[ .]*(:.*)?", re.IGNORECASE)


class PackedObject(msgspec.Struct, frozen=True, gc=False):
    """An object by its id, and as it stands in a pack."""

    id: str
    packed: bytes


class TreeRow(msgspec.Struct, frozen=True, gc=False):
    """What stands under a name in a folder."""

    name: str
    mode: bytes
    id: str


def pack_blob(data: bytes) -> PackedObject:
    """Return a file."""
    return _pack_object(_BLOB, data)


def pack_tree(rows: Iterable[TreeRow]) -> PackedObject:
    """Return a folder."""
    ordered = sorted(rows, key=lambda row: row.name.encode() + (b"/" if row.mode == FOLDER_MODE else b""))
    return _pack_object(
        _TREE, b"".join(b"%b %b\0%b" % (r.mode, r.name.encode(), bytes.fromhex(r.id)) for r in ordered)
    )


def _pack_object(kind: int, data: bytes) -> PackedObject:
    id = hashlib.sha1(b"%b %d\0" % (_KINDS[kind], len(data)) + data, usedforsecurity=False).hexdigest()
    return PackedObject(id, _encode_head(kind, len(data)) + zlib.compress(data, _LEVEL))


def _encode_head(kind: int, size: int) -> bytes:
    """Return an object's head in a pack: its kind and size, seven bits a byte, the lowest first."""
    head, size = [kind << 4 | size & 15], size >> 4
    while size:
        head[-1] |= 128
        head.append(size & 127)
        size >>= 7
    return bytes(head)


class Pack:
    """Objects on their way: none of them is there before all are."""

    def __init__(self, body: IO[bytes]) -> None:
        self._body = body
        self._body.write(bytes(_HEAD))
        self._ids = set[str]()

    def add(self, made: Iterable[PackedObject]) -> None:
        """Take objects; each counts once."""
        for one in made:
            if one.id not in self._ids:
                self._ids.add(one.id)
                self._body.write(one.packed)

    def keep(self, git: Git) -> None:
        """Put them in place. GitcfgError: git finds that one of them is not as it should be."""
        if not self._ids:
            return
        self._body.seek(0)
        self._body.write(b"PACK" + (2).to_bytes(4) + len(self._ids).to_bytes(4))
        self._body.seek(0)
        digest = hashlib.sha1(usedforsecurity=False)
        while block := self._body.read(_BLOCK):
            digest.update(block)
        self._body.write(digest.digest())
        self._body.flush()
        os.lseek(self._body.fileno(), 0, os.SEEK_SET)
        # --strict: git judges the names in folders, too; one that it refuses would break every clone.
        few = len(self._ids) < _FEW
        words = ["unpack-objects", "-q", "--strict"] if few else ["index-pack", "--stdin", "--strict"]
        git.run(*words, stdin=self._body)


@contextmanager
def open_pack(git: Git) -> Iterator[Pack]:
    """A pack in the making: a file without a name, of which nothing stays, whoever ends the program."""
    with tempfile.TemporaryFile(dir=git.folder, prefix="gitcfg-pack-") as body:
        yield Pack(body)


def find_reserved(path: str) -> str:
    """Return the part of a path that git keeps for itself on some system, whatever is in it; "": none."""
    return next((part for part in path.split("/") if _RESERVED.fullmatch(part)), "")


def pack_folders(files: Mapping[str, tuple[bytes, str]]) -> Iterator[PackedObject]:
    """Yield the folders in which files are, by path (`/etc/x`) to mode and id; the outermost comes last."""
    rows: list[TreeRow] = []
    below: dict[str, dict[str, tuple[bytes, str]]] = {}
    for path, what in files.items():
        name, _, rest = path[1:].partition("/")
        if rest:
            below.setdefault(name, {})["/" + rest] = what
        else:
            rows.append(TreeRow(name, *what))
    for name, inner in below.items():
        folders = list(pack_folders(inner))
        yield from folders
        rows.append(TreeRow(name, FOLDER_MODE, folders[-1].id))
    yield pack_tree(rows)
