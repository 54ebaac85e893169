"""One node's turn: connect, talk, and what came of it in one word; the network is all that it waits for."""

from collections.abc import Callable

import msgspec

from gitcfg.deploy.messages import Done, Hello, Line, Order
from gitcfg.deploy.outcomes import Outcome, Result
from gitcfg.deploy.problems import FarError, LineLost, Unreadable
from gitcfg.deploy.reach import Network, Opened, Unreached
from gitcfg.deploy.sudo import ASKING, WITHOUT, Password, SudoLine
from gitcfg.deploy.talk import HANDED_OVER, command, talk
from gitcfg.install import outcome as installed
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.text import ABBREVIATED, duration

_LATER = "The node goes on by itself; the next deploy to it tells how that ended."
_UNTOUCHED = "Nothing was touched."
_LAST = {installed.REVERTED: "taken back", installed.FAILED: "not even taken back"}
_STANDS = (Outcome.OK, Outcome.UNCHANGED)


class Entering(msgspec.Struct, frozen=True):
    """How a node is entered: through sudo or not (None: unless root is logged in), and where it keeps things.

    `timeout` is for all that is done there, in seconds; `clock` counts them.
    """

    clock: Callable[[], float]
    timeout: float = 600.0
    sudo: bool | None = None
    password: Password | None = None
    root: str = "/"
    state: str = "/var/lib/gitcfg"

    def command(self, user: str) -> str:
        """What is run there by a user."""
        through = self.sudo if self.sudo is not None else user != "root"
        words = (ASKING if self.password is not None else WITHOUT) if through else ()
        return command(words, self.root, self.state)


class Visit:
    """A turn, while it lasts: what has been heard until something goes wrong is part of its result.

    `ask` gets the order for what stands on the node; `told` hears of its steps.
    """

    def __init__(self, node: str, entering: Entering, ask: Callable[[Hello], Order]) -> None:
        self.node = node
        self._entering = entering
        self._ask = ask
        self._begun = entering.clock()
        self._deadline = self._begun + entering.timeout
        self._hello: Hello | None = None
        self._ordered = False
        self._dry = False
        self._opened: Opened | None = None
        self._cut = False

    def go(self, network: Network, told: Callable[[str, str], None]) -> Result:
        """Do all of it."""
        try:
            with network.open(self.node) as opened:
                self._opened = opened
                done = None if self._cut else talk(self._line(opened), self._decide, told)
        except Unreached as error:
            return self._result(self._late(error.outcome), error.message, *error.hints)
        except FarError as error:
            return self._far(error)
        except GitcfgError as error:
            return self._unsaid(error)
        except OSError as error:
            return self._far(LineLost(f"The connection ended: {error.strerror or error}."))
        if done is None:
            return self._result(Outcome.LOST, f"It was left. {_UNTOUCHED}")
        return self._done(done)

    def cut(self) -> str:
        """End it at once, from another thread; what is to be said of it then."""
        self._cut = True
        if self._opened is not None:
            self._opened.cut()
        return _LATER if self._ordered else _UNTOUCHED

    def _line(self, opened: Opened) -> Line:
        entering = self._entering
        line = opened.line(entering.command(opened.user), self._deadline)
        return line if entering.password is None else SudoLine(line, entering.password, self.node)

    def _decide(self, hello: Hello) -> Order:
        self._hello = hello
        order = self._ask(hello)
        self._dry = order.dry
        self._ordered = not order.dry
        return order

    def _late(self, outcome: Outcome) -> Outcome:
        """What ended because time ran out is called by that."""
        return Outcome.TIMEOUT if self._entering.clock() >= self._deadline else outcome

    def _far(self, error: FarError) -> Result:
        """It could not be done, or the line was cut; then it may go on without anybody who listens."""
        if not isinstance(error, LineLost):
            said = self._result(Outcome(error.kind), error.message, *error.hints)
            # Whoever says nonsense is not let off for the agent that it says is there.
            return msgspec.structs.replace(said, agent="") if isinstance(error, Unreadable) else said
        outcome = self._late(Outcome.LOST)
        message = error.message
        if outcome is Outcome.TIMEOUT:
            message = f"It took longer than {duration(self._entering.timeout)}."
        going = self._ordered and bool(error.after)
        said = self._result(outcome, message, *(error.hints or (_LATER if going else _UNTOUCHED,)))
        if going:
            said = msgspec.structs.replace(said, commit=None, digest=None)
        return msgspec.structs.replace(said, step="" if error.after == HANDED_OVER else error.after)

    def _unsaid(self, error: GitcfgError) -> Result:
        """Something of ours was in the way; before the node had its order nothing was touched there."""
        refused = error.code == REFUSED or not self._ordered
        found = self._result(Outcome.REFUSED if refused else Outcome.FAILED, error.message, *error.hints)
        # It counts as failed unless it is the agent there that was in the way.
        return found if error.code == REFUSED else msgspec.structs.replace(found, agent="")

    def _result(self, outcome: Outcome, message: str, *hints: str) -> Result:
        hello = self._hello
        return Result(
            self.node,
            outcome,
            message=message,
            hint=" ".join(hints),
            seconds=round(self._entering.clock() - self._begun, 3),
            before=hello.commit if hello is not None else None,
            commit=hello.commit if hello is not None else None,
            digest=hello.digest if hello is not None else None,
            agent=hello.agent if hello is not None else "",
        )

    def _unheard(self, found: installed.Outcome) -> str:
        """How the installation before this one ended, if not well: perhaps nobody was left to hear it."""
        hello = self._hello
        last = hello.report if hello is not None else None
        if hello is None or last is None or hello.busy or hello.interrupted or last.result not in _LAST:
            return ""
        if (last.result, last.commit, last.step) == (found.result, found.commit, found.step):
            return ""
        why = (last.output or last.step).partition("\n")[0]
        return f"The last installation here, of {last.commit[:ABBREVIATED]}, was {_LAST[last.result]}: {why}"

    def _done(self, done: Done) -> Result:
        found = done.outcome
        word = Outcome(found.result)
        if self._dry and word is Outcome.OK:
            word = Outcome.DIFFERS
        said = self._result(word, _in_words(word, found))
        if word in _STANDS and not self._dry:
            said = msgspec.structs.replace(said, commit=found.commit, digest=found.digest)
        elif word is Outcome.FAILED:
            said = msgspec.structs.replace(said, commit=None, digest=None)
        return msgspec.structs.replace(
            said,
            step=found.step,
            output="\n".join(filter(None, (self._unheard(found), found.output))),
            changed=found.changed,
            removed=found.removed,
            restarted=found.restarted,
            reloaded=found.reloaded,
            stopped=found.stopped,
            differences=done.differences,
            sent=done.sent,
            received=done.received,
        )


def _in_words(word: Outcome, found: installed.Outcome) -> str:
    """What an installation that did not come through came to."""
    if word is Outcome.REVERTED:
        return f"`{found.step}` failed; what stood before is in force again."
    if word is Outcome.FAILED:
        return f"`{found.step}` failed, and so did the way back: look at the node."
    return "The node refuses it; nothing was touched." if word is Outcome.REFUSED else ""
