"""Other threads run while a fit runs, Ctrl-C ends it, and a process that was forked can fit."""

import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spotfit

#: So many seconds that nothing here takes as long, however busy the machine is.
LONG_TIME = 600


def worked(process: subprocess.Popen[bytes]) -> float:
    """How many seconds processors have worked for a process; for ever where the system does not tell it."""
    try:
        numbers = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return float("inf")
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")


def let_work(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Waits until processors have worked for a process for so long."""
    end = worked(process) + seconds
    while worked(process) < end:
        assert process.poll() is None
        time.sleep(0.002)


def end_by_ctrl_c(process: subprocess.Popen[bytes]) -> float:
    """How many seconds processors work for a process from Ctrl-C to its end, as far as the system tells it.

    Ctrl-C comes while the process stands still: however late this one goes on, nothing is done meanwhile.
    """
    process.send_signal(signal.SIGSTOP)
    os.waitpid(process.pid, os.WUNTRACED)
    before = worked(process)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGCONT)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime - before


LONG = """
import signal, sys, numpy as np, spotfit
signal.signal(signal.SIGINT, signal.default_int_handler)
window = spotfit.simulate(1).spots[0]
spots = np.broadcast_to(window, (8_000_000, 9, 9))
try:
    print("begin", flush=True)
    while True:
        CALL
except KeyboardInterrupt:
    sys.exit(7)
"""


EARLY = """
import signal, sys, numpy as np, spotfit
signal.signal(signal.SIGINT, signal.default_int_handler)
spots = np.broadcast_to(spotfit.simulate(1).spots[0], (300_000, 9, 9))
try:
    print("begin", flush=True)
    while True:
        spotfit.fit(spots, errors=True, backend="reference", max_iterations=2)
except KeyboardInterrupt:
    sys.exit(7)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to one process")
@pytest.mark.parametrize("work", [0.02, 0.1, 0.3])
def test_ctrl_c_in_the_first_call_with_errors(work: float) -> None:
    """It ends as Ctrl-C does, wherever in the call it comes."""
    process = subprocess.Popen([sys.executable, "-c", EARLY], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"begin\n"
    let_work(process, work)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=LONG_TIME)
    assert process.returncode == 7, told


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to one process")
@pytest.mark.parametrize(
    "call",
    [
        'spotfit.fit(spots, backend="reference", criteria="tight")',
        # As large as what a GPU would be given, where there is none.
        'spotfit.fit(spots, shape="rotated", criteria="tight", errors=True)',
        "spotfit.simulate(1_000_000)",
    ],
)
def test_ctrl_c_ends_a_long_call(call: str) -> None:
    process = subprocess.Popen([sys.executable, "-c", LONG.replace("CALL", call)], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"begin\n"
    let_work(process, 0.5)
    assert end_by_ctrl_c(process) < 5 * (os.cpu_count() or 1)
    assert process.returncode == 7
    process.stdout.close()


SLOW = {
    "find_drift": """
frame = np.repeat(np.arange(20_000), 60)
at = rng.uniform(0, 500, (3000, 2))[rng.integers(0, 3000, len(frame))] + rng.normal(0, 0.05, (len(frame), 2))
locs = spotfit.Locs({"frame": frame, "x": at[:, 0], "y": at[:, 1], "uncertainty": np.full(len(frame), 0.05)})
call = lambda: spotfit.find_drift(locs, range="60px")
""",
    "render": """
at = rng.uniform(0, 500, (3_000_000, 2))
locs = spotfit.Locs({"frame": np.zeros(len(at), int), "x": at[:, 0], "y": at[:, 1]})
call = lambda: spotfit.render(locs, pixel="0.1px", blur="5px")
""",
    "fit": """
model = spotfit.Model("voigt")
x = np.linspace(-10, 10, 2000)
y = model(x, a=5, x0=0, s=1, g=1, b=2) + rng.normal(0, 1, (2000, 2000))
call = lambda: model.fit(y, x=x, tolerance=1e-9)
""",
    "fit of one": """
model = spotfit.Model("a*exp(-x/t) + b*exp(-x/u) + c*sin(w*x)")
x = np.linspace(0, 10, 30_000_000)
y = rng.normal(5, 1, len(x))
call = lambda: model.fit(y, x=x, start=[1, 3, 2, 4, 1, 3], tolerance=1e-12)
""",
    "link": """
at = rng.uniform(0, 200, (6_000_000, 2))
locs = spotfit.Locs({"frame": np.repeat(np.arange(6000), 1000), "x": at[:, 0], "y": at[:, 1]})
call = lambda: spotfit.link(locs, radius="3px", gap=50)
""",
}
SLOW_CALL = """
import signal, sys, time, numpy as np, spotfit
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(1)
PREPARE
try:
    print("begin", flush=True)
    while True:
        call()
except KeyboardInterrupt:
    print("end", flush=True)
    sys.exit(7)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to one process")
@pytest.mark.parametrize("what", SLOW)
def test_ctrl_c_ends_within_a_second_of_work(what: str) -> None:
    """Proves that calls that cannot be divided hear Ctrl-C before any processor has worked for another second, however long they take."""
    program = SLOW_CALL.replace("PREPARE", SLOW[what])
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"begin\n"
    let_work(process, 1.5)
    assert end_by_ctrl_c(process) < (os.cpu_count() or 1)
    assert process.returncode == 7 and process.stdout.read() == b"end\n"
    process.stdout.close()


def test_python_goes_on_while_a_fit_runs() -> None:
    window = spotfit.simulate(1).spots[0]
    done: list[int] = []

    def fit(count: int) -> None:
        done.append(len(spotfit.fit(np.broadcast_to(window, (count, 9, 9)), backend="reference")))

    # On a machine that is busy with others it has fewer turns, and in a longer call more.
    turns, count = 0, 60_000
    while turns <= 10 and count < 10_000_000:
        thread = threading.Thread(target=fit, args=(count,))
        thread.start()
        turns = 0
        while thread.is_alive():
            turns += 1
            thread.join(0.001)
        assert done.pop() == count
        count *= 2
    assert turns > 10


def test_many_threads_share_a_fitter() -> None:
    spots = spotfit.simulate(5000).spots
    fitter = spotfit.Fitter()
    expected = fitter.fit(spots).x.tobytes()
    found: list[bool] = []
    work = [
        threading.Thread(target=lambda: found.append(fitter.fit(spots).x.tobytes() == expected)) for _ in range(8)
    ]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert found == [True] * 8


def with_fork(test: Any) -> Any:
    """Not where there is no fork, and without Python's warning of it."""
    test = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")(test)
    return pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")(test)


@with_fork
def test_a_forked_process_has_threads_of_its_own() -> None:
    spots = spotfit.simulate(5000).spots
    fitter = spotfit.Fitter()
    expected = fitter.fit(spots).x.tobytes()

    def fit_again() -> bool:
        same = fitter.fit(spots).x.tobytes() == expected and len(spotfit.simulate(10).spots) == 10
        return same and bool(spotfit.fit(spots).converged.all())

    assert in_a_fork(fit_again)


@with_fork
def test_a_forked_process_reads_writes_and_chooses(tmp_path: Path) -> None:
    locs = spotfit.Locs({"frame": np.arange(20_000), "x": np.linspace(1, 9, 20_000)})

    def work() -> bool:
        path = tmp_path / f"{os.getpid()}.csv"
        locs.save(path)
        return len(spotfit.read_table(path)) == 20_000 and len(locs.filter("x > 5")) == 10_000

    assert work() and in_a_fork(work)


@with_fork
def test_localizing_stays_where_it_began(tmp_path: Path) -> None:
    movie = np.random.default_rng(1).poisson(20, (5000, 32, 32)).astype(np.uint8)
    np.save(tmp_path / "movie.npy", movie)
    for source in movie, tmp_path / "movie.npy":
        blocks = spotfit.Blocks(source)
        next(blocks)

        def refused(blocks: spotfit.Blocks = blocks) -> bool:
            with pytest.raises(RuntimeError, match="forked"):
                next(blocks)
            # Another one may begin here.
            return len(list(spotfit.Blocks(movie[:10]))) == 1

        assert in_a_fork(refused)
        assert sum(1 for _ in blocks) > 0


def in_a_fork(work: Callable[[], bool]) -> bool:
    """Whether it succeeds in a forked process, which may hang."""
    child = os.fork()
    if child == 0:
        try:
            good = work()
        except BaseException:
            traceback.print_exc()
            good = False
        os._exit(0 if good else 1)
    for _ in range(10 * LONG_TIME):
        finished, status = os.waitpid(child, os.WNOHANG)
        if finished:
            break
        time.sleep(0.1)
    else:
        os.kill(child, signal.SIGKILL)
        pytest.fail("the forked process hangs")
    return os.waitstatus_to_exitcode(status) == 0
