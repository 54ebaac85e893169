"""JSON."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from gitcfg.render.formats.format import Separators, Unfit, present
from gitcfg.render.formats.nesting import nested, unfit_names, unfit_numbers


class Json:
    """One object, indented, its keys in order of name."""

    name = "json"
    nests = True

    def write(self, values: Mapping[str, Any], separators: Separators) -> str:
        return json.dumps(nested(values), indent=2, ensure_ascii=False, sort_keys=True) + "\n"

    def unfit(self, values: Mapping[str, Any], separators: Separators) -> Iterator[Unfit]:
        yield from unfit_names(values)
        for name, value in present(values):
            yield from unfit_numbers(name, value)
