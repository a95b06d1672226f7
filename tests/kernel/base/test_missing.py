# SPDX-License-Identifier: Apache-2.0
"""Attributes that are not there. Oracle: the names that are; the words are Python's, and ours."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

import mycel as ms
import mycel.dataset as ds
from mycel import Parameter, Tensor, nn, ops

NAMES = {
    "'Dense' object has no attribute 'wieght'; nearest: weight": lambda: nn.Dense(2, 3).wieght,
    "'SequentialCell' object has no attribute 'apend'; nearest: append": (
        lambda: nn.SequentialCell().apend
    ),
    "'Tensor' object has no attribute 'smu'; nearest: sum, ": lambda: Tensor([1.0]).smu,
    "'Parameter' object has no attribute 'requires_gard'; nearest: requires_grad, ": (
        lambda: Parameter(Tensor([1.0])).requires_gard
    ),
    "'Adam' object has no attribute 'paramters'; nearest: parameters, ": (
        lambda: nn.Adam(nn.Dense(2, 3).trainable_params()).paramters
    ),
    "'ReLU' object has no attribute 'add_prim_atr'; nearest: add_prim_attr, del_prim_attr": (
        lambda: ops.ReLU().add_prim_atr
    ),
    "'NumpySlicesDataset' object has no attribute 'bacth'; nearest: batch": (
        lambda: ds.NumpySlicesDataset([1]).bacth
    ),
    "'Model' object has no attribute 'trian'; nearest: train": lambda: ms.Model(nn.ReLU()).trian,
    "'Accuracy' object has no attribute 'updat'; nearest: update": (
        lambda: ms.train.Accuracy().updat
    ),
    "module 'mycel.mint' has no attribute 'smu'; nearest: sum, ": lambda: ms.mint.smu,
    "'Dense' object has no attribute 'quite_another'": lambda: nn.Dense(2, 3).quite_another,
}


@pytest.mark.parametrize("text", NAMES)
def test_the_nearest_names_are_told(text):
    with pytest.raises(AttributeError) as caught:
        NAMES[text]()
    assert str(caught.value).startswith(text)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_attributes_may_be_asked_for_in_vain():
    net, x = nn.Dense(2, 3), Tensor([1.0])
    assert not hasattr(net, "wieght") and not hasattr(x, "smu") and not hasattr(x, "_smu")
    assert getattr(net, "wieght", 3) == getattr(x, "smu", 3) == 3


def test_what_a_property_raises_is_raised():
    class Net(nn.Cell):
        @property
        def width(self):
            raise AttributeError("there is no width yet")

    with pytest.raises(AttributeError, match=r"^there is no width yet$"):
        _ = Net().width
    with pytest.raises(AttributeError, match="Values go to the device by themselves"):
        _ = Tensor([1.0]).pin_memory


def test_the_name_is_told_once():
    # Python would add its own "Did you mean".
    program = "from mycel import nn\nnn.Dense(2, 3).wieght"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stderr
    assert told.count("'wieght'") == 1
    assert told.count("weight") == 1
    assert "AttributeError: 'Dense' object" in told
