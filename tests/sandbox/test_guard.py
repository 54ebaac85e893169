"""A guarded child serves, is held to its limits, and leaves nothing behind."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from gitcfg.sandbox import Guard, GuardError, Killed, Limits, encoded, wait

MODULE = "guarded_for_tests"

SOURCE = """
import os, resource, signal, socket, sys, time
from gitcfg.sandbox import serve

seen = []
hoard = []

def handler(request):
    match request:
        case {"opening": value}: seen.append(value)
        case "seen": return seen
        case "pid": return os.getpid()
        case "loop":
            while True: pass
        case "work":
            until = time.process_time() + 0.1
            while time.process_time() < until: pass
        case "power": return (10 ** (10 ** 9)).bit_length()
        case "allocate": return len("x" * (1 << 30))
        case "hoard": hoard.append(bytes(150 << 20))
        case "large": return "x" * (5 << 20)
        case "sleep": time.sleep(60)
        case "exit":
            sys.stderr.write("bad line 7 of x.conf\\n")
            sys.exit(3)
        case "crash": os.kill(os.getpid(), signal.SIGSEGV)
        case "raise": raise KeyError("why")
        case "noise":
            print("x" * 200_000, flush=True)
            sys.stderr.write("y" * 200_000)
        case "surroundings": return [dict(os.environ), os.getcwd(), os.listdir("."), sys.stdin.read()]
        case "file":
            try:
                with open("f", "wb") as file: file.write(bytes(2 << 20))
            except OSError as error: return error.errno
        case "core": return resource.getrlimit(resource.RLIMIT_CORE)
        case "network": return [os.readlink("/proc/self/ns/net"), [name for _, name in socket.if_nameindex()]]
        case {"echo": value}: return value

if __name__ == "__main__":
    serve(handler)
