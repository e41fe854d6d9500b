//! Runs a program at all points of a data set: each operation at a block of points, one operation after the other.

use std::mem::size_of;

use fit_core::curve::At;
use fit_core::search::Count;
use fit_curves::{CurveBatch, Points};
use fit_formula::{Arguments, Axes, Derivative, Level, Op, OpId, Program};

use super::block::{Block, Place};
use super::evaluate::{AtPoint, Evaluate, EvaluateBlocks, SetPoints};
use super::functions::Functions;
use super::lattice::{self, Argument, Lattice};
use super::lookup::Lookup;
use super::places::MOST_IN_PACKS;
use super::steps::{Operation, Step};

/// The results of an operation for a block of points take no more than this, so that those of all operations stay in the
/// first cache.
const BLOCK_BYTES: usize = 2048;

/// How the points are cut into blocks.
#[derive(Clone, Copy, Debug)]
struct Layout {
    axes: Axes,
    columns: usize,
    rows: usize,
    /// The length of a block, in columns or in rows.
    length: usize,
}

impl Layout {
    /// For numbers of so many bytes.
    fn new(axes: Axes, [columns, rows]: [usize; 2], bytes: usize) -> Self {
        let most = (BLOCK_BYTES / bytes).max(1);
        let (lines, most) = match axes {
            Axes::Together => (columns, most),
            Axes::Grid => (rows, (most / columns).max(1)),
        };
        // Blocks of about the same length.
        let length = lines.div_ceil(lines.div_ceil(most).max(1)).max(1);
        Self { axes, columns, rows, length }
    }

    /// Whether what is at this level differs from column to column, and from row to row.
    fn spans(&self, level: Level) -> [bool; 2] {
        match (level.on_variables(), self.axes) {
            (false, _) => [false; 2],
            (true, Axes::Together) => [true, false],
            (true, Axes::Grid) => [level.on_variable(0), level.on_variable(1)],
        }
    }

    fn is_by_blocks(&self, level: Level) -> bool {
        let [wide, high] = self.spans(level);
        level.on_parameters() && wide && (high || self.axes == Axes::Together)
    }

    /// The columns and rows of a block.
    fn block(&self) -> [usize; 2] {
        match self.axes {
            Axes::Together => [self.length, 1],
            Axes::Grid => [self.columns, self.length],
        }
    }

    /// The columns and rows that results of this level take, of all points.
    fn whole(&self, level: Level) -> [usize; 2] {
        let [wide, high] = self.spans(level);
        [if wide { self.columns } else { 1 }, if high { self.rows } else { 1 }]
    }
}

/// How many variables of a batch are the numbers of columns and rows.
fn numbered(batch: &CurveBatch<'_, '_, '_>) -> usize {
    match batch.curves.points {
        Points::Index => 1,
        Points::Grid { .. } => 2,
        _ => 0,
    }
}

/// The bytes that the results of all operations take, for numbers of so many bytes each, with or without a way of their own for splines
/// on a lattice.
pub(super) fn bytes(batch: &CurveBatch<'_, '_, '_>, lattice: bool, bytes: usize) -> usize {
    let Some(program) = &batch.program else { return 0 };
    let (extent, numbered) = (batch.extent, lattice.then(|| numbered(batch)));
    let layout = Layout::new(batch.axes, extent, bytes);
    let count = |[across, down]: [usize; 2]| across.saturating_mul(down);
    let mut seen = Vec::new();
    let mut room = |(op, &level): (&Op, &Level)| match lattice_of(program, *op, numbered) {
        Some((key, arguments)) if level.on_parameters() => {
            let on_the_way =
                if seen.contains(&key) { 0 } else { lattice::size(&arguments, extent) };
            seen.push(key);
            count(layout.whole(level)).saturating_add(on_the_way)
        }
        _ if layout.is_by_blocks(level) => count(layout.block()),
        _ => count(layout.whole(level)),
    };
    let mut results = 0_usize;
    for operation in program.ops().iter().zip(program.levels()) {
        results = results.saturating_add(room(operation));
    }
    // Beside them the model and its derivatives, at worst.
    let others = count(layout.block()).saturating_mul(program.derivatives().len() + 3);
    results.saturating_add(others).saturating_mul(bytes)
}

/// A spline, what it is called with, and what its arguments are on a lattice.
type OnLattice = ((u16, Arguments), Vec<Argument<OpId>>);

/// What an operation is on a lattice, if it is a spline and there is a way of its own for it.
fn lattice_of(program: &Program, op: Op, numbered: Option<usize>) -> Option<OnLattice> {
    let Op::Spline { number, arguments, .. } = op else { return None };
    let spline = &program.splines()[usize::from(number)].1;
    let found = lattice::arguments(program, spline, &arguments, numbered?)?;
    Some(((number, arguments), found))
}

