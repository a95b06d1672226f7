# SPDX-License-Identifier: Apache-2.0
"""Callbacks: Python that runs around the steps and epochs of a Model."""

from mycel.train.callbacks.base import Callback, CallbackManager, InternalCallbackParam, RunContext
from mycel.train.callbacks.checkpoint import CheckpointConfig, CheckpointManager, ModelCheckpoint
from mycel.train.callbacks.monitors import History, LambdaCallback, LossMonitor, TimeMonitor
from mycel.train.callbacks.rates import EarlyStopping, LearningRateScheduler, ReduceLROnPlateau
from mycel.train.callbacks.resuming import BackupAndRestore, OnRequestExit
from mycel.train.callbacks.summaries import SummaryCollector

__all__ = [
    "BackupAndRestore",
    "Callback",
    "CheckpointConfig",
    "EarlyStopping",
    "History",
    "LambdaCallback",
    "LearningRateScheduler",
    "LossMonitor",
    "ModelCheckpoint",
    "OnRequestExit",
    "ReduceLROnPlateau",
    "RunContext",
    "SummaryCollector",
    "TimeMonitor",
]
