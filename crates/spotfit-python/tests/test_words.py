"""Keywords are the options of the command: the same names and defaults, by the words that the command tells of itself."""

import inspect
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spotfit

#: What ``spotfit options`` prints; a test of the command keeps it as it is.
WORDS: dict[str, Any] = json.loads((Path(__file__).parent / "options.json").read_text())
FITTER = spotfit.Fitter.__init__
#: Options that no function has: files and what is printed are the command's, and a table of Python knows its frames, its origin and the
#: size of its pixels.
FILES = {"output", "overwrite", "help", "json", "filter", "origin", "first_frame", "pixel_size", "no_record", "picasso"}
#: A camera has a type of its own.
CAMERA = {"baseline", "sensitivity", "em_gain", "read_noise"}
#: Simulated files; the overwriting is of them.
FILES_OF_SIMULATIONS = {"output", "truth", "overwrite", "json"}
#: A simulated camera has Python's type, and maps are an argument: ``maps="simulated"`` is what ``--camera`` makes.
SIMULATED_CAMERA = {"baseline", "sensitivity", "em_gain", "read_noise"}
#: Plots are the command's.
PLOTS = {"plot"}
#: For each verb its functions; options that are no keywords, and keywords that are no options, besides those above.
VERBS: dict[str, tuple[list[Callable[..., Any]], set[str], set[str]]] = {
    # Positions are windows of `fit_in_frames`, start values an array, and arrays are in memory; --box is `box`.
    "localize": ([spotfit.Blocks.__init__, FITTER], {*FILES - {"pixel_size"}, *CAMERA, "positions", "max_frame_pixels"}, {"tolerance"}),
    "fit": ([spotfit.fit, FITTER], {*FILES, *CAMERA, "initial"}, {"start", "dtype", "tolerance"}),
    # --spline is a function of its own, `calibrate_psf`.
    "calibrate": (
        [spotfit.calibrate, FITTER],
        {*FILES - {"pixel_size"}, *CAMERA, *PLOTS, "max_frame_pixels", "spline", "planes"},
        {"tolerance"},
    ),
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
    # The model is an object with its variables, parameters and splines; --fix is `fixed`.
    "curve": (
        [spotfit.Model.fit],
        {"output", "json", "overwrite", "no_record", "plot", "plots", "model", "variables", "parameters", "spline", "fix"},
        {"fixed", "covariance", "instruction_set", "device"},
    ),
    "render": ([spotfit.render], FILES - {"filter"}, set()),
    # Drift is taken out, and its error added, by `Drift.correct`.
    "drift": ([spotfit.find_drift], {*FILES, *PLOTS, "table", "apply", "with_error"}, {"frames"}),
    "stats": ([spotfit.stats], {*FILES - {"filter"}, "drift", "no_nena", "no_frc"}, {"nena", "frc"}),
    "convert": ([spotfit.convert], FILES, set()),
    "filter": ([spotfit.filter], {*FILES, "columns"}, set()),
    "link": ([spotfit.link], FILES, set()),
    "merge": ([spotfit.merge], FILES, set()),
    "score": ([spotfit.score], {*FILES, "truth_origin", "truth_first_frame"}, set()),
    "z": ([spotfit.z], {*FILES, "calibration"}, set()),
}  # fmt: skip
#: Defaults that differ in how they are written: what Python says is found out later, or is a number that the command tells in words.
DEFAULTS = {
    ("simulate movie", "drift"): (0.0, 0.0),
    # Python takes single precision where it is faster: what it cannot decide is fitted again in double precision.
    ("curve", "backend"): "auto",
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
    shown = {name for name, option in told.items() if not option.get("hidden") and not option.get("positional")}
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
