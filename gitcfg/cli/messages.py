"""What nodes say, without what is each node's own: so that those that say the same are told together."""

import re
from collections.abc import Iterable

_PROCESS = re.compile(r"(?i)(\b(?:pid|process)[ =:]{1,2})[0-9]+|(?<=\w)\[[0-9]+\]")
_ADDRESS = re.compile(
    r"(?<![\w.:])(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?!\w|\.\w)"
    r"|(?=[0-9a-f:]*::|(?:[0-9a-f]{1,4}:){7})[0-9a-f:]{3,39}(?![\w:]))"
)
_ALONE = r"(?<![\w.-]){}(?![\w-]|\.\w)"
_WITHIN = r"(?<![^\W_]){}(?![^\W_])"
_TELLING = re.compile(r"(?=.*[^\W\d_])(?=.*[0-9]|...)")
"""Names that mean the node within a word, too (`poold-n1`); `7` in `1.7` or `in` in `log-in` may not."""
Line = tuple[str, str]
"""A text, and how it looks."""


def generalize(text: str, node: str) -> str:
    """A text about a node as it would be about another: NODE, PROCESS and ADDRESS are each one's own."""
    text = _PROCESS.sub(lambda found: f"{found[1]}PROCESS" if found[1] else "[PROCESS]", text)
    text = _ADDRESS.sub("ADDRESS", text)
    for name in (node, node.partition(".")[0]):
        if name and name in text:
            form = _WITHIN if _TELLING.match(name) else _ALONE
            text = re.sub(form.format(re.escape(name)), "NODE", text)
    return text


def fold_messages(
    said: Iterable[tuple[str, tuple[Line, ...]]], *, trouble: bool
) -> list[tuple[tuple[Line, ...], list[str]]]:
    """Nodes of which the same is to be said, in order of the first of each.

    What is each one's own tells nobody in trouble apart; it is said where it is the same for all of them.
    """
    found: dict[tuple[Line, ...], tuple[list[str], set[tuple[Line, ...]]]] = {}
    for name, lines in said:
        key = tuple((generalize(text, name), look) for text, look in lines) if trouble else lines
        names, own = found.setdefault(key, ([], set()))
        names.append(name)
        if len(own) < 2:
            own.add(lines)
    return [(own.pop() if len(own) == 1 else key, names) for key, (names, own) in found.items()]
