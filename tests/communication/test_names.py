# SPDX-License-Identifier: Apache-2.0
"""Names of groups, divisions of Tensors, and settings for many devices, which few programs ask."""

from __future__ import annotations

import pytest

import mycel as ms
from mycel import communication, nn, parallel
from mycel.communication import (
    HCCL_WORLD_COMM_GROUP,
    MCCL_WORLD_COMM_GROUP,
    NCCL_WORLD_COMM_GROUP,
)
from mycel.ops.collectives import groups
from mycel.parallel import Layout

WORLDS = [HCCL_WORLD_COMM_GROUP, MCCL_WORLD_COMM_GROUP, NCCL_WORLD_COMM_GROUP]


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    for variable in groups.VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    yield
    communication.release()
    parallel.reset_algo_parameters()
    parallel.reset_ps_context()


def test_words_for_the_world():
    # Oracle: MindSpore 2.10 has these words.
    assert WORLDS == ["hccl_world_group", "mccl_world_group", "nccl_world_group"]
    assert communication.GlobalComm.WORLD_COMM_GROUP in WORLDS
    assert not communication.is_initialized()
    communication.init("mccl")
    assert communication.is_initialized()
    assert communication.GlobalComm.WORLD_COMM_GROUP == MCCL_WORLD_COMM_GROUP


@pytest.mark.parametrize("group", [*WORLDS, "mine"])
def test_one_process_in_a_group(group):
    # Oracle: MindSpore 2.10 answers 0 and 1 for one process; in a group of one, 0 is 0.
    if group == "mine":
        communication.create_group(group, [0])
    assert communication.get_local_rank(group) == 0
    assert communication.get_local_rank_size(group) == 1
    assert communication.get_process_group_ranks(group) == [0]
    assert communication.get_world_rank_from_group_rank(group, 0) == 0
    assert communication.get_group_rank_from_world_rank(0, group) == 0
    assert communication.get_comm_name(group) == group


@pytest.mark.parametrize(
    "call",
    [
        communication.get_local_rank,
        communication.get_local_rank_size,
        communication.get_process_group_ranks,
        communication.get_comm_name,
        lambda group: communication.get_world_rank_from_group_rank(group, 0),
        lambda group: communication.get_group_rank_from_world_rank(0, group),
    ],
)
def test_groups_that_are_not_there(call):
    # Oracle: the documentation: TypeError for no word, ValueError for a group nobody made.
    with pytest.raises(ValueError, match="There is no group 'nobody'"):
        call("nobody")
    with pytest.raises(TypeError, match="the name of a group"):
        call(3)


def test_processes_that_are_not_there():
    # Oracle: there is one process, and its number is 0.
    with pytest.raises(ValueError, match="group_rank_id must be 0"):
        communication.get_world_rank_from_group_rank(WORLDS[0], 1)
    with pytest.raises(ValueError, match="world_rank_id must be 0"):
        communication.get_group_rank_from_world_rank(1, WORLDS[0])
    with pytest.raises(TypeError, match="a process number"):
        communication.get_group_rank_from_world_rank("0", WORLDS[0])


# Recorded from MindSpore 2.10.
@pytest.mark.parametrize(
    ("made", "axes", "answer"),
    [
        (
            (*((2, 2, 4), ("dp", "sp", "mp")),),
            ("dp", ("sp", "mp"), "None"),
            ((2, (1, 0), -1), False, list(range(16))),
        ),
        (((2, 1), ("a", "b"), [4, 5]), ("b", "a"), ((0, 1), False, [4, 5])),
        (
            ((2, 2), ("a", "interleaved_parallel")),
            ("a", "interleaved_parallel"),
            ((1, 0), True, [0, 1, 2, 3]),
        ),
        (((2, 2), ("a", "b")), ("None", "None"), ((-1, -1), False, [0, 1, 2, 3])),
    ],
)
def test_layouts(made, axes, answer):
    found = Layout(*made)(*axes).to_dict()
    assert (found["device_matrix"], found["alias_name"]) == made[:2]
    names = ("tensor_map", "interleaved_parallel", "rank_list")
    assert tuple(found[name] for name in names) == answer


