# SPDX-License-Identifier: Apache-2.0
"""Records the results of the cases with real MindSpore 2.10; needs it and NumPy.

python tests/dataset/audio/record.py
"""

from __future__ import annotations

import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

import cases  # noqa: E402


def main() -> None:
    from mindspore.dataset import audio

    given = cases.inputs()
    kept = {f"in:{name}": array for name, array in given.items()}
    for line in cases.CASES.strip().splitlines():
        for index, array in enumerate(cases.run(line, audio, given)):
            kept[f"out:{line}:{index}"] = array
    for line in cases.REFUSED.strip().splitlines():
        try:
            cases.run(line, audio, given)
        except Exception as error:
            kept[f"refused:{line}"] = np.array(type(error).__name__)
        else:
            print("NOT REFUSED", line)
    np.savez_compressed(HERE / "recorded.npz", **kept)


if __name__ == "__main__":
    main()