"""
MANY = "many_guarded_for_tests"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("module")
    (folder / f"{MODULE}.py").write_text(SOURCE)
    (folder / f"{MANY}.py").write_text(SOURCE.replace("serve", "serve_many"))
    return folder


@pytest.fixture
def guard(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Guard]:
    monkeypatch.syspath_prepend(str(folder))
    with Guard(MODULE, Limits(cpu_seconds=0.3, wall_seconds=20)) as guard:
        yield guard


def reason(guard: Guard, request: object) -> str:
    with pytest.raises(GuardError) as raised:
        guard.request(request)
    return raised.value.reason


def test_one_child_serves_many_requests(guard: Guard) -> None:
    pid = guard.request("pid")
    value = {"a": [1, 2.5, None, True, "é"], "long": "x" * 1_000_000}
    assert guard.request({"echo": value}) == value
    assert guard.request("pid") == pid


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ("loop", "took longer than 0.3 s of processor time"),
        ("power", "took longer than 0.3 s of processor time"),
        ("allocate", "used more than 512 MiB of memory"),
        ("large", "wrote more than 4 MiB"),
        ("exit", "ended with status 3: bad line 7 of x.conf"),
        ("crash", "ended by SIGSEGV"),
        ("raise", "ended with status 1: KeyError: 'why'"),
    ],
)
def test_a_request_that_ends_the_child_says_why_and_the_next_one_is_answered(
    guard: Guard, request_: str, words: str
) -> None:
    assert reason(guard, request_) == words
    assert guard.request({"echo": 1}) == 1


def test_what_waits_is_ended_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(folder))
    with Guard(MODULE, Limits(wall_seconds=1)) as guard:
        assert reason(guard, "sleep") == "gave no answer within 1 s"


def test_processor_time_is_counted_for_each_request_anew(guard: Guard) -> None:
    pid = guard.request("pid")
    for _ in range(5):
        guard.request("work")
    assert guard.request("pid") == pid


def test_memory_that_earlier_requests_took_is_not_held_against_a_later_one(guard: Guard) -> None:
    pids = set()
    for _ in range(5):
        guard.request("hoard")
        pids.add(guard.request("pid"))
    assert len(pids) > 1


def answers(guards: list[Guard]) -> list[object]:
    """What was posted to each, waiting for all of them."""
    found: dict[int, object] = {}
    while len(found) < len(guards):
        left = [(number, guard) for number, guard in enumerate(guards) if number not in found]
        wait([guard for _, guard in left], 0.1)
        for number, guard in left:
            answer = guard.answer()
            if answer is not None:
                found[number] = msgspec.msgpack.decode(answer)
    return [found[number] for number in range(len(guards))]


def test_several_children_work_at_the_same_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(folder))
    with Guard(MODULE) as one, Guard(MODULE) as other:
        for size in (1, 3_000_000):
            one.post(encoded({"echo": "x" * size}))
            assert one.answer() is None or size == 1
            other.post(encoded({"echo": "y" * size}))
            assert answers([one, other]) == ["x" * size, "y" * size]
        assert one.request("pid") != other.request("pid")


def test_many_requests_in_one_message_have_limits_of_their_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(folder))
    with Guard(MANY, Limits(cpu_seconds=0.3)) as guard:
        assert guard.request([]) == []
        pid, *_, again = guard.request(["pid", *["work"] * 6, "pid"])
        assert pid == again
        guard.post(encoded(["pid", "loop", "pid"]))
        with pytest.raises(GuardError, match=r"took longer than 0\.3 s of processor time"):
            answers([guard])
        assert guard.request([{"echo": 1}, {"echo": 2}]) == [1, 2]


def test_an_answer_that_does_not_come_is_not_waited_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(folder))
    with Guard(MODULE, Limits(wall_seconds=1)) as guard:
        guard.post(encoded("sleep"))
        wait([guard], 0.01)
        assert guard.answer() is None
        with pytest.raises(GuardError, match="gave no answer within 1 s"):
            answers([guard])
        assert guard.pid is None


def test_an_answer_that_came_in_time_is_taken_however_late(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(folder))
    with Guard(MODULE, Limits(wall_seconds=0.5)) as guard:
        guard.begin()
        guard.post(encoded({"echo": "x" * 100_000}))
        time.sleep(0.7)
        assert answers([guard]) == ["x" * 100_000]


def test_a_child_that_is_killed_says_so(guard: Guard) -> None:
    guard.post(encoded("sleep"))
    assert guard.pid is not None
    os.kill(guard.pid, signal.SIGKILL)
    with pytest.raises(Killed, match="ended by SIGKILL"):
        answers([guard])
    with pytest.raises(GuardError, match="was closed"):
        guard.answer()


def test_stderr_and_stdout_of_libraries_do_not_disturb(guard: Guard) -> None:
    assert guard.request("noise") is None
    assert guard.request({"echo": 1}) == 1


def test_stderr_is_kept_within_bounds(guard: Guard) -> None:
    guard.request("noise")
    with pytest.raises(GuardError) as raised:
        guard.request("exit")
    assert raised.value.stderr.endswith("bad line 7 of x.conf\n")
    assert len(raised.value.stderr) <= 8192


def test_the_child_sees_no_environment_and_an_empty_folder(guard: Guard) -> None:
    environment, folder, files, stdin = guard.request("surroundings")
    assert set(environment) <= {"LC_CTYPE"}  # Python's own, from the C locale
    assert (files, stdin) == ([], "")
    assert Path(folder) != Path.cwd()
    guard.close()
    assert not Path(folder).exists()


def test_files_are_small_and_there_are_no_cores(guard: Guard) -> None:
    assert guard.request("file") is not None
    assert guard.request("core") == [0, 0]


def test_the_network_is_empty_where_the_kernel_allows_that(guard: Guard) -> None:
    namespace, interfaces = guard.request("network")
    if namespace == os.readlink("/proc/self/ns/net"):
        pytest.skip("this machine allows no network namespaces")
    assert interfaces in ([], ["lo"])


def test_the_opening_request_goes_to_each_child(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(folder))
    with Guard(MODULE, opening={"opening": 5}) as guard:
        assert guard.request("seen") == [5]
        reason(guard, "exit")
        assert guard.request("seen") == [5]


def test_values_that_msgpack_cannot_carry_are_refused(guard: Guard) -> None:
    assert reason(guard, {"echo": 2**70}).startswith("cannot be given a value")


def test_a_module_that_does_not_exist_is_reported() -> None:
    with Guard("gitcfg.no_such_module") as guard:
        assert "No module named" in reason(guard, 1)


def test_closing_leaves_no_process(guard: Guard) -> None:
    pid = guard.request("pid")
    guard.close()
    assert not Path(f"/proc/{pid}").exists()
    guard.close()


def test_a_child_that_died_meanwhile_is_replaced(guard: Guard) -> None:
    pid = guard.request("pid")
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert guard.request("pid") != pid


def test_a_fork_does_not_talk_to_its_parents_child(guard: Guard) -> None:
    pid = guard.request("pid")
    worker = os.fork()
    if worker == 0:
        other = guard.request("pid")
        guard.close()
        os._exit(0 if other != pid else 1)
    assert os.waitpid(worker, 0)[1] == 0
    assert guard.request("pid") == pid


def test_the_child_does_not_outlive_a_killed_parent(folder: Path) -> None:
    program = (
        "import sys; sys.path[:] = sys.argv[1:]\n"
        "from gitcfg.sandbox import Guard\n"
        f"guard = Guard({MODULE!r})\n"
        "print(guard.request('pid'), flush=True)\n"
        "guard.request('sleep')\n"
    )
    path = [str(folder), *(entry for entry in sys.path if entry)]
    command = [sys.executable, "-c", program, *path]
    environment = {**os.environ, "TMPDIR": str(folder)}  # a killed parent leaves its child's folder behind
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 10
    while _runs(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _runs(child)


def _runs(pid: int) -> bool:
    """Dead but not yet reaped by whoever adopted it is dead."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("where", ["Popen", "Popen.wait"])
def test_an_interrupt_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """Whoever presses Ctrl-C does it while a child is started or ended, too."""

    def interrupted(*arguments: object, **more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    guard = Guard("gitcfg.cel.child")
    if where == "Popen.wait":
        guard.begin()
        assert len(list(tmp_path.iterdir())) == 1
    with monkeypatch.context() as patch:
        patch.setattr(f"subprocess.{where}", interrupted)
        with pytest.raises(KeyboardInterrupt):
            guard.close() if where == "Popen.wait" else guard.begin()
    assert list(tmp_path.iterdir()) == []
