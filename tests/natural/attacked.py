# SPDX-License-Identifier: Apache-2.0
"""Programs with which the machine was attacked, and which it got wrong once: what chooses an
element, what is stored, classes and enums that are changed, files and objects of NumPy, locks,
partials, what Python keeps of functions.

By name: what stands before the function, what a `construct` does for `gain`, what happens between
the calls, and what is looked at after each.
"""

from __future__ import annotations

import abc
import array
import ast
import asyncio
import cmd
import codecs
import collections
import contextvars
import copy
import ctypes
import dataclasses
import enum
import functools
import gc
import inspect
import io
import linecache
import mmap
import os
import pathlib
import re
import string
import tempfile
import textwrap
import threading
import traceback
import types
import typing
import warnings
import weakref
from xml.etree import ElementTree

import numpy as np
import scipy.interpolate
import scipy.sparse
import scipy.stats

import mycel as ms
from mycel import Parameter, Tensor, nn, ops
from natural.common import Box, batch, weight
from natural.families import NAMES, declare

MODULES = (
    abc, array, ast, asyncio, cmd, codecs, collections, contextvars, copy, ctypes, dataclasses,
    enum, functools, gc, inspect, io, linecache, mmap, os, pathlib, re, string, tempfile, textwrap,
    threading, traceback, types, typing, warnings, weakref,
)  # fmt: skip
NAMES.update({module.__name__: module for module in MODULES})
NAMES.update(
    ms=ms, np=np, nn=nn, ops=ops, scipy=scipy, Parameter=Parameter, Tensor=Tensor, Box=Box,
    ElementTree=ElementTree, batch=batch, weight=weight, partial=functools.partial,
    defaultdict=collections.defaultdict,
    Protocol=typing.Protocol, runtime_checkable=typing.runtime_checkable, wraps=functools.wraps,
)  # fmt: skip

PROGRAM = """\
def {name}(jit):
{before}

    class Net(nn.Cell):
        @jit.construct
        def construct(self, x):
{body}
            return x * gain

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
{change}
        return step(batch(i))

    return loop, lambda: {shown}
"""

