//! Runs a program at all points of a data set: each operation at all of its points, one operation after the other.

use fit_core::curve::At;
use fit_formula::{Axes, Comparison, Derivative, Level, Op, Program};

use super::functions::Functions;

/// Where the results of an operation lie: the first, and how far the next column and the next row are.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    at: usize,
    column: usize,
    row: usize,
}

/// An operation, where its operands are, and at how many columns and rows it runs.
#[derive(Clone, Copy, Debug)]
struct Step {
    op: Op,
    operands: [Place; 3],
    to: usize,
    columns: usize,
    rows: usize,
}

/// A program with room for its results.
#[derive(Clone, Debug)]
pub(crate) struct Interpreter<R> {
    registers: Vec<R>,
    /// Those of variables alone, and those that depend on parameters.
    of_data: Vec<Step>,
    of_fit: Vec<Step>,
    /// Where the variables and the parameters belong.
    variables: Vec<(usize, Place, [usize; 2])>,
    parameters: Vec<(usize, usize)>,
    columns: usize,
    rows: usize,
    value: Place,
    /// The derivative by each parameter, and the factor that it comes without.
    by: Vec<(Place, usize)>,
}

impl<R: Functions> Interpreter<R> {
    /// For points in so many columns and rows; a program for points anywhere has one row.
    pub(crate) fn new(program: &Program, axes: Axes, [columns, rows]: [usize; 2]) -> Self {
        let extent = |level: Level| match (level.on_variables(), axes) {
            (false, _) => [1, 1],
            (true, Axes::Together) => [columns, rows],
            (true, Axes::Grid) => [
                if level.on_variable(0) { columns } else { 1 },
                if level.on_variable(1) { rows } else { 1 },
            ],
        };
        // 0 and 1 are always there.
        let mut registers = vec![R::splat(0.0), R::splat(1.0)];
        let mut places: Vec<Place> = Vec::new();
        let (mut of_data, mut of_fit) = (Vec::new(), Vec::new());
        let (mut variables, mut parameters) = (Vec::new(), Vec::new());
        for (&op, &level) in program.ops().iter().zip(program.levels()) {
            let [wide, high] = extent(level);
            let at = registers.len();
            let step = |length: usize, step: usize| if length == 1 { 0 } else { step };
            let place = Place { at, column: step(wide, 1), row: step(high, wide) };
            places.push(place);
            let first = match op {
                Op::Number(value) => R::splat(value),
                _ => R::splat(0.0),
            };
            registers.resize(at + wide * high, first);
            let mut operands = [Place::default(); 3];
            for (to, operand) in operands.iter_mut().zip(op.operands()) {
                *to = places[operand as usize];
            }
            match op {
                Op::Number(_) => {}
                Op::Parameter(number) => parameters.push((usize::from(number), at)),
                Op::Variable(number) => {
                    variables.push((usize::from(number), place, [wide, high]));
                }
                _ => {
                    let step = Step { op, operands, to: at, columns: wide, rows: high };
                    let steps = if level.on_parameters() { &mut of_fit } else { &mut of_data };
                    steps.push(step);
                }
            }
        }
        let (zero, one) = (Place::default(), Place { at: 1, ..Place::default() });
        let by = program
            .derivatives()
            .iter()
            .map(|derivative| match *derivative {
                Derivative::Fixed => (zero, 0),
                Derivative::Flat(id) => (one, places[id as usize].at),
                Derivative::Point { u, scale } => {
                    (places[u as usize], scale.map_or(1, |id| places[id as usize].at))
                }
            })
            .collect();
        let value = places[program.value() as usize];
        Self { registers, of_data, of_fit, variables, parameters, columns, rows, value, by }
    }

