# SPDX-License-Identifier: Apache-2.0
"""`python -m tools.pictures [FOLDER]`: the pictures of the front page, into docs/pictures."""

from __future__ import annotations

import sys
from pathlib import Path

from tools.pictures.charts import charts
from tools.pictures.moving import film

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures")
for name, text in (charts() | {"modes.svg": film()}).items():
    (folder / name).write_text(text, "utf-8")
