"""A package: the files and subsystems that a node must have, with its JSON form."""

from __future__ import annotations

import binascii
import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from .outcome import PackageError
from .policy import find_nested, find_path_problem

T = TypeVar("T")


class Hidden:
    """Hidden content. `content` is None if it is unknown here; equal SHA-256 and size mean equal content.

    This is not a tuple, so that a package that is printed or written by mistake does not reveal the content.
    """

    __slots__ = ("content", "sha256", "size")

    def __init__(self, sha256: str, size: int, content: bytes | None = None) -> None:
        self.sha256 = sha256
        self.size = size
        self.content = content

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hidden) and (self.sha256, self.size) == (other.sha256, other.size)

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __repr__(self) -> str:
        return f"<hidden {self.sha256[:8]}>"

    def __reduce__(self) -> str:
        raise TypeError("Cannot write hidden content.")


UNKNOWN = Hidden("unknown", 0)
"""The value for a file whose content is not in the package: no file on the disk ever matches it."""


SCHEMA = "gitcfg.node/1"
ACTIVE, RETIRED = "active", "retired"
_NONE: Mapping[str, Any] = MappingProxyType({})


class File(NamedTuple):
    """A file as it must be. `concerns` are the subsystems to `reload` or `restart` if it alone is repaired.

    The `content` of a file with secrets has only their names; `hidden` is the content for the disk.
    """

    path: str
    content: bytes
    mode: str
    owner: str
    group: str
    digest: str
    concerns: Mapping[str, str] = _NONE
    hidden: Hidden | None = None

    @property
    def true_content(self) -> bytes | None:
        """The content that the file must have; None if it is secret and unknown here."""
        return self.content if self.hidden is None else self.hidden.content

    @property
    def sha256(self) -> str:
        """The SHA-256 of the content that the file must have."""
        return hashlib.sha256(self.content).hexdigest() if self.hidden is None else self.hidden.sha256

    @property
    def size(self) -> int:
        """The size of the content that the file must have, in bytes."""
        return len(self.content) if self.hidden is None else self.hidden.size

    @property
    def bits(self) -> int:
        """The mode as a number."""
        return int(self.mode, 8)

    @property
    def secret(self) -> bool:
        """Whether the content must never be reported: the file has secrets or is not world-readable."""
        return self.hidden is not None or not self.bits & 0o004


def with_hidden_content(file: File, content: bytes) -> File:
    """Return a file with its true content, which is in memory only."""
    return file._replace(hidden=Hidden(hashlib.sha256(content).hexdigest(), len(content), content))


class Check(NamedTuple):
    """A check after an activation: `timeout` seconds for each try, at most `retries` more tries."""

    run: tuple[str, ...]
    timeout: float = 60.0
    retries: int = 0


class Subsystem(NamedTuple):
    """A process that settings affect, with the commands that act on it; an empty command means none.

    `covers` are globs of the subsystems that its restart restarts too.
    """

    name: str
    validate: tuple[str, ...] = ()
    reload: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    check: Check | None = None
    using: str = "new"
    covers: tuple[str, ...] = ()

    @property
    def commands(self) -> tuple[tuple[str, ...], ...]:
        """All commands that the subsystem may run."""
        own = (self.validate, self.reload, self.restart, self.stop, self.check.run if self.check else ())
        return tuple(command for command in own if command)


class Package(NamedTuple):
    """One node's configuration of one commit."""

    node: str
    commit: str
    digest: str
    state: str = ACTIVE
    features: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    params: Mapping[str, Any] = _NONE
    files: Mapping[str, File] = _NONE
    subsystems: Mapping[str, Subsystem] = _NONE

    @property
    def meant(self) -> Mapping[str, File]:
        """The files that the node must have; none on a retired node."""
        return {} if self.state == RETIRED else self.files

    @property
    def running(self) -> Mapping[str, Subsystem]:
        """The subsystems that run; none on a retired node."""
        return {} if self.state == RETIRED else self.subsystems


class Actions(NamedTuple):
    """The actions that a change requires, from the server's comparison."""

    restart: tuple[str, ...] = ()
    reload: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()


