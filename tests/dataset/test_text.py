# SPDX-License-Identifier: Apache-2.0
"""Texts with characters that nobody sees. Oracle: what MindSpore 2.10 gave for each."""

from __future__ import annotations

import numpy as np
import pytest

import mycel.dataset.text as text

IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u17b4\u180b\u200b\u202a\u2065\u3164\ufe0f\ufeff\uffa0\U000e0020"
)


def test_case_folding_leaves_out_what_is_ignorable():
    fold = text.CaseFold()
    for character in IGNORABLE:
        assert fold(np.array(f"CO{character}OP")) == "coop", ascii(character)
    assert fold(np.array("a\x07B\u2028\ufffd")) == "a\x07b\u2028\ufffd"


@pytest.mark.parametrize(
    ("given", "lower_case", "keep_whitespace", "expected"),
    [
        ("co\u00adop", True, False, ["coop"]),
        ("co\u00adop", False, True, ["co", " ", "op"]),
        ("a\x07b", True, False, ["a", "b"]),
        ("a\u200bb", False, True, ["a", " ", "b"]),
        ("a\u2028b", True, False, ["a", "b"]),
        ("a\u2028b", True, True, ["a", "\u2028", "b"]),
        ("a\u3000b", False, False, ["a", "b"]),
        ("a \t b", False, True, ["a", "   ", "b"]),
        ("\x07", True, False, [""]),
        ("a\ufffdb", True, False, ["a\ufffdb"]),
        ("a\u058ab", True, False, ["a", "\u058a", "b"]),
        ("a\u00a9b\uff11", False, False, ["a\u00a9b\uff11"]),
        ("a\u2065b", False, False, ["a\u2065b"]),
    ],
)
def test_basic_tokens(given, lower_case, keep_whitespace, expected):
    tokens = text.BasicTokenizer(lower_case, keep_whitespace)(np.array(given))
    assert tokens.tolist() == expected


def test_pieces_of_words():
    vocabulary = text.Vocab.from_list(["co", "##op", "a", "b", " "])
    tokens = text.BertTokenizer(vocabulary, lower_case=True)(np.array("co\u00adop"))
    assert tokens.tolist() == ["co", "##op"]
    kept = text.BertTokenizer(vocabulary, keep_whitespace=True, with_offsets=True)
    assert [part.tolist() for part in kept(np.array("a\tb"))] == [
        ["a", " ", "b"],
        [0, 1, 2],
        [1, 2, 3],
    ]


def test_separators_of_ascii_are_no_white_space():
    # Oracle: MindSpore 2.10. Python's str.split and str.isspace count U+001C to U+001F.
    for character in "\x1c\x1d\x1e\x1f":
        given = f"a{character}b"
        assert text.WhitespaceTokenizer()(np.array(given)).tolist() == [given]
        assert text.WhitespaceTokenizer(True)(np.array(given))[0].tolist() == [given]
        tokens = text.UnicodeScriptTokenizer()(np.array(given)).tolist()
        assert tokens == ["a", character, "b"]
    for character in "\t\n\x0b\x0c\r \x85\xa0\u2028\u3000":
        given = np.array(f"a{character}b")
        assert text.WhitespaceTokenizer()(given).tolist() == ["a", "b"], ascii(character)
        assert text.UnicodeScriptTokenizer()(given).tolist() == ["a", "b"], ascii(character)
