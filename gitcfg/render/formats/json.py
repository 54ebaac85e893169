"""JSON."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from gitcfg.render.formats.format import Separators, Unfit
from gitcfg.render.formats.nesting import nested, unfit_names, unfit_number, unfit_values


class Json:
    """One object, indented, its keys in order of name."""

    name = "json"

    def write(self, values: Mapping[str, Any], separators: Separators) -> str:
        text = json.dumps(nested(values), ensure_ascii=False)  # msgspec writes some numbers otherwise
        # The same as of `indent=2`, which takes 2.7 times as long, and leaves garbage that nobody collects.
        return msgspec.json.format(text, indent=2) + "\n"

    def unfit(self, values: Mapping[str, Any], separators: Separators) -> Iterator[Unfit]:
        yield from unfit_names(values)
        yield from unfit_values(values, unfit_number)
