"""The comment at a file's top that tells an editor which schema it is to be held against."""

import os.path
import re

FOLDER = ".gitcfg/schema"
_LINE = re.compile(rb"^#\s+(?:yaml-language-server\s*:|\$schema:)", re.MULTILINE)
_MARK = b"\xef\xbb\xbf"  # of UTF-8, which may stand before everything


def modeline(path: str, folder: str = FOLDER) -> str:
    """Return the comment, without a line end, for a file at a path below the repository's root.

    `folder` is where the schemas are, from the root on.
    """
    kind = path.partition("/")[0].removesuffix(".yaml")
    schema = os.path.relpath(f"{folder}/{kind}.json", os.path.dirname(path) or ".")
    return f"# yaml-language-server: $schema={schema}"


def with_modeline(path: str, content: bytes, folder: str = FOLDER) -> bytes:
    """Return a file that says which schema is its own: as it is if it says so already, whichever it names."""
    start = len(_MARK) if content.startswith(_MARK) else 0
    if _LINE.search(content[start:]):
        return content
    first = content.find(b"\n", start)
    end = b"\r\n" if content[first - 1 : first] == b"\r" else b"\n"
    return content[:start] + modeline(path, folder).encode() + end + content[start:]
