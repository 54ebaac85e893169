"""YAML, which readers of 1.1 and 1.2 understand alike."""

from collections.abc import Iterator, Mapping
from typing import Any

from gitcfg.load.yaml import dump
from gitcfg.render.formats.format import Separators, Unfit, present
from gitcfg.render.formats.nesting import nested, unfit_names, unfit_numbers


class Yaml:
    """One block mapping."""

    name = "yaml"
    nests = True

    def write(self, values: Mapping[str, Any], separators: Separators) -> str:
        return dump(nested(values))

    def unfit(self, values: Mapping[str, Any], separators: Separators) -> Iterator[Unfit]:
        yield from unfit_names(values)
        for name, value in present(values):
            yield from unfit_numbers(name, value)
