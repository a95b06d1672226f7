# SPDX-License-Identifier: Apache-2.0
"""Callbacks for trainings that are interrupted: save what there is, and go on from it."""

from __future__ import annotations

import json
import os
import signal

from mycel.checkpoint import load_checkpoint, save_checkpoint
from mycel.checkpoint.random_state import PREFIX, random_state, set_random_state
from mycel.checkpoint.sharded import slices
from mycel.kernel.base.division import division
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.parallel_settings import shares_training
from mycel.kernel.base.processes import number, world
from mycel.kernel.base.watch import Watch
from mycel.kernel.record.stream import flush
from mycel.kernel.record.tensor import Tensor
from mycel.nn.checks import boolean, is_integer, positive_integer
from mycel.ops.collectives.groups import HCCL_WORLD_COMM_GROUP
from mycel.ops.collectives.table import collective
from mycel.train.callbacks.base import Callback
from mycel.train.folders import make_directory

ASKED = "GracefulExit"
# What a backup has beside the Parameters: how many epochs and steps are done, and the random state
# that is no array.
EPOCH, STEP, RANDOM = "epoch_num", "step_num", "random_state"
NOT_SHARED = (
    "Processes find backups of different epochs in {folder}: process by process, behind epoch "
    "{epochs} (0: none). Give all of them one folder, on a disk that they share."
)


NOT_IN_ALL = (
    "Some processes have a file that OnRequestExit saved, others have not (here {path}): they "
    "would train different networks. Give each of them its own again, or take all of them away."
)


class BackupAndRestore(Callback):
    """Saves a training after epochs; the next one goes on where that stopped.

    The file has the Parameters and the state of the optimiser, how many epochs and steps are done,
    and all random state. A training that finds it runs the epochs that are left, to the same bits
    as one that nobody interrupted. Data sets of this package are shuffled as they would have been,
    if a seed was chosen; of others, each epoch must be the same.

    Several devices, or processes that reduce gradients, save `backup.index.json` in slices (see
    `save_checkpoint`), which as many or others go on from, or one. All processes need one folder.

    Args:
        backup_dir: the folder of the file `backup.ckpt`, or `backup.index.json`; it is made.
        save_freq: 'epoch', or a number of epochs.
        delete_checkpoint: remove the file after a training that was not interrupted.

    Raises:
        TypeError, ValueError: an argument is wrong; the text names it.
        RuntimeError: processes find files of different epochs.

    Source: MindSpore's `mindspore.train.BackupAndRestore`, which restores the Parameters and runs
    all epochs again. So does this one with a file of MindSpore's.

    Example:
        >>> import os, tempfile
        >>> net = nn.Dense(1, 1, "ones", "zeros")
        >>> model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.25))
        >>> data = [(ops.ones((1, 1)), ops.zeros((1, 1)))]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     backup = ms.train.BackupAndRestore(folder, delete_checkpoint=False)
        ...     model.train(1, data, callbacks=backup)
        ...     print(os.listdir(folder))
        ['backup.ckpt']
    """

    def __init__(self, backup_dir, save_freq="epoch", delete_checkpoint=True):
        super().__init__()
        self._folder = make_directory(backup_dir, "backup_dir")
        self._whole = os.path.join(self._folder, "backup.ckpt")
        self._in_slices = os.path.join(self._folder, f"backup{slices.ENDING}")
        what = "BackupAndRestore: save_freq"
        self.save_freq = 1 if save_freq == "epoch" else positive_integer(save_freq, what)
        self.delete_checkpoint = boolean(delete_checkpoint, "BackupAndRestore: delete_checkpoint")

    def on_train_begin(self, run_context):
        """Begin with what was saved, if there is a file."""
        file = self._file_to_begin_with()
        if file is None:
            return
        told = run_context.original_args()
        found = load_checkpoint(file, net=told.train_network)
        if EPOCH in found:
            told.resumed_epoch_num = int(found[EPOCH])
            told.cur_step_num = int(found[STEP])
        if RANDOM in found:
            names = (name for name in found if name.startswith(PREFIX))
            states = {name: found[name].asnumpy() for name in names}
            set_random_state(states, json.loads(found[RANDOM]))

    def on_train_epoch_end(self, run_context):
        """Save if it is time."""
        told = run_context.original_args()
        if told.cur_epoch_num % self.save_freq == 0:
            states, rest = random_state()
            done = {EPOCH: told.cur_epoch_num, STEP: told.cur_step_num, RANDOM: json.dumps(rest)}
            file = self.backup_file
            save_checkpoint(told.train_network, file, append_dict={**done, **states})
            self._remove(other_than=file)

    def on_train_end(self, run_context):
        """Remove the file if that is wanted."""
        if not self.delete_checkpoint:
            return
        if shares_training():
            # All have ended: whoever is started again begins anew in all processes, or in none.
            collective("AllReduce", HCCL_WORLD_COMM_GROUP, Tensor([0]), op="sum").asnumpy()
        self._remove()

    def _remove(self, other_than: str = "") -> None:
        if number() == 0:
            for file in self._files():
                if file != other_than:
                    slices.remove(file)

    @property
    def backup_file(self) -> str:
        """Where the training is saved: in slices, if several devices have it."""
        return self._in_slices if shares_training() or division.enter is not None else self._whole

    def _files(self) -> list[str]:
        """What was saved, by several devices and by one."""
        return [file for file in (self._in_slices, self._whole) if os.path.exists(file)]

    def _file_to_begin_with(self) -> str | None:
        """The file of what was saved last; None if there is none.

        There are two if the training went on with one device, or with several, and was ended before
        the file of the other kind was removed.
        """
        files = self._files()
        file = files[0] if len(files) == 1 else max(files, key=_epoch_of, default=None)
        if shares_training():
            own = Tensor([0 if file is None else _epoch_of(file)])
            epochs = collective("AllGather", HCCL_WORLD_COMM_GROUP, own).asnumpy().tolist()
            if len(set(epochs)) > 1:
                raise RuntimeError(NOT_SHARED.format(folder=self._folder, epochs=epochs))
        return file


