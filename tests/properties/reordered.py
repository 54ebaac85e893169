"""The same document with the keys of every mapping in the opposite order."""

from typing import Any

import yaml


def reordered(text: str) -> str:
    """The text with all mappings turned around; lists stay, as their order means something."""
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    _turn(node)
    return yaml.serialize(node, Dumper=yaml.SafeDumper, width=10**6)


def _turn(node: Any) -> None:
    if isinstance(node, yaml.MappingNode):
        node.value.reverse()
        for _, value in node.value:
            _turn(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _turn(item)
