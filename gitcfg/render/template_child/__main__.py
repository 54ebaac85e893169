"""The child's requests: set the templates, analyse one, or render one."""

from collections.abc import Mapping
from typing import Any

from jinja2 import Template

from gitcfg.render.template_child.analysis import FAILURES, Analysis, problem
from gitcfg.render.template_child.sandbox import Sandbox
from gitcfg.render.template_child.values import OUTPUT_LIMIT, has_address, named
from gitcfg.sandbox import serve

_MOST = 4


class Templates:
    """The templates of one tree.

    Those of a few other trees stay compiled, since they may be requested again.
    """

    def __init__(self) -> None:
        self._sources: Mapping[str, str] = {}
        self._sandbox = Sandbox({})
        self._sandboxes: dict[tuple[tuple[str, str], ...], Sandbox] = {}

    def answer(self, request: Mapping[str, Any]) -> Any:
        """Answer a request: set `sources`, `analyse` a template, or `render` one with its `context`."""
        match request:
            case {"sources": sources}:
                self._sources, self._sandbox = sources, self._of(sources)
                return None
            case {"analyse": name}:
                return Analysis(self._sandbox, self._sources).of(name)
        return self._render(request["render"], named(request["context"]))

    def _of(self, sources: Mapping[str, str]) -> Sandbox:
        key = tuple(sorted(sources.items()))
        found = self._sandboxes.pop(key, None) or Sandbox(sources)
        self._sandboxes[key] = found
        if len(self._sandboxes) > _MOST:
            del self._sandboxes[next(iter(self._sandboxes))]
        return found

    def _render(self, name: str, context: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            return {"output": _output(self._sandbox.open(name, context)), "problem": None}
        except FAILURES as error:
            return {"output": "", "problem": problem(error, name, self._sources, context)}


def _output(template: Template) -> str:
    parts, size = [], 0
    for part in template.generate():
        parts.append(part)
        size += len(part)
        if size > OUTPUT_LIMIT:
            break
    text = "".join(parts)
    if size > OUTPUT_LIMIT or len(text.encode()) > OUTPUT_LIMIT:
        raise ValueError("the output is larger than 4 MiB")
    if has_address(text):
        raise ValueError("the output holds the text of something that is not data")
    return text


if __name__ == "__main__":
    serve(Templates().answer)
