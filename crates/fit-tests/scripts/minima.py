"""Minima of a Gaussian spot in a window, in double precision: MINPACK (SciPy), then Newton's method.

A spot has the shape x, y, sigma_x, sigma_y, angle, the amplitude A and the background B:

    u = cos(angle) (X - x) + sin(angle) (Y - y),  v = -sin(angle) (X - x) + cos(angle) (Y - y),
    f = exp(-u^2 / (2 sigma_x^2) - v^2 / (2 sigma_y^2)),  mu = A f + B,

`sampled` at the centre of a pixel or `integrated`, that is averaged over the pixel's unit square. Every estimator is
a sum of squares for MINPACK's lmder: Poisson's deviance is the sum of the squared deviance residuals. The gradient is
analytic; the Hessian is its derivative by complex steps, which has no error but rounding. `check` proves all of that.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares
from scipy.special import erf

SHAPE = ["x", "y", "sigma_x", "sigma_y", "angle"]
# How the parameters that are searched make the five of a shape.
TIES = {
    "circular": np.array([[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 1, 0]], float),
    "elliptical": np.eye(5)[:4],
    "rotated": np.eye(5),
}
# With 8 nodes a side the mean over a pixel is exact to 1e-13 for sigma >= 0.6.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)


def sampled(dx, dy, sx, sy, angle):
    """f and its derivatives by the five parameters of the shape."""
    c, s = np.cos(angle), np.sin(angle)
    u, v = c * dx + s * dy, c * dy - s * dx
    f = np.exp(-0.5 * ((u / sx) ** 2 + (v / sy) ** 2))
    pu, pv = f * u / sx**2, f * v / sy**2
    return f, [c * pu - s * pv, s * pu + c * pv, pu * u / sx, pv * v / sy, u * pv - v * pu]


def quadrature(dx, dy, sx, sy, angle):
    """The mean of `sampled` over each pixel, by Gauss and Legendre's rule."""
    nx, ny = (n.ravel() / 2 for n in np.meshgrid(NODES, NODES))
    weights = np.outer(WEIGHTS, WEIGHTS).ravel() / 4
    sx, sy, angle = (np.asarray(p)[..., None] for p in (sx, sy, angle))
    f, slopes = sampled(dx[..., None] + nx, dy[..., None] + ny, sx, sy, angle)
    return f @ weights, [slope @ weights for slope in slopes]


def mean_along_axis(d, sigma):
    """The mean of exp(-d^2 / (2 sigma^2)) over a pixel, and its derivatives by centre and sigma."""
    below, above = (d - 0.5) / sigma, (d + 0.5) / sigma
    e_below, e_above = np.exp(-0.5 * below**2), np.exp(-0.5 * above**2)
    area = np.sqrt(np.pi / 2) * (erf(above / np.sqrt(2)) - erf(below / np.sqrt(2)))
    return sigma * area, e_below - e_above, area - (above * e_above - below * e_below)


def integrated(dx, dy, sx, sy):
    """The same as `quadrature` for angle 0, in closed form."""
    (gx, gx_c, gx_s), (gy, gy_c, gy_s) = mean_along_axis(dx, sx), mean_along_axis(dy, sy)
    return gx * gy, [gx_c * gy, gx * gy_c, gx_s * gy, gx * gy_s, np.zeros_like(gx * gy)]


