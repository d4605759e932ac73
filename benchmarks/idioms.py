"""Single calls as programs write them, on scalars, lists and small arrays, compared with NumPy.

    python benchmarks/idioms.py                     # all rows: how many are slower than with NumPy, and which
    python benchmarks/idioms.py --names random str  # rows that contain one of these words
    python benchmarks/idioms.py --all               # every row
    python benchmarks/idioms.py --quick             # one short round: whether the rows run, not their cost

A number is our time as a multiple of NumPy's: of each the least over rounds in which both run in turn. `import numpy`
gives forerun as in a program under `forerun run --as-numpy`. Each call ends before the next begins.
"""

from __future__ import annotations

import argparse
import math
import time
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import forerun
from forerun.as_numpy import install_as_numpy

OPERANDS = """
import math
import numpy as np
x, A, v3, p = np.linspace(0.0, 1.0, 50), np.arange(12.0).reshape(3, 4), np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0])
S, i, b, s, k, big = A[:3, :3] + np.eye(3) * 5, np.arange(50), x > 0.5, x[3], 3, np.zeros((40, 40))
l3, xi, c, row = [1.0, 2.0, 3.0], np.arange(20), x + 1j * x, (0.3, 0.4)
t = np.ndarray((50,), float, bytearray(x.tobytes()))  # NumPy's with both, as arrays that libraries return are
T, tv = np.ndarray((2000, 50), float, bytearray(800_000)), np.ndarray((50,), float, bytearray(400))  # data sets
w, e = np.ones(50), np.ones(2000)
tm, ti = t > 0.5, np.ndarray((3,), int, bytearray(np.arange(3).tobytes()))
"""
ROWS = """
p*[1.0,2.0]
p+[1,2]
p-(1.0,2.0)
[1.0,2.0]*p
p==[1.0,2.0]
np.minimum(p,[1.0,0.5])
np.maximum(x,0)
np.dot(p,[1.0,2.0])
np.dot(v3,v3)
S@v3
S@S
np.concatenate([x,[1.0]])
np.concatenate((x,x))
np.append(x,1.0)
np.append(x,[1.0])
np.append(x,s)
np.array([[s,1.0],[2.0,s]])
np.array([[s,s],[s,s]])
np.array([x[0],x[1],x[2]])
np.array((s,k))
np.array([p,p])
np.array([[1,2],[3,4]])
np.array([1.0,2.0])
np.array(s)
np.array(3)
np.asarray(3.0)
np.full(5,s)
np.full((3,3),2.0)
np.arange(k)
np.arange(0.0,1.0,0.1)
np.arange(s)
np.linspace(0,s,10)
np.linspace(0,1,50)
np.zeros([3,3])
np.zeros((3,3))
np.zeros(5,dtype=int)
np.zeros_like(x)
np.ones((3,3),dtype=np.float32)
np.eye(3)
np.sum(x)
np.sum(A,axis=0)
np.sum([s,s])
sum(v3)
max(v3)
min(x)
abs(s)
abs(x)
np.abs(s)
np.sqrt(s)
np.sqrt(2.0)
np.sin(math.pi)
math.sqrt(s)
math.sin(s)
float(s)
int(s)
round(s,2)
round(float(s),2)
np.round(x,2)
np.exp(-s)
s**2
s*s+1.0
s/2
2*s
s<0.5
s==s
bool(s<0.5)
s if s>0 else -s
k*s
s+x
x[3]
x[k]
x[-1]
x[1:5]
x[::2]
x[b]
x[i]
x[[1,2,3]]
A[1,2]
A[1]
A[:,1]
A[1][2]
A[1:,1:]
A[[0,1],[1,2]]
A[A>5]
A[:,None]
A[...,0]
x[None,:]
x.__setitem__(3,1.0)
x.__setitem__(3,s)
x.__setitem__(slice(1,4),0.0)
x.__setitem__(slice(1,4),[1,2,3])
A.__setitem__((1,2),s)
A.__setitem__((1,slice(None)),0.0)
A.__setitem__((slice(None),1),v3)
A.__setitem__(1,[1,2,3,4])
x.__setitem__(b,0.25)
x.__setitem__(i,x)
x.__setitem__(b,x[b])
x.sum()
x.mean()
x.max()
x.std()
x.var()
np.std(x)
np.var(A,axis=0)
np.median(x)
np.percentile(x,50)
np.percentile(x,[25,75])
np.argmax(x)
np.argmin(A,axis=1)
np.argsort(x)
np.sort(x)
np.unique(xi)
np.cumsum(x)
np.cumprod(x)
np.diff(x)
np.gradient(x)
np.where(b)
np.where(b,x,0.0)
np.where(x>0.5,x,-x)
np.nonzero(b)
np.argwhere(b)
np.any(b)
np.all(b)
b.any()
b.sum()
np.count_nonzero(b)
np.clip(x,0,1)
x.clip(0.2,0.8)
np.isnan(x)
np.isnan(s)
np.isfinite(x).all()
np.allclose(x,x)
np.isclose(s,0.5)
np.array_equal(x,x)
np.outer(v3,v3)
np.cross(v3,[1.0,0.0,0.0])
np.cross(v3,v3)
np.linalg.norm(v3)
np.linalg.norm(p-[1.0,1.0])
np.linalg.solve(S,v3)
np.linalg.inv(S)
np.linalg.det(S)
np.linalg.eigh(S)
np.linalg.eig(S)
np.linalg.svd(S)
np.linalg.qr(S)
np.linalg.lstsq(A.T,np.ones(4),rcond=None)
np.vstack([v3,v3])
np.hstack([v3,v3])
np.column_stack([v3,v3])
np.stack([v3,v3])
np.dstack([v3,v3])
np.meshgrid(v3,v3)
np.mgrid[0:3,0:3]
np.indices((3,3))
np.tile(v3,2)
np.repeat(v3,2)
np.roll(x,1)
np.flip(x)
x[::-1]
np.transpose(A)
A.T
A.T.copy()
A.copy()
A.reshape(4,3)
A.reshape(-1)
A.ravel()
A.flatten()
A.tolist()
x.astype(int)
x.astype(np.float32)
A.shape
len(x)
x.size
A.ndim
x.dtype
list(v3)
[v for v in x]
[float(v) for v in v3]
[r for r in A]
tuple(v3)
list(enumerate(v3))
list(zip(v3,v3))
np.searchsorted(x,0.3)
np.searchsorted(x,[0.3,0.4])
np.interp(0.3,x,x)
np.interp(x,x,x)
np.histogram(x,10)
np.bincount(xi)
np.digitize(x,v3)
np.convolve(x,v3)
np.convolve(x,v3,"same")
np.correlate(x,v3)
np.fft.fft(x)
np.fft.rfft(x)
np.fft.fftfreq(50)
np.polyfit(x,x,2)
np.polyval([1.,2.],x)
np.poly1d([1.,2.])(0.5)
np.einsum('ij,j->i',S,v3)
np.einsum('ij,jk->ik',S,S)
np.kron(S,S)
np.trace(S)
np.diag(v3)
np.diag(S)
np.triu(S)
np.fill_diagonal(big,1.0)
np.pad(v3,1)
np.pad(A,1,mode='edge')
np.prod(v3)
np.ptp(x)
np.mod(x,0.3)
x%0.3
x//0.3
x**2
x**0.5
x**3
-x
x*x
x@x
c.real
c.conj()
np.abs(c)
np.angle(c)
np.sign(x)
np.floor(x)
np.ceil(s)
np.floor(s)
np.exp(x)
np.log(x+1)
np.tanh(x)
np.power(x,2)
np.arctan2(x,x)
np.hypot(s,s)
np.logical_and(b,b)
b&b
~b
np.isin(xi,[1,2])
np.delete(x,3)
np.insert(x,3,1.0)
np.split(x,5)
np.array_split(x,3)
np.triu_indices(3)
np.tril_indices(3)
np.ix_([0,1],[1,2])
np.ndindex(3,3)
list(np.ndindex(3,3))
np.ndenumerate(S)
list(np.ndenumerate(S))
np.nditer(S)
np.vectorize(math.sin)(v3)
np.apply_along_axis(sum,0,S)
np.squeeze(x[None])
np.expand_dims(x,0)
np.broadcast_to(v3,(3,3))
np.take(x,[1,2])
np.copy(x)
np.empty(5)
np.random.seed(1)
np.random.rand(5)
np.random.randn()
np.random.randn(3,3)
np.random.randint(0,10,5)
np.random.choice([1,2,3])
np.random.choice(x,5)
np.random.permutation(x)
np.random.shuffle(x)
np.float64(3.0)
np.int64(3)
np.pi*s
str(s)
repr(s)
f"{s:.3f}"
"%g"%s
str(v3)
hash(s)
x.item(3)
x.tolist()
x.fill(1.0)
x.dot(x)
x.argmax()
x.cumsum()
x.any()
x.nonzero()
x.flat[3]
A.flat
(x.min(),x.max())
np.min(A,axis=1)
np.max(A)
np.mean(A,axis=0)
np.mean(A,axis=(0,1))
np.sum(A*A)
np.sum((v3-v3[0])**2)
np.sqrt(np.sum(v3**2))
np.sum(x>0.5)
np.average(x,weights=x+1)
np.cov(A)
np.corrcoef(A)
np.trapezoid(x,x)
np.nan_to_num(x)
np.nansum(x)
np.nanmean(x)
np.nanmax(x)
np.real(c)
np.iscomplexobj(x)
np.isscalar(s)
isinstance(s,float)
np.ndim(s)
np.shape(x)
np.size(x)
np.bitwise_and(xi,3)
xi>>1
xi%3
xi//2
xi[3]%2
xi[3]+1
range(xi[3])
l3[xi[1]]
np.logspace(0,1,10)
np.geomspace(1,10,5)
np.union1d(xi,xi)
np.intersect1d(xi,xi)
np.setdiff1d(xi,xi)
np.lexsort((xi,xi))
np.partition(x,5)
np.choose([0,1],[v3[:2],v3[1:]])
np.select([x>0.5,x<0.2],[x,-x])
np.piecewise(x,[x<0.5],[1.0,2.0])
np.heaviside(x,0.5)
np.rot90(S)
np.fliplr(S)
np.swapaxes(A,0,1)
np.moveaxis(A,0,1)
np.atleast_1d(s)
np.atleast_2d(x)
np.ascontiguousarray(A.T)
np.unravel_index(5,(3,4))
np.ravel_multi_index((1,2),(3,4))
np.linalg.matrix_power(S,3)
np.linalg.eigvals(S)
np.linalg.pinv(S)
np.linalg.cond(S)
np.linalg.cholesky(S@S.T)
np.linalg.matrix_rank(S)
np.tensordot(S,S,1)
np.inner(v3,v3)
np.vdot(v3,v3)
np.matmul(S,S)
np.add.reduce(x)
np.add.at(x,[1,2],1.0)
np.maximum.accumulate(x)
np.add.outer(v3,v3)
np.multiply(x,2,out=x)
np.add(x,0.0,out=x)
A.__setitem__((1, slice(2)), row)
x.__setitem__(3,t[3])
x.__setitem__(slice(None),t)
x.__setitem__(tm,0.5)
x.__setitem__(tm,t[tm])
x[tm]
x[ti]
t[b]
np.array([t,t])
np.array([t[0],s])
x+t
t+x
x*t[3]
t[3]*x
s-t[3]
t[3]-s
t[3]<s
np.dot(t,x)
np.sum(t*x)
np.sum((t-x)**2)
np.concatenate([x,t])
np.array([[1,2.5],[3,True]])
np.array(range(5))
f"{s}"
f"{s:.3f}"
str(s)
isinstance(x,np.ndarray)
isinstance(s,np.floating)
x.__setitem__(3,xi[3])
x[[xi[1],2]]
A[[True,False,True]]
A[...,xi[:2]]
np.dot(T,w)
T@w
w@T.T
T.T@e
np.dot(e,T)
e-T@w
T[:,:40].T@e
np.sum(T)
np.mean(T,axis=0)
np.max(T,axis=1)
np.argmax(T,axis=1)
np.linalg.norm(T)
np.concatenate([T,T])
np.take(T,[1,5,7],axis=0)
np.einsum('ij,j->i',T,w)
np.digitize(tv,w)
"""
ROUND = 1e-3  # seconds of a round, about
ROUNDS = 9