    /// Takes the variables at the points: `of` gives that of a variable, a column and a row.
    pub(crate) fn set_points(&mut self, of: impl Fn(usize, usize, usize) -> R) {
        for &(variable, place, [columns, rows]) in &self.variables {
            for row in 0..rows {
                for column in 0..columns {
                    let at = place.at + row * place.row + column * place.column;
                    self.registers[at] = of(variable, column, row);
                }
            }
        }
        for step in &self.of_data {
            run(&mut self.registers, step);
        }
    }

    /// Evaluates the model and its derivatives at all points.
    #[inline(always)]
    pub(crate) fn evaluate(&mut self, parameters: &[R]) {
        for &(number, at) in &self.parameters {
            self.registers[at] = parameters[number];
        }
        for step in &self.of_fit {
            run(&mut self.registers, step);
        }
    }

    /// The model at a point, with the derivatives by the first P parameters but for their factors.
    #[inline(always)]
    pub(crate) fn at<const P: usize>(&self, column: usize, row: usize) -> At<R, P> {
        let of = |place: Place| self.registers[place.at + row * place.row + column * place.column];
        let mut by = [R::splat(0.0); P];
        for (to, &(place, _)) in by.iter_mut().zip(&self.by) {
            *to = of(place);
        }
        At { value: of(self.value), by }
    }

    /// The factors that the derivatives come without.
    #[inline(always)]
    pub(crate) fn scales<const P: usize>(&self) -> [R; P] {
        let mut scales = [R::splat(0.0); P];
        for (to, &(_, at)) in scales.iter_mut().zip(&self.by) {
            *to = self.registers[at];
        }
        scales
    }

    /// Columns and rows.
    pub(crate) fn extent(&self) -> [usize; 2] {
        [self.columns, self.rows]
    }
}

/// Runs an operation at all of its points.
#[inline(always)]
fn run<R: Functions>(registers: &mut [R], step: &Step) {
    let Step { op, operands: [a, b, c], to, columns, rows } = *step;
    // Operands lie before the result.
    let (before, after) = registers.split_at_mut(to);
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    macro_rules! each {
        (|$($x:ident of $place:ident),*| $body:expr) => {
            for row in 0..rows {
                for column in 0..columns {
                    $(let $x = before[$place.at + row * $place.row + column * $place.column];)*
                    after[row * columns + column] = $body;
                }
            }
        };
    }
    macro_rules! truth {
        ($mask:expr) => {
            R::select($mask, one, zero)
        };
    }
    match op {
        Op::Number(_) | Op::Parameter(_) | Op::Variable(_) => {}
        Op::Add(..) => each!(|x of a, y of b| x + y),
        Op::Subtract(..) => each!(|x of a, y of b| x - y),
        Op::Multiply(..) => each!(|x of a, y of b| x * y),
        Op::MultiplyAdd(..) => each!(|x of a, y of b, z of c| x.mul_add(y, z)),
        Op::NegMultiplyAdd(..) => each!(|x of a, y of b, z of c| x.neg_mul_add(y, z)),
        Op::Negate(_) => each!(|x of a| -x),
        Op::Reciprocal(_) => each!(|x of a| x.reciprocal()),
        Op::Call(function, _) => each!(|x of a| R::call(function, x)),
        Op::Call2(function, ..) => each!(|x of a, y of b| R::call2(function, x, y)),
        Op::Compare(Comparison::Less, ..) => each!(|x of a, y of b| truth!(x.lt(y))),
        Op::Compare(Comparison::LessEqual, ..) => each!(|x of a, y of b| truth!(x.le(y))),
        Op::Compare(Comparison::Equal, ..) => {
            each!(|x of a, y of b| truth!(x.le(y) & y.le(x)));
        }
        Op::And(..) => each!(|x of a, y of b| x * y),
        Op::Or(..) => each!(|x of a, y of b| x.max(y)),
        Op::Not(_) => each!(|x of a| one - x),
        Op::Choice(..) => each!(|x of a, y of b, z of c| R::select(zero.lt(x), y, z)),
        // What a later release of the language has.
        _ => each!(|_x of a| R::splat(f64::NAN)),
    }
}
