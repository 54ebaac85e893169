"""What git's history says of a secret: a new content counts on from the highest version that there ever was.

Nodes are told that a secret is another one by its version alone. One that is gone, or whose last rotation was
taken back, would else come to a version again that some nodes have with another content.
"""

import re
from collections.abc import Mapping

from gitcfg.git.program import Git
from gitcfg.git.repository import Repository

_VERSION = re.compile(r"""^\+(?:\{.*?[\s,{])?["']?version["']?\s*:\s*([1-9][0-9]{0,17})\b""", re.MULTILINE)
"""A line that came with a commit; in a file of one line it stands within."""
_LINES = (
    "-p",
    "-U0",
    "-m",
    "--format=",
    "--no-renames",
    "--text",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
)


def last_version(repository: Repository, environment: Mapping[str, str], name: str) -> int:
    """The highest version that a secret ever had; 0: it never was, as far as git knows."""
    if repository.git is None or repository.git.is_empty:
        return 0
    git = Git(repository, environment)
    folder = "".join(f"\\{letter}" if letter in "*?[\\" else letter for letter in repository.prefix)
    place = f":(top,glob){folder}/secrets/**/{name}.yaml" if folder else f":(top,glob)secrets/**/{name}.yaml"
    code, told, _ = git.ask("log", *_LINES, "HEAD", "--", place)
    return 0 if code else max(map(int, _VERSION.findall(told)), default=0)
