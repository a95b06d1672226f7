# SPDX-License-Identifier: Apache-2.0
"""`PYTHON record.py torch|jax`: what a framework says of the NaN, into recorded.json.

Run with a Python that has the framework. The error is its last line; `line` is what the traceback
says of the line that makes the NaN, if it names it.
"""

import importlib.metadata
import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def ask(name: str) -> dict:
    """The version, the error and the line of the program that the traceback names."""
    program = HERE / f"in_{name}.py"
    ran = subprocess.run([sys.executable, program], capture_output=True, text=True)
    error = re.findall(r"^\w+Error: .*$", ran.stderr, re.M)[-1]
    source = program.read_text("utf-8").splitlines()
    makes = next(n for n, line in enumerate(source, start=1) if "return x /" in line)
    named = f'{program.name}", line {makes},' in ran.stderr
    return {"version": importlib.metadata.version(name), "error": error, "names_the_line": named}


if __name__ == "__main__":
    file = HERE / "recorded.json"
    known = json.loads(file.read_text("utf-8")) if file.exists() else {}
    known[sys.argv[1]] = ask(sys.argv[1])
    file.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n", "utf-8")