def file_digest(mode: str, owner: str, group: str, content: bytes) -> str:
    """Return the SHA-256 of a file's mode, owner, group and content, as rendering computes it."""
    return hashlib.sha256("\0".join((mode, owner, group, "")).encode() + content).hexdigest()


# From JSON.

MAX_FILE = 16 << 20
"""Maximal bytes of one file's content; a template makes at most 4 MiB."""

DIGEST_LENGTHS = (64,)
_MODE = re.compile(r"0?[0-7]{3}")
_FILE_KEYS = ("content", "base64", "mode", "owner", "group", "digest", "concerns", "sealed", "hidden")
_COMMAND_KEYS = ("validate", "reload", "restart", "stop")
_SUBSYSTEM_KEYS = (*_COMMAND_KEYS, "check", "using", "covers")


def parse_file(path: str, value: object) -> File:
    """Return a file; raise PackageError if it is not valid or its content does not match its digest."""
    problem = find_path_problem(path)
    if problem:
        raise PackageError(f"The path {path!r} {problem}.")
    data = parse_mapping(value, path)
    check_keys(data, path, _FILE_KEYS)
    content, mode = _parse_content(data, path), parse_text(data.get("mode"), f"{path}: mode")
    # Modes with setuid, setgid or the sticky bit are refused: with setuid a program runs as its owner.
    if not _MODE.fullmatch(mode):
        raise PackageError(f"{path} has the mode {mode!r}, which is not 0 and three octal digits.")
    file = File(
        path=path,
        content=content,
        mode=mode,
        owner=parse_word(data.get("owner"), f"{path}: owner"),
        group=parse_word(data.get("group"), f"{path}: group"),
        digest=parse_hash(data.get("digest"), f"{path}: digest", DIGEST_LENGTHS),
        concerns={
            name: parse_choice(how, f"{path}: concerns", ("reload", "restart"))
            for name, how in parse_mapping(data.get("concerns", {}), f"{path}: concerns").items()
        },
        hidden=_parse_hidden(data, path),
    )
    if file_digest(file.mode, file.owner, file.group, file.content) != file.digest:
        raise PackageError(f"{path} differs from its digest in the package.")
    return file


def _parse_content(data: Mapping[str, Any], path: str) -> bytes:
    import base64

    if ("content" in data) == ("base64" in data):
        raise PackageError(f"{path} must have exactly one of content and base64.")
    try:
        if "content" in data:
            raw = str(data["content"]).encode() if isinstance(data["content"], str) else None
        else:
            raw = base64.b64decode(data["base64"], validate=True)
    except (binascii.Error, TypeError, ValueError) as error:
        raise PackageError(f"Cannot decode the content of {path}.") from error
    if raw is None or len(raw) > MAX_FILE:
        raise PackageError(f"The content of {path} is not text or is larger than {MAX_FILE >> 20} MiB.")
    return raw


def _parse_hidden(data: Mapping[str, Any], path: str) -> Hidden | None:
    """Return what is known about the content of a file with secrets; None for any other file."""
    if data.get("sealed") is not None:
        raise PackageError(f"{path} is still sealed.")
    if data.get("hidden") is None:
        return UNKNOWN if "sealed" in data else None
    hidden = parse_mapping(data["hidden"], f"{path}: hidden")
    check_keys(hidden, f"{path}: hidden", ("sha256", "size"))
    digest = parse_hash(hidden.get("sha256"), f"{path}: sha256", DIGEST_LENGTHS)
    return Hidden(digest, int(parse_number(hidden.get("size"), f"{path}: size", MAX_FILE)))


def parse_subsystem(name: str, value: object) -> Subsystem:
    """Return a subsystem; one without commands is allowed."""
    where = f"subsystem {parse_word(name, 'a subsystem')}"
    data = parse_mapping(value, where)
    check_keys(data, where, _SUBSYSTEM_KEYS)
    commands = {key: parse_command(data.get(key), f"{where}: {key}") for key in _COMMAND_KEYS}
    return Subsystem(
        name=name,
        check=_parse_check(data.get("check"), f"{where}: check"),
        using=parse_choice(data.get("using", "new"), f"{where}: using", ("new", "old")),
        covers=parse_list(data.get("covers", []), f"{where}: covers", parse_word),
        **commands,
    )


