"""Two repositories for two servers: the one that is pushed to, with the gate, and a mirror of it."""

from collections.abc import Sequence
from pathlib import Path

from gitcfg.server.signatures import load_server_key
from tests.server.site import GITCFG, Site, run


def mirrored(site: Site) -> Path:
    """A mirror: what is pushed is judged, and goes on there. gitcfg's hooks let those before them be."""
    mirror = site.bare.parent / "mirror.git"
    run("git", "clone", "-q", "--mirror", str(site.bare), str(mirror), cwd=site.work)
    hook = site.bare / "hooks" / "post-receive"
    hook.write_text(f"#!/bin/sh\nexec git push -q --mirror {mirror}\n")
    hook.chmod(0o755)
    run(*GITCFG, "hook", "install", "--server", str(site.bare), cwd=site.work)
    return mirror


def keyed(repos: Sequence[Path]) -> str:
    """Give the servers of all repositories the same key; its public half."""
    files = [repo / "gitcfg-server" / "server.key" for repo in repos]
    for file in files:
        file.parent.mkdir(mode=0o700)
    public = load_server_key(files[0]).public
    for file in files[1:]:
        file.touch(0o600)
        file.write_bytes(files[0].read_bytes())
    return public
