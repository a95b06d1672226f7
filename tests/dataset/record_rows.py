# SPDX-License-Identifier: Apache-2.0
"""What MindSpore's FileWriter and ours write alike."""

from __future__ import annotations

import numpy as np


def write_mindrecord(writer_class, path: str, count: int = 5, files: int = 1) -> None:
    writer = writer_class(path, files, overwrite=True)
    writer.set_header_size(1 << 14)
    writer.set_page_size(1 << 15)
    writer.add_schema(
        {
            "label": {"type": "int32"},
            "score": {"type": "float64"},
            "text": {"type": "string"},
            "data": {"type": "bytes"},
            "mask": {"type": "int64", "shape": [-1]},
            "grid": {"type": "float32", "shape": [2, -1]},
        },
        "for tests",
    )
    writer.add_index(["label"])
    writer.write_raw_data(
        [
            {
                "label": number * 3,
                "score": number / 4,
                "text": "word" * number,
                "data": bytes(range(number)),
                "mask": np.arange(number + 1),
                "grid": np.full((2, number + 1), number, np.float32),
            }
            for number in range(count)
        ]
    )
    writer.commit()


def write_integers(writer_class, path: str) -> None:
    """Integers of every size, in arrays that MindSpore writes with as few bytes as they need."""
    writer = writer_class(path, 1, overwrite=True)
    writer.set_header_size(1 << 14)
    writer.set_page_size(1 << 15)
    writer.add_schema(
        {
            "small": {"type": "int32", "shape": [-1]},
            "large": {"type": "int64", "shape": [2, -1]},
            "one": {"type": "int64"},
            "real": {"type": "float32"},
        }
    )
    small = [[1, -1, 300, -70000, 2**31 - 1, 128], [-3], [-(2**31), -129, -32769, 32768]]
    large = [[5, 300], [-(2**40), 1], [2**62, -(2**63)]]
    one = [2**40, -(2**33), -5]
    for number in range(3):
        writer.write_raw_data(
            [
                {
                    "small": np.array(small[number], np.int32),
                    "large": np.array(large[number]).reshape(2, 1),
                    "one": one[number],
                    "real": 1.1 * number,
                }
            ]
        )
    writer.commit()
