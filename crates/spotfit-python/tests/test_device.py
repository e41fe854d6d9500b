"""Arrays in the memory of a GPU are fitted there, and outcomes are arrays there. What needs a GPU needs PyTorch, too."""

from typing import Any

import numpy as np
import pytest
import spotfit

#: What has no type is taken for an array of the host; here it is not.
fit: Any = spotfit.fit

try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment, unused-ignore]

needs_gpu = pytest.mark.skipif(
    torch is None or not torch.cuda.is_available(), reason="needs an NVIDIA GPU and PyTorch"
)


class Elsewhere:
    """Says that it is in the memory of a device."""

    def __init__(self, kind: int, number: int = 0) -> None:
        self.where = (kind, number)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.where

    def __dlpack__(self, **_: Any) -> Any:
        raise BufferError("nothing is here")


class NotShared:
    """Can be copied, but not shared."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack_device__(self) -> tuple[int, int]:
        raise BufferError("it is in several places")

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.array


class Interface:
    """Has an interface of CUDA."""

    def __init__(self, **words: Any) -> None:
        usual = {"shape": (1, 9, 9), "typestr": "<f4", "data": (4096, False), "version": 3}
        self.__cuda_array_interface__ = {name: word for name, word in (usual | words).items() if word is not None}


def test_what_is_on_no_gpu_is_refused() -> None:
    with pytest.raises(TypeError, match="no NVIDIA GPU"):
        fit(Elsewhere(10))
    with pytest.raises(TypeError, match="frames is in the memory of a device that is no NVIDIA GPU"):
        spotfit.fit_in_frames(Elsewhere(12), [(0, 0, 0)], 9)
    with pytest.raises(TypeError, match="no 'data'"):
        fit(Interface(data=None))
    with pytest.raises((RuntimeError, ValueError), match="driver|GPU"):
        fit(Interface())
    with pytest.raises((RuntimeError, BufferError)):
        fit(Elsewhere(2))


def test_words_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="float64"):
        fit(Elsewhere(2), dtype="float64")
    for backend in "cpu", "reference":
        with pytest.raises(ValueError, match=f"backend = '{backend}' fits what is in the host's memory"):
            fit(Elsewhere(2), backend=backend)


def test_what_the_host_shares_is_fitted_there() -> None:
    class OfHost:
        def __init__(self, array: Any) -> None:
            self.array = array

        def __dlpack_device__(self) -> tuple[int, int]:
            return (1, 0)

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return self.array

    spots = spotfit.simulate(10, size=9, photons=1000, background=5).spots
    for shared in OfHost(spots), NotShared(spots):
        given: Any = shared
        assert (fit(given).array == fit(spots).array).all()


@pytest.fixture(scope="module")
def spots() -> Any:
    return spotfit.simulate(20_000, size=9, photons=1000, background=5).spots.astype(np.float32)


def same(there: Any, here: spotfit.Fits) -> None:
    """Outcomes there are those that the same kernels find in pixels of the host's."""
    assert isinstance(there, spotfit.DeviceFits)
    found = there.to_host()
    assert found.array.tobytes() == here.array.tobytes()
    if here._errors is not None:
        assert found.errors.array.tobytes() == here.errors.array.tobytes()


@needs_gpu
@pytest.mark.parametrize("dtype", [np.float32, np.uint16, np.uint8])
@pytest.mark.parametrize("shape", ["circular", "elliptical", "rotated"])
@pytest.mark.parametrize("estimator", ["lse", "mle"])
def test_windows_are_fitted_where_they_lie(spots: Any, dtype: Any, shape: Any, estimator: Any) -> None:
    spots = np.clip(spots, 0, 255).astype(dtype)
    words: Any = {"shape": shape, "estimator": estimator, "errors": True}
    here = fit(spots, backend="gpu", **words)
    same(fit(torch.from_numpy(spots).cuda(), **words), here)


