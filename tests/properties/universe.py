"""The few names that random repositories are made of."""

from collections.abc import Mapping

FEATURES = ("A", "B", "C", "D", "E")
INSTANCED = "I"
"""Always an instance; its parameters' names hold the instance's name."""
OUTER = "O"
"""Always an instance too; it includes instances that are called after it."""
GROUPS = ("default", "G", "H", "K")
NODES = ("n1", "n2")
MEMBERS = ("s1", "s2")
ABSENT = "Z"
"""A default group without a file, as is allowed."""
SET = "S"
GONE = "Gone"
"""What nobody defines."""

SECRETS = ("t", "u")

KINDS: Mapping[str, str] = {
    "STR": "string",
    "INT": "integer",
    "NUM": "number",
    "BOO": "boolean",
    "PTH": "path",
    "EXP": "expression",
    "EXQ": "expression",
    "LIS": "list",
    "LIT": "list",
    "MAP": "map",
    "ANY": "any",
    "MAC": "macro",
    "UND": "undeclared",
    "SEC": "secret",
    "FAM_a": "expression",
    "FAM_b": "list",
}
"""Parameters that layers bind. Those of a family are declared by patterns, the undeclared by nothing."""
FAMILIES: Mapping[str, tuple[str, str]] = {
    "FAM_a": ("FAM_*", "expression"),
    "FAM_b": ("FAM_b*", "list"),
    "INS": ("INS_*", "string"),
}
EXACT = tuple(name for name in KINDS if name != "UND" and name not in FAMILIES)