/// A program with room for its results.
#[derive(Clone, Debug)]
pub(crate) struct Interpreter<R> {
    registers: Vec<R>,
    /// Operations on variables alone.
    of_data: Vec<Step>,
    /// Those on parameters, and along one axis of a grid.
    of_fit: Vec<Step>,
    /// Those that run block by block.
    of_points: Vec<Step>,
    /// All points.
    all: Block,
    /// The length of a block, in columns or in rows.
    length: usize,
    axes: Axes,
    /// Where the variables and the parameters belong.
    variables: Vec<(usize, Place, [usize; 2])>,
    parameters: Vec<(usize, usize)>,
    value: Place,
    /// The derivative by each parameter, and the factor that it comes without.
    by: Vec<(Place, usize)>,
    /// As many as there are points in a block.
    zeros: usize,
}

impl<R: Functions> Interpreter<R> {
    /// For the formula of a batch at points in so many columns and rows.
    pub(crate) fn of(batch: &CurveBatch<'_, '_, '_>, extent: [usize; 2]) -> Self {
        let program = batch.program.as_ref().expect("the job is one of a formula");
        Self::new(program, batch.axes, extent, numbered(batch))
    }

    /// For points in so many columns and rows; a program for points anywhere has one row.
    /// The first `numbered` variables are the numbers of columns and rows.
    pub(crate) fn new(program: &Program, axes: Axes, extent: [usize; 2], numbered: usize) -> Self {
        let layout = Layout::new(axes, extent, size_of::<R>());
        let Layout { columns, rows, length, .. } = layout;
        // 0 and 1 are always there.
        let mut registers = vec![R::splat(0.0), R::splat(1.0)];
        let mut places: Vec<Place> = Vec::new();
        let [mut of_data, mut of_fit, mut of_points] = [const { Vec::<Step>::new() }; 3];
        let (mut variables, mut parameters) = (Vec::new(), Vec::new());
        for (&op, &level) in program.ops().iter().zip(program.levels()) {
            let [wide, high] = layout.spans(level);
            // What depends on the points alone runs before any fit.
            let on_lattice = lattice_of(program, op, R::LATTICE.then_some(numbered))
                .filter(|_| level.on_parameters());
            let by_blocks = layout.is_by_blocks(level) && on_lattice.is_none();
            let [across, down] = if by_blocks { layout.block() } else { layout.whole(level) };
            let steps = match (level.on_parameters(), by_blocks) {
                (false, _) => &mut of_data,
                (true, false) => &mut of_fit,
                (true, true) => &mut of_points,
            };
            // A call of a spline is one step for its value and all its slopes.
            let call = if let Op::Spline { number, by, arguments } = op {
                let key = (number, arguments);
                let known = steps.iter().position(|step| step.key() == Some(key));
                let known = known.unwrap_or_else(|| {
                    let spline = &program.splines()[usize::from(number)].1;
                    let place = |id: OpId| places[id as usize];
                    steps.push(match on_lattice {
                        Some((_, arguments)) => {
                            let (at, room) = (|id| place(id).at, registers.len());
                            let lattice = Lattice::new(key, spline, &arguments, extent, at, room);
                            registers.resize(room + lattice.size, R::splat(0.0));
                            Step::Lattice(Box::new(lattice))
                        }
                        None => {
                            let operands = arguments.ids().iter().map(|&id| place(id));
                            Step::Spline(Box::new(Lookup::new(key, spline, operands, [wide, high])))
                        }
                    });
                    steps.len() - 1
                });
                Some((known, usize::from(by)))
            } else {
                None
            };
            let at = registers.len();
            let place = Place {
                at,
                column: usize::from(wide),
                row: if high { across } else { 0 },
                whole: !by_blocks,
            };
            places.push(place);
            let first = match op {
                Op::Number(value) => R::splat(value),
                _ => R::splat(0.0),
            };
            registers.resize(at + across * down, first);
            let mut operands = [Place::default(); 3];
            for (to, operand) in operands.iter_mut().zip(op.operands()) {
                *to = places[operand as usize];
            }
            match op {
                Op::Number(_) => {}
                Op::Parameter(number) => parameters.push((usize::from(number), at)),
                Op::Variable(number) => {
                    variables.push((usize::from(number), place, [across, down]));
                }
                _ => match call {
                    Some((call, by)) => steps[call].results()[by] = Some(at),
                    None => {
                        steps.push(Step::One(Operation::new(op, operands, at, [wide, high])));
                    }
                },
            }
        }
        // The model and its derivatives have a number at every point, even where all are the same.
        let [across, down] = layout.block();
        let mut room = |value: f64| {
            let at = registers.len();
            registers.resize(at + across * down, R::splat(value));
            Place { at, column: 1, row: across, whole: false }
        };
        let (zeros, ones) = (room(0.0), room(1.0));
        let mut everywhere = |place: Place| {
            if place.column == 1 && (place.row > 0 || axes == Axes::Together) {
                return place;
            }
            let to = room(0.0);
            let operands = [place, Place::default(), Place::default()];
            let spans = [true, axes == Axes::Grid];
            of_points.push(Step::One(Operation::new(Op::Add(0, 0), operands, to.at, spans)));
            to
        };
        let by = program
            .derivatives()
            .iter()
            .map(|derivative| match *derivative {
                Derivative::Fixed => (zeros, 0),
                Derivative::Flat(id) => (ones, places[id as usize].at),
                Derivative::Point { u, scale } => {
                    (everywhere(places[u as usize]), scale.map_or(1, |id| places[id as usize].at))
                }
            })
            .collect();
        let value = everywhere(places[program.value() as usize]);
        let all = Block { column: 0, row: 0, columns, rows, first: 0 };
        Self {
            registers,
            of_data,
            of_fit,
            of_points,
            all,
            length,
            axes,
            variables,
            parameters,
            value,
            by,
            zeros: zeros.at,
        }
    }

