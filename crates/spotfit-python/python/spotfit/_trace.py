"""Python functions as formulas: NumPy's operations on symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

#: How strongly operations bind: what binds less stands in parentheses.
SUM, PRODUCT, SIGN, POWER, ATOM = range(5)

#: NumPy's and SciPy's functions that formulas have under some name.
CALLS = {
    "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p", "sqrt": "sqrt",
    "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "sinh": "sinh",
    "cosh": "cosh", "tanh": "tanh", "absolute": "abs", "fabs": "abs", "sign": "sign", "floor": "floor", "ceil": "ceil", "hypot": "hypot",
    "minimum": "min", "maximum": "max", "fmin": "min", "fmax": "max", "remainder": "mod", "erf": "erf", "erfc": "erfc", "erfcx": "erfcx",
    "gammaln": "lgamma", "j0": "j0", "j1": "j1", "expit": "logistic", "voigt_profile": "voigt",
}  # fmt: skip
#: Operators, by the names of their ufuncs.
BINARY = {"add": ("+", SUM), "subtract": ("-", SUM), "multiply": ("*", PRODUCT), "divide": ("/", PRODUCT), "true_divide": ("/", PRODUCT)}
COMPARE = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">="}
LOGIC = {"logical_and": "&", "logical_or": "|", "bitwise_and": "&", "bitwise_or": "|"}
#: Texts of this length that are used more than once get a name of their own.
LONG = 24


class Symbol:
    """What a formula computes at a point: text with places for operands."""

    __slots__ = ("binding", "condition", "operands", "template")

    def __init__(self, template: str, operands: tuple[tuple[Symbol, int], ...] = (), binding: int = ATOM, condition: bool = False) -> None:
        self.template, self.operands, self.binding, self.condition = template, operands, binding, condition

    __array_priority__ = 1000.0

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Symbol:
        name = ufunc.__name__
        if method != "__call__" or any(value is not None for value in options.values()):
            refuse(f"numpy.{name}.{method}" if method != "__call__" else f"numpy.{name} with {', '.join(options)}")
        return applied(name, [symbol(given, f"numpy.{name}") for given in inputs])

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Symbol:
        name = getattr(function, "__name__", str(function))
        if name == "where" and len(args) == 3 and not kwargs:
            test, yes, no = (symbol(given, "numpy.where") for given in args)
            return call("if", [condition(test), number(yes), number(no)])
        if name == "clip" and len(args) == 3 and not kwargs:
            value, low, high = args
            value = symbol(value, "numpy.clip")
            value = value if low is None else applied("maximum", [value, symbol(low, "numpy.clip")])
            return value if high is None else applied("minimum", [value, symbol(high, "numpy.clip")])
        if name == "polyval" and len(args) == 2 and not kwargs:
            found = symbol(0, "numpy.polyval")
            for factor in args[0]:
                found = found * args[1] + factor
            return found
        if name in ("real", "abs", "asarray") and len(args) == 1:
            return symbol(args[0], name)
        refuse(f"numpy.{name}")

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        refuse("a conversion to an array")

    def __bool__(self) -> NoReturn:
        refuse("a decision on a value (if, and, or, not, min, max)", "numpy.where decides")

    def __float__(self) -> NoReturn:
        refuse("a conversion to a number, or a function of the module math", "those of NumPy are")

    __int__ = __index__ = __complex__ = __float__

    def __len__(self) -> NoReturn:
        refuse("the number of points")

    def __getitem__(self, index: Any) -> Symbol:
        if isinstance(index, int) and index == 0:
            return self
        refuse("a look at single points")

    def __iter__(self) -> NoReturn:
        refuse("a loop over points")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        refuse(f"the attribute {name} of an array")

    def __hash__(self) -> int:
        return id(self)

    def _with(self, name: str, *others: Any) -> Symbol:
        return applied(name, [symbol(given, name) for given in (self, *others)])

    def _turned(self, name: str, other: Any) -> Symbol:
        return applied(name, [symbol(other, name), self])

    def __neg__(self) -> Symbol:
        return self._with("negative")

    def __pos__(self) -> Symbol:
        return self

    def __abs__(self) -> Symbol:
        return self._with("absolute")

    def __invert__(self) -> Symbol:
        return self._with("logical_not")

    def __eq__(self, other: object) -> Symbol:  # type: ignore[override]
        return self._with("equal", other)

    def __ne__(self, other: object) -> Symbol:  # type: ignore[override]
        return self._with("not_equal", other)


def _add(method: str, name: str, turned: bool = False) -> None:
    if turned:
        setattr(Symbol, method, lambda self, other: self._turned(name, other))
    else:
        setattr(Symbol, method, lambda self, other: self._with(name, other))


for _method, _name in (
    ("add", "add"), ("sub", "subtract"), ("mul", "multiply"), ("truediv", "divide"), ("pow", "power"), ("mod", "remainder"),
    ("and", "logical_and"), ("or", "logical_or"), ("floordiv", "floor_divide"),
):  # fmt: skip
    _add(f"__{_method}__", _name)
    _add(f"__r{_method}__", _name, turned=True)
for _method, _name in (("lt", "less"), ("le", "less_equal"), ("gt", "greater"), ("ge", "greater_equal")):
    _add(f"__{_method}__", _name)


class Untraceable(TypeError):
    """A function does what no formula can do."""


def refuse(what: str, hint: str = "") -> NoReturn:
    told = f" ({hint})" if hint else ""
    raise Untraceable(f"{what} cannot be made a formula{told}; write the formula as text, or fit with spotfit.Model")


def symbol(given: Any, where: str) -> Symbol:
    """A symbol, or a number as one."""
    if isinstance(given, Symbol):
        return given
    if isinstance(given, np.ndarray) and given.ndim == 0:
        given = given[()]
    if isinstance(given, (bool, np.bool_)):
        return Symbol("1 > 0" if given else "1 < 0", condition=True, binding=SUM)
    if not isinstance(given, (int, float, np.integer, np.floating)):
        refuse(f"{where} of {type(given).__name__} that is neither x nor a parameter")
    value = float(given)
    if not np.isfinite(value):
        refuse(f"{where} with {value}")
    text = str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
    return Symbol(text, binding=SIGN if value < 0 else ATOM)


def call(name: str, operands: Sequence[Symbol], condition: bool = False) -> Symbol:
    places = ", ".join("{}" for _ in operands)
    return Symbol(f"{name}({places})", tuple((operand, SUM) for operand in operands), condition=condition)


def number(given: Symbol) -> Symbol:
    """Truth as 1 and 0, as NumPy counts it."""
    return call("if", [given, Symbol("1"), Symbol("0")]) if given.condition else given


def condition(given: Symbol) -> Symbol:
    """What is not 0 is true."""
    return given if given.condition else applied("not_equal", [given, Symbol("0")])


def applied(name: str, given: list[Symbol]) -> Symbol:
    """A ufunc of symbols."""
    if name in LOGIC:
        left, right = map(condition, given)
        return Symbol(f"({{}}) {LOGIC[name]} ({{}})", ((left, SUM), (right, SUM)), SUM, condition=True)
    if name in ("logical_not", "invert"):
        return Symbol("!({})", ((condition(given[0]), SUM),), SUM, condition=True)
    given = [number(each) for each in given]
    if name in COMPARE:
        return Symbol(f"({{}}) {COMPARE[name]} ({{}})", ((given[0], SUM), (given[1], SUM)), SUM, condition=True)
    if name in ("equal", "not_equal"):
        # Of real numbers: neither below nor above.
        left, right = given
        differs = applied("logical_or", [applied("less", [left, right]), applied("greater", [left, right])])
        return differs if name == "not_equal" else applied("logical_not", [differs])
    if name in BINARY:
        sign, binding = BINARY[name]
        return Symbol(f"{{}} {sign} {{}}", ((given[0], binding), (given[1], binding + 1)), binding)
    if name in ("power", "float_power"):
        return Symbol("{}^{}", ((given[0], ATOM), (given[1], ATOM)), POWER)
    if name == "square":
        return Symbol("{}^2", ((given[0], ATOM),), POWER)
    if name == "reciprocal":
        return Symbol("1 / {}", ((given[0], SIGN),), PRODUCT)
    if name == "cbrt":
        root = applied("power", [applied("absolute", given), symbol(1 / 3, "numpy.cbrt")])
        return applied("multiply", [applied("sign", given), root])
    if name == "negative":
        return Symbol("-{}", ((given[0], POWER),), SIGN)
    if name == "positive":
        return given[0]
    if name == "heaviside":
        value, at_zero = given
        return call("if", [applied("less", [value, Symbol("0")]), Symbol("0"), call("if", [applied("greater", [value, Symbol("0")]), Symbol("1"), at_zero])])
    if name == "floor_divide":
        return call("floor", [applied("divide", given)])
    if name in ("deg2rad", "radians"):
        return applied("multiply", [given[0], symbol(np.pi / 180, f"numpy.{name}")])
    if name in CALLS:
        return call(CALLS[name], given)
    refuse(f"numpy.{name}")


class Variables(Sequence["Symbol"]):
    """x of several variables: its rows."""

    def __init__(self, all_: tuple[Symbol, ...]) -> None:
        self._all = all_

    def __getitem__(self, index: Any) -> Any:
        return self._all[index]

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Symbol]:
        return iter(self._all)

    @property
    def T(self) -> NoReturn:
        refuse("x.T")


def text_of(root: Symbol) -> str:
    """The formula, in which what is long and is used more than once has a name."""
    uses: dict[int, int] = {}
    order: list[Symbol] = []

    def visit(node: Symbol) -> None:
        stack: list[tuple[Symbol, bool]] = [(node, False)]
        while stack:
            node, done = stack.pop()
            if done:
                order.append(node)
                continue
            uses[id(node)] = uses.get(id(node), 0) + 1
            if uses[id(node)] > 1:
                continue
            stack.append((node, True))
            stack.extend((operand, False) for operand, _ in reversed(node.operands))

    visit(root)
    helpers: list[str] = []
    made: dict[int, tuple[str, int]] = {}
    for node in order:
        parts = []
        for operand, least in node.operands:
            text, binding = made[id(operand)]
            parts.append(text if binding >= least else f"({text})")
        text, binding = node.template.format(*parts), node.binding
        # Deep ones, too: formulas are nested so deep and no deeper.
        if (uses[id(node)] > 1 and len(text) > LONG or text.count("(") > 20) and not node.condition and node is not root:
            name = f"h{len(helpers)}"
            helpers.append(f"{name} = {text}; ")
            text, binding = name, ATOM
        made[id(node)] = (text, binding)
    return "".join(helpers) + made[id(root)][0]


def count_of(function: Callable[..., Any]) -> int | None:
    """How many parameters a function has after x; None if any."""
    import inspect

    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    if any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return None
    return len([each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]) - 1


def takes(function: Callable[..., Any], parameters: int) -> bool:
    """Whether a function can have so many parameters after x."""
    import inspect

    try:
        inspect.signature(function).bind(*[None] * (parameters + 1))
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def traced(function: Callable[..., Any], variables: int, parameters: int) -> tuple[str, list[str], list[str]]:
    """The formula of a function of x and parameters, and the names of its variables and parameters."""
    names = [f"x{number}" for number in range(variables)], [f"p{number}" for number in range(parameters)]
    rows = tuple(Symbol(name) for name in names[0])
    given = [Symbol(name) for name in names[1]]
    found = function(rows[0] if variables == 1 else Variables(rows), *given)
    if isinstance(found, np.ndarray) and found.shape == ():
        found = found[()]
    return text_of(number(symbol(found, "the result"))), *names
