# SPDX-License-Identifier: Apache-2.0
"""Records the results of the cases with real MindSpore 2.10; needs it, NumPy and Pillow.

python tests/dataset/vision/record.py
"""

from __future__ import annotations

import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

import cases  # noqa: E402


def main() -> None:
    import mindspore
    from mindspore.dataset import text, transforms, vision

    given = cases.inputs()
    kept = {f"in:{name}": array for name, array in given.items()}
    made = {line: cases.run(line, vision, given) for line in cases.ARRAYS.strip().splitlines()}
    for module, lines in ((text, cases.TEXTS), (transforms, cases.TRANSFORMS)):
        for line in lines.strip().splitlines():
            try:
                made[line] = cases.apply(line, module, mindspore)
            except Exception as error:
                print("FAILED", line, type(error).__name__, str(error)[:2000])
    for line, result in made.items():
        for index, array in enumerate(result):
            kept[f"out:{line}:{index}"] = array
    np.savez_compressed(HERE / "recorded.npz", **kept)


if __name__ == "__main__":
    main()
