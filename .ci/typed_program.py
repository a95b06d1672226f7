# SPDX-License-Identifier: Apache-2.0
# pyright: reportUnnecessaryTypeIgnoreComment=true, reportMissingModuleSource=false
"""What a type checker must know of an installed wheel: names of mycel, and of the alias's stubs.

The ignored line is an error only where the result of an operator has a type.
"""

import mindspore as ms
from mindspore import Tensor, nn, ops

import mycel

layer: nn.Dense = nn.Dense(2, 3)
result: Tensor = ops.relu(layer(Tensor([[1.0, 2.0]])))
same: mycel.Tensor = mycel.ops.relu(mycel.Tensor([1.0]))
wrong: int = ops.relu(Tensor([1.0]))  # pyright: ignore[reportAssignmentType]
print(ms.__name__, result.shape, same.shape)
