"""Compares two libraries' `gpufit_cuda_interface` on data in device memory: parameters, states, iterations, time.

python3 there.py libGpufit.so libGpufit-of-Gpufit.so [FITS]

It needs PyTorch with CUDA. 9x9 spots with Poisson noise (100,000, or FITS of them) are fitted from start values that are 15 % off, five times by each
library in turns after a call that does not count; times are medians.
"""

import ctypes
import sys
import time

import torch

POINTER = ctypes.c_void_p
SIZE, WHOLE = ctypes.c_size_t, ctypes.c_int


class Library:
    def __init__(self, path):
        self.call = ctypes.CDLL(path).gpufit_cuda_interface
        self.call.argtypes = [SIZE, SIZE, POINTER, POINTER, WHOLE, ctypes.c_float, WHOLE, POINTER, WHOLE, SIZE]
        self.call.argtypes += [POINTER] * 5

    def fit(self, data, initial, estimator):
        fits, points = data.shape
        found = initial.clone()
        states, iterations = torch.ones((2, fits), dtype=torch.int32, device="cuda")
        chi2 = torch.ones(fits, device="cuda")
        free = (WHOLE * initial.shape[1])(*[1] * initial.shape[1])
        torch.cuda.synchronize()
        begin = time.perf_counter()
        code = self.call(
            fits, points, data.data_ptr(), None, 1, 1e-4, 25, free, estimator, 0, None, found.data_ptr(), states.data_ptr(),
            chi2.data_ptr(), iterations.data_ptr(),
        )  # fmt: skip
        torch.cuda.synchronize()
        seconds = time.perf_counter() - begin
        assert code == 0
        return seconds, found, states, iterations


ours, theirs = Library(sys.argv[1]), Library(sys.argv[2])
fits = int(sys.argv[3]) if len(sys.argv) > 3 else 100_000
torch.manual_seed(1)
at = torch.arange(9.0, device="cuda")
for estimator in 0, 1:
    low = torch.tensor([50.0, 3.0, 3.0, 1.0, 5.0], device="cuda")
    high = torch.tensor([200.0, 5.0, 5.0, 2.0, 15.0], device="cuda")
    truth = low + (high - low) * torch.rand((fits, 5), device="cuda")
    a, x, y, s, b = (truth[:, j, None, None] for j in range(5))
    mean = a * torch.exp(-((at[None, None, :] - x) ** 2 + (at[None, :, None] - y) ** 2) / (2 * s * s)) + b
    data = torch.poisson(mean).reshape(fits, 81).contiguous()
    initial = (truth * (0.85 + 0.3 * torch.rand_like(truth))).contiguous()
    runs = [[library.fit(data, initial, estimator) for library in (ours, theirs)] for _ in range(6)]
    (_, found, states, steps), (_, other, other_states, other_steps) = runs[0]
    seconds = [sorted(run[which][0] for run in runs[1:])[2] for which in (0, 1)]
    near = ((found - other).abs() < 0.01 * (other - truth).std(dim=0)).all(dim=1)
    alike = [100 * (p == q).float().mean().item() for p, q in ((states, other_states), (steps, other_steps))]
    print(f"GAUSS_2D, {['LSE', 'MLE'][estimator]}, {fits}: {alike[0]:.2f} % end alike, {alike[1]:.2f} % after as many steps, "
          f"{100 * near.float().mean().item():.2f} % near; {seconds[1] / seconds[0]:.1f} times as fast, "
          f"{fits / seconds[0] / 1e6:.0f} million fits/s")  # fmt: skip
