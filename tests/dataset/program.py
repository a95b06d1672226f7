# SPDX-License-Identifier: Apache-2.0
"""A program as MindSpore's users write it, without a guard: test_workers runs it."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np


class Source:
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return ms.Tensor(np.full(2, index, np.int32)) if index else np.zeros(2, np.int32)


data = ds.GeneratorDataset(Source(), ["x"], shuffle=False, num_parallel_workers=2).batch(2)
# Attributes of a module that alone is imported.
print(ds.text.JiebaMode.HMM.value, ds.vision.Inter.AREA.value, ds.transforms.Relational.NE.value)
print([row[0].asnumpy().tolist() for row in data])
