"""SciPy with SCIPY_ARRAY_API=1, which `run` sets: functions that work on the arrays of any library."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy
from scipy import (
    cluster,
    differentiate,
    fft,
    integrate,
    interpolate,
    linalg,
    ndimage,
    optimize,
    signal,
    spatial,
    special,
    stats,
)
from scipy.cluster import hierarchy, vq
from scipy.optimize import elementwise
from scipy.spatial.transform import Rotation

VERSIONS = ["scipy"]
modules = SimpleNamespace(
    special=special, stats=stats, signal=signal, ndimage=ndimage, fft=fft, linalg=linalg, optimize=optimize,
    interpolate=interpolate, cluster=cluster, spatial=spatial, integrate=integrate, differentiate=differentiate,
    hierarchy=hierarchy, vq=vq, elementwise=elementwise, Rotation=Rotation,
)  # fmt: skip
_random = numpy.random.default_rng(7)
_NOISE = _random.normal(size=(4, 50))
_PICTURE = _random.normal(size=(12, 10))
_POINTS = numpy.concatenate([_random.normal(size=(8, 2)), _random.normal(size=(8, 2)) + 9])


def names(asarray: Any) -> dict[str, Any]:
    """Samples, a picture, points, and vectors in (0, 1) and along an axis."""
    arrays = {
        "u": numpy.linspace(0.1, 0.9, 5), "v": numpy.linspace(0.2, 0.7, 5), "t": numpy.linspace(0, 1, 50),
        "coarse": numpy.linspace(0, 1, 9), "x": _NOISE[0], "y": _NOISE[1], "noise": _NOISE, "picture": _PICTURE,
        "points": _POINTS, "matrix": _NOISE[:, :4] @ _NOISE[:, :4].T + numpy.eye(4),
        "counts": [16.0, 18.0, 16.0, 14.0, 12.0, 12.0], "whole": [3, 1, 4, 1, 5, 9, 2, 6],
    }  # fmt: skip
    return vars(modules) | {name: asarray(values) for name, values in arrays.items()} | {"xp": asarray, "numpy": numpy}


ROWS = {
    "special": """
        special.erf(u)
        special.gammaln(u)
        special.betainc(u, v, u)
        special.expit(u)
        special.logit(u)
        special.j0(u)
        special.i0e(u)
        special.ndtr(u)
        special.ndtri(u)
        special.xlogy(u, v)
        special.entr(u)
        special.rel_entr(u, v)
        special.gammainc(u, v)
        special.stdtrit(u, v)
        special.zeta(u + 1, v)
        special.logsumexp(noise, axis=1)
        special.softmax(noise, axis=1)
        special.log_softmax(noise, axis=1)
    """,
    "stats": """
        stats.ttest_ind(x, y)
        stats.ttest_rel(x, y)
        stats.ttest_1samp(noise, 0.1, axis=1)
        stats.f_oneway(noise[0], noise[1], noise[2])
        stats.kruskal(noise[0], noise[1], noise[2])
        stats.mannwhitneyu(x, y)
        stats.wilcoxon(x, y)
        stats.pearsonr(x, y).statistic
        stats.skew(noise, axis=1)
        stats.kurtosis(noise, axis=1)
        stats.moment(x, order=3)
        stats.zscore(noise, axis=1)
        stats.describe(x)
        stats.variation(x + 9)
        stats.gmean(x**2, axis=0)
        stats.hmean(x**2 + 1)
        stats.sem(x)
        stats.iqr(x)
        stats.quantile(x, u)
        stats.rankdata(x)
        stats.mode(whole)
        stats.entropy(u / u.sum())
        stats.chisquare(counts)
        stats.power_divergence(counts, lambda_="log-likelihood")
        stats.jarque_bera(x)
        stats.normaltest(x)
        stats.bartlett(x, y)
        stats.levene(x, y)
        stats.circmean(x)
        stats.combine_pvalues(u)
        stats.false_discovery_control(u)
        stats.lmoment(x)
        stats.differential_entropy(x)
        stats.bootstrap((x,), lambda s, axis=-1: s.mean(axis), rng=1, n_resamples=9, method="basic").standard_error
    """,
    "signal": """
        signal.convolve(x, u)
        signal.correlate(x, y)
        signal.fftconvolve(x, y)
        signal.oaconvolve(x, u)
        signal.convolve2d(picture, matrix)
        signal.lfilter(u, xp([1.0, 0.5]), x)
        signal.filtfilt(u, xp([1.0, 0.5]), x)
        signal.sosfilt(xp(numpy.array([[1.0, 0.2, 0.1, 1.0, 0.3, 0.1]])), x)
        signal.hilbert(x)
        signal.envelope(x)
        signal.detrend(x)
        signal.medfilt(x, 3)
        signal.wiener(x)
        signal.savgol_filter(x, 7, 2)
        signal.resample(x, 25)
        signal.resample_poly(x, 3, 2)
        signal.upfirdn(u, x, 2)
        signal.freqz(u)
        signal.bilinear(u, v)
        signal.zpk2tf(u, v, 2.0)
        signal.cspline1d(x)
    """,
    "ndimage": """
        ndimage.gaussian_filter(picture, 1.0)
        ndimage.uniform_filter(picture, 3)
        ndimage.median_filter(picture, 3)
        ndimage.sobel(picture)
        ndimage.convolve(picture, matrix)
        ndimage.maximum_filter(picture, 3)
        ndimage.grey_dilation(picture, 3)
        ndimage.binary_erosion(picture > -1)
        ndimage.label(picture > 0)
        ndimage.distance_transform_edt(picture > 0)
        ndimage.rotate(picture, 30)
        ndimage.zoom(picture, 2)
        ndimage.shift(picture, 1.5)
        ndimage.affine_transform(picture, matrix[:2, :2])
        ndimage.map_coordinates(picture, points.T)
        ndimage.center_of_mass(picture)
        ndimage.mean(picture)
        ndimage.histogram(picture, -3, 3, 4)
        ndimage.fourier_gaussian(picture, 1.0)
    """,
    "fft": """
        fft.fft(x)
        fft.ifft(x)
        fft.rfft(noise, axis=1)
        fft.irfft(x)
        fft.hfft(x)
        fft.ihfft(x)
        fft.fft2(picture)
        fft.rfftn(picture)
        fft.irfft2(picture)
        fft.dct(x)
        fft.idctn(picture)
        fft.dst(x)
        fft.fftshift(x)
        fft.fht(x, 0.1, 1.0)
    """,
    "linalg": """
        linalg.orthogonal_procrustes(points, points[::-1, :])
        linalg.block_diag(matrix, matrix)
        linalg.fiedler(u)
        linalg.inv(matrix)
        linalg.solve(matrix, matrix[0])
    """,
    "optimize": """
        optimize.rosen(u)
        optimize.rosen_der(u)
        optimize.rosen_hess(u)
        elementwise.find_root(lambda z: z**3 - 0.5, (u * 0, u * 0 + 1)).x
        elementwise.find_minimum(lambda z: (z - 0.3) ** 2, (u * 0 - 1, u * 0 + 0.1, u * 0 + 1)).x
        elementwise.bracket_root(lambda z: z - 3, u).bracket
    """,
    "interpolate": """
        interpolate.CubicSpline(t, x)(u)
        interpolate.Akima1DInterpolator(t, x)(u)
        interpolate.PchipInterpolator(t, x)(u)
        interpolate.make_interp_spline(t, x)(u)
        interpolate.make_lsq_spline(t, x, xp([0, 0, 0, 0, 0.5, 1, 1, 1, 1]))(u)
        interpolate.RegularGridInterpolator((t, t[:4]), noise.T)(points[:4] * 0)
        interpolate.RBFInterpolator(points, points[:, 0])(points[:4] + 0.1)
    """,
    "cluster": """
        vq.whiten(points)
        vq.vq(points, points[::4])
        vq.kmeans(points, points[::8])
        hierarchy.linkage(points)
        hierarchy.fcluster(hierarchy.linkage(points), 2, "maxclust")
        hierarchy.cophenet(hierarchy.linkage(points))
        hierarchy.leaves_list(hierarchy.linkage(points))
    """,
    "spatial": """
        Rotation.from_rotvec(noise[:, :3]).as_matrix()
        Rotation.from_quat(noise[:, :4]).as_euler("xyz")
        Rotation.from_rotvec(noise[:, :3]).apply(xp([1.0, 2.0, 3.0]))
        (Rotation.from_rotvec(noise[:, :3]) * Rotation.from_rotvec(noise[:, 3:6])).as_quat()
        spatial.distance.cdist(points, points[:3])
        spatial.distance.pdist(points)
    """,
    "integrate": """
        integrate.trapezoid(x, t)
        integrate.cumulative_trapezoid(x, t)
        integrate.cumulative_simpson(x, x=t)
        integrate.romb(coarse**2)
        integrate.tanhsinh(lambda z: z**2, u * 0, u).integral
        integrate.nsum(lambda k: 1 / k**2, 1 + 0 * u, 9 + 0 * u).sum
        integrate.cubature(lambda z: z[:, 0] ** 2, xp([0.0]), xp([1.0])).estimate
    """,
    "differentiate": """
        differentiate.derivative(lambda z: z**3, u).df
        differentiate.jacobian(lambda z: z**3, u).df
        differentiate.hessian(lambda z: (z**3).sum(axis=0), u).ddf
    """,
}
