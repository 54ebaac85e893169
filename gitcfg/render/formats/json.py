"""JSON."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from gitcfg.render.formats.format import Separators, Unfit
from gitcfg.render.formats.nesting import nested, unfit_names, unfit_number, unfit_values


class Json:
    """One object, indented, its keys in order of name."""

    name = "json"

    def write(self, values: Mapping[str, Any], separators: Separators) -> str:
        return json.dumps(nested(values), indent=2, ensure_ascii=False) + "\n"

    def unfit(self, values: Mapping[str, Any], separators: Separators) -> Iterator[Unfit]:
        yield from unfit_names(values)
        yield from unfit_values(values, unfit_number)
