# SPDX-License-Identifier: Apache-2.0
"""Make every fault of one framework and write what it said: `python record.py in_torch`.

It needs nothing but the framework, so that another Python than ours can run it.
"""

from __future__ import annotations

import importlib
import inspect
import json
import logging
import os
import re
import sys
import tempfile

import numpy as np

# In the place of what differs from machine to machine.
FOLDER, FILE = "/home/me", "train.py"


class _Kept(logging.Handler):
    """Keeps what is logged."""

    def __init__(self):
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record):
        self.messages.append(record.getMessage())


def faults_of(module) -> dict:
    """The faults of a framework by name: its functions without parameters."""
    return {
        name: function
        for name, function in vars(module).items()
        if inspect.isfunction(function)
        and function.__module__ == module.__name__
        and not inspect.signature(function).parameters
    }


def made(fault, file: str, run=None) -> dict[str, str]:
    """What a fault led to.

    Args:
        file: where the fault is written.
        run: makes another callable of it, as a decorator does.
    """
    said: dict[str, str] = {"kind": "", "text": "no error"}
    handler = _Kept()
    logging.getLogger().addHandler(handler)
    with tempfile.TemporaryFile("w+") as log:
        kept = os.dup(2)
        sys.stderr.flush()
        os.dup2(log.fileno(), 2)
        try:
            result = (run or (lambda function: function))(fault)()
            said["when"] = "read"
            if result is not None:
                said["text"] += f", the result is {_shown(result)}"
            del said["when"]
        except Exception as error:
            said["kind"] = type(error).__name__
            said["text"] = _lines(str(error))
            notes = getattr(error, "__notes__", [])
            said["note"] = "\n".join(note for note in notes if note.startswith("In "))
        finally:
            logging.getLogger().removeHandler(handler)
            sys.stderr.flush()
            os.dup2(kept, 2)
            os.close(kept)
        log.seek(0)
        logged = " ".join(handler.messages) or log.read().strip()
        if not said["kind"] and logged:
            said["text"] += f"; it prints: {logged}"
    return {key: _plain(text, file) for key, text in said.items() if text or key == "kind"}


def _shown(result) -> str:
    array = np.asarray(getattr(result, "asnumpy", lambda: result)())
    text = " ".join(str(array).split())
    return text if array.size < 5 else f"of shape {array.shape}"


def _lines(text: str) -> str:
    """The first line; those behind it if it only announces them; what is marked as the error."""
    first, *rest = [line.strip() for line in text.strip().splitlines()] or [""]
    announces = first.endswith(":")
    return " ".join([first, *(line for line in rest if announces or line.startswith("[ERROR]"))])


def _plain(text: str, file: str) -> str:
    """A text without what belongs to this machine and this moment."""
    text = text.replace(file, FILE).replace(os.getcwd(), FOLDER)
    text = re.sub(rf"{re.escape(tempfile.gettempdir())}/\w+", FOLDER, text)
    text = re.sub(r"\[WARNING\] [^[]*\[[^]]*\] ?", "", text)
    return re.sub(r"train\.py:\d+", "train.py:N", text)


def recorded(name: str) -> dict:
    """What a framework says to each fault, with its version."""
    module = importlib.import_module(name)
    file = module.__file__ or ""
    answers = {fault: made(function, file) for fault, function in faults_of(module).items()}
    return {"version": module.VERSION, "faults": answers}


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    # What a framework prints itself is no part of the record.
    record, out = recorded(sys.argv[1]), os.environ.get("RECORD_TO")
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    if out:
        with open(out, "w", encoding="utf-8") as opened:
            opened.write(text)
    else:
        print(text)
