"""The facts of a machine, read from its own files: no program is run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

Facts = dict[str, "str | int"]

_CONDOR_FOLDERS = ("usr/lib64", "usr/lib64/condor", "usr/lib", "usr/lib/condor", "usr/lib/{arch}-linux-gnu")
_CONDOR = re.compile(r"libcondor_utils_(\d+)_(\d+)_(\d+)\.so")


def find_facts(root: str = "/") -> Facts:
    """Facts by name; one that cannot be found out is left out."""
    system = os.uname()
    known: Facts = {"hostname": system.nodename, "kernel": system.release, "arch": system.machine}
    known["cpus"] = len(os.sched_getaffinity(0))
    for more in (_system(root), _memory(root), _model(root), _condor(root, system.machine)):
        known.update(more)
    return {name: value for name, value in known.items() if value}


def _lines(root: str, path: str) -> Iterator[str]:
    try:
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            yield from (line.rstrip("\n") for line in file)
    except OSError:
        return


def _system(root: str) -> Facts:
    release = dict(line.split("=", 1) for line in _lines(root, "etc/os-release") if "=" in line)
    name = {key: value.strip().strip("\"'")[:100] for key, value in release.items()}
    return {"os": name.get("ID", ""), "os_version": name.get("VERSION_ID", "")}


def _memory(root: str) -> Facts:
    for line in _lines(root, "proc/meminfo"):
        if line.startswith("MemTotal:"):
            words = line.split()
            return {"memory_mib": int(words[1]) // 1024} if words[1].isdigit() else {}
    return {}


def _model(root: str) -> Facts:
    found = (
        line.partition(":")[2].strip()
        for line in _lines(root, "proc/cpuinfo")
        if line.startswith("model name")
    )
    return {"cpu": next(found, "")[:100]}


def _condor(root: str, arch: str) -> Facts:
    """HTCondor's version is part of its library's name."""
    for folder in _CONDOR_FOLDERS:
        for name in _names(os.path.join(root, folder.format(arch=arch))):
            found = _CONDOR.fullmatch(name)
            if found:
                return {"htcondor": ".".join(found.groups())}
    return {}


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
