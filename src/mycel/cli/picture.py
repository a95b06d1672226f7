# SPDX-License-Identifier: Apache-2.0
"""The picture of the demo: loss curves of the modes, and what the network reads in the digits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

COLUMNS, ROWS, MOST_WRONG_ROWS = 12, 5, 2
# The curves are means of this many steps; the single steps stand faintly behind them.
SMOOTHED = 20
RIGHT, WRONG = "#2a7f3f", "#c62828"
# The first mode is drawn wide and pale, the second thin on top: equal curves stay both visible.
STYLES = (
    {"color": "#f4a259", "linewidth": 5.0, "alpha": 0.75},
    {"color": "#1f4e79", "linewidth": 1.3},
)


def draw(path: Path, results, digits) -> None:
    """Draw the results of the demo into the PNG file `path`.

    Raises:
        ModuleNotFoundError: matplotlib is not installed.
    """
    # An optional extra, wanted by this function alone; Figure draws with Agg, without a window.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15, 7.6), layout="constrained", facecolor="white")
    accuracies = ", ".join(f"{r.accuracy:.1%} in {r.mode} mode" for r in results)
    figure.suptitle(
        f"LeNet-5 reads handwritten digits: test accuracy {accuracies}", fontsize=16, weight="bold"
    )
    parts: Any = figure.subfigures(1, 2, width_ratios=(1, 1.5))
    left, right = parts
    _draw_losses(left.subplots(), results)
    _draw_digits(right, results[-1], digits)
    figure.savefig(path, dpi=110)


def _draw_losses(axes, results) -> None:
    for result, style in zip(results, STYLES[-len(results) :], strict=False):
        steps = np.arange(1, len(result.losses) + 1)
        label = f"{result.mode}: {1000 * result.step_seconds:.2f} ms per step"
        axes.plot(steps, result.losses, color=style["color"], linewidth=0.6, alpha=0.3)
        width = min(SMOOTHED, len(steps))
        means = np.convolve(result.losses, np.full(width, 1 / width), "valid")
        axes.plot(steps[width - 1 :], means, label=label, **style)
    axes.set_yscale("log")
    axes.set_title(f"Training loss (mean of {SMOOTHED} steps)", fontsize=13)
    axes.set_xlabel("step")
    axes.set_ylabel("cross entropy of a batch")
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(loc="upper right", fontsize=11)


def _draw_digits(panel, result, digits) -> None:
    """Test digits in their order, and below them the ones that were read wrongly."""
    wrong = np.flatnonzero(result.predictions != digits.test_labels)
    rows = min(max(1, -(-len(wrong) // COLUMNS)), MOST_WRONG_ROWS)
    upper, lower = panel.subfigures(2, 1, height_ratios=(ROWS, rows + 0.25), hspace=0.03)
    shown = np.arange(min(COLUMNS * ROWS, len(digits.test_labels)))
    upper.suptitle(f"The first {len(shown)} test digits and what was read", fontsize=13)
    _draw_grid(upper, ROWS, shown, result, digits)
    lower.suptitle(
        f"{len(wrong)} of {len(digits.test_labels)} test digits were read wrongly "
        "(in brackets: what they are)",
        fontsize=13,
        color=WRONG if len(wrong) else RIGHT,
    )
    _draw_grid(lower, rows, wrong[: COLUMNS * rows], result, digits)


def _draw_grid(panel, rows, chosen, result, digits) -> None:
    cells = panel.subplots(rows, COLUMNS).ravel()
    for axes in cells:
        axes.set_axis_off()
    for axes, index in zip(cells, chosen, strict=False):
        read, label = result.predictions[index], digits.test_labels[index]
        right = read == label
        axes.imshow(digits.test_images[index, 0], cmap="gray_r", vmin=0, vmax=1)
        text, colour = (f"{read}", RIGHT) if right else (f"{read} ({label})", WRONG)
        axes.set_title(text, fontsize=12, color=colour, weight="bold", pad=3)
        if not right:
            _frame(axes)


def _frame(axes) -> None:
    axes.set_axis_on()
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set(color=WRONG, linewidth=2.5)
