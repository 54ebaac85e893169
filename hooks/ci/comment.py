"""Writes a text as the one comment of gitcfg's at a pull or merge request, in place of an older one.

    python comment.py github|forgejo|gitlab FILE

The environment says where: GITCFG_API (the API's address), GITCFG_PROJECT (OWNER/NAME, or GitLab's number),
GITCFG_NUMBER (of the request), GITCFG_TOKEN. GITCFG_MARK is a word that tells this comment from those of
other repositories in the same project, GITCFG_ELSEWHERE what to say where the text is too long for a comment.
Needs nothing but Python.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

BOTS = ("github-actions[bot]", "forgejo-actions", "gitea-actions")
SECONDS = 60


@dataclass(frozen=True)
class Forge:
    """Where comments are, how one is changed, who asks, and how long one may be."""

    all: str
    one: str
    change: str
    header: str
    credential: str
    longest: int


_ISSUES = "/repos/{project}/issues"
FORGES = {
    "github": Forge(
        f"{_ISSUES}/{{number}}/comments",
        f"{_ISSUES}/comments/{{id}}",
        "PATCH",
        "Authorization",
        "Bearer {}",
        60_000,
    ),
    "forgejo": Forge(
        f"{_ISSUES}/{{number}}/comments",
        f"{_ISSUES}/comments/{{id}}",
        "PATCH",
        "Authorization",
        "token {}",
        900_000,
    ),
    "gitlab": Forge(
        "/projects/{project}/merge_requests/{number}/notes",
        "/projects/{project}/merge_requests/{number}/notes/{id}",
        "PUT",
        "PRIVATE-TOKEN",
        "{}",
        900_000,
    ),
}


class Api:
    """A forge's API, asked with a token."""

    def __init__(self, forge: Forge, said: Mapping[str, str]) -> None:
        self.forge = forge
        self._base = said["GITCFG_API"].rstrip("/")
        self._names = {"project": said["GITCFG_PROJECT"], "number": said["GITCFG_NUMBER"]}
        self._token = said["GITCFG_TOKEN"]

    def ask(self, method: str, path: str, body: str | None = None, **names: object) -> Any:
        """What the forge answers. HTTPError: it refuses."""
        data = None if body is None else json.dumps({"body": body}).encode()
        headers = {
            self.forge.header: self.forge.credential.format(self._token),
            "Content-Type": "application/json",
            "User-Agent": "gitcfg",
        }
        url = self._base + path.format(**self._names, **names)
        with urlopen(Request(url, data, headers, method=method), timeout=SECONDS) as answer:
            return json.load(answer)

    def comments(self) -> Iterator[dict[str, Any]]:
        """All comments. Forgejo gives them all at once, whatever page is asked for."""
        known: set[int] = set()
        page = 1
        while True:
            found = self.ask("GET", f"{self.forge.all}?per_page=100&page={page}")
            new = [comment for comment in found if comment["id"] not in known]
            if not new:
                return
            yield from new
            known.update(comment["id"] for comment in new)
            page += 1

    def user(self) -> str | None:
        """Whose token it is; None where the forge does not tell, as it does not of workflows' own tokens."""
        try:
            answer = self.ask("GET", "/user")
        except HTTPError:
            return None
        return str(answer.get("login") or answer.get("username"))


def put(api: Api, mark: str, text: str) -> str:
    """Change the comment that begins with the mark, or write one; what was done."""
    user = api.user()
    for comment in api.comments():
        if comment["body"].startswith(mark) and _is_ours(comment, user):
            api.ask(api.forge.change, api.forge.one, mark + text, id=comment["id"])
            return "changed"
    api.ask("POST", api.forge.all, mark + text)
    return "written"


def _is_ours(comment: Mapping[str, Any], user: str | None) -> bool:
    """Others may write the mark too; what is theirs stays theirs."""
    author = comment.get("user") or comment.get("author") or {}
    name = author.get("login") or author.get("username")
    return name == user if user is not None else name in BOTS or author.get("type") == "Bot"


def shortened(text: str, longest: int, elsewhere: str) -> str:
    """The text, or of one that is too long what stands before its details."""
    if len(text.encode()) <= longest:
        return text
    head = text.partition("<details")[0].rstrip()
    return f"{head}\n\nThe details are too long for a comment. {elsewhere}\n"


def main(arguments: list[str], said: Mapping[str, str]) -> int:
    """Write the comment; 1 if the forge refuses."""
    forge, file = FORGES[arguments[0]], Path(arguments[1])
    text = shortened(file.read_text(encoding="utf-8"), forge.longest, said.get("GITCFG_ELSEWHERE", ""))
    try:
        done = put(Api(forge, said), f"<!-- gitcfg {said.get('GITCFG_MARK', '.')} -->\n", text)
    except (HTTPError, URLError, TimeoutError) as error:
        print(f"error: The forge takes no comment: {error}.", file=sys.stderr)
        print("hint: The token must be allowed to write comments; those of forks are not.", file=sys.stderr)
        return 1
    print(f"The comment is {done}.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
