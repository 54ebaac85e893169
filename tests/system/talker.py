"""A node that checks in all the time, at both servers in turn, and remembers what it was answered."""

import threading
from http.client import HTTPException
from types import TracebackType
from typing import Self

from tests.server.agent import Node

_PAUSE = 0.25  # at each server half as often as a node may ask for good


class Talker:
    """Each check-in has a result that says its number. Use as a context manager."""

    def __init__(self, desks: list[Node], commit: str) -> None:
        self._desks, self._commit = desks, commit
        self.answers: list[int] = []
        """The status of each answer; 0: there was none."""
        self.told: list[int] = []
        """The status of each answer to the question what it is to run."""
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._talk)

    def _talk(self) -> None:
        while not self._ended.wait(_PAUSE):
            desk = self._desks[len(self.answers) % len(self._desks)]
            said = {"commit": self._commit, "outcome": "ok", "output": str(len(self.answers))}
            try:
                self.told.append(desk.config().status)
                self.answers.append(desk.checkin(result=said).status)
            except (OSError, HTTPException):
                self.answers.append(0)

    @property
    def taken(self) -> set[str]:
        """The numbers of the check-ins that were answered 200."""
        return {str(number) for number, status in enumerate(self.answers) if status == 200}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
