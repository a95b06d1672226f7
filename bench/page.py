# SPDX-License-Identifier: Apache-2.0
"""The table and the chart of docs/performance.md, from the rows of a run of `python -m bench`."""

from __future__ import annotations

import json
import pathlib
import textwrap

from tools.pictures.charts import MEASURED, RECORDED

PAGE = pathlib.Path(__file__).parent.parent / "docs" / "performance.md"
BEGIN, END = "<!-- `python -m bench --record` writes this -->", "<!-- as far as here -->"
TITLES = {
    "lenet": "LeNet-5, batch 32",
    "mlp": "MLP 4 × 512, batch 128",
    "transformer": "encoder block, d = 256",
    "bert": "encoder block, d = 768",
    "masked": "encoder block with lengths",
    "gpt2": "GPT-2 stack, 4 blocks",
    "lstm": "LSTM 2 × 256",
    "gru": "GRU 2 × 256",
    "classifier": "LSTM classifier, both ways",
    "graph_network": "graph network, 3 layers",
    "wide_deep": "wide & deep, 10⁶ rows",
    "resnet18": "ResNet-18, 64²",
    "resnet50": "ResNet-50, 128²",
    "mobilenet": "MobileNetV2, 128²",
    "efficientnet": "EfficientNet-B0, 128²",
    "unet": "U-Net, 128²",
    "bert_inference": "encoder block, prediction",
    "resnet50_inference": "ResNet-50, prediction",
    "mobilenet_inference": "MobileNetV2, prediction",
}
# What a row is compared with, and what of it is shown.
COLUMNS = (
    ("Graph / best of PyTorch", "mycel graph", "torch's best"),
    ("PyNative / PyTorch eager", "mycel pynative", "torch eager"),
    ("Graph / JAX by hand", "mycel graph", "jax lowerings"),
    ("PyNative / Graph", "mycel pynative", "mycel graph"),
    ("Graph / ONNX Runtime", "mycel graph", "onnx prediction"),
)


def table_of(rows: list[dict]) -> str:
    """Ratios with quartiles, as a table in Markdown; those above 1 against others in bold."""
    heads = " | ".join(title for title, *_ in COLUMNS)
    lines = [f"| work | Graph | {heads} |", f"|---|---:|{'---|' * len(COLUMNS)}"]
    for work in dict.fromkeys(row["work"] for row in rows):
        here = {row["what"]: row for row in rows if row["work"] == work}
        if "mycel graph" not in here or work.startswith("chain"):
            continue
        milliseconds = here["mycel graph"]["milliseconds"]
        cells = [f"{milliseconds:,.0f} ms" if milliseconds >= 100 else f"{milliseconds:.3g} ms"]
        for _, lane, base in COLUMNS:
            ratio = here[lane].get(base)
            cells.append("" if ratio is None else _told(ratio, base))
        lines.append(f"| {TITLES.get(work, work)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _told(ratio: list[float], base: str) -> str:
    low, middle, high = (f"{value:.2f}" for value in ratio)
    behind = ratio[1] > 1.005 and not base.startswith("mycel")
    middle = f"**{middle}**" if behind else middle
    return f"{middle} [{low}, {high}]"


# The networks of the front page, and the names of their lanes there: the first that there is.
CHARTS = {
    "transformer": ("encoder", "Training: transformer encoder, d = 256, Adam"),
    "resnet50": ("resnet50", "Training: ResNet-50, batch 4, 128 × 128"),
    "lstm": ("lstm", "Training: LSTM, 2 × 256, Adam"),
}
LANES = {
    "mycel, Graph": "mycel graph",
    "mycel, PyNative": "mycel pynative",
    "JAX, by hand": "jax lowerings",
    "PyTorch, eager": "torch eager",
    "torch.compile": "torch compiled",
    "MindSpore, Graph": "mindspore-2.7.0 graph",
    "MindSpore, PyNative": "mindspore-2.7.0 pynative",
}


def charts_of(rows: list[dict], conditions: str) -> dict:
    """What the charts of the front page are drawn from: quartiles over PyTorch eager's time."""
    works = []
    for work, (file, title) in CHARTS.items():
        here = {row["what"]: row["torch eager"] for row in rows if row["work"] == work}
        lanes = []
        for name, lane in LANES.items():
            if lane in here:
                low, middle, high = (round(value, 2) for value in here[lane])
                lanes.append([name, middle, low, high] if low < high else [name, middle])
        works.append({"file": file, "title": title, "lanes": lanes})
    return {
        "said": ["Medians; lines are quartiles.", *textwrap.wrap(conditions, 60)],
        "works": works,
    }


def record(rows: list[dict], rounds: int, conditions: str) -> None:
    """Write the table into the page, and what the charts are drawn from.

    Args:
        rows: of all networks, from one run or several.
        rounds: how many there were.
        conditions: machine and versions.

    Raises:
        SystemExit: the page has no place for it.
    """
    before, begin, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{PAGE} has no place for the table: {BEGIN} … {END}")
    told = f"Medians of {rounds} rounds [quartiles] on {conditions}."
    table = f"{BEGIN}\n\n{told}\n\n{table_of(rows)}\n\n{END}"
    PAGE.write_text(f"{before}{table}{after}", "utf-8")
    shown = [
        {
            "title": TITLES.get(row["work"], row["work"]),
            "lane": row["what"].removeprefix("mycel "),
            "ratio": row["torch's best"],
        }
        for row in rows
        if row["what"] in ("mycel graph", "mycel pynative") and "torch's best" in row
        if not row["work"].startswith("chain")
    ]
    _write(MEASURED, shown)
    _write(RECORDED, charts_of(rows, conditions))


def _write(file: pathlib.Path, content) -> None:
    file.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
