# SPDX-License-Identifier: Apache-2.0
"""Names that NumPy gave up in 1.24 and 2.0 and that programs of 2020 to 2023 use.

The runner of tests/wild puts this folder on the path of every program, here and in MindSpore.
"""

import builtins

import numpy as np

for _name in ("bool", "int", "float", "complex", "object", "str"):
    if _name not in vars(np):
        setattr(np, _name, getattr(builtins, _name))
for _name, _value in {
    "bool8": np.bool_,
    "float_": np.float64,
    "Inf": np.inf,
    "NaN": np.nan,
}.items():
    if _name not in vars(np):
        setattr(np, _name, _value)
