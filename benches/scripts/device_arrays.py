"""The rate of fits of a tensor of PyTorch on a GPU, beside that of the kernel alone.

The kernel's own time is that by PyTorch's profiler, so both are of the same run. Prints the medians of RUNS calls.

    python3 benches/scripts/device_arrays.py [WINDOWS] [RUNS]
"""

import sys

import spotfit
import torch
from common import median, timed
from torch.profiler import ProfilerActivity, profile

count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
runs = int(sys.argv[2]) if len(sys.argv) > 2 else 21
if not torch.cuda.is_available():
    sys.exit("This needs an NVIDIA GPU.")

some = torch.from_numpy(spotfit.simulate(100_000, size=9, photons=1000, background=5).spots).float().cuda()
spots = some.repeat(-(-count // len(some)), 1, 1)[:count].contiguous()
torch.cuda.synchronize()
print(f"{torch.cuda.get_device_name()}: {count} windows of 9×9 float32, {runs} runs")

for name, words in ("circular", {}), ("circular, mle", {"estimator": "mle"}), ("elliptical", {"shape": "elliptical"}):
    fitter = spotfit.Fitter(**words)  # type: ignore[arg-type]
    fit = lambda: fitter.fit(spots)  # noqa: E731
    whole = [timed(fit) for _ in range(3 + runs)][3:]
    with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as seen:
        for _ in range(runs):
            fit()
    kernels = [event.device_time * 1e-6 for event in seen.events() if event.name == "fit"]
    call, kernel = median(whole), median(kernels)
    print(f"{name}: a call {call * 1e3:.3f} ms, {count / call / 1e9:.3f}·10⁹ fits/s; the kernel {kernel * 1e3:.3f} ms, "
          f"{count / kernel / 1e9:.3f}·10⁹; {kernel / call:.1%} of its rate")
