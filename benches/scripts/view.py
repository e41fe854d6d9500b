"""How soon the window answers: tiles of a table of many localizations, its first picture, frames, previews, and the memory that it takes.

    python benches/scripts/view.py --spotfit target/release/spotfit --rows 10000000

The table is simulated: filaments in a field of 40 µm and localizations everywhere, with uncertainties of 5 to 20 nm. Needs NumPy and
Python's `spotfit`.
"""

import argparse
import json
import signal
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from pathlib import Path

import numpy as np

FIELD = 40_960.0  # nanometres
PIXEL = 100.0


def write_table(path: Path, rows: int) -> None:
    import spotfit

    random = np.random.default_rng(1)
    on = np.arange(rows) % 4 != 0
    filament = random.integers(0, 200, rows)
    angle, start = random.uniform(0, 2 * np.pi, 200), random.uniform(0, FIELD, (200, 2))
    along, across = random.uniform(-8000, 8000, rows), random.normal(0, 15, rows)
    x = np.where(on, start[filament, 0] + along * np.cos(angle[filament]) - across * np.sin(angle[filament]), random.uniform(0, FIELD, rows))
    y = np.where(on, start[filament, 1] + along * np.sin(angle[filament]) + across * np.cos(angle[filament]), random.uniform(0, FIELD, rows))
    uncertainty = random.uniform(5, 20, rows) / PIXEL
    columns = {
        "frame": np.sort(random.integers(0, 50_000, rows)),
        "x": np.clip(x, 0, FIELD) / PIXEL,
        "y": np.clip(y, 0, FIELD) / PIXEL,
        "photons": random.gamma(2, 800, rows),
        "background": random.normal(20, 3, rows),
        "sigma_x": random.normal(1.3, 0.1, rows),
        "sigma_y": random.normal(1.3, 0.1, rows),
        "uncertainty_x": uncertainty,
        "uncertainty_y": uncertainty,
        "z": random.uniform(-400, 400, rows),
    }
    spotfit.Locs(columns, spotfit.Movie(PIXEL, width=410, height=410, frames=50_000)).save(path)


