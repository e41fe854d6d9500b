"""Keywords are the options of the command: the same names and defaults, by the words that the command tells of itself."""

import inspect
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spotfit

#: What ``spotfit options`` prints; a test of the command keeps it as it is.
WORDS: dict[str, Any] = json.loads((Path(__file__).parent / "options.json").read_text())
FITTER = spotfit.Fitter.__init__
#: Options that no function has: files and what is printed are the command's, and a table of Python knows its frames, its origin and the
#: size of its pixels.
FILES = {"output", "overwrite", "help", "json", "filter", "origin", "first_frame", "column_names", "skip_lines", "decimal", "pixel_size", "no_record", "picasso"}
#: A camera has a type of its own.
CAMERA = {"baseline", "sensitivity", "em_gain", "read_noise"}
#: Simulated files; the overwriting is of them.
FILES_OF_SIMULATIONS = {"output", "truth", "overwrite", "json", "write_defects"}
#: A simulated camera has Python's type, and maps are an argument: ``maps="simulated"`` is what ``--camera`` makes.
SIMULATED_CAMERA = {"baseline", "sensitivity", "em_gain", "read_noise"}
#: Plots are methods of what is found.
PLOTS = {"plot"}
#: For each verb its functions; options that are no keywords, and keywords that are no options, besides those above.
VERBS: dict[str, tuple[list[Callable[..., Any]], set[str], set[str]]] = {
    # Frames on standard input are the command's.
    "localize": (
        [spotfit.Blocks.__init__, FITTER],
        {*FILES - {"pixel_size"}, *CAMERA, "frame", "max_frame_pixels", "write_defects"},
        {"tolerance"},
    ),
    # A preview looks at one frame of a movie that is there.
    "preview": (
        [spotfit.preview, spotfit.Blocks.__init__, FITTER],
        {*FILES - {"pixel_size", "filter"}, *CAMERA, "frames", "max_frame_pixels"},
        {"tolerance", "frames", "follow", "idle"},
    ),
    "psf": (
        [spotfit.learn_psf, spotfit.Blocks.__init__, FITTER],
        {*FILES - {"pixel_size"}, *CAMERA, *PLOTS, "max_frame_pixels"},
        {"tolerance", "follow", "idle"},
    ),
    "fit": ([spotfit.fit, FITTER], {*FILES - {"pixel_size"}, *CAMERA}, {"dtype", "tolerance"}),
    # --spline is a function of its own, `calibrate_psf`.
    "calibrate": (
        [spotfit.calibrate, FITTER],
        {*FILES - {"pixel_size"}, *CAMERA, *PLOTS, "max_frame_pixels", "spline", "planes"},
        {"tolerance"},
    ),
    # A mask is `MeasuredCamera.hot` and `dead`.
    "camera": ([spotfit.camera], {*FILES, "mask", "plot", "max_frame_pixels"}, set()),
    "simulate movie": ([spotfit.simulate_movie], {*FILES_OF_SIMULATIONS, *SIMULATED_CAMERA, "frames"}, {"maps"}),
    "simulate beads": ([spotfit.simulate_beads], {*FILES_OF_SIMULATIONS, *SIMULATED_CAMERA}, {"maps"}),
    # Sigmas are a range, and windows have no file of corners; --pixel-background is `background`, which there is a window's.
    "simulate": (
        [spotfit.simulate],
        {
            *FILES_OF_SIMULATIONS, *SIMULATED_CAMERA,
            "count", "size", "width", "height", "sigma_min", "sigma_max", "camera_size", "corners", "dtype", "pixel_background",
        },
        {"sigma", "scatter", "reach", "maps", "background"},
    ),
    # The model is an object with its variables, parameters, ties and splines; what is shared is `shared`, which may have groups; text is read by `read_columns`.
    "curve": (
        [spotfit.Model.fit],
        {"output", "json", "overwrite", "no_record", "plot", "plots", "log_x", "log_y", "sheet", "model", "variables", "parameters", "spline", "where", "share", "columns", "skip", "decimal",
         "x_columns", "error_columns", "by", "outliers", "bands", "bands_table", "report"},
        {"shared"},
    ),
    "render": ([spotfit.render], FILES - {"filter"}, set()),
    # Drift is taken out, and its error added, by `Drift.correct`.
    "drift": ([spotfit.find_drift], {*FILES, *PLOTS, "table", "apply", "with_error"}, {"frames"}),
    "stats": ([spotfit.stats], {*FILES - {"filter"}, "drift", "no_nena", "no_frc"}, {"nena", "frc"}),
    "convert": ([spotfit.convert, spotfit.concatenate], FILES, set()),
    "filter": ([spotfit.filter], {*FILES, "columns"}, set()),
    "link": ([spotfit.link], FILES, set()),
    "pick": ([spotfit.pick], {*FILES - {"filter"}, "picks", "locs"}, set()),
    "profile": ([spotfit.profile], {*FILES - {"filter"}, *PLOTS}, set()),
    "score": ([spotfit.score], {*FILES, "truth_origin", "truth_first_frame"}, set()),
    # Frames on standard input and what is printed are the command's, and so is what is asked of the system.
    "track": (
        [spotfit.track],
        {*FILES - {"pixel_size"}, *CAMERA, *PLOTS, "frame", "json_lines", "max_frame_pixels", "realtime", "processor", "watch"},
        {"callback"},
    ),
    "z": ([spotfit.z], {*FILES, "calibration"}, set()),
    "devices": ([spotfit.devices], set(), set()),
}  # fmt: skip
#: Defaults that differ in how they are written: what Python says is found out later, or is a number that the command tells in words.
DEFAULTS = {
    # Frames are counted from 0 in Python, and from 1 by the command.
    ("preview", "frame"): 0,
    ("simulate movie", "drift"): (0.0, 0.0),
    # In Python they stand where `Defocus` has them.
    ("simulate", "z_range"): 500.0,
    ("simulate", "focus"): 200.0,
    ("simulate", "depth"): 400.0,
}


