"""Deploys that are recorded here, by their ids."""

import os
import subprocess

_SECONDS = 2
_FOLDER, _SUFFIX = "gitcfg-deploys", ".jsonl"


def runs(folder: str) -> list[str]:
    """Their ids, and `last` where there is one."""
    here = os.path.realpath(folder)
    try:
        done = subprocess.run(
            ("git", "rev-parse", "--git-common-dir"),
            cwd=here,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
        names = os.listdir(os.path.join(here, os.fsdecode(done.stdout.rstrip(b"\n")), _FOLDER))
    except (OSError, subprocess.TimeoutExpired):
        return []
    found = [name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX)]
    return [*found, "last"] if found else []