class Window:
    """A window without a browser."""

    def __init__(self, program: str, folder: Path, *files: str) -> None:
        words = [program, "view", *files, "--no-open"]
        self.process = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        self.events: list[dict] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        try:
            with urllib.request.urlopen(self.address + "api/events") as stream:
                for line in stream:
                    if line.startswith(b"data:"):
                        self.events.append({**json.loads(line[5:]), "when": time.perf_counter()})
        except OSError:
            pass

    def get(self, path: str, **query: object) -> tuple[float, bytes]:
        text = urllib.parse.urlencode(query)
        begin = time.perf_counter()
        with urllib.request.urlopen(f"{self.address}{path}?{text}") as answer:
            body = answer.read()
        return time.perf_counter() - begin, body

    def post(self, path: str, **content: object) -> tuple[float, dict]:
        request = urllib.request.Request(self.address + path, json.dumps(content).encode(), {"Content-Type": "application/json"})
        begin = time.perf_counter()
        with urllib.request.urlopen(request) as answer:
            body = answer.read()
        return time.perf_counter() - begin, json.loads(body)

    def memory(self, what: str = "VmRSS") -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith(what))
        return int(line.split()[1]) / 1e6

    def close(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(5)


def tiles(window: Window, runs: int, extent: list[float], **words: object) -> None:
    """Tiles at every zoom, from one that shows all to those whose pixels are a nanometre: of each, the one with most in it and others."""
    left, top, right, bottom = extent
    side = max(right - left, bottom - top)
    zoom = int(np.ceil(np.log2(side / 256)))
    worst, all_times = 0.0, []
    random = np.random.default_rng(2)
    for power in range(zoom + 2, zoom - 9, -1):
        pixel = 2.0**power
        _, told = window.get("api/contrast", tables=0, pixel=pixel, extent=",".join(map(str, [left, top, min(right, left + 1280 * pixel), min(bottom, top + 800 * pixel)])), **words)
        peak = json.loads(told)["peak"]
        times = []
        for _ in range(runs):
            x, y = random.uniform(left, right), random.uniform(top, bottom)
            spent, _ = window.get("api/tile", tables=0, pixel=pixel, x=int(x // (256 * pixel)), y=int(y // (256 * pixel)), peak=peak, **words)
            times.append(1e3 * spent)
        print(f"  pixel 2^{power:<3} median {statistics.median(times):6.1f} ms, worst {max(times):6.1f} ms")
        worst, all_times = max(worst, max(times)), all_times + times
    print(f"  all: median {statistics.median(all_times):.1f} ms, worst {worst:.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spotfit", default="target/release/spotfit", help="the command")
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of the table; 0 for none")
    parser.add_argument("--table", type=Path, help="a table to keep or to use again, .hdf5")
    parser.add_argument("--runs", type=int, default=15, help="tiles of each zoom")
    parser.add_argument("--preview", action="store_true", help="measure previews")
    arguments = parser.parse_args()
    program = str(Path(arguments.spotfit).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if arguments.rows:
            table = (arguments.table or folder / "locs.hdf5").resolve()
            if not table.exists():
                write_table(table, arguments.rows)
            begin = time.perf_counter()
            window = Window(program, folder, str(table))
            while not any(event["kind"] in ("rows", "failed") for event in window.events):
                time.sleep(0.01)
            shown = next(event for event in window.events if event["kind"] in ("rows", "failed"))["table"]
            print(f"{shown['rows']} rows are there after {time.perf_counter() - begin:.2f} s; {window.memory():.2f} GB")
            extent = shown["extent"]
            begin = time.perf_counter()
            pixel = 2.0 ** np.ceil(np.log2(max(extent[2] - extent[0], extent[3] - extent[1]) / 1024))
            _, told = window.get("api/contrast", tables=0, pixel=pixel, extent=",".join(map(str, extent)), colour_by="density")
            for x in range(int(extent[0] // (256 * pixel)), int(extent[2] // (256 * pixel)) + 1):
                for y in range(int(extent[1] // (256 * pixel)), int(extent[3] // (256 * pixel)) + 1):
                    window.get("api/tile", tables=0, pixel=pixel, x=x, y=y, peak=json.loads(told)["peak"], colour_by="density")
            print(f"first picture of about 1024 pixels: {time.perf_counter() - begin:.2f} s")
            for words in ({"colour_by": "density"}, {"colour_by": "z"}, {"colour_by": "density", "blur": "none"}, {"colour_by": "density", "filter": "photons > 800"}):
                print(f"tiles, {words}:")
                tiles(window, arguments.runs, extent, **words)
            spent, _ = window.get("api/histogram", table=0, column="photons", bins=200)
            print(f"histogram {1e3 * spent:.0f} ms; at most {window.memory('VmHWM'):.2f} GB")
            window.close()
        for side in (512, 2048):
            frames = 64
            words = [program, "simulate", "movie", "-o", "movie.tif", "--frames", str(frames), "--width", str(side), "--height", str(side), "--baseline", "100"]
            subprocess.run(words, cwd=folder, check=True, capture_output=True)
            window = Window(program, folder, "movie.tif")
            times = [1e3 * window.get("api/frame", number=1 + number % frames)[0] for number in range(arguments.runs)]
            print(f"frame {side}×{side}: median {statistics.median(times):.1f} ms")
            if arguments.preview:
                times = []
                for run in range(arguments.runs + 1):
                    options = ["--baseline", "100", "--threshold", str(5 + 0.1 * run)]
                    times.append(1e3 * window.post("api/preview", words=options, frame=10)[0])
                print(f"changed option {side}×{side}: median {statistics.median(times[1:]):.1f} ms, worst {max(times[1:]):.1f} ms, first {times[0]:.1f} ms")
            window.close()


if __name__ == "__main__":
    main()
