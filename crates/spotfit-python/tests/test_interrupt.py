"""Other threads run while a fit runs, Ctrl-C ends it, and a process that was forked can fit."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import spotfit

LONG = """
import signal, sys, numpy as np, spotfit
signal.signal(signal.SIGINT, signal.default_int_handler)
window = spotfit.simulate(1).spots[0]
spots = np.broadcast_to(window, (20_000_000, 9, 9))
print("begin", flush=True)
try:
    CALL
except KeyboardInterrupt:
    sys.exit(7)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to one process")
@pytest.mark.parametrize(
    "call",
    ['spotfit.fit(spots, backend="reference", criteria="tight")', "spotfit.simulate(50_000_000)"],
)
def test_ctrl_c_ends_a_long_call(call: str) -> None:
    process = subprocess.Popen([sys.executable, "-c", LONG.replace("CALL", call)], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"begin\n"
    time.sleep(0.5)
    assert process.poll() is None
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 7
    assert time.monotonic() - begin < 10
    process.stdout.close()


def test_python_goes_on_while_a_fit_runs() -> None:
    window = spotfit.simulate(1).spots[0]
    spots = np.broadcast_to(window, (60_000, 9, 9))
    done: list[int] = []
    thread = threading.Thread(target=lambda: done.append(len(spotfit.fit(spots, backend="reference"))))
    thread.start()
    turns = 0
    while thread.is_alive():
        turns += 1
        time.sleep(0.001)
    assert done == [60_000] and turns > 10


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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own() -> None:
    spots = spotfit.simulate(5000).spots
    fitter = spotfit.Fitter()
    expected = fitter.fit(spots).x.tobytes()
    child = os.fork()
    if child == 0:
        same = fitter.fit(spots).x.tobytes() == expected and len(spotfit.simulate(10).spots) == 10
        os._exit(0 if same and spotfit.fit(spots).converged.all() else 1)
    for _ in range(300):
        finished, status = os.waitpid(child, os.WNOHANG)
        if finished:
            break
        time.sleep(0.1)
    else:
        os.kill(child, signal.SIGKILL)
        pytest.fail("the forked process hangs")
    assert os.waitstatus_to_exitcode(status) == 0
