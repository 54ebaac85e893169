"""A node's turn in a deploy: connect, talk with the far end, and return one result."""

import base64
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from gitcfg.deploy.messages import (
    MOST_DONE,
    MOST_HELLO,
    MOST_PROBLEM,
    MOST_STEP,
    Decide,
    Done,
    Hello,
    OnStep,
    Order,
    clean,
    parse_done,
    parse_hello,
    parse_numbers,
    parse_problem,
    parse_step,
)
from gitcfg.deploy.network import (
    ASKING,
    WITHOUT,
    ConnectError,
    Line,
    Network,
    NodeConnection,
    Password,
    SudoLine,
)
from gitcfg.deploy.outcomes import FarError, LineLost, Noisy, NoPython, Outcome, Result, Unreadable
from gitcfg.deploy.program import LINE, NEED, OLD, SHELL, command, program
from gitcfg.install import outcome as installed
from gitcfg.install.remote.protocol import (
    CONTENTS,
    DONE,
    HAVE,
    HELLO,
    LACKS,
    MARK,
    ORDER,
    PARTS,
    PROBLEM,
    SMALL,
    TOLD,
    Parts,
    WireError,
    encode_message,
    list_contents,
    read_message,
    short_ids,
    split_package,
    whole_sum,
)
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.text import ABBREVIATED, duration

_LATER = "The installation continues on the node; the next deploy to it reports the result."
_UNTOUCHED = "Nothing was changed."
_LAST = {installed.REVERTED: "rolled back", installed.FAILED: "not even rolled back"}
_IN_FORCE = (Outcome.OK, Outcome.UNCHANGED)
_MOST_LACKS, _MOST_STEPS = 1 << 20, 100_000
HANDED_OVER = "order"
"""The `after` of a line that was lost after the whole order, before any step was reported."""
_CHUNK = 1 << 16
_NOISE = 1 << 16
"""Maximal bytes of output of a node's shells before the far end's."""
_NOT_FOUND, _KILLED = 127, 128
"""The exit code of shells for a missing program; above the other one, a signal ended the program."""


class LoginOptions(msgspec.Struct, frozen=True):
    """How to enter a node: with sudo or without (None: unless the user is root), and where its state is.

    `timeout` is for all that is done there, in seconds; `clock` counts them.
    """

    clock: Callable[[], float]
    timeout: float = 600.0
    sudo: bool | None = None
    password: Password | None = None
    root: str = "/"
    state: str = "/var/lib/gitcfg"

    def command(self, user: str) -> str:
        """Return the command for a user there."""
        through = self.sudo if self.sudo is not None else user != "root"
        words = (ASKING if self.password is not None else WITHOUT) if through else ()
        return command(words, self.root, self.state)


class Turn:
    """A turn, while it lasts. What the node has reported before an error is part of the result.

    `ask` returns the order for a node's state.
    """

    def __init__(self, node: str, login: LoginOptions, ask: Callable[[Hello], Order]) -> None:
        self.node = node
        self._login = login
        self._ask = ask
        self._begun = login.clock()
        self._deadline = self._begun + login.timeout
        self._hello: Hello | None = None
        self._ordered = False
        self._dry = False
        self._opened: NodeConnection | None = None
        self._cut = False

    def go(self, network: Network, on_step: OnStep) -> Result:
        """Run the turn; `on_step` is called with the node's steps."""
        try:
            with network.open(self.node) as opened:
                self._opened = opened
                done = None if self._cut else talk(self._open_line(opened), self._decide, on_step)
        except ConnectError as error:
            return self._make_result(self._outcome_in_time(error.outcome), error.message, *error.hints)
        except FarError as error:
            return self._explain_far_error(error)
        except GitcfgError as error:
            return self._explain_own_error(error)
        except OSError as error:
            return self._explain_far_error(LineLost(f"The connection ended: {error.strerror or error}."))
        if done is None:
            return self._make_result(Outcome.LOST, f"It was skipped. {_UNTOUCHED}")
        return self._done(done)

    def cut(self) -> str:
        """End it at once, from another thread; return a hint on what happens to the node."""
        self._cut = True
        if self._opened is not None:
            self._opened.cut()
        return _LATER if self._ordered else _UNTOUCHED

    def _open_line(self, opened: NodeConnection) -> Line:
        login = self._login
        line = opened.line(login.command(opened.user), self._deadline)
        return line if login.password is None else SudoLine(line, login.password, self.node)

    def _decide(self, hello: Hello) -> Order:
        self._hello = hello
        order = self._ask(hello)
        self._dry = order.dry
        self._ordered = not order.dry
        return order

    def _outcome_in_time(self, outcome: Outcome) -> Outcome:
        return Outcome.TIMEOUT if self._login.clock() >= self._deadline else outcome

    def _explain_far_error(self, error: FarError) -> Result:
        """Explain that it could not be done, or that the line was cut; the installation may then continue."""
        if not isinstance(error, LineLost):
            result = self._make_result(error.kind, error.message, *error.hints)
            # An unreadable answer is a failure, even if it names an agent.
            return replace(result, agent="") if isinstance(error, Unreadable) else result
        outcome = self._outcome_in_time(Outcome.LOST)
        message = error.message
        if outcome is Outcome.TIMEOUT:
            message = f"It took longer than {duration(self._login.timeout)}."
        going = self._ordered and bool(error.after)
        result = self._make_result(outcome, message, *(error.hints or (_LATER if going else _UNTOUCHED,)))
        if going:
            result = replace(result, commit=None, digest=None)
        return replace(result, step="" if error.after == HANDED_OVER else error.after)

    def _explain_own_error(self, error: GitcfgError) -> Result:
        """Explain a failure on this side; before the node had its order, nothing was touched there."""
        outcome = Outcome.REFUSED if error.code == REFUSED or not self._ordered else Outcome.FAILED
        result = self._make_result(outcome, error.message, *error.hints)
        # It counts as failed, unless the node's agent prevented it.
        return result if error.code == REFUSED else replace(result, agent="")

    def _make_result(self, outcome: Outcome, message: str, *hints: str) -> Result:
        seconds = round(self._login.clock() - self._begun, 3)
        result = Result(self.node, outcome, message=message, hint=" ".join(hints), seconds=seconds)
        hello = self._hello
        if hello is None:
            return result
        return replace(
            result, before=hello.commit, commit=hello.commit, digest=hello.digest, agent=hello.agent
        )

    def _last_installation(self, found: installed.Outcome) -> str:
        """Describe the end of the previous installation if it failed: no one may know about it yet."""
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
        result = self._make_result(word, _explain_result(word, found))
        if word in _IN_FORCE and not self._dry:
            result = replace(result, commit=found.commit, digest=found.digest)
        elif word is Outcome.FAILED:
            result = replace(result, commit=None, digest=None)
        return replace(
            result,
            step=found.step,
            output="\n".join(filter(None, (self._last_installation(found), found.output))),
            changed=found.changed,
            removed=found.removed,
            restarted=found.restarted,
            reloaded=found.reloaded,
            stopped=found.stopped,
            differences=done.differences,
            sent=done.sent,
            received=done.received,
        )


