"""The git program, for what git's library cannot do: sign, add notes, write many objects."""

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
"""The variables by which git informs its hooks; here they are set from the open repository instead."""
_ROLES = ("AUTHOR", "COMMITTER")
_IDENTITY = {"NAME": "gitcfg", "EMAIL": "gitcfg@localhost"}


class Git:
    """git in one repository; `environment` is the one of its processes."""

    def __init__(self, repository: Repository, environment: Mapping[str, str]) -> None:
        """Begin with a repository.

        Raise GitcfgError if it has no git, or objects in it are not accepted yet.
        """
        git = repository.git_or_error()
        if environment.get("GIT_QUARANTINE_PATH"):
            hint = "Run it from post-receive, not from pre-receive."
            raise GitcfgError("The push is not accepted yet, so nothing can be written.", hint, code=REFUSED)
        self.folder = Path(git.path)
        kept = {name: value for name, value in environment.items() if name not in _OURS}
        # git's library ignores replacements (refs/replace/), and git must read the same objects.
        ours = {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_REPLACE_OBJECTS": "1"}
        self._environment = {**kept, **ours}

    def run(self, *words: str, stdin: bytes | IO[bytes] = b"", **more: str) -> str:
        """Run git and return its output; `more` is added to the environment.

        Raise GitcfgError if it fails.
        """
        code, output, error = self.try_run(*words, stdin=stdin, **more)
        if code:
            raise GitcfgError(f"`git {words[0]}` failed: {_last_words(error)}.")
        return output

    def try_run(self, *words: str, stdin: bytes | IO[bytes] = b"", **more: str) -> tuple[int, str, str]:
        """Run git and return its exit code, stdout and stderr. Raise GitcfgError if there is no git."""
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
        """Run a git that continues if this program is killed; return its exit code and last output."""
        environment = {**self._environment, **more}
        call = ["git", f"--git-dir={self.folder}", *words]
        with tempfile.TemporaryFile() as output:  # after a kill, a pipe would have no reader
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
        """Return the arguments that sign this program's commits: if it has a key, or git signs all."""
        _, key, _ = self.try_run("config", "gitcfg.signingKey")
        if key:
            return (f"-S{key}",)
        _, always, _ = self.try_run("config", "--type=bool", "commit.gpgSign")
        return ("-S",) if required or always == "true" else ()

    def identity(self) -> dict[str, str]:
        """Return the environment for gitcfg as author and committer where git has no identity."""
        unknown = [role for role in _ROLES if self.try_run("var", f"GIT_{role}_IDENT")[0]]
        return {f"GIT_{role}_{key}": value for role in unknown for key, value in _IDENTITY.items()}


def _last_words(error: str) -> str:
    """Return git's error message on one line."""
    lines = (line.strip().removeprefix("fatal: ").removeprefix("error: ") for line in error.splitlines())
    return shown("; ".join(filter(None, lines)).rstrip(".") or "no reason given", most=300)


# New objects of a repository, written all at once: files and folders with the ids that git gives them.

FOLDER_MODE = b"40000"
EMPTY = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""The empty folder: git knows it without an object."""
_TREE, _BLOB = 2, 3
_KINDS = {_TREE: b"tree", _BLOB: b"blob"}
_LEVEL = 1  # compression: level 6 takes three times as long, and `git gc` packs again anyway
_FEW = 100  # git's own limit: fewer objects are not kept as a pack
_HEAD = 12
_BLOCK = 1 << 20
_RESERVED = re.compile(r"\.git[ .]*(:.*)?|git~1[ .]*(:.*)?", re.IGNORECASE)


class PackedObject(msgspec.Struct, frozen=True, gc=False):
    """An object by its id, with its bytes in a pack."""

    id: str
    packed: bytes


class TreeRow(msgspec.Struct, frozen=True, gc=False):
    """An entry of a folder under a name."""

    name: str
    mode: bytes
    id: str


def pack_blob(data: bytes) -> PackedObject:
    """Return the object of a file."""
    return _pack_object(_BLOB, data)


def pack_tree(rows: Iterable[TreeRow]) -> PackedObject:
    """Return the object of a folder."""
    ordered = sorted(rows, key=lambda row: row.name.encode() + (b"/" if row.mode == FOLDER_MODE else b""))
    return _pack_object(
        _TREE, b"".join(b"%b %b\0%b" % (r.mode, r.name.encode(), bytes.fromhex(r.id)) for r in ordered)
    )


def _pack_object(kind: int, data: bytes) -> PackedObject:
    id = hashlib.sha1(b"%b %d\0" % (_KINDS[kind], len(data)) + data, usedforsecurity=False).hexdigest()
    return PackedObject(id, _encode_head(kind, len(data)) + zlib.compress(data, _LEVEL))


def _encode_head(kind: int, size: int) -> bytes:
    """Return an object's header in a pack: its kind and size, seven bits per byte, the lowest first."""
    head, size = [kind << 4 | size & 15], size >> 4
    while size:
        head[-1] |= 128
        head.append(size & 127)
        size >>= 7
    return bytes(head)


class Pack:
    """Objects to write: none of them is in the repository before all are."""

    def __init__(self, body: IO[bytes]) -> None:
        self._body = body
        self._body.write(bytes(_HEAD))
        self._ids = set[str]()

    def add(self, made: Iterable[PackedObject]) -> None:
        """Add objects; each counts once."""
        for one in made:
            if one.id not in self._ids:
                self._ids.add(one.id)
                self._body.write(one.packed)

    def keep(self, git: Git) -> None:
        """Write them into the repository. Raise GitcfgError if git finds an invalid one."""
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
        # --strict: git checks the names in folders, too; one that it refuses would break every clone.
        few = len(self._ids) < _FEW
        words = ["unpack-objects", "-q", "--strict"] if few else ["index-pack", "--stdin", "--strict"]
        git.run(*words, stdin=self._body)


@contextmanager
def open_pack(git: Git) -> Iterator[Pack]:
    """Open a new pack: a temporary file without a name, which is gone however the program ends."""
    with tempfile.TemporaryFile(dir=git.folder, prefix="gitcfg-pack-") as body:
        yield Pack(body)


def find_reserved(path: str) -> str:
    """Return the part of a path that git reserves on any system, with any content; "": there is none."""
    return next((part for part in path.split("/") if _RESERVED.fullmatch(part)), "")


def pack_folders(files: Mapping[str, tuple[bytes, str]]) -> Iterator[PackedObject]:
    """Yield the folders of files, which are mode and id by path (`/etc/x`); the outermost folder is last."""
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
