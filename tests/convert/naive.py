"""What Wallaby itself makes of a dump's nodes: a second, naive reading of what its fields mean."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from gitcfg.convert.wallaby.dump import Items, Table, Value, parse_yaml

MARKER = re.compile(r"(>=|&&=|\|\|=|\?=)\s*")
JOINTS = {">=": ", ", "&&=": " && ", "||=": " || "}


def plain(value: Value) -> Any:
    """Text, lists and mappings; the integer 0 is None."""
    if isinstance(value, Table):
        return {key: plain(inner) for key, inner in value.entries.items()}
    if isinstance(value, Items):
        return [plain(item) for item in value.items]
    return None if value.plain and value.text == "0" else value.text


def store(data: bytes) -> Mapping[str, Any]:
    """The dump's lists, as they are."""
    result = plain(parse_yaml(data))
    assert isinstance(result, dict)
    return result


class Wallaby:
    """A store that can tell each node's configuration."""

    def __init__(self, data: bytes) -> None:
        self.lists = store(data)
        self.features = {feature["name"]: feature for feature in self.lists["features"]}
        self.groups = {group["name"]: group for group in self.lists["groups"]}
        self.params = {param["name"].lower(): param for param in self.lists["params"]}

    def nodes(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Each node with its final texts by parameter."""
        for node in self.lists["nodes"]:
            own = "+++" + hashlib.md5(node["name"].encode()).hexdigest()
            config: dict[str, str] = {}
            for group in ("+++DEFAULT", *reversed(node["membership"]), own):
                self.apply_group(config, group)
            yield node["name"], config

    def apply_group(self, config: dict[str, str], name: str) -> None:
        group = self.groups.get(name, {"features": [], "params": {}})
        for feature in reversed(group["features"]):
            self.apply_feature(config, feature)
        self.apply(config, group["params"])

    def apply_feature(self, config: dict[str, str], name: str) -> None:
        for included in reversed(self.features[name]["included"]):
            self.apply_feature(config, included)
        self.apply(config, self.features[name]["params"])

    def apply(self, config: dict[str, str], params: Mapping[str, str | None]) -> None:
        for key, given in params.items():
            declaration = self.params.get(key.lower(), {"name": key, "default_val": ""})
            name = declaration["name"]
            text = declaration["default_val"] if given is None else given
            config[name] = combined(config.get(name, ""), text)


def combined(below: str, text: str) -> str:
    marker = MARKER.match(text)
    if marker is None:
        return text or below
    rest = text[marker.end() :].strip()
    if marker[1] == "?=":
        return below or rest
    return f"{below}{JOINTS[marker[1]]}{rest}" if below else rest