class Model:
    """mu of a window's pixels. The parameters are those of the shape that are searched, A and B."""

    def __init__(self, side, shape, profile, fixed_sigma=None):
        rows, columns = np.mgrid[0:side, 0:side].astype(float)
        self.side, self.columns, self.rows = side, columns.ravel(), rows.ravel()
        self.shape, self.profile = shape, profile
        self.base, self.ties = np.zeros(5), TIES[shape]
        if fixed_sigma is not None:
            self.base[2:4], self.ties = fixed_sigma, TIES[shape][:2]
        self.count = len(self.ties)

    def five(self, p):
        """The five parameters of the shape."""
        return self.base + p[..., : self.count] @ self.ties

    def __call__(self, p):
        """mu, and its derivatives in the last axis. `p` may be a stack of parameters."""
        x, y, sx, sy, angle = np.moveaxis(self.five(p), -1, 0)[..., None]
        dx, dy = self.columns - x, self.rows - y
        if self.profile == "sampled":
            f, slopes = sampled(dx, dy, sx, sy, angle)
        elif self.shape == "rotated":
            f, slopes = quadrature(dx, dy, sx, sy, angle)
        else:
            f, slopes = integrated(dx, dy, sx, sy)
        amplitude, background = p[..., -2, None], p[..., -1, None]
        by_shape = amplitude[..., None] * (np.stack(slopes, axis=-1) @ self.ties.T)
        others = np.stack([f, np.ones_like(f)], axis=-1)
        return amplitude * f + background, np.concatenate([by_shape, others], axis=-1)


class LeastSquares:
    """Sum of w (mu - d)^2."""

    def __init__(self, data, weights=1.0):
        self.data, self.weights = data, np.broadcast_to(weights, data.shape)

    def residuals(self, mu):
        """What MINPACK squares and sums, and its derivatives by mu."""
        root = np.sqrt(self.weights)
        return root * (mu - self.data), root

    def allows(self, mu):
        return np.all(np.isfinite(mu))

    def cost(self, mu):
        return np.sum(self.weights * (mu - self.data) ** 2)

    def slope(self, mu):
        """The derivative of the cost by mu."""
        return 2 * self.weights * (mu - self.data)

    def curvature(self, mu):
        """The weight of a squared derivative of mu, where the model is right."""
        return self.weights


class Poisson:
    """Poisson's deviance 2 sum of m - d + d ln(d / m), m = mu + v, d = max(data + v, 0), wherever all m > 0."""

    def __init__(self, data, variance=0.0):
        self.variance = np.broadcast_to(variance, data.shape)
        self.data = np.maximum(data + self.variance, 0)

    def residuals(self, mu):
        m, d = mu + self.variance, self.data
        some = d > 0
        safe = np.where(some, d, 1)
        t = (m - safe) / safe
        # (t - ln(1 + t)) / t^2 loses its digits near 0.
        near = 1 / 2 - t / 3 + t**2 / 4 - t**3 / 5 + t**4 / 6
        far = np.where(np.abs(t) < 1e-3, 1, t)
        q = np.sqrt(2 * np.where(np.abs(t) < 1e-3, near, (far - np.log1p(far)) / far**2))
        residual = np.where(some, np.sqrt(safe) * t * q, np.sqrt(2 * m))
        slope = np.where(some, 1 / (np.sqrt(safe) * (1 + t) * q), 1 / np.sqrt(2 * m))
        return residual, slope

    def allows(self, mu):
        return np.all(np.isfinite(mu)) and np.all(mu + self.variance > 0)

    def cost(self, mu):
        m, d = mu + self.variance, self.data
        logarithm = np.log(np.where(d > 0, d, 1) / np.where(d > 0, m, 1))
        return 2 * np.sum(m - d + d * logarithm)

    def slope(self, mu):
        return 2 * (1 - self.data / (mu + self.variance))

    def curvature(self, mu):
        return 1 / (mu + self.variance)


def gradient(model, estimator, p):
    """The gradient of the cost; `p` may be a stack of parameters."""
    mu, slopes = model(p)
    return np.einsum("...i,...ij->...j", estimator.slope(mu), slopes)


def hessian(model, estimator, p):
    """The Hessian of the cost, by complex steps of the gradient."""
    step = 1e-20
    moved = gradient(model, estimator, p + 1j * step * np.eye(len(p)))
    return (moved.imag + moved.imag.T) / (2 * step)


@dataclass
class End:
    """Where a search ended."""

    p: np.ndarray
    five: np.ndarray
    cost: float
    # Zero gradient, positive definite Hessian: a minimum.
    certain: bool
    # Amplitude, centre and widths are those of a spot in the window.
    sane: bool


