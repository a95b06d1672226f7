# SPDX-License-Identifier: Apache-2.0
"""Spell: from one definition to every name a program may use for it."""

from mycel.kernel.spell.declare import add_member, answer, composite, namespaces, op
from mycel.kernel.spell.primitive import Primitive

__all__ = ["Primitive", "add_member", "answer", "composite", "namespaces", "op"]
