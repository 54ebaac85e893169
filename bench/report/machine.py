"""What was measured on and with: machine, kernel, Python, and the version of gitcfg."""

import os
import platform
import subprocess
from collections.abc import Mapping
from pathlib import Path


def machine() -> Mapping[str, str]:
    """The machine in words."""
    return {
        "cores": str(os.cpu_count()),
        "CPU": _field("/proc/cpuinfo", "model name"),
        "memory": f"{int(_field('/proc/meminfo', 'MemTotal').split()[0]) / 2**20:.0f} GiB",
        "kernel": f"{platform.system()} {platform.release().partition('-')[0]}",
        "system": platform.freedesktop_os_release().get("PRETTY_NAME", "?"),
        "Python": platform.python_version(),
        "git": _output("git", "--version").removeprefix("git version "),
    }


def gitcfg_version(source: Path) -> str:
    """The commit of the gitcfg that is measured, and whether files differ from it."""
    commit = _output("git", "-C", str(source), "rev-parse", "--short=12", "HEAD")
    changes = _output("git", "-C", str(source), "status", "--porcelain", "--", "gitcfg")
    return f"commit {commit}" + (" with changes" if changes else "") if commit else "no commit"


def _field(path: str, name: str) -> str:
    lines = (line.partition(":") for line in Path(path).read_text().splitlines())
    return next((value.strip() for key, _, value in lines if key.strip() == name), "0")


def _output(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""
