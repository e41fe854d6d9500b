"""What a machine has, and how fast it is."""

from __future__ import annotations

import json
from typing import Any

from . import _spotfit


def devices(*, measure: bool = False) -> dict[str, Any]:
    """Says which instruction sets and GPUs this machine has, and which jobs the backend "auto" gives to the GPU.

    Parameters
    ----------
    measure : bool
        Whether to measure how fast this machine is, which takes some seconds. It is kept in ``spotfit/speeds.json`` in the folder of
        settings (``XDG_CONFIG_HOME``, ``~/.config`` or ``APPDATA``), for the command as well. The environment variable
        ``SPOTFIT_SPEEDS`` names another file, or "none" for the default speeds. A process reads it once: what was measured counts from
        the next one on.

    Returns
    -------
    dict
        ``instruction_sets``; ``gpus``, their names; ``speeds``, in pixels a second by each thread and by the GPU, with ``context``, the
        seconds until it is ready; ``file``, which has them, or None for the default speeds; ``threads``; ``gpu_from``, the least job that the
        GPU does sooner than these threads, and ``file_gpu_from``, the same from a file to a table, as ``spotfit fit`` does it; ``no_gpu``, why
        there is none.

    Raises
    ------
    ValueError, RuntimeError
        If the file is not one of speeds, or cannot be written.

    Examples
    --------
    >>> import spotfit
    >>> found = spotfit.devices()
    >>> sorted(found["speeds"])
    ['context', 'curve', 'least_squares', 'likelihood', 'localize']
    """
    sets, gpus, reason, told = _spotfit.devices(bool(measure))
    found: dict[str, Any] = json.loads(told)
    return {"instruction_sets": sets, "gpus": gpus, **found, "no_gpu": reason or found["no_gpu"]}
