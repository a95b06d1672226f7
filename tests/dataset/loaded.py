# SPDX-License-Identifier: Apache-2.0
"""Expressions on `mindspore.dataset.dataloader` without chance; MindSpore's answers are in
loaded_2_10.json (see record_loaded.py).
"""

from __future__ import annotations

import numpy as np

CASES = """
DataLoader(range(5), 2)
DataLoader(range(5), 2, drop_last=True)
DataLoader(range(3))
DataLoader(range(3), None)
DataLoader([1.5, 2.5, 3.5], 2)
DataLoader([True, False], 2)
DataLoader(["a", "b", "c"], 2)
DataLoader([(1, "a"), (2, "b")], 2)
DataLoader([[1, 2.5], [3, 4.5]], 2)
DataLoader([{"x": 1, "y": A}, {"x": 2, "y": A}], 2)
DataLoader([{"x": 1, "y": A}], None)
DataLoader([A, A + 1], 2)
DataLoader([T, T], 2)
DataLoader([np.float32(1), np.float32(2)], 2)
DataLoader([np.int16(1), np.int16(2)], None)
DataLoader(range(6), sampler=[4, 2, 0], batch_size=2)
DataLoader(range(6), batch_sampler=[[0, 5], [1]])
DataLoader(range(4), 3, collate_fn=sum)
DataLoader(TensorDataset(T, T + 1), 2)
DataLoader(Count(), 2)
DataLoader(Count(), 2, drop_last=True)
DataLoader(Count(), None)
BatchSampler(range(5), 2, False)
BatchSampler(range(5), 2, True)
SequentialSampler("abc")
DistributedSampler(range(5), 2, 0, shuffle=False)
DistributedSampler(range(5), 2, 1, shuffle=False)
DistributedSampler(range(5), 2, 1, shuffle=False, drop_last=True)
DistributedSampler(range(2), 3, 2, shuffle=False)
default_convert([A, 1, "a", (A, 2)])
default_convert(np.array(["a"]))
default_collate([A, A])
default_collate([[1, 2], [3, 4]])
default_collate([[1], [2, 3]])
default_collate([None, None])
default_collate([np.array(["a"]), np.array(["b"])])
DataLoader(range(3), 0)
DataLoader(range(3), 1.5)
DataLoader(range(3), shuffle=True, sampler=[1])
DataLoader(range(3), batch_size=2, batch_sampler=[[1]])
DataLoader(range(3), drop_last=True, batch_sampler=[[1]])
DataLoader(range(3), num_workers=-1)
DataLoader(range(3), timeout=-1)
DataLoader(range(3), prefetch_factor=2)
DataLoader(range(3), persistent_workers=True)
DataLoader(Count(), shuffle=True)
DataLoader(Count(), sampler=[1])
DataLoader(3)
BatchSampler(range(3), 0, False)
RandomSampler(range(3), num_samples=0)
RandomSampler(range(3), 1)
DistributedSampler(range(3), 2, 2)
DistributedSampler(range(3), 2, 0, 1)
TensorDataset(T, T[:1])
"""


def lines() -> list[str]:
    """The cases, one a line."""
    return CASES.strip().splitlines()


def shown(value):
    """A value as JSON has it; Tensors with their type."""
    if hasattr(value, "asnumpy"):
        return [str(value.dtype), value.asnumpy().tolist()]
    if isinstance(value, np.ndarray):
        return ["array", value.tolist()]
    if isinstance(value, dict):
        return {key: shown(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(shown, value)]
    return value if isinstance(value, (str, int, float)) else type(value).__name__


def answer(line: str, dataloader, ms):
    """What an expression gives, gone through if it can be; of an error its kind."""

    class Count(dataloader.IterableDataset):
        def __iter__(self):
            return iter(range(3))

    known = {name: getattr(dataloader, name) for name in dataloader.__all__}
    known |= {"np": np, "A": np.array([1, 2]), "T": ms.Tensor([1.0, 2.0]), "Count": Count}
    try:
        made = eval(line, known)
        if not line.startswith(("DataLoader", "BatchSampler", "Seq", "Dist", "Random")):
            return shown(made)
        found = [shown(each) for each in made]
        sized = "Count" not in line
        return {"all": found, "size": len(made) if sized else None}
    except Exception as error:
        kinds = (NotImplementedError, TypeError, ValueError, RuntimeError)
        return {"refused": next(k.__name__ for k in kinds if isinstance(error, k))}
