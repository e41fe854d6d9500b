"""Drift that is followed while frames come, and rings of frames."""

import socket
import struct
import subprocess
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spotfit
from test_depth import COMMAND

DRIFT = (0.03, -0.02)
CAMERA = spotfit.Camera(baseline=100)


@pytest.fixture(scope="module")
def frames() -> Any:
    """Frames of beads on a stage that drifts."""
    movie = spotfit.simulate_movie(40, width=96, height=80, beads=12, spots=0.001, drift=DRIFT, seed=5)
    return movie.frames


def check(track: Any, size: float = 1.0) -> None:
    """The drift is the simulated one."""
    for found, errors, drift in ((track.x, track.x_error, DRIFT[0]), (track.y, track.y_error, DRIFT[1])):
        expected = size * drift * np.arange(len(track))
        assert (np.abs(found - expected) < 8 * errors).all()


def test_frames_in_memory_are_tracked(frames: Any) -> None:
    """Proves that frames in memory give the drift with its errors, that a `Tracker` gives the same numbers, and that the drift can be taken out."""
    track = spotfit.track(frames, camera=CAMERA, pixel_size=100, rate=50)
    check(track, 100)
    assert (track.unit, len(track), track.report["frames"]) == ("nm", 40, 40)
    assert track.frame.tolist() == list(range(40))
    assert np.allclose(track.time, np.arange(40) / 50)
    tracker = spotfit.Tracker(frames[0], camera=CAMERA, pixel_size=100)
    for number, frame in enumerate(frames):
        drift = tracker.update(frame, number / 50)
        assert (drift.x, drift.y_error, drift.beads) == (track.x[number], track.y_error[number], track.beads[number])
    assert len(tracker.beads) == track.report["beads"]
    locs = spotfit.localize(frames, camera=CAMERA, pixel_size=100)
    straight = track.drift.correct(locs)
    assert len(straight) == len(locs)
    first, last = straight.x[straight.frame == 0], straight.x[straight.frame == 39]
    assert np.median([np.abs(first - x).min() for x in last]) < 0.1


def test_a_stage_that_goes_dark_is_found_again_or_lost() -> None:
    """Proves that after a dark frame a stage which jumped by 12 pixels is found where it is, and that it is "lost" where two beads of ten are left."""
    movie = spotfit.simulate_movie(420, width=96, height=80, beads=12, spots=0.001, drift=(0.03, 0.0), seed=1)
    tracker = spotfit.Tracker(movie.frames[0], camera=CAMERA)
    for frame in movie.frames[1:401]:
        assert tracker.update(frame).status == "measured"
    assert tracker.update(np.zeros((80, 96), "u2")).status == "held"
    drift = tracker.update(movie.frames[1])
    assert drift.status == "measured" and drift.beads >= 6
    assert abs(drift.x - 0.03) < 6 * drift.x_error + 0.02 and abs(drift.y) < 6 * drift.y_error + 0.02
    few = np.full_like(movie.frames[1], 100)
    for x, y in spotfit.Tracker(movie.frames[0], camera=CAMERA).beads[:2].round().astype(int):
        few[y - 6 : y + 7, x - 6 : x + 7] = movie.frames[1][y - 6 : y + 7, x - 6 : x + 7]
    track = spotfit.track(np.stack([*movie.frames[:3], few, few, movie.frames[2]]), camera=CAMERA)
    assert track.status.tolist() == ["measured"] * 3 + ["lost"] * 2 + ["measured"]
    assert track.report["lost_frames"] == 2 and (track.beads[3:5] == 0).all() and (track.x[3:5] == track.x[2]).all()


def test_the_command_says_the_same(frames: Any, tmp_path: Path) -> None:
    """Proves that the command and Python give the same table of the same file, with words for smoothing, beads and windows."""
    if COMMAND is None:
        pytest.skip("there is no command")
    np.save(tmp_path / "movie.npy", frames)
    words = ["--smooth", "kalman", "--beads", "6", "--box", "11", "--baseline", "100", "--sensitivity", "1", "--pixel-size", "100"]
    subprocess.run([COMMAND, "track", tmp_path / "movie.npy", "-o", tmp_path / "drift.npy", *words], check=True)
    told = np.load(tmp_path / "drift.npy")
    track = spotfit.track(tmp_path / "movie.npy", smooth="kalman", beads=6, box=11, camera=CAMERA, pixel_size=100)
    assert told["frame"].tolist() == (track.frame + 1).tolist()
    for name in ("x", "y", "x_error", "y_error", "beads"):
        assert told[name].tolist() == getattr(track, name).tolist(), name
    assert told["status"].tolist() == track.status.tolist()
    subprocess.run([COMMAND, "track", tmp_path / "movie.npy", "-o", tmp_path / "drift.csv", *words], check=True)
    track.save(tmp_path / "own.csv")
    assert (tmp_path / "own.csv").read_bytes() == (tmp_path / "drift.csv").read_bytes()
    with pytest.raises(ValueError, match=r"own\.npy: the name of a table of drift ends in \.csv"):
        track.save(tmp_path / "own.npy")


