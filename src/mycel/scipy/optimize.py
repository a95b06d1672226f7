# SPDX-License-Identifier: Apache-2.0
"""Minimisation. The steps are SciPy's, in Python; the function and its gradient run here."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from mycel.kernel.base import errors
from mycel.kernel.base.dtypes import numpy_dtype
from mycel.kernel.differentiate.api import value_and_grad
from mycel.kernel.record.tensor import Tensor

__all__ = ["OptimizeResults", "line_search", "linear_sum_assignment", "minimize"]

_METHODS = {"bfgs": "BFGS", "lbfgs": "L-BFGS-B"}
_OPTIONS = {
    "BFGS": ("maxiter", "gtol", "norm"),
    "L-BFGS-B": ("maxiter", "gtol", "ftol", "maxfun", "maxls", "maxcor"),
}


class OptimizeResults(NamedTuple):
    """What `minimize` found.

    Attributes:
        x: where the function is smallest; `fun` and `jac` are its value and gradient there.
        success: whether the method came to its end; `status` is 0 then.
        hess_inv: the inverse of the matrix of second derivatives, as far as it is known.
        nfev, njev, nit: how many values, gradients and steps it took.
    """

    x: Tensor
    success: bool
    status: int
    fun: float
    jac: Tensor
    hess_inv: Tensor | None
    nfev: int
    njev: int
    nit: int


class LineSearchResults(NamedTuple):
    """What `line_search` found.

    Attributes:
        failed: whether there is no such step; `status` is 1 then.
        nit, nfev, ngev, k: how many steps were tried, and values and gradients taken.
        a_k: the length of the step; `f_k` and `g_k` are value and gradient at its end.
    """

    failed: bool
    nit: int
    nfev: int
    ngev: int
    k: int
    a_k: float
    f_k: float
    g_k: Tensor
    status: int


def _as_numpy(function, like, args=()):
    """The function with its gradient, from and to Float64 arrays."""
    with_gradient = value_and_grad(function)
    kind = numpy_dtype(like.dtype)

    def evaluate(x):
        value, slope = with_gradient(Tensor(x.reshape(like.shape).astype(kind)), *args)
        return float(value), slope.asnumpy().astype(np.float64).reshape(-1)

    return evaluate


def _start(x0, what) -> np.ndarray:
    if not isinstance(x0, Tensor) or x0.ndim > 1:
        shown = f"shape {x0.shape}" if isinstance(x0, Tensor) else type(x0).__name__
        raise errors.wrong(TypeError, what, "a vector, as a Tensor", shown)
    return x0.asnumpy().astype(np.float64).reshape(-1)


def minimize(
    func,
    x0,
    args=(),
    method=None,
    jac=None,
    hess=None,
    hessp=None,
    bounds=None,
    constraints=(),
    tol=None,
    callback=None,
    options=None,
):
    """Where a function of a vector is smallest, as `OptimizeResults`; values are read.

    Args:
        func: `func(x, *args)` gives a number; its gradient is taken.
        x0: where to begin.
        method: 'BFGS' (the default) or 'LBFGS'.
        tol: how small the gradient must be.
        options: `maxiter`, `gtol`, and others that SciPy's method of that name knows.

    Raises:
        ValueError: another method, or bounds, constraints and derivatives, which these methods
            do not use.

    Source: MindSpore's `scipy.optimize.minimize`.

    Example:
        >>> from mycel.scipy import optimize
        >>> def far(x):
        ...     return ((x - 2.0) ** 2).sum()
        >>> found = optimize.minimize(far, Tensor([0.0, 0.0]), method="BFGS")
        >>> print(found.success, ops.round(found.x))
        True [2. 2.]
    """
    import scipy.optimize

    chosen = _METHODS.get((method or "BFGS").lower())
    if chosen is None:
        raise errors.wrong(ValueError, "method", "'BFGS' or 'LBFGS'", repr(method))
    unused = {"jac": jac, "hess": hess, "hessp": hessp, "bounds": bounds, "callback": callback}
    unusable = [name for name, value in unused.items() if value is not None]
    if unusable or constraints:
        name = unusable[0] if unusable else "constraints"
        raise errors.wrong(ValueError, name, f"left out: {method or 'BFGS'} does not use it", "it")
    evaluate = _as_numpy(func, x0, args)
    known = {k: v for k, v in (options or {}).items() if k in _OPTIONS[chosen] and v is not None}
    optimum = scipy.optimize.minimize(
        evaluate, _start(x0, "x0"), jac=True, method=chosen, tol=tol, options=known
    )
    kind = numpy_dtype(x0.dtype)
    inverse = Tensor(optimum.hess_inv.astype(kind)) if chosen == "BFGS" else None
    return OptimizeResults(
        x=Tensor(optimum.x.astype(kind).reshape(x0.shape)),
        success=bool(optimum.success),
        status=int(optimum.status),
        fun=float(optimum.fun),
        jac=Tensor(optimum.jac.astype(kind).reshape(x0.shape)),
        hess_inv=inverse,
        nfev=int(optimum.nfev),
        njev=int(optimum.njev),
        nit=int(optimum.nit),
    )


def line_search(
    f,
    xk,
    pk,
    jac=None,
    gfk=None,
    old_fval=None,
    old_old_fval=None,
    c1=1e-4,
    c2=0.9,
    maxiter=20,
):
    """A step along a direction that the function falls by enough; values are read.

    Args:
        f: a function of a vector; its gradient is taken unless `jac` gives it.
        xk, pk: where to begin, and the direction.
        gfk, old_fval, old_old_fval: gradient and values that are known already.
        c1, c2: how much the value and the slope must fall.

    Source: MindSpore's `scipy.optimize.line_search`.

    Example:
        >>> from mycel.scipy import optimize
        >>> def far(x):
        ...     return ((x - 2.0) ** 2).sum()
        >>> optimize.line_search(far, Tensor([0.0]), Tensor([4.0])).failed
        False
    """
    import scipy.optimize

    start, direction = _start(xk, "xk"), _start(pk, "pk")
    evaluate = _as_numpy(f, xk)
    kind = numpy_dtype(xk.dtype)

    def slope(x):
        if jac is None:
            return evaluate(x)[1]
        return jac(Tensor(x.astype(kind))).asnumpy().astype(np.float64)

    known = [None if n is None else float(n) for n in (old_fval, old_old_fval)]
    gradient = None if gfk is None else gfk.asnumpy().astype(np.float64)
    with warnings.catch_warnings(action="ignore"):  # The result says that it failed.
        length, values, slopes, value, *_ = scipy.optimize.line_search(
            lambda x: evaluate(x)[0],
            slope,
            start,
            direction,
            gradient,
            *known,
            c1=c1,
            c2=c2,
            maxiter=maxiter,
        )
    failed = length is None
    end = start if failed else start + length * direction
    return LineSearchResults(
        failed=failed,
        nit=values,
        nfev=values,
        ngev=slopes,
        k=values,
        a_k=0.0 if failed else float(length),
        f_k=evaluate(start)[0] if failed else float(value),
        g_k=Tensor(slope(end).astype(kind)),
        status=int(failed),
    )


def linear_sum_assignment(cost_matrix, maximize, dimension_limit=None):
    """Which column each row gets so that the sum is smallest: rows and columns; values are read.

    Args:
        maximize: the largest sum instead.
        dimension_limit: how many columns there are; -1 stands for rows that get none of them.

    Source: MindSpore's `scipy.optimize.linear_sum_assignment`.

    Example:
        >>> from mycel.scipy import optimize
        >>> costs = Tensor([[4.0, 1.0], [2.0, 9.0]])
        >>> print(*optimize.linear_sum_assignment(costs, False))
        [0 1] [1 0]
    """
    import scipy.optimize

    costs = cost_matrix.asnumpy()
    limit = costs.shape[1] if dimension_limit is None else int(dimension_limit)
    rows, columns = scipy.optimize.linear_sum_assignment(costs[:, :limit], bool(maximize))
    size = min(costs.shape)
    pairs = np.full((2, size), -1, np.int64)
    pairs[:, : len(rows)] = rows, columns
    return Tensor(pairs[0]), Tensor(pairs[1])