PROGRAMS = {
    "abc_register": (
        "class Base(abc.ABC): pass\nclass A: pass\nclass B: pass",
        "gain = 2.0 if isinstance(A(), Base) else 5.0",
        "if i == 5: Base.register(A)",
        "0",
    ),
    "abstract_methods": (
        "class A(abc.ABC):\n    @abc.abstractmethod\n    def go(s): ...\nclass B(A): pass",
        "try:\n    B(); gain = 2.0\nexcept TypeError: gain = 3.0",
        "if i == 5: B.go = lambda s: 1; abc.update_abstractmethods(B)",
        "0",
    ),
    "annotations_read": (
        "def f(a: 2.0): pass",
        "gain = f.__annotations__['a']",
        "if i in (5, 9): f.__annotations__['a'] += 1",
        "0",
    ),
    "bool_len_late": (
        "class A: pass\na = A()",
        "gain = 2.0 if a else 3.0",
        "if i == 5: A.__len__ = lambda s: 0\nif i == 9: A.__bool__ = lambda s: True",
        "0",
    ),
    "borg": (
        "class S:\n    _d = {'k': 2.0}\n    def __init__(s): s.__dict__ = S._d",
        "gain = S().k",
        "if i in (5, 9): S().k += 1",
        "0",
    ),
    "callable_late": (
        "class A: pass\na = A()",
        "gain = 2.0 if callable(a) else 3.0",
        "if i == 5: A.__call__ = lambda s: 1\nif i == 9: del A.__call__",
        "0",
    ),
    "class_dict_len": (
        "class K: pass",
        "gain = float(sum(n.startswith('x') for n in vars(K))) + 1",
        "if i in (5, 9): setattr(K, 'x%d' % i, 1)",
        "0",
    ),
    "cls_bases_read": (
        "class A: pass\nclass B: pass\nclass C(A): pass",
        "gain = 2.0 if C.__bases__ == (A,) else 3.0",
        "if i == 5: C.__bases__ = (B,)\nif i == 9: C.__bases__ = (A,)",
        "0",
    ),
    "cls_issub": (
        "class A: pass\nclass B: pass\nclass C(A): pass",
        "gain = 2.0 if issubclass(C, A) else 3.0",
        "if i == 5: C.__bases__ = (B,)\nif i == 9: C.__bases__ = (A,)",
        "0",
    ),
    "contextvar_copy": (
        "v = contextvars.ContextVar('att_v2', default=2.0)",
        "gain = contextvars.copy_context().get(v, 5.0)",
        "if i in (5, 9): v.set(float(i))",
        "0",
    ),
    "deepcopy_pure": (
        "d = {'g': [2.0]}",
        "gain = copy.deepcopy(d)['g'][0]",
        "",
        "0",
    ),
    "default_factory_change": (
        "d = defaultdict(lambda: 2.0)",
        "gain = d.__missing__('zz') if 0 else dict(d).get('a', d.default_factory())",
        "if i in (5, 9): d.default_factory = lambda v=i: float(v)",
        "0",
    ),
    "dict_of_tensors_idx": (
        "d = {'k': [0]}",
        "gain = {'t': x}['t'][d['k']].sum()",
        "if i in (5, 9): d['k'][0] = 1 - d['k'][0]",
        "0",
    ),
    "doc_read": (
        "def f(): '2'",
        "gain = float(f.__doc__)",
        "if i in (5, 9): f.__doc__ = str(i)",
        "0",
    ),
    "enum_attr": (
        "class E(enum.Enum):\n    A = 1\n    B = 2\nE.A.g = 2.0",
        "gain = E.A.g + E['A'].g + E(1).g",
        "if i in (5, 9): E.A.g += 1",
        "0",
    ),
    "enum_init_fields": (
        "class E(enum.Enum):\n    A = (1, 2.0)\n    def __init__(s, a, b): s.a, s.b = a, b",
        "gain = E.A.b",
        "if i in (5, 9): E.A.b += 1",
        "0",
    ),
    "enum_iter": (
        "class E(enum.Enum):\n    A = 1\n    B = 2\nfor e in E: e.g = 1.0",
        "gain = sum(e.g for e in E)",
        "if i in (5, 9): E.B.g += 1",
        "0",
    ),
    "enum_member_append_step": (
        "class E(enum.Enum):\n    A = 1\nE.A.h = []",
        "E.A.h.append(1); gain = 2.0",
        "",
        "len(E.A.h)",
    ),
    "enum_member_list": (
        "class E(enum.Enum):\n    A = [1.0]",
        "gain = E.A.value[0]",
        "if i in (5, 9): E.A.value[0] += 1",
        "0",
    ),
    "enum_method_state": (
        "class E(enum.Enum):\n    A = 1\n    def scale(s): return s.k\nE.A.k = 2.0",
        "gain = E.A.scale()",
        "if i in (5, 9): E.A.k += 1",
        "0",
    ),
    "fn_code_read": (
        "def f(): return 2.0\ndef h(a, b): return 3.0",
        "gain = float(f.__code__.co_argcount) + 1",
        "if i in (5, 9): f.__code__, h.__code__ = h.__code__, f.__code__",
        "0",
    ),
    "fn_defaults_read": (
        "def f(a=2.0): pass",
        "gain = f.__defaults__[0]",
        "if i in (5, 9): f.__defaults__ = (float(i),)",
        "0",
    ),
    "fn_kwdefaults_read": (
        "def f(*, a=2.0): pass",
        "gain = f.__kwdefaults__['a']",
        "if i in (5, 9): f.__kwdefaults__['a'] += 1",
        "0",
    ),
    "fn_module": (
        "def f(): pass",
        "gain = float(len(f.__module__))",
        "if i in (5, 9): f.__module__ += 'a'",
        "0",
    ),
    "format_map": (
        "class M(dict):\n    v = 2.0\n    def __missing__(s, k): return s.v\nm = M()",
        "gain = float('{x}'.format_map(m))",
        "if i in (5, 9): m.v += 1",
        "0",
    ),
    "getmembers": (
        "b = Box(x1=1.0)",
        "gain = sum(v for n, v in inspect.getmembers(b) if n.startswith('x'))",
        "if i in (5, 9): setattr(b, 'x%d' % i, 1.0)",
        "0",
    ),
    "idx_list": (
        "s = [0, 1]",
        "gain = (x[s]).sum()",
        "if i in (5, 9): s[1] = 0; s[0] = 0",
        "0",
    ),
    "idx_np_mask": (
        "s = np.array([True, False])",
        "gain = (x[s]).sum()",
        "if i in (5, 9): s[1] = True",
        "0",
    ),
    "idx_set_list": (
        "s = [0]",
        "y = x * 1\ny[s] = 7.0\ngain = y.sum()",
        "if i in (5, 9): s[0] = 1",
        "0",
    ),
    "idx_set_value_list": (
        "s = [1.0, 2.0, 3.0]",
        "y = x * 1\ny[0] = s\ngain = y.sum()",
        "if i in (5, 9): s[0] += 1",
        "0",
    ),
    "inherit2": (
        "class A: g = 2.0\nclass B(A): pass\nc = B()",
        "gain = c.g",
        "",
        "0",
    ),
    "inspect_getattr_static": (
        "b = Box(g=2.0)",
        "gain = inspect.getattr_static(b, 'g')",
        "if i in (5, 9): b.g += 1",
        "0",
    ),
    "instancecheck": (
        "class Meta(type):\n"
        "    wanted = True\n"
        "    def __instancecheck__(cls, obj): return cls.wanted\n"
        "class Kind(metaclass=Meta): pass",
        "gain = 2.0 if isinstance(3, Kind) else 5.0",
        "if i in (5, 9): Meta.wanted = not Meta.wanted",
        "Meta.wanted",
    ),
    "isinstance_bases": (
        "class A: pass\nclass B: pass\nclass C(A): pass\nc = C()",
        "gain = 2.0 if isinstance(c, A) else 3.0",
        "if i == 5: C.__bases__ = (B,)\nif i == 9: C.__bases__ = (A,)",
        "0",
    ),
    "isinstance_class_swap": (
        "class A: pass\nclass B: pass\na = A()",
        "gain = 2.0 if isinstance(a, A) else 3.0",
        "if i == 5: a.__class__ = B\nif i == 9: a.__class__ = A",
        "0",
    ),
    "list_slice_assign": (
        "s = [1.0]",
        "l = [0]; l[:] = s; gain = sum(l) + 1",
        "if i in (5, 9): s[0] += 1",
        "0",
    ),
    "lock_acquire_step": (
        "l = threading.Lock()",
        "gain = 2.0 if l.acquire(blocking=False) else 3.0",
        "if i in (6, 10): l.release()",
        "l.locked()",
    ),
    "lock_locked": (
        "e = threading.Lock()",
        "gain = 2.0 if e.locked() else 3.0",
        "if i == 5: e.acquire()\nif i == 9: e.release()",
        "0",
    ),
    "match_args": (
        "class P:\n"
        "    __match_args__ = ('a', 'b')\n"
        "    def __init__(self): self.a, self.b = 1, 2.0\n"
        "p = P()",
        "match p:\n    case P(1, g): gain = g\n    case P(g, _): gain = g * 10",
        "if i == 5: P.__match_args__ = ('b', 'a')\n"
        "if i == 9: P.__match_args__ = ('a', 'b'); p.b = 7.0",
        "0",
    ),
    "metaclass_call": (
        "class Meta(type):\n"
        "    gain = 2.0\n"
        "    def __call__(cls, *a): return cls.gain\n"
        "class K(metaclass=Meta): pass",
        "gain = K()",
        "if i in (5, 9): Meta.gain += 1",
        "0",
    ),
    "mmap_read": (
        "m = mmap.mmap(-1, 16)",
        "gain = float(m[2]) + 1",
        "if i in (5, 9): m[2] = i",
        "0",
    ),
    "module_getattr": (
        "mod = types.ModuleType('attack_mod')\n"
        "mod.table = {'gain': 2.0}\n"
        "exec('def __getattr__(n): return table[n]', mod.__dict__)",
        "gain = mod.gain",
        "if i == 5: mod.table['gain'] = 3.0\nif i == 9: mod.gain = 8.0",
        "0",
    ),
    "mro_read": (
        "class A: g = 2.0\nclass B: g = 3.0\nclass C(A): pass",
        "gain = float(len(C.__mro__)) + C.g",
        "if i == 5: C.__bases__ = (B, A)\nif i == 9: C.__bases__ = (A,)",
        "0",
    ),
    "name_read": (
        "def f(): '2'",
        "gain = float(len(f.__name__))",
        "if i in (5, 9): f.__name__ += 'a'",
        "0",
    ),
    "np_bitgen_raw": (
        "r = np.random.PCG64(1)",
        "gain = 1.0 + r.random_raw() % 7",
        "",
        "r.state['state']['state']",
    ),
    "np_bitgen_state": (
        "r = np.random.default_rng(1)\nr0 = r.bit_generator.state['state']['state'] % 1000",
        "gain = 1.0 + (r.bit_generator.state['state']['state'] % 1000)",
        "if i in (5, 9): r.random()",
        "0",
    ),
    "np_divide_warn": (
        "",
        "np.array(1.0) / np.array(0.0)\ngain = 2.0",
        "",
        "0",
    ),
    "np_dump": (
        "f = tempfile.mktemp()",
        "np.ones(2).dump(f); gain = 2.0",
        "if os.path.exists(f): os.remove(f)",
        "os.path.exists(f)",
    ),
    "np_fromfile": (
        "f = tempfile.mktemp()\nnp.ones(3).tofile(f)",
        "gain = float(np.fromfile(f)[0])",
        "if i in (5, 9): (np.ones(3) * i).tofile(f)",
        "0",
    ),
    "np_genfromtxt": (
        "f = tempfile.mktemp()\npathlib.Path(f).write_text('2.0')",
        "gain = float(np.genfromtxt(f))",
        "if i in (5, 9): pathlib.Path(f).write_text(str(i))",
        "0",
    ),
    "np_idx_np": (
        "a = np.arange(4.0)\ns = np.array([0, 1])",
        "gain = float(a[s].sum()) + 1",
        "if i in (5, 9): s[1] += 1",
        "0",
    ),
    "np_load_npz": (
        "f = tempfile.mktemp() + '.npz'\nnp.savez(f, a=np.ones(3))",
        "with np.load(f) as z: gain = float(z['a'][0])",
        "if i in (5, 9): np.savez(f, a=np.ones(3) * i)",
        "0",
    ),
    "np_local_idx_list": (
        "s = [0, 1]",
        "a = np.arange(4.0); gain = float(a[s].sum()) + 1",
        "if i in (5, 9): s[1] += 1",
        "0",
    ),
    "np_local_mask": (
        "m = np.array([True, False])",
        "a = np.arange(1.0, 3.0); gain = float(a[m].sum())",
        "if i in (5, 9): m[1] = not m[1]",
        "0",
    ),
    "np_local_set_value": (
        "s = [1.0, 2.0]",
        "a = np.zeros(2); a[:] = s; gain = float(a.sum())",
        "if i in (5, 9): s[1] += 1",
        "0",
    ),
    "np_masked": (
        "m = np.ma.array([1.0, 2.0, 3.0], mask=[0, 0, 1])",
        "gain = float(m.sum())",
        "if i == 5: m.mask[2] = False; m[2] = 3.0\nif i == 9: m[0] = np.ma.masked",
        "0",
    ),
    "np_memmap": (
        "f = tempfile.mktemp()\n"
        "mm = np.memmap(f, np.float32, 'w+', shape=(4,)); mm[:] = 1\n"
        "other = np.memmap(f, np.float32, 'r+', shape=(4,))",
        "gain = float(mm[1])",
        "if i in (5, 9): other[1] = i",
        "0",
    ),
    "np_memmap_open_step": (
        "f = tempfile.mktemp()\nnp.ones(4, np.float32).tofile(f)",
        "gain = float(np.memmap(f, np.float32, 'r')[0])",
        "if i in (5, 9): (np.ones(4, np.float32) * i).tofile(f)",
        "0",
    ),
    "np_memmap_write_step": (
        "f = tempfile.mktemp()\nmm = np.memmap(f, np.float32, 'w+', shape=(4,))",
        "mm[0] += 1; gain = 2.0",
        "",
        "float(mm[0])",
    ),
    "np_npz": (
        "f = tempfile.mktemp() + '.npy'\nnp.save(f, np.ones(3))",
        "gain = float(np.load(f)[0])",
        "if i in (5, 9): np.save(f, np.ones(3) * i)",
        "0",
    ),
    "np_overflow_warn": (
        "b = Box(v=np.float32(1e38))",
        "v = b.v * b.v\ngain = 2.0",
        "if i == 6: b.v = np.float32(1)\nif i == 10: b.v = np.float32(1e38)",
        "0",
    ),
    "np_pcg_jump": (
        "bg = np.random.PCG64(3)",
        "bg.advance(1); gain = 2.0",
        "",
        "bg.state['state']['state'] % 1000",
    ),
    "np_poly": (
        "p = np.poly1d([1.0, 2.0])",
        "gain = float(p(1.0))",
        "if i in (5, 9): p.coeffs[1] += 1",
        "0",
    ),
    "np_polynomial": (
        "p = np.polynomial.Polynomial([1.0, 2.0])",
        "gain = float(p(1.0))",
        "if i in (5, 9): p.coef[1] += 1",
        "0",
    ),
    "np_recarray": (
        "r = np.rec.array([(1, 2.0), (3, 4.0)], dtype=[('a', int), ('b', float)])",
        "gain = float(r.b[1])",
        "if i in (5, 9): r.b[1] += 1",
        "0",
    ),
    "np_rng_spawn": (
        "r = np.random.SeedSequence(1)",
        "gain = 1.0 + len(r.spawn(1))",
        "",
        "r.n_children_spawned",
    ),
    "np_save_step": (
        "f = tempfile.mktemp() + '.npy'",
        "np.save(f, np.ones(3)); gain = 2.0",
        "if os.path.exists(f): os.remove(f)",
        "os.path.exists(f)",
    ),
    "np_savetxt_step": (
        "f = tempfile.mktemp()",
        "np.savetxt(f, np.ones(3)); gain = 2.0",
        "if os.path.exists(f): os.remove(f)",
        "os.path.exists(f)",
    ),
    "np_savez_step": (
        "f = tempfile.mktemp() + '.npz'",
        "np.savez(f, a=np.ones(3)); gain = 2.0",
        "if os.path.exists(f): os.remove(f)",
        "os.path.exists(f)",
    ),
    "np_shared_memory_base": (
        "a = np.arange(4.0)\nb = Box(v=a[1:])",
        "gain = float(b.v.base[0]) + 1",
        "if i in (5, 9): a[0] += 1",
        "0",
    ),
    "np_tofile_step": (
        "f = tempfile.mktemp()",
        "np.ones(3).tofile(f); gain = 2.0",
        "if os.path.exists(f): os.remove(f)",
        "os.path.exists(f)",
    ),
    "np_writeable_flag": (
        "a = np.arange(6.0)",
        "gain = 2.0 if a.flags.writeable else 3.0",
        "if i == 5: a.flags.writeable = False\nif i == 9: a.flags.writeable = True",
        "0",
    ),
    "param_setitem_list": (
        "s = [0]\np = Parameter(np.zeros(3, np.float32), name='p')",
        "p[s] = 1.0; gain = 2.0",
        "if i in (5, 9): s[0] += 1",
        "p.asnumpy()",
    ),
    "partial_attr": (
        "p = partial(float, 2.0); p.k = 2.0",
        "gain = p.k",
        "if i in (5, 9): p.k += 1",
        "0",
    ),
    "partial_setstate": (
        "p = partial(float, 2.0)",
        "gain = p()",
        "if i in (5, 9): p.__setstate__((float, (float(i),), {}, {}))",
        "0",
    ),
    "percent_missing": (
        "class M(dict):\n    v = 2.0\n    def __missing__(s, k): return s.v\nm = M()",
        "gain = float('%(x)s' % m)",
        "if i in (5, 9): m.v += 1",
        "0",
    ),
    "prim_add_attr": (
        "p = ops.ReLU()",
        "gain = 2.0 if p.attrs.get('k', 0) else 3.0",
        "if i == 5: p.add_prim_attr('k', 1)",
        "0",
    ),
    "prim_attr": (
        "p = ops.ReduceSum()",
        "gain = p(x, 0)[0]",
        "if i == 5: p.keep_dims = True",
        "0",
    ),
    "protocol_check": (
        "@runtime_checkable\nclass Goes(Protocol):\n    def go(self): ...\nclass A: pass\na = A()",
        "gain = 2.0 if isinstance(a, Goes) else 5.0",
        "if i == 5: a.go = lambda: 1\nif i == 9: del a.go",
        "0",
    ),
    "qualname_class": (
        "class K: pass",
        "gain = float(len(K.__name__))",
        "if i in (5, 9): K.__name__ += 'a'",
        "0",
    ),
    "rlock_acquire_step": (
        "l = threading.RLock()",
        "l.acquire(); gain = 2.0",
        "",
        "repr(l).split('count=')[1][:2]",
    ),
    "scipy_csr": (
        "from scipy import sparse\nm = sparse.csr_matrix(np.eye(2))",
        "gain = float(m.sum())",
        "if i in (5, 9): m.data[0] += 1",
        "0",
    ),
    "scipy_interp": (
        "from scipy import interpolate\nf = interpolate.CubicSpline([0, 1, 2], [0.0, 1.0, 2.0])",
        "gain = float(f(1.0))",
        "if i in (5, 9): f.c[...] += 1",
        "0",
    ),
    "scipy_io": (
        "from scipy import io as sio\nf = tempfile.mktemp() + '.mat'\nsio.savemat(f, {'a': 2.0})",
        "gain = float(sio.loadmat(f)['a'][0, 0])",
        "if i in (5, 9): sio.savemat(f, {'a': float(i)})",
        "0",
    ),
    "scipy_rv": (
        "from scipy import stats\nr = stats.norm(2.0, 1.0)",
        "gain = float(r.mean())",
        "if i in (5, 9): r.kwds['loc'] = float(i); r.args = ()",
        "0",
    ),
    "signature_read": (
        "def f(a, b=2.0): pass",
        "gain = inspect.signature(f).parameters['b'].default",
        "if i in (5, 9): f.__defaults__ = (float(i),)",
        "0",
    ),
    "string_template": (
        "d = {'g': '2'}\nt = string.Template('$g')",
        "gain = float(t.substitute(d))",
        "if i == 5: d['g'] = '3'\nif i == 9: t.template = '9'",
        "0",
    ),
    "template_idpattern": (
        "class TT(string.Template): delimiter = '$'\nt = TT('$g #g')",
        "gain = float(len(t.safe_substitute(g='abc')))",
        "if i in (5, 9): t.template += '$g'",
        "0",
    ),
    "textwrapper": (
        "w = textwrap.TextWrapper(width=10)",
        "gain = float(len(w.wrap('aaa bbb ccc ddd')))",
        "if i in (5, 9): w.width -= 3",
        "0",
    ),
    # What Python's library and classes in C keep.
    "ast_written": (
        "t = ast.parse('1 + 2', mode='eval')",
        "gain = float(len(ast.unparse(t)))",
        "if i in (5, 9): t.body.left.value *= 100",
        "ast.unparse(t)",
    ),
    "ast_visited": (
        "class V(ast.NodeVisitor):\n    def generic_visit(self, node): return self.gain\n"
        "v, t = V(), ast.parse('1')\nv.gain = 2.0",
        "gain = v.visit(t)",
        "if i in (5, 9): v.gain *= 2",
        "v.gain",
    ),
    "bound_arguments": (
        "def f(a, b=2.0): pass\nbound = inspect.signature(f).bind(3.0)",
        "gain = bound.args[0]",
        "if i in (5, 9): bound.arguments['a'] *= 2",
        "bound.arguments",
    ),
    "bytes_subclass": (
        "class B(io.BytesIO): pass\nb = B(b'abcd')",
        "gain = float(len(b.getvalue()))",
        "if i in (5, 9): b.truncate(len(b.getvalue()) - 1)",
        "b.getvalue()",
    ),
    "command": (
        "c = cmd.Cmd()\nc.identchars = 'abc'",
        "gain = float(len(c.parseline('abc d')[0]))",
        "if i in (5, 9): c.identchars = c.identchars[:-1]",
        "c.identchars",
    ),
    "ctypes_array": (
        "a = (ctypes.c_double * 2)(2.0, 3.0)",
        "gain = a[0]",
        "if i in (5, 9): a[0] *= 2",
        "list(a)",
    ),
    "ctypes_structure": (
        "class S(ctypes.Structure): _fields_ = [('a', ctypes.c_double)]\ns = S(2.0)",
        "gain = s.a",
        "if i in (5, 9): s.a *= 2",
        "s.a",
    ),
    "decoder": (
        "d = codecs.getincrementaldecoder('utf-8')('ignore')",
        "gain = 1.0 + len(d.decode(b'\\xa9'))",
        "if i in (5, 9): d.decode(b'\\xc3')",
        "d.getstate()",
    ),
    "exceptions_arguments": (
        "class E(Exception): pass\ne = E(2.0)",
        "gain = e.args[0]",
        "if i in (5, 9): e.args = (e.args[0] * 2,)",
        "e.args",
    ),
    "future": (
        "events = asyncio.new_event_loop()\njit.undo(events.close)\n"
        "f = asyncio.Future(loop=events)",
        "gain = 2.0 if f.done() else 1.0",
        "if i == 5: f.set_result(1)",
        "f.done()",
    ),
    "lines_of_a_file": (
        "linecache.cache['no file'] = (1, None, ['ab'], 'no file')",
        "gain = float(len(linecache.getlines('no file')[0]))",
        "if i in (5, 9): linecache.cache['no file'][2][0] += 'c'",
        "0",
    ),
    "scanner": (
        "r = re.Scanner([('a', lambda scanner, text: len(text))])",
        "gain = float(len(r.scan('aa')[0]))",
        "if i in (5, 9): r.lexicon[0] = ('a', None if i == 5 else len)",
        "0",
    ),
    "signature": (
        "def f(a, b): pass\ns = [inspect.signature(f)]",
        "gain = float(len(s[0].parameters))",
        "if i in (5, 9): s[0]._parameters = types.MappingProxyType({})",
        "0",
    ),
    "traceback_limit": (
        "import sys\njit.undo(sys.__dict__.pop, 'tracebacklimit', None)\n"
        "def fail(): raise ValueError",
        "try: fail()\nexcept ValueError as e: gain = float(len(traceback.format_exception(e)))",
        "if i in (5, 9): sys.tracebacklimit = i % 3",
        "0",
    ),
    "tree_of_xml": (
        "t = ElementTree.fromstring('<a><b/></a>')",
        "gain = float(len(t))",
        "if i in (5, 9): t.append(ElementTree.Element('c'))",
        "len(t)",
    ),
    # Objects of ours that programs make and set.
    "grad_operation": (
        "take = ops.GradOperation()\ndef f(a): return (a * a).sum()",
        "found = take(f)(x)\ngain = found[0].sum() if isinstance(found, tuple) else 3.0",
        "if i in (5, 9): take.get_all = i == 5",
        "0",
    ),
    "initializer": (
        "from mycel.common.initializer import Constant, initializer\nc = Constant(2.0)",
        "gain = initializer(c, (1,), ms.float32).init_data()",
        "if i in (5, 9): c.value += 1",
        "0",
    ),
    "initializer_subclass": (
        "from mycel.common.initializer import Constant, initializer\nclass Mine(Constant): pass\n"
        "c = Mine(2.0)",
        "gain = initializer(c, (1,), ms.float32).init_data()",
        "if i in (5, 9): c.value += 1",
        "0",
    ),
    "imported_inside": (
        "import sys\njit.undo(sys.modules.pop, 'no_module', None)\n"
        "sys.modules['no_module'] = types.SimpleNamespace(gain=2.0)",
        "import no_module\ngain = no_module.gain",
        "if i in (5, 9): sys.modules['no_module'] = types.SimpleNamespace(gain=float(i))",
        "0",
    ),
    "type_hints": (
        "class K:\n    a: int",
        "gain = float(len(typing.get_type_hints(K)))",
        "if i in (5, 9): K.__annotations__['n%d' % i] = int",
        "0",
    ),
    "wrapped_attr": (
        "def f(): return 2.0\n@wraps(f)\ndef g(): return 3.0",
        "gain = g.__wrapped__()",
        "if i in (5, 9): g.__wrapped__ = lambda v=i: float(v)",
        "0",
    ),
    "x_idx_default": (
        "def f(t, s=[0, 1]): return t[s]",
        "gain = f(x).sum()",
        "if i in (5, 9): f.__defaults__[0][1] = 0",
        "0",
    ),
    "x_idx_param_list": (
        "s = [0, 1]\ndef f(t, s): return t[s]",
        "gain = f(x, s).sum()",
        "if i in (5, 9): s[1] = 0",
        "0",
    ),
    "x_set_np_value": (
        "s = np.zeros(3, np.float32)",
        "y = x * 1; y[0] = s; gain = y.sum()",
        "if i in (5, 9): s[0] += 1",
        "0",
    ),
}


def _indented(text: str, depth: int) -> str:
    return textwrap.indent(text or "pass", " " * depth)


for _name, (_before, _body, _change, _shown) in PROGRAMS.items():
    _text = PROGRAM.replace("{name}", f"attacked_{_name}").replace("{shown}", _shown or "None")
    for _part, _depth in (("before", 4), ("body", 12), ("change", 8)):
        _given = {"before": _before, "body": _body, "change": _change}[_part]
        _text = _text.replace(f"{{{_part}}}", _indented(_given, _depth))
    declare(f"attacked_{_name}", _text)
