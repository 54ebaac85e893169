"""Telling the application what the node is: features and groups as attributes that jobs can match on."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable

from ..install.commands import run_command
from ..install.disk import write_file
from ..install.package import RETIRED, Package
from ..install.policy import OWN_PREFIX, parent_of
from ..install.store import Place, open_store
from .config import Advert
from .errors import Forbidden

NAME = "node.json"
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ .+@-]*")
_TIME = 60.0


def advert_mark(package: Package, adverts: Iterable[Advert]) -> str:
    """Tells apart what would be advertised."""
    values = [package.features, package.groups, package.state, [[one.path, one.command] for one in adverts]]
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


def advertise(place: Place, package: Package, adverts: Iterable[Advert]) -> None:
    """Write what is to be written, then run what wants to know; Forbidden says what did not work."""
    for advert in adverts:
        if advert.path:
            _write(place, advert.path, package)
        if advert.command:
            _tell(place, advert.command, package)


def htcondor_snippet(package: Package) -> str:
    """HTCondor configuration that makes features and groups attributes of the machine."""
    return (
        "# Written by gitcfg-agent: what this machine is, for jobs to match on. Changes are lost.\n"
        f'GITCFG_FEATURES = "{_join(package.features)}"\n'
        f'GITCFG_GROUPS = "{_join(package.groups)}"\n'
        "STARTD_ATTRS = $(STARTD_ATTRS) GITCFG_FEATURES GITCFG_GROUPS\n"
    )


def _join(names: Iterable[str]) -> str:
    """A name that HTCondor would read as more than a name is none that a repository can have."""
    names = tuple(names)
    odd = [name for name in names if not _PLAIN.fullmatch(name)]
    if odd:
        raise Forbidden(f"The name {odd[0]!r} cannot be advertised.")
    return ",".join(names)


def _write(place: Place, path: str, package: Package) -> None:
    """Beside its target first, then in its place; a retired node advertises nothing."""
    name, fresh = path.rpartition("/")[2], f"{OWN_PREFIX}advertise.{os.getpid()}.new"
    with open_store(place) as store, store.tree.folder(parent_of(path)) as at:
        if package.state == RETIRED:
            store.disk.unlink(at, name)
        else:
            content = htcondor_snippet(package).encode()
            store.disk.unlink(at, fresh)
            try:
                write_file(store.disk, at, fresh, content, None, 0o644)
                store.disk.rename(at, fresh, at, name)
            finally:
                store.disk.unlink(at, fresh)
        store.disk.sync(at)


def _tell(place: Place, command: tuple[str, ...], package: Package) -> None:
    """The command gets, as its last word, the path of a file that says it all."""
    data = {
        "node": package.node,
        "commit": package.commit,
        "state": package.state,
        "features": list(package.features),
        "groups": list(package.groups),
    }
    with open_store(place) as store:
        store.write_json(NAME, data)
        ran = run_command((*command, os.path.join(store.path, NAME)), _TIME, place.clock)
    if not ran.ok:
        raise Forbidden(f"{command[0]} did not take what this node is: {ran.output.strip() or ran.code}.")