def test_rings_are_written_read_and_tracked(frames: Any, tmp_path: Path) -> None:
    """Proves that frames written into a ring are read as they are, and tracked; that datagrams, the ring of drifts and a function have the drifts."""
    name, back = str(tmp_path / "ring"), str(tmp_path / "drifts")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as heard:
        heard.bind(("127.0.0.1", 0))
        heard.settimeout(600)
        drifts: list[spotfit.TrackedFrame] = []
        done: dict[str, Any] = {}

        def follow() -> None:
            port = heard.getsockname()[1]
            done["track"] = spotfit.track(
                f"ring:{name}", camera=CAMERA, udp=port, ring_out=back, callback=drifts.append, idle=600
            )

        thread = threading.Thread(target=follow)
        thread.start()
        while not Path(back).exists():
            assert thread.is_alive()
            thread.join(0.001)
        reader = spotfit.RingReader(back)
        assert (reader.shape, reader.dtype) == ((1, 11), np.dtype("float64"))
        with spotfit.RingWriter(name, width=96, height=80, dtype="uint16", slots=64) as ring:
            own = spotfit.RingReader(name)
            for number, frame in enumerate(frames):
                ring.write(frame, number)
            assert ring.written == 40
            for number, frame in enumerate(frames):
                read = next(own)
                assert read.number == number and np.array_equal(read.pixels, frame)
            for number in range(40):
                datagram = heard.recv(200)
                assert datagram[:8] == b"SPOTDRFT" and len(datagram) == 104
                numbers = struct.unpack("<11d", datagram[16:])
                assert numbers[0] == number + 1
                assert np.array_equal(next(reader).pixels[0], numbers, equal_nan=True)
        thread.join()
    track = done["track"]
    check(track)
    assert own.counts == (40, 0, 0, 0)
    assert track.report["missed"] == 0 and track.unit == "px"
    assert [drift.x for drift in drifts] == track.x.tolist()
    assert (track.latency > 0).all()


def test_false_ends_what_is_live(frames: Any, tmp_path: Path) -> None:
    """Proves that a function which returns False ends a live source with what was found, and that its exception is raised."""
    name = str(tmp_path / "ring")
    with spotfit.RingWriter(name, width=96, height=80) as ring:
        for frame in frames:
            ring.write(frame)
        track = spotfit.track(f"ring:{name}", camera=CAMERA, callback=lambda drift: drift.frame < 9)
        assert len(track) == 10 and track.report["interrupted"]

        def fails(_: object) -> None:
            raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            spotfit.track(f"ring:{name}", camera=CAMERA, callback=fails)


def test_what_is_wrong_is_told(frames: Any, tmp_path: Path) -> None:
    """Proves that wrong arguments are exceptions that name them."""
    with pytest.raises(ValueError, match="no bead"):
        spotfit.track(np.full((3, 40, 40), 7), camera=CAMERA)
    with pytest.raises(ValueError, match="smooth = 'some'"):
        spotfit.track(frames, smooth="some")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="wander"):
        spotfit.track(frames, wander=0.1)
    with pytest.raises(ValueError, match="beads must be"):
        spotfit.track(frames, beads=[1.0, 2.0])
    with pytest.raises(ValueError, match="box"):
        spotfit.track(frames, box=4, camera=CAMERA)
    with pytest.raises(FileNotFoundError):
        spotfit.track(tmp_path / "missing.tif")
    with pytest.raises(ValueError, match=r"none came within 0.1 s"):
        spotfit.track(f"ring:{tmp_path}/none", idle=0.1)
    with pytest.raises(FileNotFoundError):
        spotfit.RingReader(str(tmp_path / "none"))
    with pytest.raises(ValueError, match="not the name of a ring"):
        spotfit.RingReader("a b")
    with pytest.raises(ValueError, match="dtype"):
        spotfit.RingWriter(str(tmp_path / "ring"), width=4, height=4, dtype="int8")  # type: ignore[arg-type]
    with spotfit.RingWriter(str(tmp_path / "ring"), width=4, height=3) as ring:
        with pytest.raises(ValueError, match="shape"):
            ring.write(np.zeros((4, 3)))
        with pytest.raises(ValueError, match="does not hold"):
            ring.write(np.full((3, 4), 70_000))
        ring.write(np.zeros((3, 4)))
        reader = spotfit.RingReader(str(tmp_path / "ring"), timeout=0.1)
        assert next(reader).pixels.dtype == np.uint16
        with pytest.raises(TimeoutError, match="silent"):
            next(reader)
    with pytest.raises(ValueError, match="closed"):
        ring.write(np.zeros((3, 4)))
    tracker = spotfit.Tracker(frames[0], camera=CAMERA)
    assert tracker.update(frames[0][:50]).status == "wrong_size"
    with pytest.raises(ValueError, match="frame must be an array"):
        tracker.update(frames)