def _explain_result(word: Outcome, found: installed.Outcome) -> str:
    if word is Outcome.REVERTED:
        return f"`{found.step}` failed; the node was rolled back."
    if word is Outcome.FAILED:
        return f"`{found.step}` failed, and so did the rollback: look at the node."
    return "The node refused it; nothing was changed." if word is Outcome.REFUSED else ""


# The conversation over an open line: messages, in frames.


class Frames:
    """Messages over a line. `after` is the last reported step, for the error of a lost line."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._came = b""
        self.sent = 0
        self.received = 0
        self.after = ""

    def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        try:
            self._line.send(data)
        except OSError as error:
            raise self.lost(error) from error
        self.sent += len(data)

    def say(self, kind: int, parts: Iterable[bytes]) -> None:
        """Send a message."""
        for frame in encode_message(kind, parts):
            self.send(frame)

    def say_all(self, *messages: tuple[int, Iterable[bytes]]) -> None:
        """Send several small messages in one piece."""
        self.send(b"".join(frame for kind, parts in messages for frame in encode_message(kind, parts)))

    def receive(self, limits: Mapping[int, int]) -> tuple[int, bytes]:
        """Return the next message, of a kind that `limits` has."""
        try:
            return read_message(self._take, limits)
        except WireError as error:
            raise Unreadable(str(error)) from error

    def mark(self) -> str:
        """Return the word in the far end's next own line, "" at the end of the line; skip other output.

        Raise Noisy if there is so much other output that waiting is useless.
        """
        noise = 0
        while noise <= _NOISE:
            line, found, rest = self._came.partition(b"\n")
            if found:
                noise += len(line) + 1
                self._came = rest
                _, mark, text = line.decode("ascii", "replace").rpartition(f"{MARK} ")
                if mark:
                    return text.strip()[:100]
            elif len(self._came) > _NOISE:
                break
            elif not self._more():
                return ""
        raise Noisy()

    def lost(self, why: object = "") -> LineLost:
        """Return the error that the line has ended."""
        output = clean(self._line.stderr().strip()[-500:])
        reason = "; ".join(text for text in (str(why), output) if text)
        return LineLost(
            f"The connection to the node ended{f': {reason}' if reason else ''}.", after=self.after
        )

    def _take(self, size: int) -> bytes:
        while len(self._came) < size:
            if not self._more():
                raise self.lost()
        data, self._came = self._came[:size], self._came[size:]
        return data

    def _more(self) -> bool:
        try:
            more = self._line.receive(_CHUNK)
        except OSError as error:
            raise self.lost(error) from error
        self.received += len(more)
        self._came += more
        return bool(more)


def talk(line: Line, decide: Decide, on_step: OnStep) -> Done | None:
    """Deploy over an open line on which `command` runs; return None, with nothing touched, if `decide` does.

    `on_step` is called as each step of the node begins and ends. Raise FarError if the deploy fails.
    """
    frames = Frames(line)
    greet(frames, line)
    hello = parse_hello(_answer(frames, HELLO, MOST_HELLO))
    order = decide(hello)
    if order is None:
        return None
    _hand_over(frames, order, hello.digest)
    try:
        return _follow(frames, order, on_step)
    except Unreadable as error:
        if not frames.after:
            raise
        raise LineLost(error.message, after=frames.after) from error  # it may have begun


def _hand_over(frames: Frames, order: Order, digest: str | None) -> None:
    """Send the short ids of all parts, then the parts and contents that the node lacks; or all at once.

    Secrets are sent only on request, and nothing is sent that the node already has.
    """
    hidden = {path: content.encode() for path, content in order.hidden.items()}
    parts = split_package(order.package, hidden)
    needed = list_contents(parts.pieces)
    size = sum(map(len, parts.pieces)) + sum(map(len, parts.contents.values()))
    head = _make_head(order, parts, digest)
    if digest != order.package["digest"] and not hidden and size <= SMALL:
        if not order.dry:
            frames.after = HANDED_OVER
        whole = msgspec.json.encode(head | {"pieces": [piece.decode() for piece in parts.pieces]})
        frames.say_all((ORDER, [whole]), (CONTENTS, (parts.contents[one.sha256] for one in needed)))
        return
    ids = base64.b64encode(b"".join(short_ids(parts.pieces))).decode()
    frames.say(ORDER, [msgspec.json.encode(head | {"ids": ids})])
    lacking = parse_numbers(_answer(frames, LACKS, _MOST_LACKS), len(parts.pieces))
    if lacking:
        frames.say(PARTS, [b"\n".join(parts.pieces[number] for number in lacking)])
    lacking = parse_numbers(_answer(frames, LACKS, _MOST_LACKS), len(needed))
    requested = [needed[number] for number in lacking]
    if any(one.sha256 not in parts.contents or (order.dry and one.secret) for one in requested):
        raise FarError(Outcome.REFUSED, "The node requested content that it must not have.")
    if not order.dry:
        frames.after = HANDED_OVER
    if requested:
        frames.say(CONTENTS, (parts.contents[one.sha256] for one in requested))


def _make_head(order: Order, parts: Parts, base: str | None) -> dict[str, Any]:
    return {
        "head": parts.head,
        "sum": whole_sum(parts.pieces),
        "actions": order.actions._asdict(),
        "dry": order.dry,
        "force_agent": order.force_agent,
        "who": order.who[:200],
        "wait": order.wait,
        "base": base or "",
    }


def _follow(frames: Frames, order: Order, on_step: OnStep) -> Done:
    limits = {TOLD: MOST_STEP, DONE: MOST_DONE, PROBLEM: MOST_PROBLEM}
    for _ in range(_MOST_STEPS):
        kind, raw = frames.receive(limits)
        if kind == DONE:
            return parse_done(raw, str(order.package["commit"]), frames.sent, frames.received)
        if kind == PROBLEM:
            raise parse_problem(raw)
        step, state = parse_step(raw)
        frames.after = step
        on_step(step, state)
    raise Unreadable("It reported too many steps.")


def _answer(frames: Frames, kind: int, most: int) -> bytes:
    came, raw = frames.receive({kind: most, PROBLEM: MOST_PROBLEM})
    if came == PROBLEM:
        raise parse_problem(raw)
    return raw


def greet(frames: Frames, line: Line) -> None:
    """Wait until the program runs there, and send it if it is missing. Raise FarError if it cannot run."""
    marks = []
    while (mark := frames.mark()) in (LINE, SHELL):
        marks.append(mark)
    if mark == NEED:
        frames.send(program().squeezed)
    elif mark != HAVE:
        raise _explain_missing(marks, mark, line)


def _explain_no_root(code: int, detail: str) -> FarError:
    if code == _NOT_FOUND:
        hint = "Log in as root, or use `--no-sudo` if this user may write all deployed files."
        return FarError(Outcome.SUDO, f"There is no sudo on the node.{detail}", hint)
    hint = "Use `--ask-sudo` to enter sudo's password once, or let this user run /bin/sh without a password."
    return FarError(Outcome.SUDO, f"sudo refuses to let this user become root on the node.{detail}", hint)


def _explain_missing(marks: list[str], mark: str, line: Line) -> FarError:
    """Return what is missing: the program whose message is next."""
    output = clean(line.stderr().strip()[-1000:])
    detail = f" Its output: {output}" if output else ""
    if mark.startswith(f"{OLD} "):
        version = clean(mark.removeprefix(f"{OLD} "))
        return NoPython(
            f"The node has Python {version}, but gitcfg needs 3.9 or newer.", "Install a newer one beside it."
        )
    if mark:
        return NoPython("There is no python3 on the node.", "Install Python 3.9 or newer there.")
    code = line.ended()
    if code is None:
        return LineLost(f"The connection ended before gitcfg started on the node.{detail}")
    if code < 0 or code > _KILLED:
        return LineLost(f"gitcfg was killed on the node before it started.{detail}")
    if SHELL in marks:
        return NoPython(f"The node's python3 cannot run.{detail}")
    if LINE in marks:
        return _explain_no_root(code, detail)
    return FarError(Outcome.REFUSED, f"The node's login cannot run commands (exit code {code}).{detail}")
