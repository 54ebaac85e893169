"""A real browser without a screen, and people who look at the pages with it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

_QUIET = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


@contextmanager
def running() -> Iterator[Any]:
    """Chromium; where it or what drives it is not installed, the test is skipped."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("chromium is not installed")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*_QUIET])
        yield browser
        browser.close()


class Window:
    """A window of somebody who has logged in by the form; `wrong` is what the browser complains of."""

    def __init__(self, chromium: Any, url: str, token: str, **how: Any) -> None:
        self.context = chromium.new_context(base_url=url, **how)
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        self.page.on("console", lambda said: self.wrong.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("dialog", lambda dialog: self.wrong.append(f"a dialog: {dialog.message}"))
        self.page.goto("/")
        self.page.get_by_label("Token").fill(token)
        self.page.keyboard.press("Enter")
        self.heading("Fleet")

    def heading(self, text: str) -> None:
        """Wait for a page."""
        self.page.get_by_role("heading", level=1, name=text).wait_for()

    def __enter__(self) -> "Window":
        return self

    def __exit__(self, *error: object) -> None:
        self.context.close()
