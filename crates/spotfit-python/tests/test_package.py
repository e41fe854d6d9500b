"""The package as a whole: documented, typed, quick to import, and the README's example runs."""

import doctest
import importlib.util
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from typing import get_origin

import pytest
import spotfit

ROOT = Path(__file__).parents[3]


def test_everything_is_documented() -> None:
    page = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    for name in spotfit.__all__:
        thing = getattr(spotfit, name)
        # Words and lengths that an option takes have no place for a text; the page has them.
        words = get_origin(thing) is not None
        assert name.startswith("__") or words and f"`{name}`" in page or inspect.getdoc(thing), name
        if inspect.isclass(thing):
            for own, member in vars(thing).items():
                if not own.startswith("_") and (callable(member) or isinstance(member, property)):
                    assert inspect.getdoc(member), f"{name}.{own}"


def test_every_function_has_a_whole_doc() -> None:
    """Proves that each function tells of every parameter, or of which function it has them, and has an example."""
    for name in spotfit.__all__:
        function = getattr(spotfit, name)
        if not inspect.isfunction(function):
            continue
        doc = inspect.getdoc(function) or ""
        assert ">>> " in doc, name
        head = re.findall(r"^((?:\*{0,2}\w+, )*\*{0,2}\w+)(?: : .+)?$", doc, re.MULTILINE)
        told = {word.strip(" *") for line in head for word in line.split(",")}
        assert set(inspect.signature(function).parameters) <= told and "Returns\n-------" in doc, name


def test_examples_in_docstrings_run() -> None:
    ran = 0
    for module in pkgutil.iter_modules(spotfit.__path__, "spotfit."):
        needed = {"spotfit.dask": "dask", "spotfit.napari": "napari"}.get(module.name, "numpy")
        if importlib.util.find_spec(needed) is None:
            continue
        failed, attempted = doctest.testmod(importlib.import_module(module.name))
        assert failed == 0
        ran += attempted
    assert doctest.testmod(spotfit).failed == 0 and ran > 5


def has_gpu() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available())


@pytest.mark.parametrize("page", ["README.md", "docs/python.md", "crates/spotfit-python/README.md"])
def test_examples_in_pages_run(page: str, tmp_path: Path) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    if not has_gpu():
        text = re.sub(r"^<!-- needs a GPU -->\n```python\n.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert blocks, page
    script = tmp_path / "page.py"
    script.write_text("\n".join(blocks), encoding="utf-8")
    subprocess.run([sys.executable, "-W", "error", script], check=True, cwd=tmp_path)


def test_import_is_light() -> None:
    """Few modules beyond those of NumPy: 44 of its own, and what they need."""
    code = "import sys, numpy; own = set(sys.modules); import spotfit; print(len({*sys.modules} - own))"
    assert int(subprocess.check_output([sys.executable, "-c", code])) < 100


def test_nothing_else_is_imported() -> None:
    names = ("pandas", "polars", "torch", "dask", "napari", "concurrent.futures", "multiprocessing", "tempfile")
    code = f"import sys, numpy; own = set(sys.modules); import spotfit; print([name for name in {names} if name in {{*sys.modules}} - own])"
    assert subprocess.check_output([sys.executable, "-c", code]) == b"[]\n"


def test_the_package_says_that_it_is_typed() -> None:
    assert (Path(spotfit.__file__).parent / "py.typed").exists()
