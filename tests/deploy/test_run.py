"""A deploy over a network that is made up: who is asked what, and what becomes of each node."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

import pytest

from gitcfg.deploy import turn
from gitcfg.deploy.batches import INTERRUPTED, Plan, batches
from gitcfg.deploy.messages import Decide, Done, Hello, OnStep, Order
from gitcfg.deploy.network import ConnectError, Line
from gitcfg.deploy.outcomes import (
    EndReason,
    FarError,
    LineLost,
    NoPython,
    Outcome,
    Result,
    Unreadable,
    Weight,
)
from gitcfg.deploy.run import Deploy, Finished
from gitcfg.deploy.turn import LoginOptions
from gitcfg.install.outcome import Outcome as Installed
from gitcfg.install.package import Actions
from gitcfg.model import REFUSED, GitcfgError, Share

COMMIT = "c" * 40
Far = Callable[[str, Decide, OnStep], Done | None]


class NodeConnection:
    """A connection to a made-up node; as a line it is only a name."""

    def __init__(self, node: str, user: str) -> None:
        self.node = node
        self.user = user
        self.commands: list[str] = []
        self.closed = threading.Event()

    def line(self, command: str, deadline: float) -> "NodeConnection":
        self.commands.append(command)
        return self

    def cut(self) -> None:
        self.closed.set()

    def send(self, data: bytes) -> None:
        raise AssertionError

    def receive(self, most: int) -> bytes:
        raise AssertionError

    def waits(self, seconds: float) -> bool:
        return False

    def stderr(self) -> str:
        return ""

    def ended(self) -> int | None:
        return None


class Network:
    """Nodes; `unreached` are those that cannot be reached. `most` is how many were open at once."""

    def __init__(self, unreached: dict[str, Outcome] | None = None, user: str = "root") -> None:
        self._unreached = unreached or {}
        self._user = user
        self._lock = threading.Lock()
        self.open_now = self.most = 0
        self.connections: dict[str, NodeConnection] = {}

    @contextmanager
    def open(self, node: str) -> Iterator[NodeConnection]:
        if node in self._unreached:
            raise ConnectError(self._unreached[node], "It does not answer.", "Is it there?")
        opened = self.connections[node] = NodeConnection(node, self._user)
        with self._lock:
            self.open_now += 1
            self.most = max(self.most, self.open_now)
        try:
            yield opened
        finally:
            with self._lock:
                self.open_now -= 1

    def close(self) -> None:
        pass


class Heard:
    """All that was told of a deploy, and in which thread."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, ...]] = []
        self.results: list[Result] = []
        self.threads: set[int] = set()
        self.on_begin: Callable[[str], None] = lambda node: None

    def began(self, node: str, batch: int) -> None:
        self.threads.add(threading.get_ident())
        self.lines.append(("began", node, str(batch)))
        self.on_begin(node)

    def step(self, node: str, step: str, detail: str) -> None:
        self.lines.append(("step", node, step, detail))

    def ended(self, result: Result) -> None:
        self.threads.add(threading.get_ident())
        self.results.append(result)

    def stopping(self, because: str) -> None:
        self.lines.append(("stopping", because))

    def tick(self) -> None:
        pass


def order(node: str, hello: Hello) -> Order:
    return Order({"node": node, "commit": COMMIT}, Actions())


def well(node: str, decide: Decide, told: OnStep) -> Done:
    said = decide(Hello("3.11", node, "root", "b" * 40, "d1"))
    assert said is not None
    assert said.package["node"] == node
    told("swap", "begins")
    return Done(Installed("ok", COMMIT, "d2", changed=("/etc/f",), restarted=("x",)), sent=7, received=9)


