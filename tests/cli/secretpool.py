"""A pool with secrets, people who look after it, and commands that they type."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

import gitcfg.check.run
import gitcfg.cli.app
import gitcfg.cli.edits
import gitcfg.cli.secret
import gitcfg.edit.orders
import gitcfg.edit.secrets
import gitcfg.library
import gitcfg.secrets.store  # noqa: F401  what is forked need not import them
from tests.secrets.keypairs import Pair, ssh
from tests.work.processes import ended, forked, nothing

ALICE, BOB, CAROL = (ssh("ed25519", number) for number in (11, 12, 13))
CANARY = "correct-horse-battery-staple"
FILES = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": "parameters:\n  PASSWORD: {description: The pool's., secret: true}\n",
    "features/Execute.yaml": (
        "description: Runs jobs.\nparams: {PASSWORD: {$secret: pool}}\n"
        'files: {/etc/pool: {format: condor, params: ["*"]}}\n'
    ),
    "groups/rack.yaml": "description: A rack.\nfeatures: [Execute]\n",
    "nodesets/exec.yaml": "nodes: exec[1-4]\ngroups: [rack]\n",
}


class Told(msgspec.Struct, frozen=True):
    """How a command ended, and what it said."""

    code: int
    out: str
    error: str


class Pool:
    """A repository, the home of alice who works in it, and her key at its usual place."""

    def __init__(self, place: Path) -> None:
        self.home = place / "home"
        self.root = place / "pool"
        self.temporary = place / "tmp"
        self.told = place.with_name(f"{place.name}-told")  # apart: what is revealed is in it
        self.own = self.home / ".config/gitcfg/identity.txt"
        for folder in (self.own.parent, self.root, self.temporary, self.told):
            folder.mkdir(parents=True)
        self.place(self.own, ALICE.private)
        for path, text in FILES.items():
            (self.root / path).parent.mkdir(exist_ok=True)
            (self.root / path).write_text(text)
        for name, pair in (("alice", ALICE), ("bob", BOB), ("carol", CAROL)):
            (self.home / f"{name}.pub").write_text(" ".join(pair.public.split()[:2]) + f" {name}\n")
        self.git("init", "--quiet")
        self.git("add", ".")
        self.git("commit", "--quiet", "-m", "The first")

    @property
    def environment(self) -> dict[str, str]:
        """What commands find."""
        who = {f"GIT_{role}_{key}": "a@b" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "TMPDIR": str(self.temporary), **who}

    def place(self, file: Path, private: bytes) -> Path:
        """A private key in a file."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(private)
        file.chmod(0o600)
        return file

    def key(self, name: str, pair: Pair) -> str:
        """The file of somebody's private key."""
        return str(self.place(self.home / name, pair.private))

    def git(self, *words: str) -> str:
        """What git says."""
        command = ["git", *words]
        return subprocess.run(
            command, cwd=self.root, env=self.environment, check=True, capture_output=True, text=True
        ).stdout

    def run(self, *words: str, given: bytes = b"", more: Mapping[str, str] | None = None) -> Told:
        """What `gitcfg` says; `given` comes from stdin, `more` is environment."""
        return self.ended(self.start(*words, given=given, more=more))

    def start(
        self,
        *words: str,
        given: bytes = b"",
        more: Mapping[str, str] | None = None,
        before: Callable[[], None] = nothing,
    ) -> tuple[int, Path]:
        """A command in a process of its own, and where it says what it says; it may do something before."""
        told = Path(tempfile.mkdtemp(dir=self.told))
        (told / "stdin").write_bytes(given)
        environment = {**self.environment, **(more or {})}

        def begin() -> None:
            os.environ.clear()
            os.environ.update(environment)
            os.chdir(self.home)
            sys.stdin = (told / "stdin").open()
            tempfile.tempdir = str(self.temporary)
            before()

        return forked(["-C", str(self.root), *words], told, begin), told

    def ended(self, started: tuple[int, Path]) -> Told:
        """How it ended, and what it said."""
        return Told(*ended(*started))

    def begun(self) -> "Pool":
        """With its first secret, whose content is the canary, for alice and bob."""
        files = [word for name in ("alice", "bob") for word in ("--recipient", f"{name}.pub")]
        done = self.run("secret", "set", "pool", "--for", "true", *files, given=CANARY.encode() + b"\n")
        assert done.code == 0, done
        return self

    def content(self, *words: str) -> str:
        """What the secret holds for who asks."""
        done = self.run("secret", "show", "pool", "--reveal", *words)
        assert done.code == 0, done
        return done.out

    def holding(self, text: str) -> list[Path]:
        """The files in which a text stands, or git's objects."""
        files = [path for path in self.root.parent.rglob("*") if path.is_file()]
        found = [path for path in files if text.encode() in path.read_bytes()]
        objects = subprocess.run(
            ["git", "cat-file", "--batch-all-objects", "--batch"],
            cwd=self.root,
            env=self.environment,
            check=True,
            capture_output=True,
        ).stdout
        return [*found, self.root / ".git"] if text.encode() in objects else found