@needs_gpu
def test_columns_are_tensors_without_a_copy(spots: Any) -> None:
    fits = fit(torch.from_numpy(spots).cuda(), errors=True)
    host = fits.to_host()
    for name in host.array.dtype.names:
        column = getattr(fits, name)
        tensor = torch.from_dlpack(column)
        assert tensor.is_cuda and tuple(tensor.shape) == column.shape == (len(spots),)
        assert tensor.data_ptr() == column.__cuda_array_interface__["data"][0]
        assert (tensor.cpu().numpy() == host[name]).all() and (np.asarray(column) == host[name]).all()
        assert np.asarray(column).dtype == column.dtype == tensor.cpu().numpy().dtype
        assert torch.equal(torch.as_tensor(column, device="cuda"), tensor)
    covariance = torch.from_dlpack(fits.errors.covariance)
    assert tuple(covariance.shape) == (len(spots), 28)
    assert (torch.sqrt(covariance[:, 0]).cpu().numpy() == host.errors.x).all()
    assert (torch.from_dlpack(fits.errors.exploding).cpu().numpy() == host.errors.exploding).all()
    assert torch.from_dlpack(fits.status).dtype == torch.uint8
    with pytest.raises(BufferError):
        fits.x.__dlpack__(copy=True)
    with pytest.raises(AttributeError, match="errors=True"):
        fit(torch.from_numpy(spots).cuda()).errors
    # Tensors keep what they are of.
    x = torch.from_dlpack(fit(torch.from_numpy(spots).cuda()).x)
    fit(torch.from_numpy(spots[::-1].copy()).cuda())
    assert (x.cpu().numpy() == host.x).all()
    assert "GPU 0" in repr(fits) + repr(fits.x) + repr(fits.errors)


@needs_gpu
def test_what_comes_with_windows_may_be_there_too(spots: Any) -> None:
    there = torch.from_numpy(spots).cuda()
    rng = np.random.default_rng(1)
    weights = rng.uniform(0.5, 1.5, spots.shape).astype(np.float32)
    same(fit(there, weights=weights, errors=True), fit(spots, weights=weights, errors=True, backend="gpu"))
    same(
        fit(there, weights=torch.from_numpy(weights).cuda(), errors=True),
        fit(spots, weights=weights, errors=True, backend="gpu"),
    )
    truth = fit(spots)
    circles = np.stack([truth.x + 0.2, truth.y - 0.1, truth.sigma], 1).astype(np.float32)
    outlines = np.stack([truth.x, truth.y, truth.sigma, truth.sigma * 1.1, truth.x * 0], 1).astype(np.float32)
    for shape in "circular", "elliptical":
        for start in circles, outlines:
            words: Any = {"shape": shape}
            host = fit(spots, start=start, backend="gpu", **words)
            same(fit(there, start=start, **words), host)
            same(fit(there, start=torch.from_numpy(start).cuda(), **words), host)
    camera = spotfit.CameraMap(*(rng.uniform(low, high, (40, 50)) for low, high in ((0, 3), (0.8, 1.2), (0, 4))))
    corners = rng.integers(0, 30, (len(spots), 2))
    for estimator in "lse", "mle":
        words = {"camera": camera, "corners": corners, "estimator": estimator, "errors": True}
        same(fit(there, **words), fit(spots, backend="gpu", **words))


@needs_gpu
def test_windows_are_cut_there(spots: Any) -> None:
    frames = spots[:200].reshape(2, 10, 10, 9, 9).transpose(0, 1, 3, 2, 4).reshape(2, 90, 90)
    corners = np.random.default_rng(2).integers(0, (2, 82, 82), (9000, 3))
    there = torch.from_numpy(np.ascontiguousarray(frames)).cuda()
    host = spotfit.fit_in_frames(frames, corners, 9, errors=True, backend="gpu")
    same(spotfit.fit_in_frames(there, corners, 9, errors=True), host)
    with pytest.raises(ValueError, match="frame"):
        spotfit.fit_in_frames(there, [(0, 85, 0)], 9)


class AsInterface:
    """A tensor that says in which stream it is written."""

    def __init__(self, tensor: Any, **words: Any) -> None:
        self.__cuda_array_interface__ = {**tensor.__cuda_array_interface__, "version": 3, **words}


@needs_gpu
def test_streams_come_before_the_fit(spots: Any) -> None:
    there = torch.from_numpy(spots).cuda()
    expected = fit(there).to_host().array.tobytes()
    side = torch.cuda.Stream()
    default = torch.cuda.default_stream()
    ways: list[tuple[Any, Any]] = [
        (side, lambda late: late),
        (default, lambda late: late),
        (side, lambda late: AsInterface(late, stream=side.cuda_stream)),
        (default, lambda late: AsInterface(late, stream=1)),
        (default, lambda late: AsInterface(late, stream=None)),
        (default, lambda late: AsInterface(late)),
    ]
    # Memory that is taken again would be waited for.
    held = [fit(there) for _ in range(3)]
    for stream, told in ways:
        for _ in range(3):
            with torch.cuda.stream(stream):
                late = torch.zeros_like(there)
                torch.cuda.synchronize()
                # Takes a while before the pixels are there.
                torch.cuda._sleep(40_000_000)
                late.copy_(there)
                held.append(fit(told(late)))
            assert held[-1].to_host().array.tobytes() == expected


