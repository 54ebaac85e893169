"""The formats that parameters are written in: one module each."""

from collections.abc import Mapping
from functools import cache

from gitcfg.render.formats.base import Format, LineFormat, Unfit

__all__ = ["Format", "LineFormat", "Unfit", "formats"]


@cache
def formats() -> Mapping[str, Format]:
    """Every format by name."""
    from gitcfg.render.formats.flat import Condor, Env, Ini
    from gitcfg.render.formats.nested import Json, Toml, Yaml

    known: tuple[Format, ...] = (Condor(), Env(), Ini(), Json(), Toml(), Yaml())
    return {format.name: format for format in known}