def functions(file: str) -> list[Callable[[], Any]]:
    """Each row as a function of a module in this file, whose place tells which NumPy it imports."""
    module = types.ModuleType("idioms_of_a_program")
    module.__file__ = file
    exec(compile(OPERANDS, file, "exec"), vars(module))
    made: list[Callable[[], Any]] = [
        eval(compile(f"lambda: {row}", file, "eval"), vars(module)) for row in ROWS.split("\n") if row
    ]
    return made


def seconds(call: Callable[[], Any], count: int) -> float:
    """Seconds of a call, of so many in a row."""
    begun = time.perf_counter()
    for _ in range(count):
        call()
    forerun.waitall()
    return (time.perf_counter() - begun) / count


def ratio(numpy_call: Callable[[], Any], np_call: Callable[[], Any], rounds: int) -> tuple[float, float]:
    """Our time as a multiple of NumPy's, and NumPy's in seconds."""
    once = max(min(seconds(call, 1) for _ in range(3)) for call in (numpy_call, np_call))
    count = max(1, min(2000, int(ROUND / once))) if rounds > 1 else 1
    pairs = [(seconds(numpy_call, count), seconds(np_call, count)) for _ in range(rounds)]
    best = min(a for a, _ in pairs)
    return min(b for _, b in pairs) / best, best


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", nargs="+", default=[""], help="words, of which a row contains one")
    parser.add_argument("--all", action="store_true", help="every row, not only those above 1.2")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    install_as_numpy()
    rows = [row for row in ROWS.split("\n") if row]
    found = []
    for row, numpy_call, np_call in zip(rows, functions("/with numpy/idioms.py"), functions(__file__), strict=True):
        if any(word in row for word in options.names):
            found.append((*ratio(numpy_call, np_call, 1 if options.quick else ROUNDS), row))
    if not found:
        parser.error(f"--names: must be in rows, got {options.names}")
    print(f"{'ratio':>6} {'NumPy us':>9}  call")
    for factor, time_of_numpy, row in sorted(found, reverse=True):
        if options.all or factor > 1.2:
            print(f"{factor:6.2f} {time_of_numpy * 1e6:9.2f}  {row}")
    mean = math.exp(sum(math.log(factor) for factor, *_ in found) / len(found))
    counts = ", ".join(f"above {most}: {sum(factor > most for factor, *_ in found)}" for most in (1.2, 2, 3))
    print(f"{len(found)} calls: geometric mean {mean:.2f}, {counts}")


if __name__ == "__main__":
    main()
