"""YAML, which readers of 1.1 and 1.2 understand alike."""

from collections.abc import Iterator, Mapping
from typing import Any

from gitcfg.render.formats.format import Separators, Unfit
from gitcfg.render.formats.nesting import nested, unfit_names, unfit_number, unfit_values


class Yaml:
    """One block mapping, its keys in order of name."""

    name = "yaml"

    def write(self, values: Mapping[str, Any], separators: Separators) -> str:
        from gitcfg.load.yaml import dump

        return dump(nested(values))

    def unfit(self, values: Mapping[str, Any], separators: Separators) -> Iterator[Unfit]:
        yield from unfit_names(values)
        yield from unfit_values(values, unfit_number)