# MindSpore 2.10 raises the same kinds.
@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (lambda: Layout([2], ("a",)), TypeError, "device_matrix must be a tuple"),
        (lambda: Layout((2,), ["a"]), TypeError, "alias_name must be a tuple"),
        (lambda: Layout((2.0,), ("a",)), TypeError, "device_matrix must be all int"),
        (lambda: Layout((2,), (1,)), TypeError, "alias_name must be all str"),
        (lambda: Layout((2, 2), ("a",)), ValueError, "a name of its own"),
        (lambda: Layout((2, 2), ("a", "a")), ValueError, "a name of its own"),
        (lambda: Layout((2,), ("None",)), ValueError, "without 'None'"),
        (lambda: Layout((2, 2), ("interleaved_parallel", "a")), ValueError, "last if at all"),
        (lambda: Layout((2,), ("a",), (0, 1)), TypeError, "rank_list must be a list"),
        (lambda: Layout((2,), ("a",), [0, 1.0]), TypeError, "rank_list must be all int"),
        (lambda: Layout((2, 2), ("a", "b"), [0, 1]), ValueError, "a list of 4"),
        (lambda: Layout((2,), ("a",))("b"), ValueError, "one of a, None"),
        (lambda: Layout((2,), ("a",))("a", "a"), ValueError, "used once"),
        (lambda: Layout((2, 2), ("a", "b"))(("a", "b"), "a"), ValueError, "used once"),
        (lambda: Layout((2,), ("a",)).to_dict(), ValueError, "must be called with an axis"),
        (lambda: parallel.sync_pipeline_shared_parameters(3), TypeError, "net must be a Cell"),
        (lambda: parallel.get_algo_parameters("x"), ValueError, "set_algo_parameters"),
        (lambda: parallel.set_algo_parameters(x=1), ValueError, "set_algo_parameters"),
        (lambda: parallel.set_algo_parameters(fully_use_devices=1), TypeError, "of type bool"),
        (lambda: parallel.set_algo_parameters(algo_approxi_epsilon="a"), TypeError, "type float"),
        (lambda: parallel.set_algo_parameters(tensor_slice_align_size=0), ValueError, "1 to 1024"),
        (
            lambda: parallel.set_algo_parameters(tensor_slice_align_size=1025),
            *(ValueError, "1 to 1024"),
        ),
        (lambda: parallel.get_ps_context("x"), ValueError, "set_ps_context"),
        (lambda: parallel.set_ps_context(enable_ps=3), TypeError, "of type bool"),
    ],
)
def test_errors_teach(make, kind, text):
    with pytest.raises(kind, match=text):
        make()


def test_parameters_of_a_search():
    # Oracle: MindSpore 2.10's answers.
    answers = {
        "elementwise_op_strategy_follow": False,
        "enable_algo_approxi": False,
        "algo_approxi_epsilon": pytest.approx(0.1),
        "fully_use_devices": False,
        "tensor_slice_align_enable": False,
        "tensor_slice_align_size": 16,
    }
    get = parallel.get_algo_parameters
    assert {name: get(name) for name in answers} == answers
    parallel.set_algo_parameters(fully_use_devices=True, algo_approxi_epsilon=1.0)
    assert (get("fully_use_devices"), get("algo_approxi_epsilon")) == (True, 1.0)
    parallel.reset_algo_parameters()
    assert {name: get(name) for name in answers} == answers


def test_settings_of_a_parameter_server():
    # Oracle: MindSpore 2.10's answers before anything is set; what `reset` promises.
    get = parallel.get_ps_context
    before = (get("enable_ps"), get("enable_ssl"), get("config_file_path"))
    assert before == (False, False, "")
    parallel.set_ps_context(enable_ssl=True, config_file_path="a.json")
    assert (get("enable_ssl"), get("config_file_path")) == (True, "a.json")
    parallel.reset_ps_context()
    assert (get("enable_ps"), get("enable_ssl"), get("config_file_path")) == before


def test_shared_parameters_of_one_stage():
    # Oracle: MindSpore 2.10 answers nothing, and the Parameters stay.
    net = nn.Dense(2, 1, "ones", "zeros")
    assert ms.sync_pipeline_shared_parameters(net) is None
    assert net.weight.asnumpy().tolist() == [[1, 1]]