def _epoch_of(file: str) -> int:
    return int(load_checkpoint(file, choice_func=EPOCH.__eq__)[EPOCH])


class OnRequestExit(Callback):
    """Stops after the present step when a signal arrives, and saves the network.

    A training that finds what was saved goes on from it. Of several processes that train together,
    each with this callback, all stop and save when one of them has the signal.

    Args:
        save_ckpt: whether the network is saved, as `<file_name>_train.ckpt` (in an evaluation
            `_eval`) in the folder `rank_0` of `directory`; of another process, `rank_1` and so on.
        save_mindir: accepted; MindIR files are not written.
        file_name, directory: where.
        config_file: a JSON file; `{"GracefulExit": 1}` in it means the same as the signal.
        sig: the signal; not SIGKILL, which no program can take.

    Raises:
        TypeError, ValueError: an argument is wrong; the text names it.

    Source: MindSpore's `mindspore.train.OnRequestExit`.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     stop = ms.train.OnRequestExit(directory=folder)
        >>> stop.exit
        False
    """

    # How often any of them has begun one.
    trainings = evaluations = 0

    def __init__(
        self,
        save_ckpt=True,
        save_mindir=True,
        file_name="Net",
        directory="./",
        config_file=None,
        sig=signal.SIGTERM,
    ):
        super().__init__()
        self.save_ckpt = boolean(save_ckpt, "OnRequestExit: save_ckpt")
        self.save_mindir = boolean(save_mindir, "OnRequestExit: save_mindir")
        if not is_integer(sig):
            raise wrong(TypeError, "OnRequestExit: sig", "a signal", repr(sig))
        if sig == getattr(signal, "SIGKILL", None):
            raise wrong(ValueError, "OnRequestExit: sig", "a signal a program can take", "SIGKILL")
        self.sig = sig
        self.exit = False
        self.remote_config_file = config_file
        folder = os.path.join(directory or os.getcwd(), f"rank_{number()}")
        if save_ckpt:
            folder = make_directory(folder)
            # A name may have a folder in it.
            make_directory(os.path.dirname(os.path.join(folder, str(file_name))))
        self.train_name = os.path.join(folder, f"{file_name}_train")
        self.eval_name = os.path.join(folder, f"{file_name}_eval")
        # The handlers that were there, of a training and of an evaluation in it.
        self._before: list = []

    def __exit__(self, *error):
        # A training that an exception broke off has not put back the handler.
        while self._before:
            self._unlisten()

    def on_train_begin(self, run_context):
        """Wait for the signal; begin with what was saved, if there is a file."""
        self._listen()
        # As often as this process trains, so do the others.
        OnRequestExit.trainings += 1
        self._topic = f"exit {OnRequestExit.trainings}"
        found = self.save_ckpt and os.path.isfile(f"{self.train_name}.ckpt")
        self._begun = not shares_training()
        if not self._begun:
            _watch().note(f"{self._topic} found", found)
        if found:
            net = run_context.original_args().train_network
            load_checkpoint(f"{self.train_name}.ckpt", net=net)

    def on_train_step_end(self, run_context):
        """Ask to stop if the signal came; of several processes all stop behind the next step."""
        if not shares_training():
            self._stop(run_context)
            return
        flush()
        if not self._begun:
            # All have begun that compute this step.
            self._begun = True
            if len({*_watch().noted(f"{self._topic} found")}) > 1:
                raise RuntimeError(NOT_IN_ALL.format(path=f"{self.train_name}.ckpt"))
        self._stop_together(run_context, self._topic)

    def on_train_epoch_end(self, run_context):
        """Ask to stop if the signal came."""
        if not shares_training():
            self._stop(run_context)

    def on_train_end(self, run_context):
        """Save if the signal came."""
        self._unlisten()
        if shares_training():  # else some would save what others do not
            self.exit = bool(_watch().noted(self._topic))
        if self.exit and self.save_ckpt:
            save_checkpoint(run_context.original_args().train_network, self.train_name)

    def on_eval_begin(self, run_context):
        """Wait for the signal; evaluate what was saved, if there is a file."""
        self._listen()
        OnRequestExit.evaluations += 1
        self._topic_of_evaluation = f"exit of evaluation {OnRequestExit.evaluations}"
        for name in (self.eval_name, self.train_name):
            if self.save_ckpt and os.path.isfile(f"{name}.ckpt"):
                load_checkpoint(f"{name}.ckpt", net=run_context.original_args().eval_network)
                return

    def on_eval_step_end(self, run_context):
        """Ask to stop if the signal came; processes that evaluate together stop together."""
        if _is_joint():
            flush()
            self._stop_together(run_context, self._topic_of_evaluation)
        else:
            self._stop(run_context)

    def on_eval_end(self, run_context):
        """Save if the signal came."""
        self._unlisten()
        if _is_joint():
            self.exit = bool(_watch().noted(self._topic_of_evaluation))
        if self.exit and self.save_ckpt:
            save_checkpoint(run_context.original_args().eval_network, self.eval_name)

    def _listen(self) -> None:
        self._before.append(signal.signal(self.sig, self._take))

    def _unlisten(self) -> None:
        signal.signal(self.sig, self._before.pop())

    def _take(self, number, frame) -> None:
        self.exit = True

    def _stop_together(self, run_context, topic: str) -> None:
        """Whoever has the signal at the end of a step notes the next one: no other process gets to
        the end of that before this one computes it, too, and so each of them finds the note."""
        watch, step = _watch(), run_context.original_args().cur_step_num
        noted = watch.noted(topic)
        if noted and min(noted) <= step:
            self.exit = True
            run_context.request_stop()
        elif not noted and self._is_asked():
            watch.note(topic, step + 1)

    def _stop(self, run_context) -> None:
        if self._is_asked():
            run_context.request_stop()

    def _is_asked(self) -> bool:
        if self.remote_config_file is not None and os.path.isfile(self.remote_config_file):
            with open(self.remote_config_file, encoding="utf-8") as file:
                self.exit = self.exit or json.load(file).get(ASKED) == 1
        return self.exit


def _is_joint() -> bool:
    """Whether processes compute every step of an evaluation together."""
    return shares_training() and division.enter is not None


def _watch() -> Watch:
    assert world.watch is not None
    return world.watch
