"""Secrets as they stand: which nodes get one, which may have it, and who can read it."""

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

import msgspec

from gitcfg.compile.fleet import Fleet
from gitcfg.compile.selection import Selection
from gitcfg.compile.stopped import Stopped
from gitcfg.explain.records import Record, nodes_record, origin_record
from gitcfg.model import Ref, Secret
from gitcfg.model.age import recipient


class Reach(msgspec.Struct, frozen=True):
    """A secret, the parameters that it is the value of, and the nodes where it is, in order of name.

    `may` are those that its `for` holds for; `problem` says why that cannot be known of all.
    """

    secret: Secret
    params: tuple[str, ...]
    nodes: tuple[str, ...]
    may: tuple[str, ...] = ()
    problem: str = ""


def reaches(fleet: Fleet, names: Collection[str] | None = None) -> Iterator[Reach]:
    """All secrets, or some of them, in order of name, without who may have them."""
    params: dict[str, set[str]] = {}
    nodes: dict[str, list[str]] = {}
    for kind in fleet.classes if fleet.model.secrets else ():
        for param, name in kind.secrets.items():
            params.setdefault(name, set()).add(param)
        for name in set(kind.secrets.values()):
            nodes.setdefault(name, []).extend(kind.names)
    for name in sorted(fleet.model.secrets if names is None else names):
        found = fleet.model.secrets[name]
        yield Reach(found, tuple(sorted(params.get(name, ()))), tuple(sorted(nodes.get(name, ()))))


def allowed(fleet: Fleet, found: Iterable[Reach]) -> Iterator[Reach]:
    """The same with who may have them; conditions that read alike are asked once."""
    select = lru_cache(maxsize=None)(fleet.select)
    for one in found:
        where = one.secret.where
        try:
            selection = select(where.name) if where is not None else Selection()
        except Stopped as stopped:
            yield msgspec.structs.replace(one, problem=stopped.problem.message)
            continue
        problem = selection.problem or next(iter(selection.failed.values()), None)
        yield msgspec.structs.replace(
            one, may=tuple(sorted(selection.names)), problem=problem.message if problem is not None else ""
        )


def secrets_record(commit: str | None, found: Iterable[Reach], folded: bool) -> Record:
    """`gitcfg.secrets/1`."""
    return {
        "schema": "gitcfg.secrets/1",
        "commit": commit,
        "secrets": [_secret(one, folded) for one in found],
    }


def _secret(one: Reach, folded: bool) -> Record:
    secret = one.secret
    return {
        "name": secret.name,
        "description": secret.description,
        "version": secret.version,
        "for": secret.where.name if secret.where is not None else None,
        "recipients": [_recipient(ref) for ref in secret.recipients],
        "sealed": secret.sealed.file if secret.sealed is not None else None,
        "params": list(one.params),
        **nodes_record(one.nodes, folded),
        "may": nodes_record(one.may, folded),
        "problem": one.problem,
        "origin": origin_record(secret.origin),
    }


def _recipient(ref: Ref) -> Record:
    """A line as it is read. One that is no key is not repeated: it may be a private one."""
    try:
        found = recipient(ref.name)
    except ValueError:
        return {"kind": None, "key": "", "comment": ""}
    return {"kind": found.kind, "key": found.key, "comment": found.comment}
