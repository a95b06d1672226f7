# SPDX-License-Identifier: Apache-2.0
"""InstanceNorm and SyncBatchNorm. MindSpore's InstanceNorm has no CPU kernel: the oracles are NumPy
by the definition, and PyTorch 2.13 for the statistics that follow the batches."""

import numpy as np
import pytest

import mycel as ms
from check_cell import check_cell
from harness import assert_close
from mycel import Tensor, nn

DRAW = np.random.RandomState(2)
KINDS = {
    "1d": (nn.InstanceNorm1d, DRAW.randn(3, 2, 5)),
    "2d": (nn.InstanceNorm2d, DRAW.randn(2, 2, 3, 4)),
    "3d": (nn.InstanceNorm3d, DRAW.randn(2, 2, 2, 3, 2)),
}
NAMES = dict.fromkeys(("mean", "variance", "gamma", "beta"), (2,))


def normalised(values, x):
    """Each channel of each entry by itself."""
    space = tuple(range(2, x.ndim))
    each = (2,) + (1,) * len(space)
    made = (x - x.mean(space, keepdims=True)) / np.sqrt(x.var(space, keepdims=True) + 1e-5)
    return made * values["gamma"].reshape(each) + values["beta"].reshape(each)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("train", [True, False])
def test_instance_norm(name, train):
    kind, data = KINDS[name]
    check_cell(
        lambda: kind(2, gamma_init="uniform", beta_init=0.5, dtype=ms.float64),
        data,
        names=NAMES,
        oracle=normalised,
        moved=("mean", "variance"),
        train=train,
    )


def test_statistics_follow_the_batches():
    """The figures are PyTorch's, `InstanceNorm2d(3, momentum=0.25, track_running_stats=True)`."""
    layer = nn.InstanceNorm2d(3, momentum=0.25, dtype=ms.float64).set_train()
    x = Tensor(np.sin(np.arange(24.0)).reshape(2, 3, 2, 2))
    layer(x)
    mean = [0.10676180419911371, -0.09964270359701717, 0.023499830944474196]
    variance = [0.8311504484573262, 0.8454974353980205, 0.93704646400664]
    np.testing.assert_allclose(layer.moving_mean.asnumpy(), mean, 1e-12)
    np.testing.assert_allclose(layer.moving_variance.asnumpy(), variance, 1e-12)
    layer.set_train(False)(x)
    np.testing.assert_allclose(layer.moving_mean.asnumpy(), mean, 1e-12)


# The classes of the errors are those of MindSpore 2.10.
BAD = {
    "num_features=0": ValueError,
    "num_features='a'": TypeError,
    "num_features=3, eps='x'": TypeError,
    "num_features=3, momentum=2.0": ValueError,
    "num_features=3, affine=1": TypeError,
}


@pytest.mark.parametrize("arguments", BAD)
def test_bad_arguments(arguments):
    with pytest.raises(BAD[arguments], match="InstanceNorm2d"):
        eval(f"nn.InstanceNorm2d({arguments})", {"nn": nn})


@pytest.mark.parametrize("shape", [(2, 3), (2, 4, 2, 2)])
def test_bad_inputs(shape):
    with pytest.raises(ValueError, match=r"The input of InstanceNorm2d must be of .*test_instance"):
        nn.InstanceNorm2d(3)(Tensor(np.zeros(shape, np.float32)))


def test_untrained():
    """As in MindSpore 2.10: gamma and beta are there, and are not trained."""
    layer = nn.InstanceNorm2d(3, affine=False)
    assert [p.name for p in layer.get_parameters()] == ["mean", "variance", "gamma", "beta"]
    assert layer.trainable_params() == []


def test_sync_batch_norm_is_batch_norm_on_one_device():
    x = KINDS["2d"][1]
    one, other = nn.SyncBatchNorm(2, dtype=ms.float64), nn.BatchNorm2d(2, dtype=ms.float64)
    for train in (True, False):
        made = [layer.set_train(train)(Tensor(x)).asnumpy() for layer in (one, other)]
        assert_close(*made)  # a shape's first call may be NumPy's, the next are compiled
    assert {p.name: p.shape for p in one.get_parameters()} == NAMES
    assert_close(one.moving_mean.asnumpy(), other.moving_mean.asnumpy())
