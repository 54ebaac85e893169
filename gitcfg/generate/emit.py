"""Documents as YAML text: a line a key, and what is deeper as JSON, which is YAML too."""

import json
from collections.abc import Mapping


def to_yaml(content: Mapping[str, object]) -> str:
    """A mapping as YAML; empty collections in it are left out."""
    return "".join(_entry(key, value) for key, value in content.items() if value not in ((), [], {}))


def _entry(key: str, value: object) -> str:
    if not isinstance(value, Mapping):
        return f"{key}: {json.dumps(value)}\n"
    return f"{key}:\n" + "".join(f"  {json.dumps(name)}: {json.dumps(value[name])}\n" for name in value)