    /// Takes parameters that are the same in all lanes, of which there are no more than packs have room for.
    #[inline(always)]
    pub(crate) fn place(&mut self, parameters: &[f64]) {
        let mut packs = [R::splat(0.0); MOST_IN_PACKS];
        for (to, &parameter) in packs.iter_mut().zip(parameters) {
            *to = R::splat(parameter);
        }
        self.set_parameters(&packs[..parameters.len().min(MOST_IN_PACKS)]);
    }
}

impl<R: Functions> SetPoints<R> for Interpreter<R> {
    fn set_points(&mut self, of: impl Fn(usize, usize, usize) -> R + Sync) {
        for &(variable, place, [columns, rows]) in &self.variables {
            for row in 0..rows {
                for column in 0..columns {
                    let at = place.at + row * place.row + column * place.column;
                    self.registers[at] = of(variable, column, row);
                }
            }
        }
        self.run_data();
    }
}

impl<R: Functions> EvaluateBlocks<R> for Interpreter<R> {
    #[inline(always)]
    fn variable(&mut self, number: usize) -> &mut [R] {
        let found = self.variables.iter().find(|variable| variable.0 == number);
        match found {
            Some(&(_, place, [columns, rows])) => &mut self.registers[place.at..][..columns * rows],
            // The formula does not use it.
            None => &mut [],
        }
    }

    #[inline(always)]
    fn run_data(&mut self) {
        R::run(&mut self.registers, &self.of_data, &self.all);
    }

    #[inline(always)]
    fn set_parameters(&mut self, parameters: &[R]) {
        for &(number, at) in &self.parameters {
            self.registers[at] = parameters[number];
        }
        R::run(&mut self.registers, &self.of_fit, &self.all);
    }

    #[inline(always)]
    fn blocks(&self) -> usize {
        let lines = match self.axes {
            Axes::Together => self.all.columns,
            Axes::Grid => self.all.rows,
        };
        lines.div_ceil(self.length)
    }

    #[inline(always)]
    fn evaluate(&mut self, number: usize) -> Block {
        let Block { columns, rows, .. } = self.all;
        let from = number * self.length;
        let block = match self.axes {
            Axes::Together => {
                let columns = self.length.min(columns - from);
                Block { column: from, row: 0, columns, rows: 1, first: from }
            }
            Axes::Grid => {
                let rows = self.length.min(rows - from);
                Block { column: 0, row: from, columns, rows, first: from * columns }
            }
        };
        R::run(&mut self.registers, &self.of_points, &block);
        block
    }
}

impl<R: Functions, const P: usize> Evaluate<R, P> for Interpreter<R> {
    type BlockValues<'a>
        = Results<'a, R, P>
    where
        Self: 'a;

    #[inline(always)]
    fn block_values(&self, block: &Block) -> Results<'_, R, P> {
        let count = block.columns * block.rows;
        let of = |place: Place| &self.registers[place.of(block)..][..count];
        let mut by = [&self.registers[self.zeros..][..count]; P];
        for (to, &(place, _)) in by.iter_mut().zip(&self.by) {
            *to = of(place);
        }
        Results { value: of(self.value), by, count: self.by.len() }
    }

    #[inline(always)]
    fn scales(&self) -> [R; P] {
        let mut scales = [R::splat(0.0); P];
        for (to, &(_, at)) in scales.iter_mut().zip(&self.by) {
            *to = self.registers[at];
        }
        scales
    }
}

/// The model and its derivatives at the points of a block: as many numbers each as there are points.
pub(crate) struct Results<'a, R, const P: usize> {
    value: &'a [R],
    by: [&'a [R]; P],
    /// How many of these there are.
    count: usize,
}

impl<R: Functions, const P: usize> AtPoint<R, P> for Results<'_, R, P> {
    #[inline(always)]
    fn at(&self, point: usize) -> At<R, P> {
        let mut by = [R::splat(0.0); P];
        for j in Count::<P>::new(self.count).all::<R>() {
            by[j] = self.by[j][point];
        }
        At { value: self.value[point], by }
    }
}
