# SPDX-License-Identifier: Apache-2.0
"""`python -m tools.errors`: write docs/errors.md from the faults as mycel answers them now.

`python -m tools.errors PyTorch /path/to/python` records anew what another framework says, in a
Python that has it, into tests/fixtures/errors.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tools.errors.page import OTHERS, PAGE, RECORDS, page


def main() -> None:
    if len(sys.argv) == 3:
        name, python = sys.argv[1:]
        script = Path(__file__).parent / "record.py"
        RECORDS.mkdir(exist_ok=True)
        to = str(RECORDS / f"{name.lower()}.json")
        environment = {**os.environ, "RECORD_TO": to, "PYTHONPATH": "", "JAX_PLATFORMS": "cpu"}
        environment["FRAMEWORK"] = name.lower()
        subprocess.run([python, str(script), OTHERS[name]], check=True, env=environment)
        return
    PAGE.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
