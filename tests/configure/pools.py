"""A small repository to configure, on disk and in git."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

PARAMETERS = """\
parameters:
  HOST:
    description: Where it listens.
    type: string
    schema: {pattern: '^[a-z0-9.]+$'}
    must_change: true
  PORT: {description: Its port., type: integer, default: 80, depends: [HOST]}
  LOG: {description: Where it logs., type: string, default: /var/log}
  LEVEL: {description: How much it logs., type: string}
  QUIET: {description: No logs., type: boolean, conflicts: [LEVEL]}
"""
POOL: Mapping[str, str] = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/all.yaml": PARAMETERS,
    "features/Base.yaml": "description: What all have.\nparams: {LOG: null}\n",
    "features/Web.yaml": "description: A web server.\ndepends: [Base]\nparams: {HOST: null, PORT: null}\n",
    "features/Webmail.yaml": "description: Mail in a browser.\ninclude: [Web]\n",
    "features/Rival.yaml": "description: Another server.\nconflicts: [Web]\n",
    "features/Loud.yaml": "description: It tells much.\nparams: {LOG: /loud/$(LEVEL)}\n",
    "groups/default.yaml": "description: All.\nfiles: {/etc/x: {format: env, params: ['*']}}\n",
    "groups/web.yaml": "description: Web.   # few\nfeatures: [Loud]\nparams:\n  LEVEL: high # enough\n",
    "groups/empty.yaml": "description: Nobody.\n",
    "nodes/n1.yaml": "groups: [web]\n",
    "nodes/n2.yaml": "description: Alone.\n",
    "nodesets/s.yaml": "nodes: s[1-3]\ngroups: [web]\n",
    "subsystems/all.yaml": "subsystems: {httpd: {description: It., params: [HOST], restart: [restart]}}\n",
}


def pool(folder: Path, files: Mapping[str, str] = POOL) -> Path:
    """Files in a folder, without git."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def committed(folder: Path, files: Mapping[str, str] = POOL) -> Path:
    """The same as a git repository's first commit."""
    pool(folder, files)
    git(folder, "init", "--quiet", "-b", "main")
    for key, value in (("name", "Ada Byron"), ("email", "ada@example.org")):
        git(folder, "config", f"user.{key}", value)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "Begin")
    return folder


def git(folder: Path, *words: str) -> str:
    """What git says."""
    done = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def contents(folder: Path) -> dict[str, str]:
    """All files but git's own."""
    paths = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_text() for path in paths}


def environment(home: Path) -> dict[str, str]:
    """What a program in a terminal is started with."""
    kept = {"PATH": os.environ["PATH"], "PYTHONPATH": ":".join(filter(None, sys.path))}
    return {**kept, "TERM": "xterm", "HOME": str(home), "GITCFG_TODAY": "2026-01-01"}
