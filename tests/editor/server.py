"""A real YAML language server, driven over its protocol: JSON-RPC on stdin and stdout."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

VERSION = "1.25.0"
_NAME = "yaml-language-server"


def installed(folder: Path) -> list[str] | None:
    """The words that start the server: one that is there, or npm's in a folder; None: it cannot be had."""
    found = shutil.which(_NAME)
    if found:
        return [found, "--stdio"]
    program = folder / "node_modules" / _NAME / "bin" / _NAME
    if not program.exists() and shutil.which("npm") and shutil.which("node"):
        words = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder)]
        try:
            subprocess.run([*words, f"{_NAME}@{VERSION}"], check=False, capture_output=True, timeout=120)
        except subprocess.TimeoutExpired:
            return None
    return ["node", str(program), "--stdio"] if program.exists() else None


class Server:
    """A running server with one repository open."""

    def __init__(self, words: list[str], root: Path, settings: Mapping[str, Any] | None = None) -> None:
        self._settings = {"yaml": dict(settings or {})}
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root)
        self._count = 0
        self._told: dict[str, list[dict[str, Any]]] = {}
        self._root = root
        documents = {"hover": {"contentFormat": ["markdown"]}, "completion": {}, "publishDiagnostics": {}}
        client = {"textDocument": documents, "workspace": {"configuration": True, "workspaceFolders": True}}
        folders = [{"uri": root.as_uri(), "name": "pool"}]
        said = {"processId": os.getpid(), "rootUri": root.as_uri(), "workspaceFolders": folders}
        self.ask("initialize", {**said, "capabilities": client})
        self._tell("initialized", {})
        self._tell("workspace/didChangeConfiguration", {"settings": self._settings})

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()

    def opened(self, path: str, text: str) -> str:
        """Open a document, and give its address."""
        uri = (self._root / path).as_uri()
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
        self._tell("textDocument/didOpen", {"textDocument": document})
        return uri

    def diagnostics(self, uri: str) -> list[dict[str, Any]]:
        """What is wrong with an open document, once the server has said so."""
        while uri not in self._told:
            self._take()
        return self._told[uri]

    def completions(self, uri: str, line: int, column: int) -> list[str]:
        """What may stand at a place."""
        found = self.ask("textDocument/completion", _place(uri, line, column))
        items = found["items"] if isinstance(found, dict) else found or []
        return [item["label"] for item in items]

    def hover(self, uri: str, line: int, column: int) -> str:
        """What is shown of a place."""
        found = self.ask("textDocument/hover", _place(uri, line, column))
        return str(found["contents"]["value"]) if found else ""

    def ask(self, method: str, params: Any) -> Any:
        """The answer to a request."""
        self._count += 1
        number = self._count
        self._send({"id": number, "method": method, "params": params})
        while True:
            message = self._take()
            if message.get("id") == number and "method" not in message:
                assert "error" not in message, message
                return message["result"]

    def _tell(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def _send(self, message: Mapping[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._process.stdin.flush()

    def _take(self) -> dict[str, Any]:
        """The next message; what the server asks is answered, what it finds wrong is remembered."""
        message = self._read()
        if message.get("method") == "textDocument/publishDiagnostics":
            self._told[message["params"]["uri"]] = message["params"]["diagnostics"]
        elif "method" in message and "id" in message:
            self._send({"id": message["id"], "result": self._answer(message)})
        return message

    def _answer(self, message: Mapping[str, Any]) -> Any:
        if message["method"] != "workspace/configuration":
            return None
        return [self._settings.get(item.get("section", "")) for item in message["params"]["items"]]

    def _read(self) -> dict[str, Any]:
        stream = self._process.stdout
        assert stream is not None
        length = 0
        while line := stream.readline().strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        assert length, "the server has ended"
        message: dict[str, Any] = json.loads(stream.read(length))
        return message


def _place(uri: str, line: int, column: int) -> dict[str, Any]:
    return {"textDocument": {"uri": uri}, "position": {"line": line, "character": column}}
