# SPDX-License-Identifier: Apache-2.0
"""What tutorials download, made up: the layout of each archive, with a few random rows.

python stand_in.py URL PATH
"""

from __future__ import annotations

import io
import json
import pathlib
import pickle
import sys
import tarfile
import zipfile

import numpy as np
from PIL import Image
from scipy.io import savemat

import data
import mycel


def make(url: str, path: pathlib.Path) -> None:
    """The stand-in of what `url` brings, below `path` (for one file: at `path`)."""
    for ending, maker in MAKERS.items():
        if url.endswith(ending):
            maker(path)
            return
    raise ValueError(f"no stand-in for {url}")


def _picture(path: pathlib.Path, width: int = 96, height: int = 80) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    values = np.random.RandomState(0).randint(0, 256, (height // 8, width // 8, 3)).astype(np.uint8)
    Image.fromarray(values).resize((width, height)).save(path)


def mnist(path: pathlib.Path) -> None:
    """MNIST_Data/train and /test: the four files of digits."""
    for part in ("train", "test"):
        data.digits(path / "MNIST_Data" / part, 640, 128)


def fashion(path: pathlib.Path) -> None:
    """Fashion-MNIST's four files in one folder."""
    data.digits(path / "dataset", 64, 64)


def cifar_binary(path: pathlib.Path) -> None:
    """cifar-10-batches-bin: five files for training and one for testing."""
    folder = path / "cifar-10-batches-bin"
    folder.mkdir(parents=True, exist_ok=True)
    rows = np.random.RandomState(0).randint(0, 256, (64, 3073)).astype(np.uint8)
    rows[:, 0] %= 10
    for name in [*(f"data_batch_{n}.bin" for n in range(1, 6)), "test_batch.bin"]:
        (folder / name).write_bytes(rows.tobytes())
    (folder / "batches.meta.txt").write_text("\n".join(f"kind{n}" for n in range(10)) + "\n")


def cifar_python(path: pathlib.Path) -> None:
    """cifar-10-batches-py: pickles of the same."""
    folder = path / "cifar-10-batches-py"
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.RandomState(0)
    for name in [*(f"data_batch_{n}" for n in range(1, 6)), "test_batch"]:
        rows = {
            b"data": random.randint(0, 256, (64, 3072)).astype(np.uint8),
            b"labels": random.randint(0, 10, 64).tolist(),
            b"filenames": [f"{n}.png".encode() for n in range(64)],
            b"batch_label": name.encode(),
        }
        (folder / name).write_bytes(pickle.dumps(rows))


def folders(root: str, parts: tuple[str, ...], kinds: tuple[str, ...], each: int = 8):
    """A maker of one folder of pictures for each kind."""

    def make_folders(path: pathlib.Path) -> None:
        for part in parts:
            for kind in kinds:
                for number in range(each):
                    _picture(path / root / part / kind / f"{number}.jpg", 128, 128)

    return make_folders


def _png(values: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(values).save(file, "png")
    return file.getvalue()


def weights(path: pathlib.Path) -> None:
    """A checkpoint that has nothing for the network, so that this keeps its first values."""
    path.parent.mkdir(parents=True, exist_ok=True)
    mycel.save_checkpoint([{"name": "unlike", "data": mycel.Tensor([0.0])}], str(path))


def apples(path: pathlib.Path) -> None:
    """apple2orange: two pairs as MindRecord, pictures to change, and checkpoints."""
    folder, random = path / "CycleGAN_apple2orange", np.random.RandomState(0)
    shape = {"shape": [3, 256, 256], "type": "float32"}
    rows = [
        {side: random.uniform(-1, 1, (3, 256, 256)).astype(np.float32) for side in _SIDES}
        for _ in range(2)
    ]
    data.records(folder / "apple2orange_train.mindrecord", dict.fromkeys(_SIDES, shape), rows)
    for kind in ("apple", "orange"):
        for number in range(4):
            _picture(folder / "predict" / kind / f"{number}.jpg", 256, 256)
        weights(folder / "ckpt" / f"g_{kind[0]}.ckpt")
    weights(folder / "ckpt" / "g_b.ckpt")


_SIDES = ("image_A", "image_B")


def facades(path: pathlib.Path) -> None:
    """Pairs of pictures: one row that is a batch of ten."""
    random, sides = np.random.RandomState(0), ("input_images", "target_images")
    shape = {"shape": [10, 3, 256, 256], "type": "float32"}
    row = {side: random.uniform(-1, 1, (10, 3, 256, 256)).astype(np.float32) for side in sides}
    data.records(path / "dataset_pix2pix" / "train.mindrecord", dict.fromkeys(sides, shape), [row])


def segments(path: pathlib.Path) -> None:
    """Pictures and the kind of each of their points, both as PNG, in MindRecord."""
    random = np.random.RandomState(0)
    rows = [
        {
            "data": _png(random.randint(0, 256, (120, 160, 3)).astype(np.uint8)),
            "label": _png(random.randint(0, 21, (120, 160)).astype(np.uint8)),
        }
        for _ in range(8)
    ]
    schema = {"data": {"type": "bytes"}, "label": {"type": "bytes"}}
    data.records(path / "dataset_fcn8s" / "mindname.mindrecord", schema, rows)


def boxes(path: pathlib.Path) -> None:
    """COCO as MindRecord, five rows for training and two for evaluating, and their annotations."""
    folder = path / "datasets"
    data.coco(folder / "coco", 5, 2)
    whole = json.loads((folder / "coco" / "annotations" / "instances_val2017.json").read_text())
    for kind in whole["categories"]:
        kind["name"] = kind["name"].replace("_", " ")
    (folder / "annotations").mkdir(parents=True, exist_ok=True)
    (folder / "annotations" / "instances_val2017.json").write_text(json.dumps(whole))
    schema = {
        "img_id": {"type": "int32", "shape": [1]},
        "image": {"type": "bytes"},
        "annotation": {"type": "int32", "shape": [-1, 5]},
    }
    box = np.array([[8, 8, 60, 60, 3], [20, 30, 90, 80, 17]], np.int32)
    for part, name in (("train2017", "ssd.mindrecord0"), ("val2017", "ssd_eval.mindrecord0")):
        pictures = sorted((folder / "coco" / part).glob("*.jpg"))
        rows = [
            {"img_id": np.array([n], np.int32), "image": file.read_bytes(), "annotation": box}
            for n, file in enumerate(pictures, 1)
        ]
        data.records(folder / "MindRecord_COCO" / name, schema, rows)


def imagenet(path: pathlib.Path) -> None:
    """Three parts of ImageNet, and the table of its thousand kinds."""
    folders("dataset", ("train", "val", "infer"), ("n01440764", "n02102040"))(path)
    _picture(path / "dataset" / "infer" / "n01440764" / "ILSVRC2012_test_00000279.JPEG", 128, 128)
    kinds = np.zeros(
        1000, [(name, object) for name in ("ID", "WNID", "words", "gloss", "children")]
    )
    for number in range(1000):
        kinds[number] = number, f"n{number:08d}", f"kind {number}, so called", "a kind", 0
    file = path / "dataset" / "ILSVRC2012_devkit_t12" / "data" / "meta.mat"
    file.parent.mkdir(parents=True, exist_ok=True)
    savemat(file, {"synsets": kinds})


def voice(path: pathlib.Path) -> None:
    """One second of sound."""
    data.sound(path, np.random.RandomState(0), 16000, 16000)


def reviews(path: pathlib.Path) -> None:
    """IMDB's archive of praise and blame."""
    with tarfile.open(path, "w:gz") as archive:
        for part in ("train", "test"):
            for kind, word in (("pos", b"great"), ("neg", b"terrible")):
                for number in range(160):
                    text = b"This film is " + b" ".join([word] * (number % 5 + 1)) + b", the end."
                    entry = tarfile.TarInfo(f"aclImdb/{part}/{kind}/{number}_1.txt")
                    entry.size = len(text)
                    archive.addfile(entry, io.BytesIO(text))


def glove(path: pathlib.Path) -> None:
    """A few words and their vectors."""
    random = np.random.RandomState(0)
    lines = [
        " ".join([word, *(f"{value:.4f}" for value in random.normal(size=100))])
        for word in ("the", "this", "film", "is", "great", "terrible", "end")
    ]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("glove.6B.100d.txt", "\n".join(lines) + "\n")


def faces(path: pathlib.Path) -> None:
    """Cartoon faces in one folder."""
    for number in range(256):
        _picture(path / "faces" / f"{number}.jpg", 64, 64)


def cats(path: pathlib.Path) -> None:
    """A folder with a folder of one picture."""
    _picture(path / "image_cat" / "jpg" / "000000039769.jpg", 160, 128)


MAKERS = {
    "MNIST_Data.zip": mnist,
    "cifar-10-binary.tar.gz": cifar_binary,
    "cifar-10-python.tar.gz": cifar_python,
    "Canidae_data.zip": folders("data/Canidae", ("train", "val"), ("dogs", "wolves")),
    "vit_imagenet_dataset.zip": imagenet,
    "faces.zip": faces,
    "CycleGAN_apple2orange.zip": apples,
    "dataset_pix2pix.tar": facades,
    "dataset_fcn8s.tar": segments,
    "ssd_datasets.zip": boxes,
    "datasets/dataset.zip": fashion,
    ".ckpt": weights,
    ".wav": voice,
    "aclImdb_v1.tar.gz": reviews,
    "glove.6B.zip": glove,
    "image_cat.zip": cats,
    ".jpg": lambda path: _picture(path, 356, 200),
    "ImageNetSimilar.tar.gz": folders("ImageNetSimilar", ("train",), ("-1", "0"), 4),
}


if __name__ == "__main__":
    make(sys.argv[1], pathlib.Path(sys.argv[2]))
