# SPDX-License-Identifier: Apache-2.0
"""What an editor asks: pyright's language server, started for one program."""

from __future__ import annotations

import json
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def pyright(name: str) -> str:
    """The path of one of pyright's commands, installed beside this Python."""
    path = pathlib.Path(sys.executable).with_name(name)
    return str(path) if path.exists() else shutil.which(name) or name


class LanguageServer:
    """A program that is open in an editor."""

    def __init__(self, process: subprocess.Popen, file: pathlib.Path):
        self.process, self.file = process, file
        self.asked = 0
        root = file.parent.as_uri()
        self._ask(
            "initialize",
            processId=None,
            rootUri=root,
            capabilities={"workspace": {"configuration": True}},
            workspaceFolders=[{"uri": root, "name": "program"}],
        )
        self._send({"method": "initialized", "params": {}})
        document = {"uri": file.as_uri(), "languageId": "python", "version": 1}
        document["text"] = file.read_text()
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})

    def definitions(self, line: int, column: int) -> list[tuple[pathlib.Path, int]]:
        """Files and lines, from 1, to which "go to definition" leads from a place, from 0."""
        found = self._at("textDocument/definition", line, column)
        return [
            (pathlib.Path(one["uri"].removeprefix("file://")), one["range"]["start"]["line"] + 1)
            for one in found or ()
        ]

    def completions(self, line: int, column: int) -> set[str]:
        """The names that are offered at a place, from 0."""
        found = self._at("textDocument/completion", line, column) or {"items": ()}
        return {one["label"] for one in found["items"]}

    def _at(self, method: str, line: int, column: int):
        place = {"line": line, "character": column}
        return self._ask(method, textDocument={"uri": self.file.as_uri()}, position=place)

    def _ask(self, method: str, **params):
        self.asked += 1
        self._send({"id": self.asked, "method": method, "params": params})
        while True:
            message = self._receive()
            if "method" in message and "id" in message:  # the server asks: it gets the defaults
                asked = message["params"].get("items", ()) if message.get("params") else ()
                answers = [{"pythonPath": sys.executable} for _ in asked]
                self._send({"id": message["id"], "result": answers or None})
            elif message.get("id") == self.asked:
                return message.get("result")

    def _send(self, message: dict) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()

    def _receive(self) -> dict:
        length = 0
        while line := self.process.stdout.readline().strip():
            if line.startswith(b"Content-Length"):
                length = int(line.split(b":")[1])
        body = self.process.stdout.read(length)
        if not body:
            raise RuntimeError("the language server ended")
        return json.loads(body)


@contextmanager
def editing(file: pathlib.Path) -> Iterator[LanguageServer]:
    """A language server in which a file is open; its folder is the project."""
    command = [pyright("pyright-langserver"), "--stdio"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield LanguageServer(process, file)
        finally:
            process.kill()