def _parse_check(value: object, where: str) -> Check | None:
    if value is None:
        return None
    data = parse_mapping(value, where)
    check_keys(data, where, ("run", "timeout", "retries"))
    run = parse_command(data.get("run"), where)
    if not run:
        raise PackageError(f"{where} has no command.")
    timeout = parse_number(data.get("timeout", 60), f"{where}: timeout", 3600)
    retries = parse_number(data.get("retries", 0), f"{where}: retries", 1000)
    return Check(run, float(timeout), int(retries))


MAX_BYTES = 128 << 20
"""The size limit of a package's JSON, in bytes."""


def parse_package(raw: bytes) -> Package:
    """Return the package of JSON of gitcfg.node/1. Raise PackageError if it is not valid."""
    return package_from_json(decode_json(raw))


def parse_actions(data: Mapping[str, Any]) -> Actions:
    """Return the actions of a gitcfg.changes/1."""
    lists = (parse_list(data.get(key, []), key, parse_word) for key in ("restart", "reload", "stop"))
    return Actions(*lists)


def decode_json(raw: bytes) -> object:
    """Return JSON as plain data; raise PackageError for repeated keys, NaN or very deep nesting."""
    if len(raw) > MAX_BYTES:
        raise PackageError(f"The package is larger than {MAX_BYTES >> 20} MiB.")
    try:
        return json.loads(raw, object_pairs_hook=_refuse_repeated_keys, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise PackageError("The package is not JSON.") from error


def package_from_json(value: object) -> Package:
    """Return the package of decoded JSON."""
    data = parse_mapping(value, "The package")
    parse_choice(data.get("schema"), "schema", (SCHEMA,))
    files = parse_mapping(data.get("files"), "files")
    subsystems = parse_mapping(data.get("subsystems"), "subsystems")
    check_depth(data.get("params"), "params")
    package = Package(
        node=parse_word(data.get("node"), "node"),
        commit=parse_hash(data.get("commit"), "commit", (40, 64)),
        digest=parse_hash(data.get("digest"), "digest", DIGEST_LENGTHS),
        state=parse_choice(data.get("state"), "state", (ACTIVE, RETIRED)),
        features=parse_list(data.get("features", []), "features", parse_word),
        groups=parse_list(data.get("groups", []), "groups", parse_word),
        params=parse_mapping(data.get("params", {}), "params", 1_000_000),
        files={path: parse_file(path, file) for path, file in sorted(files.items())},
        subsystems={name: parse_subsystem(name, one) for name, one in sorted(subsystems.items())},
    )
    _check_references(package)
    return package


def _check_references(package: Package) -> None:
    clash = find_nested(package.files)
    if clash:
        raise PackageError(f"{clash[0]} is both a file and the folder of {clash[1]}.")
    for path, file in package.files.items():
        unknown = sorted(set(file.concerns) - set(package.subsystems))
        if unknown:
            raise PackageError(f"{path} concerns {unknown[0]!r}, which is not a subsystem of this node.")


def _refuse_repeated_keys(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    pairs = list(pairs)
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        raise ValueError("a key is repeated")
    return mapping


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")


# To JSON.


def package_to_json(package: Package) -> dict[str, Any]:
    """Return a package as gitcfg.node/1."""
    return {
        "schema": SCHEMA,
        "node": package.node,
        "commit": package.commit,
        "digest": package.digest,
        "state": package.state,
        "features": list(package.features),
        "groups": list(package.groups),
        "params": dict(package.params),
        "files": {path: _file_to_json(file) for path, file in package.files.items()},
        "subsystems": {name: _subsystem_to_json(one) for name, one in package.subsystems.items()},
    }


def _file_to_json(file: File) -> dict[str, Any]:
    import base64

    content: dict[str, Any]
    try:
        content = {"content": file.content.decode()}
    except UnicodeDecodeError:
        content = {"base64": base64.b64encode(file.content).decode()}
    data = {
        **content,
        "mode": file.mode,
        "owner": file.owner,
        "group": file.group,
        "digest": file.digest,
        "concerns": dict(file.concerns),
    }
    if file.hidden is not None:
        known = {"sha256": file.hidden.sha256, "size": file.hidden.size}
        # `sealed` null means that the content shown is not the content on the disk.
        data |= {"sealed": None, "hidden": None if file.hidden == UNKNOWN else known}
    return data


def _subsystem_to_json(subsystem: Subsystem) -> dict[str, Any]:
    check = subsystem.check
    return {
        **{key: list(getattr(subsystem, key)) or None for key in _COMMAND_KEYS},
        "check": check and {"run": list(check.run), "timeout": check.timeout, "retries": check.retries},
        "using": subsystem.using,
        "covers": list(subsystem.covers),
    }


# Fields of the right type and size, from data of another program.

MAX_WORDS, MAX_WORD, MAX_NAME, MAX_LEVELS = 256, 8192, 256, 200


def parse_mapping(value: object, where: str, limit: int = 10_000) -> dict[str, Any]:
    """Return a JSON object with at most `limit` entries."""
    if not isinstance(value, dict):
        raise PackageError(f"{where} is not an object.")
    if len(value) > limit:
        raise PackageError(f"{where} has more than {limit} entries.")
    return value


def check_depth(value: object, where: str, levels: int = MAX_LEVELS) -> None:
    """Refuse data that is nested deeply: it could be read but not written again."""
    if not isinstance(value, (dict, list)):
        return
    if not levels:
        raise PackageError(f"{where} is nested too deeply.")
    for one in value.values() if isinstance(value, dict) else value:
        check_depth(one, where, levels - 1)


def check_keys(value: Mapping[str, Any], where: str, keys: Collection[str]) -> None:
    """Refuse keys that are not in `keys`: they may change what must be done."""
    unknown = sorted(set(value) - set(keys))
    if unknown:
        raise PackageError(f"{where} has an unknown key {unknown[0]!r}.")


def parse_text(value: object, where: str, limit: int = MAX_NAME) -> str:
    """Return text of at most `limit` characters, without NUL, that UTF-8 can encode."""
    if not isinstance(value, str):
        raise PackageError(f"{where} is not text.")
    if len(value) > limit:
        raise PackageError(f"{where} is longer than {limit} characters.")
    if "\0" in value:
        raise PackageError(f"{where} contains a NUL character.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise PackageError(f"{where} is not UTF-8.") from error
    return value


def parse_word(value: object, where: str, limit: int = MAX_NAME) -> str:
    """Return text that is not empty and has no control characters: a name."""
    word = parse_text(value, where, limit)
    if not word or any(ord(char) < 32 or ord(char) == 127 for char in word):
        raise PackageError(f"{where} is empty or contains a control character.")
    return word


def parse_choice(value: object, where: str, choices: Collection[str]) -> str:
    """Return one of some words."""
    if not isinstance(value, str) or value not in choices:
        raise PackageError(f"{where} is not one of {', '.join(choices)}.")
    return value


def parse_hash(value: object, where: str, lengths: Collection[int]) -> str:
    """Return a lower-case hexadecimal hash of one of some lengths."""
    found = parse_text(value, where)
    if len(found) not in lengths or not set(found) <= set("0123456789abcdef"):
        raise PackageError(f"{where} is not a hexadecimal hash.")
    return found


def parse_number(value: object, where: str, most: float) -> float:
    """Return a number from 0 to `most`."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= most:
        raise PackageError(f"{where} is not a number from 0 to {most:g}.")
    return value


def parse_list(
    value: object, where: str, item: Callable[[object, str], T], limit: int = 10_000
) -> tuple[T, ...]:
    """Return a list of at most `limit` items, each read by `item`."""
    if not isinstance(value, list) or len(value) > limit:
        raise PackageError(f"{where} is not a list of at most {limit} items.")
    return tuple(item(one, where) for one in value)


def parse_command(value: object, where: str) -> tuple[str, ...]:
    """Return a command as its arguments; none for null."""
    if value is None:
        return ()
    words = parse_list(value, where, lambda one, place: parse_text(one, place, MAX_WORD), MAX_WORDS)
    if not words or not words[0]:
        raise PackageError(f"{where} has no program.")
    return words
