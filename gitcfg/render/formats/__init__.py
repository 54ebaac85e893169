"""The formats that parameters are written in: one module each."""

from collections.abc import Mapping
from functools import cache

from gitcfg.render.formats.format import Format, LineFormat, Unfit

__all__ = ["Format", "LineFormat", "Unfit", "formats"]


@cache
def formats() -> Mapping[str, Format]:
    """Every format by name."""
    from gitcfg.render.formats.condor import Condor
    from gitcfg.render.formats.env import Env
    from gitcfg.render.formats.ini import Ini
    from gitcfg.render.formats.json import Json
    from gitcfg.render.formats.toml import Toml
    from gitcfg.render.formats.yaml import Yaml

    known: tuple[Format, ...] = (Condor(), Env(), Ini(), Json(), Toml(), Yaml())
    return {format.name: format for format in known}
