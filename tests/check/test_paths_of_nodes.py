"""Paths that a node would not take are findings before anything is deployed, and no others are."""

import pytest

from gitcfg.check.files import _path
from gitcfg.install.policy import find_path_problem

PATHS = (
    "/etc/a b/c  d",
    "/etc/it's",
    '/etc/say "x"',
    "/etc/$HOME `id`; rm -rf *",
    "/etc/ünï/ж日本",
    "/etc/-rf",
    "/etc/back\\slash",
    "/etc/{new}",
    "/etc/[a]*?",
    "/etc/.gitcfg",
    "/etc/.gitcfg-x",
    "/etc/.gitcfg-x/y",
    "/etc/new\nline",
    "/etc/nul\0",
    "/etc/\x7f",
    "/etc/lone\udc80",
    "/etc/",
    "/etc//x",
    "/etc/./x",
    "/etc/../x",
    "//etc/x",
    "/",
    "",
    "etc/x",
    *(f"/etc/{'x' * count}" for count in (240, 241)),
    *(f"/etc/{'ü' * count}" for count in (120, 121)),
    *(f"/{'/'.join(['x'] * count)}" for count in (100, 101)),
    *(f"/{'/'.join(['x' * 199] * 19)}/{'x' * count}" for count in (199, 200)),
)


@pytest.mark.parametrize("path", PATHS, ids=ascii)
def test_what_nodes_refuse_is_a_finding(path: str) -> None:
    assert bool(list(_path(path))) == bool(find_path_problem(path))