def keywords_of(functions: list[Callable[..., Any]]) -> dict[str, inspect.Parameter]:
    found: dict[str, inspect.Parameter] = {}
    for function in functions:
        kinds = inspect.signature(function).parameters
        found |= {name: parameter for name, parameter in kinds.items() if parameter.kind is parameter.KEYWORD_ONLY}
    return found


@pytest.mark.parametrize("verb", VERBS)
def test_keywords_are_options(verb: str) -> None:
    """Proves that every option is a keyword and every keyword an option, but for those that are named above, with the same default."""
    functions, others, own = VERBS[verb]
    keywords = keywords_of(functions)
    told = {option["name"].replace("-", "_"): option for option in WORDS[verb]["options"]}
    shown = {name for name, option in told.items() if not option.get("positional")}
    assert shown - others == set(keywords) - own
    for name in shown - others:
        parameter = keywords[name].default
        # Some defaults depend on others, and help tells them in words.
        words = re.search(r"\[default: ([^\];]+)[\];]", told[name].get("help", ""))
        default = told[name].get("default") or (words[1] if words else None)
        if (verb, name) in DEFAULTS:
            assert parameter == DEFAULTS[verb, name]
        elif default is None or parameter is None:
            # The command tells what Python finds, if nothing is said.
            assert parameter in (None, False, (), inspect.Parameter.empty), name
        elif isinstance(parameter, (int, float)) and not isinstance(parameter, bool):
            assert parameter == float(default), name
        elif isinstance(parameter, tuple):
            assert [float(part) for part in parameter] == [float(part) for part in default.split(",")], name
        else:
            assert str(parameter) == default, name


def test_every_choice_of_the_command_is_one_of_python() -> None:
    """Proves that the words of an option are those that Python's types list."""
    for verb, (functions, others, _) in VERBS.items():
        annotations: dict[str, Any] = {}
        for function in functions:
            annotations |= {name: str(kind) for name, kind in inspect.get_annotations(function).items()}
        for option in WORDS[verb]["options"]:
            name = option["name"].replace("-", "_")
            kind = annotations.get(name, "")
            if name in others or "Literal" not in kind:
                continue
            for word in option.get("choices", []):
                assert f'"{word}"' in kind or f"'{word}'" in kind, (verb, name, word)


#: What tells that an option is a length with a unit.
UNITS = re.compile(r"with (a|its) unit|with units|LENGTH")
#: The same length in nanometres and in pixels of 100 nm, where half a pixel will not do.
SAME = {
    "aperture": ("300nm", "3px"),
    "box": ("900nm", "9px"), "roi": ("1um,1um,4um,4um", "10,10,40,40"), "fixed_sigma": ("130nm", "1.3px"),
    "sigma_min": ("0.06um", "0.6px"), "sigma_max": ("300nm", "3px"), "extent": ("0um,0um,3um,3um", "0px,0px,30px,30px"),
    "range": ("0.3um", "3px"), "circle": ("1um,2um,3um", "10px,20px,30px"), "line": ("1um,1um,4um,4um", "10px,10px,40px,40px"), "pixel": ("20nm", "0.2px"), "scale_bar": ("1um", "10px"), "border": ("0.3um", "3px"),
}  # fmt: skip
#: What an option is of no use without.
BESIDE: dict[tuple[str, str], dict[str, Any]] = {
    ("filter", "radius"): {"neighbours": 1},
    ("drift", "bead_radius"): {"beads": "auto"},
    ("score", "border"): {"width": 64, "height": 64},
    ("profile", "line"): {"width": "1um"},
    ("profile", "width"): {"line": "1um,1um,4um,4um"},
    ("profile", "step"): {"line": "1um,1um,4um,4um", "width": "1um"},
}


def lengths() -> list[tuple[str, str]]:
    """Every option that is a length with a unit, of every verb that has a function."""
    found = []
    for verb, (_, others, _) in VERBS.items():
        for option in WORDS[verb]["options"]:
            name = option["name"].replace("-", "_")
            if UNITS.search(option.get("help", "") + option.get("value", "")) and name not in others:
                found.append((verb, name))
    return found


