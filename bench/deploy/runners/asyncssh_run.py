"""What one would write with asyncssh: a connection a host; the file by SFTP, then the command."""

import asyncio
import json
import sys
from pathlib import Path

import asyncssh


async def one(host: dict, task: dict, room: asyncio.Semaphore) -> None:
    """A host; whatever goes wrong ends all."""
    said = {"username": task["user"], "client_keys": [task["key"]], "known_hosts": task["known"]}
    async with room, asyncssh.connect(host["address"], task["port"], config=None, **said) as line:
        async with line.start_sftp_client() as files:
            await files.put(task["text"], host["path"])
        await line.run("/bin/true", check=True)


async def main(task: dict) -> None:
    """All hosts."""
    room = asyncio.Semaphore(task["jobs"])
    async with asyncio.TaskGroup() as group:
        for host in task["hosts"]:
            group.create_task(one(host, task, room))


asyncio.run(main(json.loads(Path(sys.argv[1]).read_text())))
