"""The nodes' `validate` command: HTCondor's own parser reads the files that are to be installed.

judge.py HOME FOLDER
"""

import os
import sys
import tempfile
from pathlib import Path

from gitcfg.parsers.child.htcondor import htcondor


def main(home: Path, folder: Path) -> int:
    """The exit code."""
    with (home / "verbs").open("a") as verbs:
        verbs.write("validate\n")
    with tempfile.TemporaryDirectory() as place:
        child = os.fork()
        if not child:
            os.chdir(place)
            judge(folder)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def judge(folder: Path) -> None:
    """A file that HTCondor refuses ends this process, with the reason on stderr."""
    read = htcondor()
    if read is None:
        os.write(2, b"HTCondor is not installed\n")
        os._exit(1)
    for file in sorted(folder.rglob("*.config")):
        read(file.read_text())
    os._exit(0)


sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
