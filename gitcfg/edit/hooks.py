"""The scripts that git calls: what is in them, and how those that gitcfg wrote are known again."""

import json
import re
import shlex

import msgspec

BEFORE = ".before-gitcfg"
"""A hook that was there before is kept under its name and this."""
WORK_TREE = ("pre-commit",)
SERVER = ("pre-receive", "post-receive")
_HEAD = """#!/bin/sh
# Written by gitcfg: `gitcfg hook install` writes it, `gitcfg hook remove` puts back what was here before.
"""
_KEPT = "# gitcfg.hook/1 "
# husky 9 finds what it is to run by the name it was called by; other programs go by the folder.
_BY_NAME = re.compile(rb'^\. "\$\(dirname (-- )?"\$0"\)/h"', re.MULTILINE)


class Marker(msgspec.Struct, frozen=True):
    """What a script remembers: the folder of gitcfg.yaml in git's tree, and whether hooks had a folder."""

    folder: str = ""
    made: bool = False


class Script(msgspec.Struct, frozen=True):
    """A hook as it shall be. `program` are the words that call gitcfg."""

    name: str
    program: tuple[str, ...]
    kept: Marker = Marker()

    def text(self, before: bytes | None) -> bytes:
        """The script; `before` is the hook that runs first, if there is one."""
        # The standard library's: a folder's name need not be UTF-8, and it writes such names in ASCII.
        kept = json.dumps(msgspec.to_builtins(self.kept))
        start = _START.format(name=self.name, program=shlex.join(self.program), call=_call(before))
        file = f"{self.kept.folder}/gitcfg.yaml".lstrip("/")
        folder = f"./{self.kept.folder}".rstrip("/")
        body = _BODIES[self.name].format(folder=shlex.quote(folder), file=shlex.quote(file))
        failed = _FAILED.format(program=_shown(self.program), what=_WHAT[self.name], hint=_HINTS[self.name])
        return f"{_HEAD}{_KEPT}{kept}\n{start}{body}{failed}".encode("utf-8", "surrogateescape")


def parse_marker(text: bytes) -> Marker | None:
    """What a script of gitcfg's remembers; None: it is another's."""
    lines = text.split(b"\n", 3)
    if len(lines) < 3 or not lines[2].startswith(_KEPT.encode()):
        return None
    try:
        return msgspec.convert(json.loads(lines[2].removeprefix(_KEPT.encode())), Marker)
    except (ValueError, RecursionError):  # msgspec's errors are ValueErrors, too
        return None


def _call(before: bytes | None) -> str:
    if before is not None and _BY_NAME.search(before):
        return """sh -c '. "$0.before-gitcfg"' "${gitcfg_before%.before-gitcfg}" "$@\""""
    return '"$gitcfg_before" "$@"'


def _shown(program: tuple[str, ...]) -> str:
    """The program's words within double quotes."""
    return re.sub(r'([\\"$`])', r"\\\1", shlex.join(program))


_START = """\
gitcfg() {{
    {program} --no-pager "$@"
}}
case $0 in
*/*) gitcfg_before=${{0%/*}}/{name}.before-gitcfg ;;
*) gitcfg_before=./{name}.before-gitcfg ;;
esac
before() {{
    {call}
}}
gitcfg_first=
"""
_GIVEN = """\
gitcfg_given=$(cat && echo .)
gitcfg_given=${{gitcfg_given%.}}
given() {{
    printf %s "$gitcfg_given" 2>/dev/null
}}
"""
_BODIES = {
    "pre-commit": """\
if [ -x "$gitcfg_before" ]; then
    before "$@" || exit
fi
# Other branches, and other repositories where they share hooks, need not be gitcfg's.
gitcfg_file={file}
git cat-file -e "HEAD:$gitcfg_file" 2>/dev/null ||
    git cat-file -e ":0:$gitcfg_file" 2>/dev/null || exit 0
gitcfg -C {folder} hook pre-commit
gitcfg_code=$?
""",
    "pre-receive": f"""\
{_GIVEN}if [ -x "$gitcfg_before" ]; then
    given | before "$@" || exit
fi
given | gitcfg -C . hook pre-receive
gitcfg_code=$?
""",
    "post-receive": f"""\
{_GIVEN}if [ -x "$gitcfg_before" ]; then
    given | before "$@" || gitcfg_first=$?
fi
given | gitcfg -C . hook post-receive
gitcfg_code=$?
""",
}
_FAILED = """\
case $gitcfg_code in
126 | 127)
    printf '%s\\n' "error: {program} cannot be run, so {what}." >&2
    printf '%s\\n' "hint: {hint}" >&2
    ;;
esac
exit "${{gitcfg_first:-$gitcfg_code}}"
"""
_WHAT = {
    "pre-commit": "nothing is checked and nothing is committed",
    "pre-receive": "nothing can be judged and nothing is accepted",
    "post-receive": "nothing is done after this push",
}
_SERVER_HINT = (
    r"The server's administrator installs gitcfg anew and runs \`gitcfg hook install --server \"$(pwd)\"\`, "
    "or takes this hook away: $0."
)
_HINTS = {
    "pre-commit": r"Install gitcfg anew and run \`gitcfg hook install\`; "
    r"\`git commit --no-verify\` commits unchecked.",
    "pre-receive": _SERVER_HINT,
    "post-receive": _SERVER_HINT,
}
