"""Steps carried out on a draft, one after another; the last can be taken back."""

import msgspec

from gitcfg.edit.carry import carry_out
from gitcfg.edit.draft import Draft
from gitcfg.edit.orders import Order
from gitcfg.git.tree import Tree
from gitcfg.model import GitcfgError


class Step(msgspec.Struct, frozen=True):
    """One thing that was done, in words (`add GpuNode at 0`), and the orders that do it."""

    words: str
    orders: tuple[Order, ...]


class Work:
    """What was done so far to a tree. `draft` is what it makes of it."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self.steps: tuple[Step, ...] = ()
        self.draft = Draft(tree)

    def take(self, step: Step) -> bool:
        """Do a thing; False if it makes no difference. GitcfgError: it cannot be done, and nothing was."""
        before = dict(self.draft.files)
        try:
            carry_out(self.draft, step.orders)
        except GitcfgError:
            self._again()
            raise
        if self.draft.files == before:
            return False
        self.steps = (*self.steps, step)
        return True

    def back(self) -> Step:
        """Take back the last thing that was done. IndexError: nothing was."""
        last = self.steps[-1]
        self.steps = self.steps[:-1]
        self._again()
        return last

    def onto(self, tree: Tree) -> tuple[tuple[Step, GitcfgError], ...]:
        """Do the same to another tree. What can no longer be done, each with the reason."""
        self._tree, steps = tree, self.steps
        self.steps, self.draft = (), Draft(tree)
        failed = []
        for step in steps:
            try:
                self.take(step)
            except GitcfgError as error:
                failed.append((step, error))
        return tuple(failed)

    def orders(self) -> tuple[Order, ...]:
        """All of it, in order."""
        return tuple(order for step in self.steps for order in step.orders)

    def _again(self) -> None:
        """An order that failed may have been carried out by half: the draft is made anew."""
        self.draft = Draft(self._tree)
        carry_out(self.draft, self.orders())
