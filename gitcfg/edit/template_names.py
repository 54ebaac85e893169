"""Names of parameters in templates: those that certainly are names, under a new name."""

import re

_TAG = re.compile(r"\{#.*?#\}|\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_UNCERTAIN = re.compile(
    r"\{%-?\+?\s*(?:raw|include|import|from|extends|macro|call|set\s[^%]*\bparams\b|for\s[^%]*\bparams\b[^%]*\bin\b)"
)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_TEXT = r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'"""


def rename_in_template(text: str, old: str, new: str) -> str:
    """The template with `params.OLD` and `params["OLD"]` under the new name.

    Where `params` may be something else, or what is text cannot be told, the template stays as it is.
    """
    if _UNCERTAIN.search(text):
        return text
    name = re.escape(old)
    found = re.compile(
        rf"""(?<![\w.])params\[(?P<quote>["']){name}(?P=quote)\]"""
        rf"""|(?<![\w.])params\.(?P<dotted>{name})(?![\w(])|{_TEXT}"""
    )

    def other(match: re.Match[str]) -> str:
        if match["dotted"] and _IDENTIFIER.fullmatch(new):
            return f"params.{new}"
        if match["dotted"]:
            return f'params["{new}"]'
        return f"params[{match['quote']}{new}{match['quote']}]" if match["quote"] else match[0]

    def tag(match: re.Match[str]) -> str:
        return match[0] if match[0].startswith("{#") else found.sub(other, match[0])

    return _TAG.sub(tag, text)