class Tried:
    """A deploy to nodes n0, n1, ... as far as it was tried."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        count: int,
        far: Far,
        *,
        network: Network | None = None,
        orders: Callable[[str, Hello], Order] = order,
        shares: tuple[Share, ...] = (),
        jobs: int = 4,
        entering: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.names = tuple(f"n{number}" for number in range(count))
        self.heard, self.network = Heard(), network or Network()
        plan = Plan(self.names, batches(shares, count), jobs)
        monkeypatch.setattr(turn, "talk", self._talk(far))
        self.deploy = Deploy(plan, self.network, LoginOptions(time.monotonic, **entering), orders, self.heard)

    @staticmethod
    def _talk(far: Far) -> Callable[[Line, Decide, OnStep], Done | None]:
        def talk(line: Line, decide: Decide, told: OnStep) -> Done | None:
            assert isinstance(line, NodeConnection)
            return far(line.node, decide, told)

        return talk

    def run(self) -> Finished:
        found = self.deploy.run()
        assert sorted(found.results) == sorted(self.names)
        assert sorted(one.node for one in self.heard.results) == sorted(self.names)
        assert self.heard.threads <= {threading.get_ident()}
        return found

    def outcomes(self) -> dict[str, str]:
        return {name: str(one.outcome) for name, one in sorted(self.run().results.items())}


def test_all_are_well(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = Tried(monkeypatch, 30, well, jobs=3)
    found = tried.run()
    assert {one.outcome for one in found.results.values()} == {Outcome.OK}
    assert (found.why, found.because) == (EndReason.DONE, "")
    one = found.results["n7"]
    assert (one.before, one.commit, one.digest, one.batch) == ("b" * 40, COMMIT, "d2", 1)
    assert (one.changed, one.restarted, one.sent, one.received) == (("/etc/f",), ("x",), 7, 9)
    assert tried.network.most <= 3
    assert tried.network.open_now == 0
    assert ("step", "n7", "swap", "begins") in tried.heard.lines


def test_orders_are_made_by_the_thread_that_runs_the_deploy(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = set()

    def made(node: str, hello: Hello) -> Order:
        threads.add(threading.get_ident())
        return order(node, hello)

    Tried(monkeypatch, 20, well, orders=made).run()
    assert threads == {threading.get_ident()}


def failing(kind: str) -> Far:
    def far(node: str, decide: Decide, told: OnStep) -> Done | None:
        return FAILURES[kind](node, decide, told)

    return far


def _raises(error: Exception, after: bool = False) -> Far:
    def far(node: str, decide: Decide, told: OnStep) -> Done | None:
        if after:
            decide(Hello("3.11", node, "root", "b" * 40, "d1"))
        raise error

    return far


def _comes_to(installed: Installed) -> Far:
    def far(node: str, decide: Decide, told: OnStep) -> Done | None:
        decide(Hello("3.11", node, "root", "b" * 40, "d1"))
        return Done(installed)

    return far


FAILURES: dict[str, Far] = {
    "unchanged": _comes_to(Installed("unchanged", COMMIT, "d2")),
    "reverted": _comes_to(Installed("reverted", COMMIT, "d2", "check x", output="no")),
    "failed": _comes_to(Installed("failed", COMMIT, "d2", "check x")),
    "refused": _comes_to(Installed("refused", COMMIT, "d2", "prepare")),
    "no-python": _raises(NoPython("There is none.")),
    "full": _raises(FarError(Outcome("full"), "The disk is full."), after=True),
    "busy": _raises(FarError(Outcome("busy"), "Somebody is at it."), after=True),
    "sudo": _raises(FarError(Outcome("sudo"), "No.")),
    "lost": _raises(LineLost("It ended.", after="swap"), after=True),
}


@pytest.mark.parametrize("kind", FAILURES)
def test_what_goes_wrong_has_its_own_word(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    found = Tried(monkeypatch, 1, failing(kind)).run().results["n0"]
    assert found.outcome == kind
    stands = {"unchanged": COMMIT, "failed": None, "lost": None}
    knows = kind not in ("no-python", "sudo")
    assert found.commit == stands.get(kind, "b" * 40 if knows else None)
    assert found.weight is (Weight.WELL if kind == "unchanged" else Weight.FAILED)


def test_a_line_that_is_lost_says_whether_the_node_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Tried(monkeypatch, 1, FAILURES["lost"]).run().results["n0"]
    assert (found.step, found.hint.split(";")[0]) == ("swap", "The installation continues on the node")
    before = Tried(monkeypatch, 1, _raises(LineLost("It ended."))).run().results["n0"]
    assert (before.outcome, before.hint) == (Outcome.LOST, "Nothing was changed.")


@pytest.mark.parametrize("outcome", [Outcome.UNREACHABLE, Outcome.AUTH, Outcome.HOST_KEY])
def test_a_node_that_cannot_be_reached(monkeypatch: pytest.MonkeyPatch, outcome: Outcome) -> None:
    tried = Tried(monkeypatch, 2, well, network=Network({"n1": outcome}))
    found = tried.run().results
    assert (found["n0"].outcome, found["n1"].outcome) == (Outcome.OK, outcome)
    assert (found["n1"].message, found["n1"].hint) == ("It does not answer.", "Is it there?")
    assert found["n1"].weight is Weight.UNREACHED


def test_a_node_that_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(node: str, decide: Decide, told: OnStep) -> Done | None:
        time.sleep(0.05)
        raise LineLost("It ended.")

    found = Tried(monkeypatch, 1, slow, entering={"timeout": 0.01}).run().results["n0"]
    assert (found.outcome, found.message) == (Outcome.TIMEOUT, "It took longer than 10ms.")


def test_an_order_that_cannot_be_made_is_that_nodes_own_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(node: str, hello: Hello) -> Order:
        if node == "n1":
            raise GitcfgError("The template fails.", "Mend it.")
        if node == "n2":
            raise GitcfgError("An agent is there.", code=REFUSED)
        return order(node, hello)

    found = Tried(monkeypatch, 3, well, orders=made).run().results
    assert [found[f"n{number}"].outcome for number in range(3)] == ["ok", "refused", "refused"]
    assert (found["n1"].message, found["n1"].hint) == ("The template fails.", "Mend it.")
    assert found["n1"].weight is Weight.FAILED


def test_an_agent_that_is_there_says_nothing_of_the_commit() -> None:
    assert Result("n", Outcome.REFUSED, agent="running").weight is Weight.ASIDE
    assert Result("n", Outcome.REFUSED).weight is Weight.FAILED


def test_who_says_nonsense_is_not_let_off_for_an_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    def far(node: str, decide: Decide, told: OnStep) -> Done | None:
        decide(Hello("3.11", node, "root", agent="running"))
        raise Unreadable()

    found = Tried(monkeypatch, 1, far).run().results["n0"]
    assert (found.outcome, found.weight) == (Outcome.REFUSED, Weight.FAILED)


def test_a_dry_run_tells_what_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    def far(node: str, decide: Decide, told: OnStep) -> Done:
        decide(Hello("3.11", node, "root"))
        word = "ok" if node == "n0" else "unchanged"
        return Done(Installed(word, COMMIT, "d"), {"/etc/f": "+x"} if node == "n0" else {})

    def made(node: str, hello: Hello) -> Order:
        return Order({}, dry=True)

    found = Tried(monkeypatch, 2, far, orders=made).run().results
    assert (found["n0"].outcome, found["n0"].differences) == (Outcome.DIFFERS, {"/etc/f": "+x"})
    assert (found["n1"].outcome, found["n1"].commit) == (Outcome.UNCHANGED, None)


def test_a_fault_of_ones_own_is_raised_once_those_at_work_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    at_work = threading.Barrier(2)

    def far(node: str, decide: Decide, told: OnStep) -> Done | None:
        at_work.wait(10)
        if node == "n0":
            raise ZeroDivisionError
        time.sleep(0.05)
        return well(node, decide, told)

    tried = Tried(monkeypatch, 4, far, jobs=2)
    with pytest.raises(ZeroDivisionError):
        tried.deploy.run()
    found = {one.node: one for one in tried.heard.results}
    words = {name: str(one.outcome) for name, one in found.items()}
    assert words == {"n0": "lost", "n1": "ok", "n2": "skipped", "n3": "skipped"}
    assert found["n2"].message == "It was not started. gitcfg itself failed at n0."
    assert [line for line in tried.heard.lines if line[0] == "stopping"] == [
        ("stopping", "gitcfg itself failed at n0.")
    ]


def test_a_batch_that_fails_is_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = Tried(monkeypatch, 5, FAILURES["reverted"], shares=(Share(2),))
    found = tried.run()
    assert [str(found.results[name].outcome) for name in tried.names] == ["reverted"] * 2 + ["skipped"] * 3
    assert found.why is EndReason.LIMIT
    assert found.results["n4"].message == "It was not started. Both nodes that batch 1 reached failed."
    assert ("stopping", "Both nodes that batch 1 reached failed.") in tried.heard.lines


def test_an_interrupt_lets_those_at_work_finish(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = Tried(monkeypatch, 4, well, jobs=2)
    tried.heard.on_begin = lambda node: tried.deploy.interrupt() if node == "n1" else None
    found = tried.run()
    assert (found.why, found.because) == (EndReason.INTERRUPTED, INTERRUPTED)
    words = [str(found.results[name].outcome) for name in tried.names]
    assert words[:2] == ["ok", "ok"]
    assert words[3] == "skipped"


def test_a_second_interrupt_leaves_them_and_says_how_they_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    at_work, network = threading.Barrier(3), Network()

    def hangs(node: str, decide: Decide, told: OnStep) -> Done | None:
        if node == "n0":
            decide(Hello("3.11", node, "root"))
        at_work.wait(10)
        network.connections[node].closed.wait(10)
        raise LineLost("The connection ended.")

    tried = Tried(monkeypatch, 3, hangs, jobs=2, network=network)

    def interrupt() -> None:
        at_work.wait(10)
        tried.deploy.interrupt()
        tried.deploy.interrupt()

    threading.Thread(target=interrupt).start()
    found = tried.run()
    assert [str(found.results[name].outcome) for name in tried.names] == ["lost", "lost", "skipped"]
    assert found.results["n0"].hint.startswith("The installation continues on the node")
    assert found.results["n1"].hint == "Nothing was changed."
    assert all(one.closed.is_set() for one in network.connections.values())


@pytest.mark.parametrize(
    ("user", "sudo", "begins"),
    [
        ("root", None, "/bin/sh"),
        ("me", None, "sudo -n"),
        ("root", True, "sudo -n"),
        ("me", False, "/bin/sh"),
    ],
)
def test_sudo_is_for_who_is_not_root(
    monkeypatch: pytest.MonkeyPatch, user: str, sudo: bool | None, begins: str
) -> None:
    network = Network(user=user)
    Tried(monkeypatch, 1, well, network=network, entering={"sudo": sudo}).run()
    (command,) = network.connections["n0"].commands
    assert command.removeprefix("echo gitcfg-far/1 line; ").startswith(begins)


LAST = Installed("reverted", "a" * 40, "d0", step="check x", output="check x: exit code 1.\nand more")
TOLD = "The last installation here, of aaaaaaaaaa, was rolled back: check x: exit code 1."


@pytest.mark.parametrize(
    ("last", "more", "result", "said"),
    [
        (LAST, {}, "ok", TOLD),
        (LAST, {}, "unchanged", TOLD),
        (LAST._replace(result="failed"), {}, "ok", TOLD.replace("rolled back", "not even rolled back")),
        (LAST._replace(output=""), {}, "ok", TOLD.replace(": exit code 1.", "")),
        (LAST._replace(result="ok"), {}, "ok", ""),
        (LAST, {"busy": "somebody"}, "ok", ""),  # a later one has been at work
        (LAST, {"interrupted": True}, "ok", ""),  # of which the node itself tells
        (LAST._replace(commit=COMMIT), {}, "reverted", ""),  # the same once more
    ],
)
def test_what_the_last_installation_came_to_is_told(
    monkeypatch: pytest.MonkeyPatch, last: Installed, more: dict[str, Any], result: str, said: str
) -> None:
    """Perhaps the line was lost, and nobody has heard of it."""

    def far(node: str, decide: Decide, told: OnStep) -> Done | None:
        decide(Hello("3.11", node, "root", "b" * 40, "d1", report=last, **more))
        step = "check x" if result == "reverted" else ""
        return Done(Installed(result, COMMIT, "d2", step=step, output="own"))

    one = Tried(monkeypatch, 1, far).run().results["n0"]
    assert one.output == "\n".join(filter(None, (said, "own")))
