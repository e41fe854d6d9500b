"""Centre, width and brightness of blurred spots of light in camera images, to a hundredth of a pixel.

>>> import spotfit
>>> simulation = spotfit.simulate(1000, size=9, photons=1000, background=5)
>>> fits = spotfit.fit(simulation.spots)
>>> bool(fits.converged.all())
True

Pixel centres are integers: (0, 0) is the centre of the first pixel of a window, x goes along rows, y along columns.
"""

from ._calibrate import Calibration, calibrate, calibrate_psf
from ._camera import Camera
from ._columns import Columns, read_columns
from ._concatenate import concatenate
from ._curve_fit import curve_fit
from ._device import DeviceErrors, DeviceFits
from ._devices import devices
from ._drift import find_drift
from ._emitters import EmitterFits
from ._files import fit_files
from ._fit import Fitter, fit, fit_in_frames
from ._fits import Errors, Fits, Status
from ._info import info
from ._learn import learn_psf
from ._localize import Blocks, estimate_read_noise, estimate_sensitivity, localize
from ._locs import Locs, Movie, read_table, write_table
from ._measured_camera import MeasuredCamera, camera
from ._model import Model
from ._model_fits import ModelFits
from ._shared import SharedModelFits, SharedValue
from ._options import (
    Backend,
    Background,
    Blur,
    ColourMap,
    Criteria,
    CurvePrecision,
    Estimator,
    Flag,
    InstructionSet,
    Length,
    LinearParameters,
    LocalizeOptions,
    Measure,
    Options,
    Profile,
    Shape,
)
from ._picks import pick, profile
from ._pictures import Drift, Picture
from ._preview import Preview, preview
from ._render import render
from ._ring import RingCounts, RingFrame, RingReader, RingWriter
from ._simulate import SimulatedMovie, Simulation, simulate, simulate_beads, simulate_movie
from ._spotfit import CameraMap, DeviceArray, __version__
from ._stats import Frc, Nena, frc, nena, stats
from ._steps import ScoreReport, convert, filter, link, score, z
from ._summary import FileOutcome, FilesSummary
from ._track import Track, TrackedFrame, Tracker, track
from ._warnings import SpotfitWarning

__all__ = [
    "Backend",
    "Background",
    "Blocks",
    "Blur",
    "Calibration",
    "Camera",
    "CameraMap",
    "ColourMap",
    "Columns",
    "Criteria",
    "CurvePrecision",
    "DeviceArray",
    "DeviceErrors",
    "DeviceFits",
    "Drift",
    "EmitterFits",
    "Errors",
    "Estimator",
    "FileOutcome",
    "FilesSummary",
    "Fits",
    "Fitter",
    "Flag",
    "Frc",
    "InstructionSet",
    "Length",
    "LinearParameters",
    "LocalizeOptions",
    "Locs",
    "Measure",
    "MeasuredCamera",
    "Model",
    "ModelFits",
    "Movie",
    "Nena",
    "Options",
    "Picture",
    "Preview",
    "Profile",
    "RingCounts",
    "RingFrame",
    "RingReader",
    "RingWriter",
    "ScoreReport",
    "Shape",
    "SharedModelFits",
    "SharedValue",
    "SimulatedMovie",
    "Simulation",
    "SpotfitWarning",
    "Status",
    "Track",
    "TrackedFrame",
    "Tracker",
    "__version__",
    "calibrate",
    "calibrate_psf",
    "camera",
    "concatenate",
    "convert",
    "curve_fit",
    "devices",
    "estimate_read_noise",
    "estimate_sensitivity",
    "filter",
    "find_drift",
    "fit",
    "fit_files",
    "fit_in_frames",
    "frc",
    "info",
    "learn_psf",
    "link",
    "localize",
    "nena",
    "pick",
    "preview",
    "profile",
    "read_columns",
    "read_table",
    "render",
    "score",
    "simulate",
    "simulate_beads",
    "simulate_movie",
    "stats",
    "track",
    "write_table",
    "z",
]
