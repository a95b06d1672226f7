# SPDX-License-Identifier: Apache-2.0
"""Collections of data in the files in which they were published, each tiny; and what is read.

`write` makes the files in a folder. A case is an expression that makes the dataset of the module
`ds`, real or ours; its answers by MindSpore 2.10 are in collected_2_10.json.
"""

from __future__ import annotations

import json
import pathlib
import struct
import wave
import zlib

import numpy as np

WORDS = ["tree", "stone", "river", "cloud", "house", "light", "water", "bird"]


class Maker:
    """Makes files in a folder, with contents that do not depend on the order."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder

    def bytes(self, path: str, content: bytes) -> None:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)

    def text(self, path: str, content: str) -> None:
        self.bytes(path, content.encode())

    def image(self, path: str, height: int = 3, width: int = 4, channels: int = 3) -> None:
        import io

        from PIL import Image

        pixels = numbers(path).integers(0, 256, (height, width, channels), dtype=np.uint8)
        file = io.BytesIO()
        image = Image.fromarray(pixels if channels == 3 else pixels[..., 0])
        # Without loss, so that decoders do not matter; the name may say .jpg nevertheless.
        image.save(file, "bmp" if path.endswith(".bmp") else "png")
        self.bytes(path, file.getvalue())

    def images(self, *paths: str) -> None:
        for path in paths:
            self.image(path)

    def sound(self, path: str, length: int = 6, channels: int = 1, rate: int = 8000) -> None:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with wave.open(str(target), "wb") as file:
            file.setnchannels(channels)
            file.setsampwidth(2)
            file.setframerate(rate)
            samples = numbers(path).integers(-(2**15), 2**15, (length, channels), dtype=np.int16)
            file.writeframes(samples.astype("<i2").tobytes())

    def sphere(self, path: str, length: int = 24000) -> None:
        head = (
            f"NIST_1A\n   1024\nsample_count -i {length}\nsample_n_bytes -i 2\nchannel_count -i 1\n"
            "sample_byte_format -s2 10\nsample_rate -i 16000\nsample_coding -s3 pcm\nend_head\n"
        )
        samples = numbers(path).integers(-(2**15), 2**15, length, dtype=np.int16)
        self.bytes(path, head.ljust(1024).encode() + samples.astype(">i2").tobytes())

    def matlab(self, path: str, **values) -> None:
        from scipy.io import savemat

        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        savemat(target, values)


def numbers(name: str) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(name.encode()))


def write(folder: pathlib.Path) -> None:
    """All collections, each in a folder of its own."""
    make = Maker(folder)
    _texts(make)
    _pairs(make)
    _digits(make)
    _pictures(make)
    _scenes(make)
    _sounds(make)


def _texts(make: Maker) -> None:
    for name, columns in {"three": 3, "four": 4, "two": 2}.items():
        for part in ("train", "test"):
            fields = [
                [str(row + 1), *(f"{part} {WORDS[row]}, {n}" for n in range(columns - 1))]
                for row in range(3)
            ]
            lines = (",".join(f'"{field}"' for field in row) for row in fields)
            make.text(f"{name}/{part}.csv", "\n".join(lines) + "\n")
    for part in ("train", "test", "valid"):
        body = f" no it was not {part} \n\n a second <unk> line \n = Title = \n"
        make.text(f"penn/ptb.{part}.txt", body)
        make.text(f"wiki/wiki.{part}.tokens", body)
    make.text("enwik9/enwik9", "<page>\n\n  <title>A</title>\nlast")
    words = "Confidence NN B-NP\nin IN B-PP\n\nthe DT B-NP\npound NN I-NP\nis VBZ B-VP\n\n"
    for part in ("train", "test"):
        make.text(f"conll/{part}.txt", words.replace("pound", part))
    for part in ("train", "test", "dev"):
        tagged = words.replace(" ", "\t").replace("pound", part)
        make.text(f"udpos/en-ud-tag.v2.{part}.txt", tagged)
        table = "index\tsentence\n0\tfine weather\n1\tno fun\n"
        if part == "train":
            table = f"sentence\tlabel\na {part} , good\t1\nbad\t0\n"
        make.text(f"sst2/{part}.tsv", table)
        for kind in ("pos", "neg"):
            for number in range(2):
                make.text(
                    f"imdb/{part}/{kind}/{number}_{number + 3}.txt", f"{part} {kind} {number}"
                )
    for part in ("train", "dev"):
        answers = [{"text": "river", "answer_start": 6}, {"text": "a river", "answer_start": 4}]
        asked = [
            {"question": "What?", "id": "1", "answers": answers},
            {"question": f"Which {part}?", "id": "2", "answers": answers[:1]},
        ]
        paragraph = {"context": "It is a river.", "qas": asked}
        content = {"data": [{"title": "t", "paragraphs": [paragraph]}], "version": "1.1"}
        make.text(f"squad/{part}-v1.1.json", json.dumps(content))
    _clue(make)


def _clue(make: Maker) -> None:
    rows = {
        "afqmc": {"sentence1": "a", "sentence2": "b", "label": "0", "id": 3},
        "tnews": {"label": "102", "label_desc": "news", "sentence": "s", "keywords": "k", "id": 4},
        "iflytek": {"label": "11", "label_des": "map", "sentence": "s", "id": 5},
        "cmnli": {"sentence1": "a", "sentence2": "b", "label": "neutral", "id": 6},
        "csl": {"id": 7, "abst": "text", "keyword": ["x", "y"], "label": "1"},
        "wsc": {
            "target": {"span2_index": 3, "span1_index": 1, "span1_text": "a", "span2_text": "b"},
            "idx": 2,
            "label": "true",
            "text": "some text",
        },
    }
    for name, row in rows.items():
        lines = [json.dumps(row), json.dumps({**row, "id": 8, "idx": 9})]
        make.text(f"clue/{name}.json", "\n".join(lines) + "\n")


def _pairs(make: Maker) -> None:
    for folder, part in (
        ("training", "train"),
        ("validation", "val"),
        ("mmt16_task1_test", "test"),
    ):
        for language in ("en", "de"):
            lines = "".join(f"{language} {part} {word}\n" for word in WORDS[:3])
            make.text(f"multi30k/{folder}/{part}.{language}", lines)
    for year, folder in ((16, "iwslt16/texts/de/en/de-en"), (17, "iwslt17/" + _IWSLT17)):
        for language in ("en", "de"):
            lines = f"<url>http</url>\n<keywords>k</keywords>\n{language} one\n {language} two\n"
            make.text(f"{folder}/train.tags.de-en.{language}", lines)
            for part in ("dev2010", "tst2010", "tst2013", "tst2014"):
                body = f'<doc docid="1"><title>t</title>\n<seg id="1"> {language} {part} a </seg>\n'
                body += f'<seg id="2">{language} b</seg>\n</doc>'
                text = '<?xml version="1.0" encoding="UTF-8"?>\n'
                text += f"<mteval><refset>{body}</refset></mteval>"
                name = f"IWSLT{year}.TED.{part}.de-en.{language}.xml"
                make.text(f"{folder}/{name}", text)


_IWSLT17 = "texts/DeEnItNlRo/DeEnItNlRo/DeEnItNlRo-DeEnItNlRo"


def _idx(make: Maker, path: str, array: np.ndarray, kind: int = 8) -> None:
    head = struct.pack(f">{1 + array.ndim}i", (kind << 8) + array.ndim, *array.shape)
    make.bytes(path, head + array.astype(">i4" if kind == 12 else np.uint8).tobytes())


def _digits(make: Maker) -> None:
    for part in ("train", "test"):
        draw = numbers(part)
        for name in ("letters", "mnist"):
            images = draw.integers(0, 256, (3, 28, 28))
            _idx(make, f"emnist/emnist-{name}-{part}-images-idx3-ubyte", images)
            _idx(make, f"emnist/emnist-{name}-{part}-labels-idx1-ubyte", np.array([4, 1, 7]))
        images, labels = draw.integers(0, 256, (3, 28, 28)), draw.integers(0, 10, (3, 8))
        _idx(make, f"qmnist/qmnist-{part}-images-idx3-ubyte", images)
        _idx(make, f"qmnist/qmnist-{part}-labels-idx2-int", labels, 12)
        pixels = draw.uniform(-1, 1, (2, 256))
        lines = (
            f"{row + 3} " + " ".join(f"{n + 1}:{value:.4f}" for n, value in enumerate(values))
            for row, values in enumerate(pixels)
        )
        make.text(f"usps/usps{'' if part == 'train' else '.t'}", " \n".join(lines) + " \n")
        make.bytes(f"stl10/{part}_X.bin", draw.bytes(2 * 3 * 96 * 96))
        make.bytes(f"stl10/{part}_y.bin", bytes([10, 3]))
    _idx(make, "qmnist/xnist-images-idx3-ubyte", numbers("x").integers(0, 256, (2, 28, 28)))
    _idx(make, "qmnist/xnist-labels-idx2-int", numbers("x").integers(0, 10, (2, 8)), 12)
    make.bytes("stl10/unlabeled_X.bin", numbers("unlabeled").bytes(3 * 96 * 96))
    rows = []
    for label in (2, 0):
        pixels = numbers(str(label)).integers(0, 2, 256)
        row = [f"{value:.4f}" for value in pixels] + [str(int(n == label)) for n in range(10)]
        rows.append(" ".join(row) + " ")
    make.text("semeion/semeion.data", "\n".join(rows) + "\n")
    for part in ("train", "test", "extra"):
        x = numbers(part).integers(0, 256, (32, 32, 3, 2), dtype=np.uint8)
        make.matlab(f"svhn/{part}_32x32.mat", X=x, y=np.array([[10], [4]], np.uint8))


def _pictures(make: Maker) -> None:
    for name in ("ant", "Faces", "BACKGROUND_Google"):
        make.images(f"caltech101/101_ObjectCategories/{name}/image_0001.jpg")
        folder = "Faces_2" if name == "Faces" else name
        outline = numbers(name).random((2, 3))
        path = f"caltech101/Annotations/{folder}/annotation_0001.mat"
        make.matlab(path, obj_contour=outline, box_coord=np.ones((1, 4)))
    for name in ("001.ak47", "002.american-flag"):
        make.images(
            f"caltech256/{name}/{name[:3]}_0001.jpg", f"caltech256/{name}/{name[:3]}_0002.jpg"
        )
    for part in ("train", "valid"):
        for number in ("0001", "0002"):
            make.images(
                f"div2k/DIV2K_{part}_HR/{number}.png",
                f"div2k/DIV2K_{part}_LR_bicubic/X2/{number}x2.png",
                f"div2k/DIV2K_{part}_LR_unknown/X3/{number}x3.png",
                f"div2k/DIV2K_{part}_LR_mild/{number}x4m.png",
                f"div2k/DIV2K_{part}_LR_x8/{number}x8.png",
            )
    make.images("flickr/images/b.jpg", "flickr/images/a.jpg")
    told = "".join(f"{name}.jpg#{n}\t{name} {n}\n" for name in "ab" for n in range(5))
    make.text("flickr/tokens.txt", told)
    numbers_ = np.arange(1, 5)
    make.matlab("flowers/imagelabels.mat", labels=np.array([[3, 1, 2, 2]], np.uint8))
    parts = {"trnid": numbers_[None, :2], "valid": numbers_[None, 2:3], "tstid": numbers_[None, 3:]}
    make.matlab("flowers/setid.mat", **parts)
    for number in numbers_:
        make.images(f"flowers/jpg/image_{number:05}.jpg", f"flowers/segmim/segmim_{number:05}.jpg")
    for part, names in {"train": ("apple_pie/1", "sushi/2"), "test": ("sushi/3",)}.items():
        make.text(f"food/meta/{part}.txt", "\n".join(names) + "\n")
        make.images(*(f"food/images/{name}.jpg" for name in names))
    for name in ("Ann_Lee", "Bob_Ray"):
        for number in (1, 2):
            make.images(f"lfw/lfw_funneled/{name}/{name}_000{number}.jpg")
    make.text("lfw/peopleDevTrain.txt", "2\nAnn_Lee\t2\nBob_Ray\t1\n")
    make.text("lfw/peopleDevTest.txt", "1\nBob_Ray\t2\n")
    make.text("lfw/people.txt", "1\n1\nAnn_Lee\t2\n")
    make.text("lfw/lfw-names.txt", "Ann_Lee\t2\nBob_Ray\t2\n")
    make.text("lfw/pairsDevTrain.txt", "1\nAnn_Lee\t1\t2\nAnn_Lee\t1\tBob_Ray\t2\n")
    make.text("lfw/pairsDevTest.txt", "1\nBob_Ray\t1\t2\nBob_Ray\t1\tAnn_Lee\t2\n")
    make.text("lfw/pairs.txt", "1\t1\nBob_Ray\t1\t2\nBob_Ray\t2\tAnn_Lee\t1\n")
    for name in ("bedroom_train", "bedroom_val", "tower_train", "tower_val"):
        make.images(f"lsun/{name}/1_1.jpg", f"lsun/{name}/1_2.jpg")
    make.images("lsun/test/1.jpg")
    for part in ("background", "evaluation"):
        for name in ("Greek/character01", "Greek/character02", "Latin/character01"):
            make.images(*(f"omniglot/images_{part}/{name}/0{n}.png" for n in (1, 2)))
    for part in ("train-standard", "train-challenge"):
        make.text(
            f"places/places365_{part.replace('-', '_')}.txt", "/a/field/1.jpg 1\n/b/bar/2.jpg 0\n"
        )
        short = part.removeprefix("train-")
        for size in ("256", "large"):
            folder = f"places/data_{size}_{short}"
            make.images(f"{folder}/a/field/1.jpg", f"{folder}/b/bar/2.jpg")
    make.text("places/places365_val.txt", "P_1.jpg 1\nP_2.jpg 0\n")
    make.text("places/categories_places365.txt", "/b/bar 0\n/a/field 1\n")
    for size in ("256", "large"):
        make.images(*(f"places/val_{size}/P_{n}.jpg" for n in (1, 2)))
    for part in ("train", "valid", "test"):
        for kind in ("negative", "positive"):
            make.images(f"sst2_images/{part}/{kind}/1.png")
    make.text("sbu/SBU_captioned_photo_dataset_captions.txt", "a  dog\ntwo cats\nnone\n")
    urls = "".join(f"http://static.flickr.com/{part}.jpg\n" for part in ("1/a", "2/b", "2/c"))
    make.text("sbu/SBU_captioned_photo_dataset_urls.txt", urls)
    make.images("sbu/sbu_images/m_1_a.jpg", "sbu/sbu_images/m_2_b.jpg")
    make.images(
        "sun/a/abbey/sun_1.jpg", "sun/a/abbey/sun_2.jpg", "sun/b/balcony/interior/sun_1.jpg"
    )
    make.text("sun/ClassName.txt", "/a/abbey\n/b/balcony/interior\n")
    make.image("tour/liberty/patches0000.bmp", 1024, 1024, 1)
    make.text("tour/liberty/info.txt", "".join(f"{n // 2} 0\n" for n in range(5)))
    make.text("tour/liberty/m50_100000_100000_0.txt", "0 0 0 1 0 0 0\n1 0 0 2 1 0 0\n")


def _scenes(make: Maker) -> None:
    suffixes = ("color.png", "instanceIds.png", "labelIds.png")
    for part in ("train", "test", "val", "train_extra"):
        kind = "gtCoarse" if part == "train_extra" else "gtFine"
        for number in ("1", "2"):
            stem = f"{part}/aachen/aachen_00000{number}_000019"
            make.images(f"cityscapes/leftImg8bit/{stem}_leftImg8bit.png")
            make.images(*(f"cityscapes/{kind}/{stem}_{kind}_{suffix}" for suffix in suffixes))
            make.text(f"cityscapes/{kind}/{stem}_{kind}_polygons.json", '{"objects": []}')
    _coco(make)
    make.images("kitti/data_object_image_2/training/image_2/000000.png")
    make.images("kitti/data_object_image_2/testing/image_2/000000.png")
    told = "Car 0.00 1 -1.5 5.0 6.0 7.0 8.5 1.5 1.6 3.7 -2.7 1.7 30.2 -1.59\n"
    told += "Van 0.50 0 1.5 1.0 2.0 3.0 4.5 1.0 1.1 1.2 1.3 1.4 1.5 1.6\n"
    make.text("kitti/data_object_label_2/training/label_2/000000.txt", told)
    rows = (("train", "dog", "1"), ("eval", "ant", "2"), ("train", "cat", "3"))
    lines = []
    for part, name, number in rows:
        path = f"manifest/{part}/{number}.jpg"
        make.images(path)
        place = str(make.folder / path)
        told = {"source": place, "usage": part, "annotation": [{"name": name}]}
        lines.append(json.dumps({**told, "id": number}))
    make.text("manifest/list.manifest", "\n".join(lines) + "\n")
    _voc(make)
    for part in ("train", "val", "test"):
        names = [f"{part}_{n}" for n in (1, 2)]
        make.text(f"sbd/{part}.txt", "\n".join(names) + "\n")
        face = f"wider/WIDER_{part}/images/0--Parade/{part}"
        make.images(f"{face}_1.jpg")
        told = f"0--Parade/{part}_1.jpg\n1\n449 330 122 149 0 0 0 0 0 0 \n"
        # Of several files of a list MindSpore takes the order of the folder.
        if part == "train":
            make.images(f"{face}_2.jpg")
            told += f"0--Parade/{part}_2.jpg\n2\n1 2 3 4 1 0 0 1 1 1 \n5 6 7 8 2 1 0 0 0 0 \n"
        make.text(f"wider/wider_face_split/wider_face_{part}_bbx_gt.txt", told)
    listed = "0--Parade/test_1.jpg\n"
    make.text("wider/wider_face_split/wider_face_test_filelist.txt", listed)


def _coco(make: Maker) -> None:
    make.images("coco/images/1.jpg", "coco/images/2.jpg")
    images = [{"id": n, "file_name": f"{n}.jpg", "height": 3, "width": 4} for n in (1, 2)]
    kinds = [{"id": 3, "name": "cat", "isthing": 1}, {"id": 7, "name": "dog", "isthing": 0}]
    outline = [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]

    def told(number, image, kind, **more):
        box = {"bbox": [1.0, 2.0, 3.0, float(number)], "area": 12.5, "iscrowd": 0}
        return {"id": number, "image_id": image, "category_id": kind, **box, **more}

    boxes = [
        told(1, 1, 3, segmentation=outline),
        told(2, 1, 7, segmentation={"counts": [5, 3, 4], "size": [3, 4]}, iscrowd=1),
        told(3, 2, 7, segmentation=outline),
    ]
    points = [told(1, 1, 3, keypoints=[1, 2, 2, 3, 4, 1], num_keypoints=2)]
    points.append(told(2, 2, 3, keypoints=[0, 0, 0, 5, 6, 2], num_keypoints=1))
    captions = [
        {"id": n, "image_id": image, "caption": f"caption {n}"} for n, image in enumerate((1, 1, 2))
    ]
    parts = [
        {"id": 3, "category_id": 3, "bbox": [1, 2, 3, 4], "area": 9, "iscrowd": 0},
        {"id": 4, "category_id": 7, "bbox": [5, 6, 7, 8], "area": 8, "iscrowd": 1},
    ]
    panoptic = [
        {"image_id": n, "file_name": f"{n}.jpg", "segments_info": parts[: 3 - n]} for n in (1, 2)
    ]
    for name, marked in {
        "instances": boxes,
        "keypoints": points,
        "captions": captions,
        "panoptic": panoptic,
    }.items():
        content = {"images": images, "annotations": marked, "categories": kinds}
        make.text(f"coco/{name}.json", json.dumps(content))


def _voc(make: Maker) -> None:
    for number in ("1", "2"):
        make.images(f"voc/JPEGImages/{number}.jpg", f"voc/SegmentationClass/{number}.png")
        named = {"1": ("dog", "cat"), "2": ("cat",)}[number]
        boxes = "".join(
            f"<object><name>{name}</name><pose>Left</pose><truncated>{n}</truncated>"
            f"<difficult>0</difficult><bndbox><xmin>{n + 1}</xmin><ymin>2</ymin>"
            f"<xmax>{n + 3}</xmax><ymax>6</ymax></bndbox></object>"
            for n, name in enumerate(named)
        )
        size = "<size><width>4</width><height>3</height><depth>3</depth></size>"
        text = f"<annotation><filename>{number}.jpg</filename>{size}{boxes}</annotation>"
        make.text(f"voc/Annotations/{number}.xml", text)
    for kind in ("Main", "Segmentation"):
        make.text(f"voc/ImageSets/{kind}/train.txt", "1\n2\n")
        make.text(f"voc/ImageSets/{kind}/val.txt", "2\n")


def _sounds(make: Maker) -> None:
    for name in ("aew", "bdl"):
        folder = f"arctic/cmu_us_{name}_arctic"
        make.sound(f"{folder}/wav/arctic_a0001.wav", 6, 1, 16000)
        make.sound(f"{folder}/wav/arctic_a0002.wav", 9, 1, 16000)
        told = '( arctic_a0001 "Author of the danger" )\n( arctic_a0002 "Not at, this" )\n'
        make.text(f"{folder}/etc/txt.done.data", told)
    for name in ("blues", "rock"):
        make.sound(f"gtzan/{name}/{name}.00001.wav", 6, 1, 22050)
    for part in ("dev-clean", "test-other"):
        folder = f"libri/{part}/116/288045"
        stem = "116_288045_000003_000000"
        make.sound(f"{folder}/{stem}.wav", 7, 1, 24000)
        make.text(f"{folder}/{stem}.normalized.txt", "normal")
        make.text(f"{folder}/{stem}.original.txt", "Original")
        make.text(f"{folder}/116_288045.trans.tsv", f"{stem}\tOriginal, text\tnormal text\n")
    lines = "LJ001-0001|Printing, 1|Printing, one\nLJ001-0002|in being|in being\n"
    make.text("lj/metadata.csv", lines)
    for number in (1, 2):
        make.sound(f"lj/wavs/LJ001-000{number}.wav", 5, 1, 22050)
    for name in ("cat", "dog"):
        for number in (0, 1):
            make.sound(f"commands/{name}/b43{name}_nohash_{number}.wav", 5, 1, 16000)
    make.text("commands/testing_list.txt", "cat/b43cat_nohash_1.wav\n")
    make.text("commands/validation_list.txt", "dog/b43dog_nohash_0.wav\n")
    for name in ("1_1_0_0_1_1_0_0", "0_1_0_0_1_1_0_1"):
        make.sound(f"yesno/{name}.wav")
    make.sound("stereo/1_1_0_0_1_1_0_0.wav", 6, 2)
    told = (
        "A_2009 1 Al 0.25 0.5 <o,f0,male> thank you\n"
        "A_2009 1 inter_segment_gap 0.5 0.75 <o,,unknown> ignore_time_segment_in_scoring\n"
        "A_2009 1 Al 1.0 1.25 <o,f0,male> so much\n"
    )
    for folder in ("tedlium1/dev", "tedlium1/train", "tedlium3/data"):
        make.sphere(f"{folder}/sph/A_2009.sph")
        make.text(f"{folder}/stm/A_2009.stm", told)


CASES = """
AGNewsDataset(f"{d}/three", shuffle=False)
AGNewsDataset(f"{d}/three", "test", shuffle=False)
AmazonReviewDataset(f"{d}/three", "train", num_samples=2, shuffle=False)
DBpediaDataset(f"{d}/three", "train", shuffle=False)
SogouNewsDataset(f"{d}/three", "test", shuffle=False)
YahooAnswersDataset(f"{d}/four", "test", shuffle=False)
YelpReviewDataset(f"{d}/two", "test", shuffle=False)
YelpReviewDataset(f"{d}/three", "test", shuffle=False)
AGNewsDataset(f"{d}/penn", "test", shuffle=False)
PennTreebankDataset(f"{d}/penn", "train", shuffle=False)
PennTreebankDataset(f"{d}/penn", shuffle=False)
WikiTextDataset(f"{d}/wiki", "valid", shuffle=False)
WikiTextDataset(f"{d}/wiki", "bad", shuffle=False)
EnWik9Dataset(f"{d}/enwik9", shuffle=False)
CoNLL2000Dataset(f"{d}/conll", "test", shuffle=False)
CoNLL2000Dataset(f"{d}/conll", shuffle=False)
UDPOSDataset(f"{d}/udpos", "valid", shuffle=False)
UDPOSDataset(f"{d}/udpos", shuffle=False)
SST2Dataset(f"{d}/sst2", shuffle=False)
SST2Dataset(f"{d}/sst2", "test", shuffle=False)
IMDBDataset(f"{d}/imdb", "test", shuffle=False)
IMDBDataset(f"{d}/imdb", shuffle=False)
SQuADDataset(f"{d}/squad", "dev", shuffle=False)
SQuADDataset(f"{d}/squad", shuffle=False)
CLUEDataset(f"{d}/clue/afqmc.json", shuffle=False)
CLUEDataset(f"{d}/clue/afqmc.json", "AFQMC", "test", shuffle=False)
CLUEDataset(f"{d}/clue/tnews.json", "TNEWS", "train", shuffle=False)
CLUEDataset(f"{d}/clue/tnews.json", "TNEWS", "test", shuffle=False)
CLUEDataset(f"{d}/clue/iflytek.json", "IFLYTEK", "eval", shuffle=False)
CLUEDataset(f"{d}/clue/iflytek.json", "IFLYTEK", "test", shuffle=False)
CLUEDataset(f"{d}/clue/cmnli.json", "CMNLI", "train", shuffle=False)
CLUEDataset(f"{d}/clue/cmnli.json", "CMNLI", "test", shuffle=False)
CLUEDataset(f"{d}/clue/wsc.json", "WSC", "train", shuffle=False)
CLUEDataset(f"{d}/clue/wsc.json", "WSC", "test", shuffle=False)
CLUEDataset(f"{d}/clue/csl.json", "CSL", "train", shuffle=False)
CLUEDataset(f"{d}/clue/csl.json", "CSL", "test", shuffle=False)
Multi30kDataset(f"{d}/multi30k", "train", shuffle=False)
Multi30kDataset(f"{d}/multi30k", "valid", ["de", "en"], shuffle=False)
Multi30kDataset(f"{d}/multi30k", "test", shuffle=False)
Multi30kDataset(f"{d}/multi30k", shuffle=False)
IWSLT2016Dataset(f"{d}/iwslt16", "train", shuffle=False)
IWSLT2016Dataset(f"{d}/iwslt16", "valid", shuffle=False)
IWSLT2016Dataset(f"{d}/iwslt16", shuffle=False)
IWSLT2016Dataset(f"{d}/iwslt16", "test", None, None, "tst2010", shuffle=False)
IWSLT2017Dataset(f"{d}/iwslt17", "train", shuffle=False)
IWSLT2017Dataset(f"{d}/iwslt17", "valid", shuffle=False)
IWSLT2017Dataset(f"{d}/iwslt17", "test", shuffle=False)
EMnistDataset(f"{d}/emnist", "letters", "train", shuffle=False)
EMnistDataset(f"{d}/emnist", "mnist", shuffle=False)
EMnistDataset(f"{d}/emnist", "digits", shuffle=False)
QMnistDataset(f"{d}/qmnist", "train", shuffle=False)
QMnistDataset(f"{d}/qmnist", "test", False, shuffle=False)
QMnistDataset(f"{d}/qmnist", "nist", shuffle=False)
QMnistDataset(f"{d}/qmnist", shuffle=False)
USPSDataset(f"{d}/usps", "train", shuffle=False)
USPSDataset(f"{d}/usps", "test", shuffle=False)
USPSDataset(f"{d}/usps", shuffle=False)
SemeionDataset(f"{d}/semeion", shuffle=False)
STL10Dataset(f"{d}/stl10", "train", shuffle=False)
STL10Dataset(f"{d}/stl10", "unlabeled", shuffle=False)
STL10Dataset(f"{d}/stl10", "train+unlabeled", shuffle=False)
STL10Dataset(f"{d}/stl10", shuffle=False)
SVHNDataset(f"{d}/svhn", "test", shuffle=False)
SVHNDataset(f"{d}/svhn", shuffle=False)
Caltech101Dataset(f"{d}/caltech101", shuffle=False)
Caltech101Dataset(f"{d}/caltech101", "annotation", decode=True, shuffle=False)
Caltech101Dataset(f"{d}/caltech101", "all", shuffle=False)
Caltech256Dataset(f"{d}/caltech256", shuffle=False)
Caltech256Dataset(f"{d}/caltech256", decode=True, shuffle=False)
DIV2KDataset(f"{d}/div2k", shuffle=False)
DIV2KDataset(f"{d}/div2k", "valid", "unknown", 3, decode=True, shuffle=False)
DIV2KDataset(f"{d}/div2k", "all", "mild", 4, shuffle=False)
DIV2KDataset(f"{d}/div2k", "train", "bicubic", 8, shuffle=False)
DIV2KDataset(f"{d}/div2k", "train", "mild", 2, shuffle=False)
FlickrDataset(f"{d}/flickr/images", f"{d}/flickr/tokens.txt", shuffle=False)
FlickrDataset(f"{d}/flickr/images", f"{d}/flickr/tokens.txt", decode=True, shuffle=False)
Flowers102Dataset(f"{d}/flowers", shuffle=False)
Flowers102Dataset(f"{d}/flowers", "Segmentation", "train", decode=True, shuffle=False)
Flowers102Dataset(f"{d}/flowers", "Classification", "valid", shuffle=False)
Food101Dataset(f"{d}/food", "train", shuffle=False)
Food101Dataset(f"{d}/food", decode=True, shuffle=False)
LFWDataset(f"{d}/lfw", shuffle=False)
LFWDataset(f"{d}/lfw", "people", "train", shuffle=False)
LFWDataset(f"{d}/lfw", "people", "test", decode=True, shuffle=False)
LFWDataset(f"{d}/lfw", "people", "10fold", shuffle=False)
LFWDataset(f"{d}/lfw", "pairs", "train", decode=True, shuffle=False)
LFWDataset(f"{d}/lfw", "pairs", "test", shuffle=False)
LFWDataset(f"{d}/lfw", "pairs", shuffle=False)
LFWDataset(f"{d}/lfw", "pairs", "10fold", shuffle=False)
LSUNDataset(f"{d}/lsun", "train", shuffle=False)
LSUNDataset(f"{d}/lsun", "valid", ["tower"], decode=True, shuffle=False)
LSUNDataset(f"{d}/lsun", "train", ["tower", "bedroom"], shuffle=False)
LSUNDataset(f"{d}/lsun", "test", shuffle=False)
LSUNDataset(f"{d}/lsun", shuffle=False)
LSUNDataset(f"{d}/lsun", "all", ["bedroom", "tower"], shuffle=False)
OmniglotDataset(f"{d}/omniglot", shuffle=False)
OmniglotDataset(f"{d}/omniglot", False, decode=True, shuffle=False)
PhotoTourDataset(f"{d}/tour", "liberty", num_samples=2, shuffle=False)
PhotoTourDataset(f"{d}/tour", "liberty", "test", shuffle=False)
Places365Dataset(f"{d}/places", shuffle=False)
Places365Dataset(f"{d}/places", "val", False, True, shuffle=False)
Places365Dataset(f"{d}/places", "train-challenge", True, True, shuffle=False)
RenderedSST2Dataset(f"{d}/sst2_images", shuffle=False)
RenderedSST2Dataset(f"{d}/sst2_images", "val", decode=True, shuffle=False)
SBUDataset(f"{d}/sbu", decode=True, shuffle=False)
SUN397Dataset(f"{d}/sun", shuffle=False)
SUN397Dataset(f"{d}/sun", decode=True, shuffle=False)
CityscapesDataset(f"{d}/cityscapes", shuffle=False)
CityscapesDataset(f"{d}/cityscapes", "val", "fine", "polygon", decode=True, shuffle=False)
CityscapesDataset(f"{d}/cityscapes", "all", "fine", "color", decode=True, shuffle=False)
CityscapesDataset(f"{d}/cityscapes", "test", "fine", "instance", shuffle=False)
CityscapesDataset(f"{d}/cityscapes", "train_extra", "coarse", "semantic", shuffle=False)
CocoDataset(f"{d}/coco/images", f"{d}/coco/instances.json", decode=True, shuffle=False)
CocoDataset(f"{d}/coco/images", f"{d}/coco/instances.json", "Stuff", shuffle=False)
CocoDataset(f"{d}/coco/images", f"{d}/coco/keypoints.json", "Keypoint", shuffle=False)
CocoDataset(f"{d}/coco/images", f"{d}/coco/panoptic.json", "Panoptic", shuffle=False)
CocoDataset(f"{d}/coco/images", f"{d}/coco/captions.json", "Captioning", shuffle=False)
CocoDataset(f"{d}/coco/images", f"{d}/coco/instances.json", shuffle=False, **META).rename(*NAMES)
KITTIDataset(f"{d}/kitti", shuffle=False)
KITTIDataset(f"{d}/kitti", "test", decode=True, shuffle=False)
ManifestDataset(f"{d}/manifest/list.manifest", shuffle=False)
ManifestDataset(f"{d}/manifest/list.manifest", "eval", decode=True, shuffle=False)
ManifestDataset(f"{d}/manifest/list.manifest", class_indexing={"cat": 4}, shuffle=False)
VOCDataset(f"{d}/voc", decode=True, shuffle=False)
VOCDataset(f"{d}/voc", "Detection", "train", shuffle=False)
VOCDataset(f"{d}/voc", "Detection", "train", {"cat": 3}, decode=True, shuffle=False)
VOCDataset(f"{d}/voc", "Detection", "val", shuffle=False, **META).rename(*NAMES)
WIDERFaceDataset(f"{d}/wider", "train", shuffle=False)
WIDERFaceDataset(f"{d}/wider", "test", decode=True, shuffle=False)
WIDERFaceDataset(f"{d}/wider", shuffle=False)
CMUArcticDataset(f"{d}/arctic", shuffle=False)
CMUArcticDataset(f"{d}/arctic", "bdl", shuffle=False)
GTZANDataset(f"{d}/gtzan", shuffle=False)
GTZANDataset(f"{d}/gtzan", "train", shuffle=False)
LibriTTSDataset(f"{d}/libri", "dev-clean", shuffle=False)
LibriTTSDataset(f"{d}/libri", shuffle=False)
LJSpeechDataset(f"{d}/lj", shuffle=False)
SpeechCommandsDataset(f"{d}/commands", shuffle=False)
SpeechCommandsDataset(f"{d}/commands", "train", shuffle=False)
SpeechCommandsDataset(f"{d}/commands", "test", shuffle=False)
SpeechCommandsDataset(f"{d}/commands", "valid", shuffle=False)
TedliumDataset(f"{d}/tedlium1", "release1", "dev", shuffle=False).project(TOLD)
TedliumDataset(f"{d}/tedlium1", "release2", "train", shuffle=False).project(TOLD)
TedliumDataset(f"{d}/tedlium3", "release3", shuffle=False).project(TOLD)
YesNoDataset(f"{d}/yesno", shuffle=False)
"""


# MindSpore gives this column only under another name.
META, NAMES = {"extra_metadata": True}, ("_meta-filename", "f")
# All but the waveforms, which MindSpore fills with zeros.
TOLD = ["sample_rate", "transcript", "talk_id", "speaker_id", "identifier"]


def lines() -> list[str]:
    """The cases, one a line."""
    return CASES.strip().splitlines()


def shown(value) -> list:
    """Type, shape and content of a column; of many numbers their checksum."""
    array = np.asarray(value)
    if array.dtype.kind in "US":
        return ["str", list(array.shape), np.ravel(array).astype(str).tolist()]
    if array.dtype.kind == "f":
        array = array.round(4)
    content = array.ravel().tolist()
    if array.size > 12:
        content = zlib.crc32(np.ascontiguousarray(array).tobytes())
    return [str(array.dtype), list(array.shape), content]


def answer(line: str, ds, folder: pathlib.Path):
    """What a dataset gives: its columns, rows and size; of an error that there is one."""
    try:
        made = eval(
            f"ds.{line}", {"ds": ds, "d": str(folder), "META": META, "NAMES": NAMES, "TOLD": TOLD}
        )
        rows = made.create_dict_iterator(num_epochs=1, output_numpy=True)
        return {
            "columns": list(made.get_col_names()),
            "rows": [[shown(row[name]) for name in made.get_col_names()] for row in rows],
            "size": made.get_dataset_size(),
        }
    except Exception as error:
        return {"refused": " ".join(f"{type(error).__name__}: {error}".split())[-300:]}
