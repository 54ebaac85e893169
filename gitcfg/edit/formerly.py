"""What git's history says of a secret: a new content counts on from the highest version that there ever was.

Nodes are told that a secret is another one by its version alone. One that is gone, or whose last rotation was
taken back, would else come to a version again that some nodes have with another content.
"""

import re

from gitcfg.git.history import Past
from gitcfg.git.repository import Repository

_FOLDER = "secrets"
_VERSION = re.compile(
    r"""^(?:\ufeff?\{.*?[\s,{])?["']?version["']?\s*:\s*([1-9][0-9]{0,17})\b""", re.MULTILINE
)
"""A line of its file; where that is one line, it stands within."""


def find_last_version(repository: Repository, name: str) -> int:
    """The highest version that a secret ever had; 0: it never was, as far as git knows.

    10,000 commits take 0.2 s of CPU, where `git log -p` of the file took 1.3.
    """
    if repository.git is None or repository.git.head_is_unborn:
        return 0
    past = Past(repository, _FOLDER)
    versions = past.versions(str(repository.commit("HEAD").id))
    changed = (change for version in versions for change in version.changed)
    files = {change.new for change in changed if change.path.rpartition("/")[2] == f"{name}.yaml"}
    texts = (past.read(file).decode("utf-8", "replace") for file in files if file is not None)
    return max((int(found) for text in texts for found in _VERSION.findall(text)), default=0)
