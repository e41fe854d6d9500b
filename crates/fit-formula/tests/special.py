"""Writes special.csv: values of special functions by SciPy, for tests/special.rs.

python special.py > special.csv    (made with SciPy's version in its first line)
"""

import numpy as np
import scipy
from scipy import special

print(f"# function,x,y,value by SciPy {scipy.__version__}")
random = np.random.default_rng(1)


def row(name, x, y, value):
    print(f"{name},{float(x)!r},{float(y)!r},{float(value)!r}")


for x in np.concatenate([np.linspace(-5, 30, 36), [1e-9, 0.1, 9.99, 10.01, 200.0, 1e8]]):
    row("erfcx", x, 0, special.erfcx(x))
for x in np.concatenate([np.linspace(-4.7, 30, 36), [1e-3, 0.5, 11.99, 12.01, 1e6]]):
    row("digamma", x, 0, special.digamma(x))
scales = [0.01, 0.1, 1.0, 3.0, 6.0, 20.0, 1e3]
points = [(a, b) for a in [0.0, *scales] for b in [0.0, *scales]]
points += [(-1.3, 0.4), (-7.0, 1e-6), (0.7, -0.9), (-2.1, -1.2), (5.4, 1e-9), (6.29, 0.01), (1.8, 1.25)]
points += list(zip(random.uniform(-8, 8, 150), random.uniform(0, 6, 150)))
for x, y in points:
    w = special.wofz(x + 1j * y)
    row("w_re", x, y, w.real)
    row("w_im", x, y, w.imag)
