"""From agent.toml on the disk to settings."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

from .problems import SettingsError
from .settings import Settings, settings_from
from .trusted import read_trusted

DEFAULT = "/etc/gitcfg/agent.toml"


def configured(root: str, config: str = "") -> Settings:
    """The settings of the node whose files are below `root`; `config` names another file than agent.toml."""
    path = config or os.path.join(root, DEFAULT.lstrip("/"))
    settings = settings_from(decoded(read_trusted(path), path), path, host_name)
    if settings.ca and not os.path.isfile(settings.ca):
        raise SettingsError(f"{path}: `ca` is {settings.ca}, which is not there.")
    return settings.sparing(_own(root, path, settings))


def host_name() -> str:
    """This machine's whole name; DNS is asked only if the system's own name is a short one."""
    import socket

    name = socket.gethostname()
    return (name if "." in name else socket.getfqdn(name)).lower()


def decoded(raw: bytes, path: str) -> dict[str, Any]:
    """TOML as plain data. Python has a reader of its own from 3.11 on; before, tomli is that very code."""
    try:
        toml: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    except ImportError:
        version = ".".join(map(str, sys.version_info[:2]))
        raise SettingsError(
            f"Python {version} cannot read TOML by itself.", "Install tomli, or use Python 3.11 or newer."
        ) from None
    try:
        said: dict[str, Any] = toml.loads(raw.decode())
    except (UnicodeDecodeError, toml.TOMLDecodeError) as error:
        raise SettingsError(f"{path} is not TOML: {error}.") from None
    return said


def _own(root: str, path: str, settings: Settings) -> tuple[str, ...]:
    """What no package may touch beside /etc/gitcfg: this program, and files that its settings name."""
    own = [_below(root, os.path.realpath(path)), settings.ca, *(one.path for one in settings.advertise)]
    if root == "/":
        own.append(f"{os.path.dirname(os.path.dirname(os.path.realpath(__file__)))}/**")
        if sys.prefix != sys.base_prefix:
            own.append(f"{sys.prefix}/**")
    return tuple(one for one in own if one)


def _below(root: str, path: str) -> str:
    """A path as the node sees it."""
    top = os.path.realpath(root)
    return path if top == "/" else path[len(top) :] if path.startswith(f"{top}/") else ""
