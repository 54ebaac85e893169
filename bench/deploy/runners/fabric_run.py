"""What one would write with fabric: threads, a connection a host.

`put`: the file by SFTP, then the command, as its documentation shows. `pipe`: one command that reads the
file from its standard input, the least that can be asked of a connection.
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fabric
import paramiko


class Line(fabric.Connection):
    """Of its attributes this one alone is set in what all share, which others then find empty."""

    inline_ssh_env = None


def one(host: dict) -> None:
    """A host; whatever goes wrong is raised."""
    line = Line(
        host["address"],
        user=task["user"],
        port=task["port"],
        config=CONFIG,
        connect_kwargs={"key_filename": task["key"], "allow_agent": False, "look_for_keys": False},
    )
    line.client.set_missing_host_key_policy(paramiko.RejectPolicy())
    name = f"[{host['address']}]:{task['port']}"
    for kind, key in KNOWN.lookup(name).items():
        line.client.get_host_keys().add(name, kind, key)
    with line:
        if how == "put":
            line.put(task["text"], host["path"])
            line.run("/bin/true", hide=True, in_stream=False)
        else:
            _piped(line, host["path"])


def _piped(line: "fabric.Connection", path: str) -> None:
    line.open()
    channel = line.transport.open_session()
    channel.exec_command(f"cat > {path} && /bin/true")
    channel.sendall(TEXT)
    channel.shutdown_write()
    if channel.recv_exit_status():
        raise RuntimeError(path)


how, task = sys.argv[1], json.loads(Path(sys.argv[2]).read_text())
TEXT = Path(task["text"]).read_bytes()
CONFIG = fabric.Config(overrides={"load_ssh_configs": False})
KNOWN = paramiko.HostKeys(task["known"])
with ThreadPoolExecutor(task["jobs"]) as pool:
    for _ in pool.map(one, task["hosts"]):
        pass
