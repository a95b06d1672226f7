# SPDX-License-Identifier: Apache-2.0
"""Small synthetic data in the shapes that public programs read: each maker fills one folder."""

from __future__ import annotations

import json
import pathlib
import struct

import numpy as np
from PIL import Image

from mycel.mindrecord import FileWriter


def _random(seed: int = 0) -> np.random.RandomState:
    return np.random.RandomState(seed)


def picture(path: pathlib.Path, random, width: int = 96, height: int = 80) -> None:
    """One picture of coloured rectangles, which compresses and has edges."""
    canvas = np.full((height, width, 3), random.randint(0, 256, 3), np.uint8)
    for _ in range(4):
        top, left = random.randint(0, height - 8), random.randint(0, width - 8)
        canvas[top : top + height // 3, left : left + width // 3] = random.randint(0, 256, 3)
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(canvas).save(path)


def imagenet(folder: pathlib.Path, classes: int = 10, each: int = 2) -> None:
    """train, val and validation_preprocess: one folder of pictures for each class."""
    random = _random()
    for part in ("train", "val", "validation_preprocess"):
        for kind in range(classes):
            for number in range(each):
                picture(folder / part / f"n{kind:08d}" / f"{number}.JPEG", random)


def cifar10(folder: pathlib.Path, each: int = 4) -> None:
    """The binary files of CIFAR-10: five for training and one for testing."""
    random = _random()
    names = [f"cifar-10-batches-bin/data_batch_{n}.bin" for n in range(1, 6)]
    names += ["cifar-10-batches-bin/test_batch.bin", "cifar-10-verify-bin/test_batch.bin"]
    for name in names:
        rows = random.randint(0, 256, (each, 3073)).astype(np.uint8)
        rows[:, 0] %= 10
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(rows.tobytes())


def coco(folder: pathlib.Path, train: int = 20, val: int = 4, year: int = 2017) -> None:
    """COCO's layout: pictures, instances and keypoints as JSON, and YOLO's lists and labels."""
    random = _random()
    for part, count in ((f"train{year}", train), (f"val{year}", val)):
        images, instances, keypoints, lines = [], [], [], []
        for number in range(1, count + 1):
            name = f"{number:012d}.jpg"
            picture(folder / "images" / part / name, random, 128, 96)
            picture(folder / part / name, random, 128, 96)
            images.append({"id": number, "file_name": name, "width": 128, "height": 96})
            lines.append(f"./images/{part}/{name}")
            labels = []
            for _ in range(3):
                box = _box(random, 128, 96)
                kind = int(random.randint(0, 80))
                instances.append(_instance(len(instances) + 1, number, COCO_IDS[kind], box))
                person = _instance(len(keypoints) + 1, number, 1, box)
                keypoints.append(person | _pose(random, box))
                x, y, width, height = box
                row = (x + width / 2) / 128, (y + height / 2) / 96, width / 128, height / 96
                labels.append(" ".join([str(kind), *(f"{value:.5f}" for value in row)]))
            _write(folder / "labels" / part / name.replace("jpg", "txt"), "\n".join(labels) + "\n")
        _write(folder / f"{part}.txt", "\n".join(lines) + "\n")
        kinds = [
            {"id": number, "name": name.replace("_", " "), "supercategory": "thing"}
            for number, name in zip(COCO_IDS, COCO_NAMES, strict=True)
        ]
        whole = {"images": images, "annotations": instances, "categories": kinds}
        _write(folder / "annotations" / f"instances_{part}.json", json.dumps(whole))
        person = {"id": 1, "name": "person", "keypoints": [f"k{n}" for n in range(17)]}
        person["skeleton"] = [[1, 2]]
        whole = {"images": images, "annotations": keypoints, "categories": [person]}
        _write(folder / "annotations" / f"person_keypoints_{part}.json", json.dumps(whole))


def coco2014(folder: pathlib.Path) -> None:
    """COCO's layout of 2014."""
    coco(folder, year=2014)


# COCO's 80 classes, with _ for a space.
COCO_NAMES = [
    "person",
    "bicycle",
    "car",
    "motorcycle",
    "airplane",
    "bus",
    "train",
    "truck",
    "boat",
    "traffic_light",
    "fire_hydrant",
    "stop_sign",
    "parking_meter",
    "bench",
    "bird",
    "cat",
    "dog",
    "horse",
    "sheep",
    "cow",
    "elephant",
    "bear",
    "zebra",
    "giraffe",
    "backpack",
    "umbrella",
    "handbag",
    "tie",
    "suitcase",
    "frisbee",
    "skis",
    "snowboard",
    "sports_ball",
    "kite",
    "baseball_bat",
    "baseball_glove",
    "skateboard",
    "surfboard",
    "tennis_racket",
    "bottle",
    "wine_glass",
    "cup",
    "fork",
    "knife",
    "spoon",
    "bowl",
    "banana",
    "apple",
    "sandwich",
    "orange",
    "broccoli",
    "carrot",
    "hot_dog",
    "pizza",
    "donut",
    "cake",
    "chair",
    "couch",
    "potted_plant",
    "bed",
    "dining_table",
    "toilet",
    "tv",
    "laptop",
    "mouse",
    "remote",
    "keyboard",
    "cell_phone",
    "microwave",
    "oven",
    "toaster",
    "sink",
    "refrigerator",
    "book",
    "clock",
    "vase",
    "scissors",
    "teddy_bear",
    "hair_drier",
    "toothbrush",
]
# The 80 of 90 numbers that COCO's classes have.
COCO_IDS = [n for n in range(1, 91) if n not in {12, 26, 29, 30, 45, 66, 68, 69, 71, 83}]


def _write(path: pathlib.Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def _box(random, width: int, height: int) -> list[int]:
    """x, y, width and height of a box inside a picture."""
    across, down = random.randint(width // 4, width // 2), random.randint(height // 4, height // 2)
    left, top = random.randint(1, width - across), random.randint(1, height - down)
    return [int(left), int(top), int(across), int(down)]


def _instance(number: int, image: int, kind: int, box: list[int]) -> dict:
    x, y, width, height = box
    corners = [x, y, x + width, y, x + width, y + height, x, y + height]
    return {
        "id": number,
        "image_id": image,
        "category_id": kind,
        "bbox": box,
        "area": width * height,
        "iscrowd": 0,
        "segmentation": [corners],
    }


def _pose(random, box: list[int]) -> dict:
    x, y, width, height = box
    points = []
    for _ in range(17):
        points += [int(x + random.randint(width)), int(y + random.randint(height)), 2]
    return {"keypoints": points, "num_keypoints": 17}


def pairs(folder: pathlib.Path) -> None:
    """Two kinds of pictures that are learned from each other: trainA, trainB, testA and testB."""
    random = _random()
    for part, count in (("trainA", 10), ("trainB", 10), ("testA", 2), ("testB", 2)):
        for number in range(count):
            picture(folder / part / f"{number}.jpg", random, 64, 64)


def div2k(folder: pathlib.Path) -> None:
    """DIV2K's layout: pictures and the same four times smaller."""
    random = _random()
    for part, count in (("train", 20), ("valid", 2)):
        for number in range(1, count + 1):
            path = folder / f"DIV2K_{part}_HR" / f"{number:04d}.png"
            picture(path, random, 96, 96)
            for scale in (2, 3, 4):
                low = (
                    folder / f"DIV2K_{part}_LR_bicubic" / f"X{scale}" / f"{number:04d}x{scale}.png"
                )
                low.parent.mkdir(parents=True, exist_ok=True)
                Image.open(path).resize((96 // scale, 96 // scale), Image.BICUBIC).save(low)


def masks(folder: pathlib.Path) -> None:
    """One folder for each picture, with `image.png` and `mask.png`."""
    random = _random()
    for number in range(25):
        path = folder / f"{number:03d}"
        picture(path / "image.png", random)
        mask = np.zeros((80, 96), np.uint8)
        mask[10:50, 20:70] = 255
        Image.fromarray(mask).save(path / "mask.png")


def records(path: pathlib.Path, schema: dict, rows: list[dict], index=(), shards=1) -> None:
    """A MindRecord file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = FileWriter(str(path), shards, overwrite=True)
    writer.add_schema(schema, "synthetic")
    if index:
        writer.add_index(list(index))
    writer.write_raw_data(rows)
    writer.commit()


def click_logs(folder: pathlib.Path) -> None:
    """Criteo's layout: batches of 39 ids, 39 values and labels."""
    random = _random()
    schema = {
        "feat_ids": {"type": "int32", "shape": [-1]},
        "feat_vals": {"type": "float32", "shape": [-1]},
        "label": {"type": "float32", "shape": [-1]},
    }
    for name, lines, shards in (
        ("train_input_part.mindrecord", 21, 21),
        ("test_input_part.mindrecord", 6, 3),
    ):
        rows = [
            {
                "feat_ids": random.randint(0, 1000, 39000).astype(np.int32),
                "feat_vals": random.uniform(size=39000).astype(np.float32),
                "label": random.randint(0, 2, 1000).astype(np.float32),
            }
            for _ in range(lines)
        ]
        records(folder / name, schema, rows, shards=shards)


def reviews(folder: pathlib.Path) -> None:
    """IMDb's reviews as an LSTM reads them: numbers of words, and a table of vectors."""
    random = _random()
    schema = {
        "id": {"type": "int32"},
        "label": {"type": "int32"},
        "feature": {"type": "int32", "shape": [-1]},
    }
    for name in ("train", "test"):
        rows = [
            {"id": n, "label": n % 2, "feature": random.randint(0, 60, 500).astype(np.int32)}
            for n in range(20)
        ]
        path = folder / f"aclImdb_{name}.mindrecord"
        records(path, schema, rows, ("id", "label"), shards=4)
    np.savetxt(folder / "weight.txt", random.normal(size=(60, 300)))


def masked_language(folder: pathlib.Path) -> None:
    """Sentence pairs with masked words, as BERT is trained on them."""
    random = _random()
    whole = {"type": "int32", "shape": [-1]}
    names = "input_ids", "input_mask", "segment_ids", "next_sentence_labels"
    schema = dict.fromkeys((*names, "masked_lm_positions", "masked_lm_ids"), whole)
    schema["masked_lm_weights"] = {"type": "float32", "shape": [-1]}
    rows = [
        {
            "input_ids": random.randint(0, 1000, 128).astype(np.int32),
            "input_mask": np.ones(128, np.int32),
            "segment_ids": (np.arange(128) > 60).astype(np.int32),
            "next_sentence_labels": random.randint(0, 2, 1).astype(np.int32),
            "masked_lm_positions": np.sort(random.permutation(128)[:20]).astype(np.int32),
            "masked_lm_ids": random.randint(0, 1000, 20).astype(np.int32),
            "masked_lm_weights": np.ones(20, np.float32),
        }
        for _ in range(20)
    ]
    records(folder / "pretrain.mindrecord", schema, rows)


def words(folder: pathlib.Path) -> None:
    """Rows of 33 numbers of words, for a network that says the next one."""
    random = _random()
    rows = [{"input_ids": random.randint(0, 500, 33).astype(np.int32)} for _ in range(20)]
    records(folder / "words.mindrecord", {"input_ids": {"type": "int32", "shape": [-1]}}, rows)


def translation(folder: pathlib.Path) -> None:
    """Sentences and their translations in buckets of lengths."""
    random = _random()
    names = [
        f"{side}_{part}"
        for side in ("source_eos", "target_sos", "target_eos")
        for part in ("ids", "mask")
    ]
    schema = {
        name: {"type": "int64", "shape": [-1]}
        for name in [*names, "source_sos_ids", "source_sos_mask"]
    }
    for length in (16, 32, 48, 64, 128):
        rows = [
            {
                name: np.ones(length, np.int64)
                if name.endswith("mask")
                else random.randint(0, 500, length).astype(np.int64)
                for name in schema
            }
            for _ in range(4)
        ]
        records(folder / f"train_{length}_00", schema, rows)
    records(folder / "test", schema, rows[:2])


def text_places(folder: pathlib.Path) -> None:
    """Pictures with dark words, and where the words are: mindocr's list of labels."""
    random = _random()
    lines = []
    for number in range(1, 21):
        canvas, found = np.full((160, 192, 3), 230, np.uint8), []
        for row in range(3):
            left, top = int(random.randint(4, 80)), 10 + 50 * row
            canvas[top : top + 32, left : left + 96] = random.randint(0, 90, 3)
            points = [[left, top], [left + 96, top], [left + 96, top + 32], [left, top + 32]]
            found.append({"transcription": f"word{row}", "points": points})
        path = folder / "images" / f"img_{number}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(canvas).save(path)
        lines.append(f"{path.name}\t{json.dumps(found)}")
    _write(folder / "labels.txt", "\n".join(lines) + "\n")


def text_lines(folder: pathlib.Path) -> None:
    """Pictures of one word each and what they say, in the database that mindocr reads."""
    import lmdb

    random = _random()
    for part in ("train", "eval"):
        place = folder / part
        place.mkdir(parents=True, exist_ok=True)
        with lmdb.open(str(place), map_size=1 << 24) as base, base.begin(write=True) as into:
            for number in range(1, 21):
                word = "".join(random.choice(list("abcdefghij0123456789"), 5))
                picture(place / "word.png", random, 100, 32)
                into.put(f"image-{number:09d}".encode(), (place / "word.png").read_bytes())
                into.put(f"label-{number:09d}".encode(), word.encode())
            into.put(b"num-samples", b"20")


def modelnet(folder: pathlib.Path) -> None:
    """Clouds of points with normals, one text file each, of 40 kinds."""
    random = _random()
    kinds = [f"kind{number}" for number in range(40)]
    _write(folder / "modelnet40_shape_names.txt", "\n".join(kinds) + "\n")
    for part, count in (("train", 20), ("test", 4)):
        names = [f"{kinds[number]}_{part}{number:04d}" for number in range(count)]
        for name in names:
            rows = random.normal(size=(128, 6))
            path = folder / name.split("_")[0] / f"{name}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            np.savetxt(path, rows, fmt="%.5f", delimiter=",")
        _write(folder / f"modelnet40_{part}.txt", "\n".join(names) + "\n")


def shapes(folder: pathlib.Path) -> None:
    """ShapeNet's chairs: clouds of points, and the part of a chair that each point is of."""
    random = _random()
    kind = "03001627"
    _write(folder / "synsetoffset2category.txt", f"Chair\t{kind}\n")
    for part, count in (("train", 8), ("test", 6)):
        names = [f"{part}{number}" for number in range(count)]
        for name in names:
            for below, rows in (
                ("points", random.normal(size=(300, 3))),
                ("points_label", random.randint(1, 5, 300)),
            ):
                path = folder / kind / below / f"{name}.{'pts' if below == 'points' else 'seg'}"
                path.parent.mkdir(parents=True, exist_ok=True)
                np.savetxt(path, rows, fmt="%.5f" if below == "points" else "%d")
        text = json.dumps([f"shape_data/{kind}/{name}" for name in names])
        _write(folder / "train_test_split" / f"shuffled_{part}_file_list.json", text)


def sound(path: pathlib.Path, random, rate: int, count: int) -> None:
    """A file of a few tones and noise, 16 bits."""
    from scipy.io import wavfile

    times = np.arange(count) / rate
    tones = sum(np.sin(2 * np.pi * tone * times) for tone in random.randint(100, 1000, 3))
    path.parent.mkdir(parents=True, exist_ok=True)
    values = tones / 4 + random.normal(size=count) / 50
    wavfile.write(path, rate, (values * 20000).clip(-32767, 32767).astype(np.int16))


def speech(folder: pathlib.Path) -> None:
    """Sounds and what they say, and the lists of both."""
    random = _random()
    for part, count in (("train", 12), ("test", 4)):
        pairs = []
        for number in range(count):
            place = folder / part / f"{number}.wav"
            sound(place, random, 16000, 16000 + 160 * number)
            text = " ".join("".join(random.choice(list("ABCDE"), 4)) for _ in range(3))
            _write(place.with_suffix(".txt"), text)
            pairs.append((str(place), str(place.with_suffix(".txt"))))
        _write(folder / f"{part}.csv", "".join(",".join(pair) + "\n" for pair in pairs))
        samples = [{"wav_path": wav, "transcript_path": text} for wav, text in pairs]
        _write(folder / f"{part}.json", json.dumps({"root_path": "", "samples": samples}))


def voices(folder: pathlib.Path) -> None:
    """Sounds and their 80 bands over time: train/wav, train/mel and val."""
    random = _random()
    for number in range(8):
        sound(folder / "train" / "wav" / f"{number}.wav", random, 22050, 60 * 256)
        for path in (folder / "train" / "mel" / f"{number}.npy", folder / "val" / f"{number}.npy"):
            path.parent.mkdir(parents=True, exist_ok=True)
            if number < 2 or path.parent.name == "mel":
                np.save(path, random.normal(-5, 2, (80, 60)).astype(np.float32))


def word_pictures(folder: pathlib.Path) -> None:
    """Pictures of words, a list of words, and the word of each picture."""
    random = _random()
    known = ["".join(random.choice(list("abcdefghij"), 5)) for _ in range(10)]
    _write(folder / "lexicon.txt", "\n".join(known) + "\n")
    for part, count in (("train", 20), ("test", 4)):
        lines = []
        for number in range(count):
            picture(folder / part / f"{number}.jpg", random, 100, 32)
            lines.append(f"{part}/{number}.jpg {number % 10}")
        _write(folder / f"annotation_{part}.txt", "\n".join(lines) + "\n")


def segments(folder: pathlib.Path) -> None:
    """Pictures and the kind of each of their points: as PNG in records and as files."""
    random = _random()
    rows, lines = [], []
    for number in range(8):
        image, mask = folder / "images" / f"{number}.jpg", folder / "masks" / f"{number}.png"
        picture(image, random)
        mask.parent.mkdir(parents=True, exist_ok=True)
        kinds = np.zeros((80, 96), np.uint8)
        kinds[10:50, 20:70] = random.randint(1, 21)
        Image.fromarray(kinds).save(mask)
        rows.append({"data": image.read_bytes(), "label": mask.read_bytes()})
        lines.append(f"images/{number}.jpg masks/{number}.png")
    records(
        folder / "train.mindrecord", {"data": {"type": "bytes"}, "label": {"type": "bytes"}}, rows
    )
    _write(folder / "val.txt", "\n".join(lines[:4]) + "\n")


def wider_face(folder: pathlib.Path) -> None:
    """WIDER FACE's layout: boxes with five points each, and what is to be found in MATLAB's way."""
    from scipy.io import savemat

    random = _random()
    for part, count in (("train", 12), ("val", 4)):
        lines, boxes, names = [], [], []
        for number in range(count):
            name = f"0--Parade/{number}.jpg"
            picture(folder / part / "images" / name, random, 160, 128)
            lines.append(f"# {name}")
            names.append(str(number))
            boxes.append([_box(random, 160, 128) for _ in range(3)])
            for x, y, width, height in boxes[-1]:
                points = [f"{x + width / 2} {y + height / 2} 0.0" for _ in range(5)]
                lines.append(" ".join([f"{x} {y} {width} {height}", *points, "0.9"]))
        _write(folder / part / "label.txt", "\n".join(lines) + "\n")
    place = folder / "ground_truth"
    place.mkdir(parents=True, exist_ok=True)

    def cells(values):
        made = np.empty((len(values), 1), object)
        for row, value in enumerate(values):
            made[row, 0] = value
        return made

    every = {"event_list": cells(["0--Parade"]), "file_list": cells([cells(names)])}
    every["face_bbx_list"] = cells([cells([np.array(each, float) for each in boxes])])
    savemat(place / "wider_face_val.mat", every)
    chosen = cells([cells([np.array([[1], [2], [3]]) for _ in names])])
    for kind in ("easy", "medium", "hard"):
        savemat(place / f"wider_{kind}_val.mat", {"gt_list": chosen})


def words_in_files(folder: pathlib.Path) -> None:
    """Pictures of words as files, a list of what they say and one of which way up they are."""
    random = _random()
    said, turned = [], []
    for number in range(20):
        path = folder / "images" / f"{number}.png"
        picture(path, random, 100, 32)
        word = "".join(random.choice(list("abcdefghij0123456789"), 5))
        said.append(f"{path.name}\t{word}")
        turned.append(f"{path.name}\t{180 * (number % 2)}")
    _write(folder / "said.txt", "\n".join(said) + "\n")
    _write(folder / "turned.txt", "\n".join(turned) + "\n")


def digits(folder: pathlib.Path, train: int = 96, test: int = 32) -> None:
    """The four files of MNIST in one folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for prefix, count in (("train", train), ("t10k", test)):
        random = _random()
        pixels = random.randint(0, 256, (count, 28, 28)).astype(np.uint8)
        labels = random.randint(0, 10, count).astype(np.uint8)
        head = struct.pack(">IIII", 2051, count, 28, 28)
        (folder / f"{prefix}-images-idx3-ubyte").write_bytes(head + pixels.tobytes())
        head = struct.pack(">II", 2049, count)
        (folder / f"{prefix}-labels-idx1-ubyte").write_bytes(head + labels.tobytes())


def tokens(folder: pathlib.Path) -> None:
    """Rows of the numbers of words."""
    rows = [{"input_ids": _random(n).randint(0, 5424, 65).astype(np.int32)} for n in range(24)]
    schema = {"input_ids": {"type": "int32", "shape": [-1]}}
    records(folder / "tokens.mindrecord", schema, rows)