def minpack(model, estimator, start):
    """The least-squares search of MINPACK."""

    def residuals(p):
        mu = model(p)[0]
        # MINPACK rejects a step to where the cost is that high.
        return estimator.residuals(mu)[0] if estimator.allows(mu) else np.full_like(mu, 1e30)

    def jacobian(p):
        mu, slopes = model(p)
        return estimator.residuals(mu)[1][:, None] * slopes

    tolerances = dict(ftol=1e-13, xtol=1e-13, gtol=1e-13, max_nfev=1000)
    return least_squares(residuals, start, jac=jacobian, method="lm", x_scale="jac", **tolerances).x


def search(model, estimator, start):
    """Searches from a start, then by Newton's method on the cost itself; None if it ends outside the domain."""
    with np.errstate(all="ignore"):
        p = minpack(model, estimator, start)
        first = estimator.cost(model(p)[0])
        step = np.full(len(p), np.inf)
        for _ in range(30):
            if not estimator.allows(model(p)[0]):
                return None
            h = hessian(model, estimator, p)
            scale = 1 / np.sqrt(np.abs(np.diag(h)))
            scaled = h * scale * scale[:, None]
            if not np.all(np.isfinite(scaled)) or np.linalg.eigvalsh(scaled)[0] <= 1e-12:
                break
            before = np.max(np.abs(step[:-2]))
            step = -scale * np.linalg.solve(scaled, scale * gradient(model, estimator, p))
            size = np.max(np.abs(step[:-2]))
            if size < 1e-7 and size >= before:
                break
            p = p + step
        mu, slopes = model(p)
    if not estimator.allows(mu):
        return None
    cost, five = estimator.cost(mu), canonical(model.five(p))
    by_mu, curvature = estimator.slope(mu), estimator.curvature(mu)
    # Cosines between the residuals and the columns of the Jacobian: 0 at a minimum, whatever the units.
    length = np.sqrt(np.sum(by_mu**2 / curvature.clip(1e-300)))
    cosine = np.abs(slopes.T @ by_mu) / (length * np.sqrt(curvature @ slopes**2))
    definite = np.all(np.isfinite(scaled)) and np.linalg.eigvalsh(scaled)[0] > 1e-12
    at_rest = np.max(np.abs(step[:-2])) < 1e-9 and cosine.max() < 1e-9 and cost <= first * (1 + 1e-9)
    inside = np.all((-0.5 <= five[:2]) & (five[:2] <= model.side - 0.5))
    spot = p[-2] > 0 and np.all((0.3 < five[2:4]) & (five[2:4] < model.side))
    return End(p, five, cost, bool(definite and at_rest), bool(inside and spot))


def canonical(five):
    """The same shape with sigma > 0 and the angle in (-pi/4, pi/4]."""
    x, y, sx, sy, angle = five
    turns = np.ceil(angle / (np.pi / 2) - 0.5)
    if turns % 2:
        sx, sy = sy, sx
    return np.array([x, y, abs(sx), abs(sy), angle - turns * np.pi / 2])


def minimum(model, estimator, starts):
    """The lowest minimum that is a spot (or the lowest end, if none is), and whether it is good: at least two starts
    ended there."""
    ends = [end for start in starts if (end := search(model, estimator, np.asarray(start, float))) is not None]
    best = min(ends, key=lambda end: (not (end.certain and end.sane), end.cost))
    same = [
        end
        for end in ends
        if end.certain
        and np.max(np.abs(end.five - best.five)) < 1e-6
        and abs(end.cost - best.cost) <= 1e-9 * best.cost
    ]
    return best, best.certain and best.sane and len(same) >= 2


