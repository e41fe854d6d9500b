"""Keywords are the options of the command: the same names and defaults. It is asked, where it is built."""

import inspect
import re
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
import spotfit
from test_depth import COMMAND

#: What every verb has, and a function has not: files, what is printed, and what an argument of Python tells.
FILES = {"output", "overwrite", "help", "json", "filter", "origin", "first_frame", "pixel_size"}
#: A camera has a type of its own.
CAMERA = {"baseline", "sensitivity", "em_gain", "read_noise"}
FITTER = spotfit.Fitter.__init__
#: For each verb its function, options that are no keywords, and keywords that are no options.
WORDS: dict[str, tuple[list[Callable[..., Any]], set[str], set[str]]] = {
    # Positions are windows of `fit_in_frames`, start values an array, and arrays are in memory.
    "localize": ([spotfit.Blocks.__init__, FITTER], {*CAMERA, "positions", "max_frame_pixels"}, {"tolerance"}),
    "fit": ([spotfit.fit, FITTER], {*CAMERA, "initial", "psf"}, {"start", "dtype", "tolerance"}),
    "render": ([spotfit.render], set(), {"filter"}),
    # `Drift.correct` takes it out, with its error.
    "drift": ([spotfit.find_drift], {"table", "plot", "apply", "with_error"}, {"frames"}),
    # What is left out there is asked for here.
    "stats": ([spotfit.stats], {"drift", "table", "no_nena", "no_frc"}, {"filter", "nena", "frc"}),
    "link": ([spotfit.link], set(), set()),
    "z": ([spotfit.find_z], {"found"}, set()),
}


def options(verb: str) -> dict[str, str]:
    """The options of a verb as keywords, with their texts."""
    text = subprocess.run([str(COMMAND), verb, "--help"], check=True, capture_output=True, text=True).stdout
    found = re.split(r"^ +(?:-\w, )?--([a-z-]+)", text, flags=re.MULTILINE)[1:]
    return {name.replace("-", "_"): " ".join(about.split()) for name, about in zip(found[::2], found[1::2], strict=True)}


@pytest.mark.skipif(COMMAND is None, reason="needs the command spotfit: cargo build -p spotfit-cli, or SPOTFIT_COMMAND")
@pytest.mark.parametrize("verb", WORDS)
def test_keywords_are_options(verb: str) -> None:
    """Proves that every option is a keyword and every keyword an option, but for those that are named here, with the same default."""
    functions, others, own = WORDS[verb]
    keywords: dict[str, inspect.Parameter] = {}
    for function in functions:
        kinds = inspect.signature(function).parameters
        keywords |= {name: parameter for name, parameter in kinds.items() if parameter.kind is parameter.KEYWORD_ONLY}
    told = options(verb)
    # The calibration is an argument.
    wanted = set(told) - others - (FILES - {"pixel_size"} if verb == "localize" else FILES) - ({"calibration"} if verb == "z" else set())
    assert wanted == set(keywords) - own
    for name in wanted:
        default = re.search(r"\[default: ([^\];]+)[\];]", told[name])
        parameter = keywords[name].default
        if default is None or parameter is None:
            # The command tells what Python finds, if nothing is said.
            assert parameter in (None, False, (), inspect.Parameter.empty), name
        else:
            assert str(parameter) == default[1] or parameter == float(default[1]), name
