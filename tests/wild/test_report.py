# SPDX-License-Identifier: Apache-2.0
"""The report of programs from elsewhere. Oracle: what is kept of the runs, counted by hand."""

from __future__ import annotations

import pytest

from wild import report
from wild.causes import CAUSES
from wild.programs import PROGRAMS


@pytest.fixture(autouse=True)
def no_cache(monkeypatch, tmp_path):
    """What runs on this machine left does not count here."""
    monkeypatch.setattr(report, "RUNS", tmp_path)


def test_the_page_is_the_report():
    found = report.results()
    text = report.PAGE.read_text("utf-8")
    assert f"**{report.count(found)}**" in text
    assert report.table(found) in text
    assert report.left_out() in text


def test_most_programs_reach_their_last_stage():
    found = report.results()
    assert set(found) == set(PROGRAMS) and len(found) >= 75
    stopped = {name for name, answers in found.items() if not report.reaches(name, answers)}
    assert len(found) - len(stopped) >= 73
    # Each of the others has its cause, and nothing else has one.
    assert stopped == set(CAUSES)


def test_the_last_stage_needs_every_script():
    name = "mindyolo/yolov5n"
    assert report.scripts(PROGRAMS[name]) == ["trains", "evaluates", "predicts"]
    well = {stage: {"ok": True} for stage in ("trains", "evaluates", "predicts")}
    assert report.reaches(name, well)
    for stage in well:
        assert not report.reaches(name, well | {stage: {"ok": False}})
        assert not report.reaches(name, {key: well[key] for key in well if key != stage})
    assert report.scripts(PROGRAMS["models/gpt"]) == ["trains"]
    assert report.reaches("models/gpt", {"trains": {"ok": True}})
    assert report.cell("models/gpt", "evaluates", None) == "-"
    assert report.cell("models/gpt", "forward", {"ok": True, "apart": 2e-7}) == "yes (2e-07)"