def decimals(value, places, digits):
    """A number with at most so many decimals and significant digits, without trailing zeros."""
    text = f"{float(f'{value:.{digits}g}'):.{places}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def check():
    """Proves the derivatives, the closed forms and the residuals at random parameters."""
    random = np.random.default_rng(1)
    worst = {}

    def compare(name, value, other):
        error = np.max(np.abs(value - other)) / np.max(np.abs(other))
        worst[name] = max(worst.get(name, 0), error)

    for shape, ties in TIES.items():
        for profile in ["sampled", "integrated"]:
            for fixed in [None, [1.2, 1.2]]:
                model = Model(9, shape, profile, fixed)
                for _ in range(20):
                    five = np.r_[random.uniform(3, 5, 2), random.uniform(0.8, 2, 2), random.uniform(-0.7, 0.7)]
                    p = np.r_[five[: model.count], random.uniform(50, 500), random.uniform(2, 30)]
                    mu, slopes = model(p)
                    moved = model(p + 1e-20j * np.eye(len(p)))[0]
                    compare("Jacobian, complex steps", slopes.T, moved.imag / 1e-20)
                    full = np.r_[p[: model.count] @ model.ties + model.base, p[-2:]]
                    if profile == "integrated":
                        dx, dy = model.columns - full[0], model.rows - full[1]
                        by_nodes = quadrature(dx, dy, *full[2:5])[0]
                        # A finer rule, as an answer that is independent of the nodes.
                        fine = np.mean([
                            sampled(dx + i, dy + j, *full[2:5])[0]
                            for i in (np.arange(40) + 0.5) / 40 - 0.5
                            for j in (np.arange(40) + 0.5) / 40 - 0.5
                        ], axis=0)
                        compare("mean over a pixel, 8 x 8 nodes", mu, p[-2] * by_nodes + p[-1])
                        compare("mean over a pixel, 1600 points (1e-4 is their error)", mu, p[-2] * fine + p[-1])
                    data = random.poisson(mu).astype(float)
                    data[random.integers(len(data))] = 0
                    weights, variance = random.uniform(0, 2, len(data)), random.uniform(0, 5, len(data))
                    for estimator in [LeastSquares(data, weights), Poisson(data, variance), Poisson(data)]:
                        residual, by_mu = estimator.residuals(mu)
                        compare("cost, sum of squares", np.sum(residual**2), estimator.cost(mu))
                        compare("residuals' slope", 2 * residual * by_mu, estimator.slope(mu))
                        steps = np.diag(1e-6 * np.r_[np.ones(model.count), p[-2:]])
                        pairs = [[estimator.cost(model(p + s * h)[0]) for s in (1, -1)] for h in steps]
                        slope = np.array([(a - b) / (2 * h) for (a, b), h in zip(pairs, steps.diagonal())])
                        units = np.r_[np.ones(model.count), p[-2:]]
                        analytic = gradient(model, estimator, p)
                        compare("gradient, differences of the cost", slope * units, analytic * units)
                        pairs = [[gradient(model, estimator, p + s * h) for s in (1, -1)] for h in steps]
                        rows = np.array([(a - b) / (2 * h) for (a, b), h in zip(pairs, steps.diagonal())])
                        exact = hessian(model, estimator, p) * units * units[:, None]
                        compare("Hessian, differences of the gradient", rows * units * units[:, None], exact)
                    if shape == "rotated" and fixed is None:
                        turned = np.r_[p[:2], p[3], p[2], p[4] - np.pi / 2, p[-2:]]
                        compare("angle less a quarter turn", model(turned)[0], mu)
                        compare("canonical", canonical(turned[:5]), p[:5])
                        compare("canonical, half a turn", canonical(p[:5] + [0, 0, 0, 0, np.pi]), p[:5])
    t = np.linspace(-9e-4, 9e-4, 18).astype(np.longdouble)
    residual = Poisson(np.full(18, 1000.0)).residuals(np.array(1000 * (1 + t), float))[0]
    compare("residuals near 0, in more digits", residual**2 / t**2, 2000 * (t - np.log1p(t)) / t**2)
    for name, error in worst.items():
        print(f"{name}: {error:.1e}")
        allowed = 2e-4 if "1600" in name else 1e-5 if "differences" in name else 1e-11
        assert error < allowed, name