@pytest.fixture(scope="module")
def calls(tmp_path_factory: Any) -> dict[str, Callable[..., Any]]:
    """What a function of each verb makes with an option."""
    camera = spotfit.Camera(baseline=100, read_noise=1.5)
    movie = spotfit.simulate_movie(20, width=64, height=64, spots=5, beads=1, seed=3)
    spots = spotfit.simulate(50, photons=1000, seed=3).spots
    stack = spotfit.simulate_beads(beads=4, width=96, height=96, step=50)
    locs = spotfit.localize(movie.frames, camera=camera, shape="elliptical", pixel_size=100)
    heights = spotfit.Locs({"frame": [0, 0], "x": [3.0, 3.5], "y": [4.0, 4.0], "z": [0.0, 30.0], "uncertainty": [0.1] * 2}, spotfit.Movie(100))
    path = tmp_path_factory.mktemp("words") / "cal.yaml"
    spotfit.calibrate(stack.frames, step=50, camera=camera).save(path)

    def table(made: Any) -> Any:
        return {name: made[name].tolist() for name in made}, {**made.report, "time": None, "stages": None}

    def unlearnt(**words: Any) -> str:
        """How many spots of a short movie there are to learn from."""
        try:
            spotfit.learn_psf(movie.frames, camera=camera, pixel_size=100, **words)
        except ValueError as error:
            if "cannot be learnt" not in str(error):
                raise
            return str(error)
        raise AssertionError("these are too few")

    return {
        "psf": unlearnt,
        "localize": lambda **words: table(spotfit.localize(movie.frames, camera=camera, pixel_size=100, **words)),
        "preview": lambda **words: table(spotfit.preview(movie.frames, camera=camera, pixel_size=100, **words).kept),
        "fit": lambda **words: spotfit.fit(spots, pixel_size=100, **words).array.tolist(),
        "calibrate": lambda **words: spotfit.calibrate(stack.frames, step=50, camera=camera, pixel_size=100, **words)._content,
        "render": lambda **words: spotfit.render(locs, **words).file,
        "drift": lambda **words: spotfit.find_drift(locs, anyway=True, **words).x.tolist(),
        "filter": lambda **words: table(spotfit.filter(locs, **words)),
        "link": lambda **words: table(spotfit.link(heights, **words)),
        "pick": lambda **words: [{**found, "pick": None} for found in spotfit.pick(locs, **words)["picks"]],
        "profile": lambda **words: spotfit.profile(locs, **words),
        "score": lambda **words: spotfit.score(heights if "radius_z" in words else locs, heights, **words),
        "track": lambda **words: spotfit.track(movie.frames, camera=camera, pixel_size=100, beads=4, **words).x.tolist(),
        "z": lambda **words: table(spotfit.z(locs, path, **words)),
    }


@pytest.mark.parametrize(("verb", "name"), lengths())
def test_lengths_have_units(verb: str, name: str, calls: dict[str, Callable[..., Any]]) -> None:
    """Proves that every length which the command takes with a unit is one of Python, by its type and by what comes of it."""
    annotation = str(keywords_of(VERBS[verb][0])[name].annotation)
    assert "Length" in annotation, annotation
    long, short = SAME.get(name, ("50nm", "0.5px"))
    beside = BESIDE.get((verb, name), {})
    assert calls[verb](**{name: long}, **beside) == calls[verb](**{name: short}, **beside)
    with pytest.raises(ValueError, match=name):
        calls[verb](**{name: "5 furlongs"}, **beside)


def test_lengths_were_found() -> None:
    """Proves that the test above looks at the options that it is for."""
    assert {("localize", "box"), ("fit", "fixed_sigma"), ("calibrate", "box"), ("z", "box"), ("render", "extent")} <= {*lengths()}


def test_the_size_of_a_pixel_may_be_that_of_the_movie(tmp_path: Path) -> None:
    """Proves that lengths in nanometres are found with the size that the metadata state, and refused where there is none."""
    np.full((3, 64, 64), 100, "<u2").tofile(tmp_path / "movie.raw")
    words = "Byte Order: <\nData Type: uint16\nFrames: 3\nHeight: 64\nWidth: 64\n"
    (tmp_path / "movie.yaml").write_text(words, encoding="utf-8")
    options: dict[str, Any] = {"camera": spotfit.Camera(100), "box": "1.1um", "roi": "0um,0um,3um,3um", "sigma_min": "50nm"}
    with pytest.raises(ValueError, match="the size of a pixel is not given"):
        spotfit.localize(tmp_path / "movie.raw", **options)
    (tmp_path / "movie.yaml").write_text(words + "Pixelsize: 100\n", encoding="utf-8")
    assert len(spotfit.localize(tmp_path / "movie.raw", **options)) == 0
    found = spotfit.fit_files([tmp_path / "movie.raw"], tmp_path / "out", **options)
    found.raise_for_failures()
    assert spotfit.fit_files([tmp_path / "movie.raw"], tmp_path / "out", **options)[0].error is None
    record = json.loads((tmp_path / "out/movie.hdf5.spotfit.json").read_text())["options"]
    assert (record["box"], record["roi"], record["sigma_min"]) == ("1100nm", "0um,0um,3um,3um", "50nm")
