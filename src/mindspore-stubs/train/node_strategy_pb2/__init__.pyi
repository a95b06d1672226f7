# SPDX-License-Identifier: Apache-2.0
"""What mindspore.train.node_strategy_pb2 means here; written by `python -m tools.stubs`, which see."""