@pytest.mark.skipif(
    torch is None or torch.cuda.device_count() < 2, reason="needs two NVIDIA GPUs and PyTorch"
)
def test_the_current_device_stays(spots: Any) -> None:
    decays = 50 * np.exp(-np.arange(20) / 6) + np.random.default_rng(1).random((5000, 20), dtype=np.float32)
    for device, other in (0, 1), (1, 0):
        torch.cuda.set_device(device)
        there = torch.from_numpy(spots).to(f"cuda:{other}")

        def stays(device: int = device) -> None:
            tensor = torch.ones(1000, device="cuda")
            assert tensor.device.index == torch.cuda.current_device() == device
            assert spotfit._spotfit.device_of("it", AsInterface(tensor)) == device
            tensor.sum().item()

        stays()
        fit(spots, backend="gpu", device=other)
        stays()
        fits = fit(there, errors=True)
        stays()
        columns = torch.from_dlpack(fits.x), np.asarray(fits.y)
        stays()
        fits.to_host()
        stays()
        del fits, columns
        stays()
        spotfit.Model("a*exp(-x/t) + c", "x").fit(decays, start={"a": 40, "t": 4, "c": 1}, backend="gpu", device=other)
        stays()


@needs_gpu
def test_wrong_tensors_are_refused(spots: Any) -> None:
    there = torch.from_numpy(spots).cuda()
    for wrong, what in (
        (there.double(), "float64"),
        (there.half(), "float16"),
        (there.int(), "int32"),
        (there.bfloat16(), "bfloat16"),
        (there[:, :, 0].contiguous(), "shape"),
    ):
        with pytest.raises((TypeError, ValueError), match=what):
            fit(wrong)
    for strided in there[::2], there.transpose(1, 2), there[:, :7], there.flip(0)[:, :, ::2]:
        with pytest.raises(ValueError, match="contiguous"):
            fit(strided)
    for words in (
        {"start": there},
        {"start": there[:, 0, :3].double().contiguous()},
        {"weights": there[:5]},
        {"weights": there.double()},
        {"start": Interface()},
    ):
        with pytest.raises((TypeError, ValueError), match="start|weights"):
            fit(there, **words)
    for interface in Interface(), Interface(data=(0, False)), Interface(data=(spots.ctypes.data, False)):
        with pytest.raises(ValueError, match="no memory of a GPU"):
            fit(interface)
    with pytest.raises(TypeError):
        fit(spots, weights=there)
    assert len(fit(there[:0]).to_host()) == 0 == len(np.asarray(fit(there[:0]).x))
    assert len(fit(there[:0])) == 0 and len(fit(there[:0], errors=True).errors) == 0
    bright = there > 10
    assert np.array_equal(fit(bright).to_host().x, fit(bright.to(torch.uint8)).to_host().x, equal_nan=True)
    with pytest.raises(ValueError, match="likelihood"):
        fit(there, weights=torch.ones_like(there), estimator="mle")
    pinned = torch.from_numpy(spots).pin_memory()
    assert isinstance(fit(pinned), spotfit.Fits)
    assert len(fit(there[5:6])) == 1


@needs_gpu
def test_threads_fit_beside_each_other(spots: Any) -> None:
    from concurrent.futures import ThreadPoolExecutor

    there = torch.from_numpy(spots).cuda()
    expected = fit(there).to_host().array.tobytes()
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: fit(there).to_host().array.tobytes(), range(200)):
            assert found == expected


@needs_gpu
def test_the_memory_serves_again(spots: Any) -> None:
    there = torch.from_numpy(spots).cuda()
    fit(there, errors=True)
    free, _ = torch.cuda.mem_get_info()
    # Memory of which someone knew the place rests until what was on its way then is done: a few take turns.
    places = set()
    for _ in range(1000):
        again = fit(there, errors=True)
        places.add(again.x.__cuda_array_interface__["data"][0])
        del again
    assert len(places) <= 10
    assert free - torch.cuda.mem_get_info()[0] < 50_000_000
