//! `spotfit curve`: data sets in, parameters of a model out.

mod answers;
mod noise;
mod shared;
mod words;

use std::path::{Path, PathBuf};

use clap::Args;
use ndarray::Array3;
use spotfit::columns::ColumnOptions;
use spotfit::model::{
    CurveFitter, CurveOptions, CurvePrecision, CurveStart, Curves, Linear, Model, Points, Values,
};
use spotfit::steps::Listener;
use spotfit::steps::curve::{
    AnswerSummary, BandTable, CurveFitting, CurvePage, CurvePart, CurvePlot, CurveTable, LogX,
    OutlierTable, check_answers, check_columns,
};
use spotfit::{Backend, InstructionSet};

use self::answers::AnswerArguments;
use self::noise::{Noise, NoiseArguments};
use self::shared::SharedArguments;
use self::words::{EstimatorChoice, Start};
use crate::error::CliError;
use crate::say::listener::Terminal;
use crate::say::message::say;
use crate::words::choice::choice;
use crate::words::data::{self, Data};
use crate::words::locs::Decimal;
use crate::words::output::{Output, complete};
use crate::words::plot::{draw_plot, refuse_plot};
use crate::words::record::{self, RecordArguments, Recorded, counts};
use crate::words::report::ReportArguments;
use crate::words::splines;
use crate::words::table::format_of;
use crate::words::written::WrittenFile;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit curve decays.csv -m 'a*exp(-x/t) + c' --start a=1,t=5,c=0 -o fits.csv\n  spotfit curve peaks.npy -m gauss_1d -o fits.npy --plot fits.svg"
)]
pub(crate) struct CurveArguments {
    /// The data: an NPY file with an array (point), (fit, point) or, for models of two variables, (fit, row, column);
    /// or text (CSV and the like) whose first column is x and whose other columns are data sets. Columns are between commas,
    /// semicolons, tabs or spaces, with decimal points or commas, in UTF-8, UTF-16 or Latin-1; empty cells and NaN are left out.
    #[arg(value_name = "DATA.npy|DATA.csv")]
    data: PathBuf,
    /// The model: a formula such as 'a*exp(-x/t) + c', or a name; `spotfit model` lists functions and names.
    #[arg(short, long, value_name = "FORMULA|NAME")]
    model: String,
    /// Where to write parameters, their errors and how each fit ended: a .csv or .npy file, or - for CSV on standard
    /// output.
    #[arg(short, long, value_name = "FITS.csv|FITS.npy", help_heading = "Output")]
    output: WrittenFile,
    /// The names of the formula's variables [default: x; x,y for images; x,y,z for three].
    #[arg(long, value_delimiter = ',', value_name = "NAME,...", help_heading = "Model")]
    variables: Vec<String>,
    /// The names of the formula's parameters, in the order of the columns; by default in the order in which they appear
    /// in the formula.
    #[arg(long, value_delimiter = ',', value_name = "NAME,...", help_heading = "Model")]
    parameters: Vec<String>,
    /// A spline that the formula calls by this name, like a function: an NPY file with samples at 0, 1, 2, … along each
    /// axis; the first axis is the first argument. Axes that count channels, which are not interpolated, follow after a
    /// colon: psf=psf.npy:0.
    #[arg(long = "spline", value_name = "NAME=SAMPLES.npy[:AXIS,...]", help_heading = "Model")]
    splines: Vec<String>,
    /// The positions of the points: an NPY file with an array (point), (variable, point) or (fit, variable, point).
    /// Without it they are numbered from 0.
    #[arg(long, value_name = "X.npy", help_heading = "Data")]
    x: Option<PathBuf>,
    /// The start values: a=1,t=5,c=0, or an NPY file with an array (fit, parameter), or auto: models with names find
    /// their own without it, and those of a formula are searched for, from the best of 4096 candidates in eight places.
    #[arg(long, value_name = "NAME=VALUE,...|START.npy|auto", help_heading = "Fit")]
    start: Option<String>,
    /// Limits: t=0: is at least 0, t=:9 at most 9, t=0:9 both.
    #[arg(
        long,
        value_name = "NAME=LOW:HIGH,...",
        allow_hyphen_values = true,
        help_heading = "Fit"
    )]
    bounds: Option<String>,
    /// Parameters that keep their start value.
    #[arg(long, value_delimiter = ',', value_name = "NAME,...", help_heading = "Fit")]
    fixed: Vec<String>,
    /// The columns of a text that are read, by their names or numbers from 1: x first, then the data sets.
    #[arg(long, value_delimiter = ',', value_name = "NAME|N,...", help_heading = "Data")]
    columns: Vec<String>,
    /// Do not look at the first N lines of a text.
    #[arg(
        long,
        alias = "skip-lines",
        default_value_t = 0,
        value_name = "N",
        help_heading = "Data"
    )]
    skip: usize,
    /// The mark before decimals, where the numbers of a text do not tell: 1,250 may be 1250 or 1.25.
    #[arg(long, value_enum, value_name = "MARK", help_heading = "Data")]
    decimal: Option<Decimal>,
    /// The sheet of a workbook (.xlsx) that is read, by its name or number from 1; the first with cells by default.
    #[arg(long, value_name = "NAME|N", help_heading = "Data")]
    sheet: Option<String>,
    /// Weights: an NPY file with an array (point) or (fit, point), where points of weight 0 or NaN are left out; a number for all points, such as
    /// 1/variance; or a rule: 1/y or 1/y^2 of the data (points with y = 0 are left out and counted), 1/f or 1/f^2 of the model's own values.
    #[arg(long, value_name = "W.npy|W|1/y|1/y^2|1/f|1/f^2", help_heading = "Data")]
    weights: Option<String>,
    /// The estimator: lse (least squares), mle (maximum likelihood of counts) or binomial (maximum likelihood of successes among
    /// --trials; the model is their probability).
    #[arg(long, value_enum, default_value = "lse", value_name = "ESTIMATOR", help_heading = "Fit")]
    estimator: EstimatorChoice,
    /// The weights are 1/variance: the errors follow from them, and are not scaled by the residuals. Needs weights (--error-columns, --weights).
    #[arg(long, help_heading = "Fit")]
    absolute: bool,
    /// Parameters in which the formula is linear, such as amplitudes and backgrounds: eliminated (their start values
    /// are not used, and fits converge more often from poor ones), searched for like all others, or auto, which
    /// eliminates them if all fits begin at the same values. Those with --bounds or --fixed are never eliminated, and
    /// none with mle.
    #[arg(long, default_value = "auto", value_name = "HOW", help_heading = "Fit", value_parser = choice([
        ("auto", Linear::Auto),
        ("eliminated", Linear::Eliminated),
        ("searched", Linear::Searched),
    ]))]
    linear: Linear,
    /// The precision of the fits: auto (single where that is enough for the data and the tolerance), or f64 (double for all). The
    /// reference always computes in double precision.
    #[arg(long, default_value = "auto", value_name = "PRECISION", help_heading = "Fit", value_parser = choice([
        ("auto", CurvePrecision::Auto),
        ("f64", CurvePrecision::F64),
    ]))]
    precision: CurvePrecision,
    /// At most N iterations.
    #[arg(long, default_value_t = 200, value_name = "N", help_heading = "Fit")]
    max_iterations: u32,
    /// A fit ends when its next step is predicted to be shorter than this many standard errors.
    #[arg(long, default_value_t = 1e-3, value_name = "X", help_heading = "Fit")]
    tolerance: f64,
    /// The backend: reference (double precision), cpu (single precision and vector instructions, several times as fast)
    /// or gpu (single precision on an NVIDIA GPU). Fits that single precision cannot decide are repeated in double
    /// precision.
    #[arg(long, default_value_t = Backend::Reference, value_name = "BACKEND", help_heading = "Fit")]
    backend: Backend,
    /// Vector instructions for the backend cpu: avx512, avx2, neon or portable; the fastest by default.
    #[arg(long, value_name = "SET", help_heading = "Fit")]
    instruction_set: Option<InstructionSet>,
    /// The GPU for the backend gpu, by the number that `spotfit devices` lists.
    #[arg(long, default_value_t = 0, value_name = "N", help_heading = "Fit")]
    device: usize,
    /// Number of threads, at most 1024; 0 takes one for each processor.
    #[arg(long, default_value_t = 0, value_name = "N", help_heading = "Fit")]
    threads: usize,
    /// Draw data, model and residuals of some fits, of images as three pictures: an .svg or .png file. Weights are drawn as errors.
    #[arg(long, value_name = "PLOT.svg|PLOT.png", help_heading = "Output")]
    plot: Option<WrittenFile>,
    /// The number of fits to draw, evenly spread over all fits.
    #[arg(long, default_value_t = 6, value_name = "N", help_heading = "Output")]
    plots: usize,
    /// Draw x on a logarithmic axis: yes, no, or auto, where all x are above 0, span two decades or more, and grow by factors rather
    /// than by steps, as doses do.
    #[arg(long, default_value = "auto", value_name = "HOW", help_heading = "Output", value_parser = choice([
        ("auto", LogX::Auto),
        ("yes", LogX::Yes),
        ("no", LogX::No),
    ]))]
    log_x: LogX,
    /// Draw data and model on a logarithmic axis: points at or below 0 are not drawn, and counted.
    #[arg(long, help_heading = "Output")]
    log_y: bool,
    #[command(flatten)]
    shared: SharedArguments,
    #[command(flatten)]
    answers: AnswerArguments,
    #[command(flatten)]
    noise: NoiseArguments,
    #[command(flatten)]
    report: ReportArguments,
    #[command(flatten)]
    record: RecordArguments,
}

impl CurveArguments {
    /// What a report is called.
    fn title(&self) -> String {
        let file = self.data.file_name().unwrap_or(self.data.as_os_str());
        format!("{}: {}", file.to_string_lossy(), self.model.trim())
    }

    /// The files that are read, but for start values.
    fn inputs(&self) -> impl Iterator<Item = &Path> {
        let arrays = [Some(&*self.data), self.x.as_deref(), noise::weights_file(self)];
        let noise = self.noise.inputs().map(|input| input.1);
        let groups = self.shared.inputs();
        arrays.into_iter().flatten().chain(noise).chain(groups).chain(splines::files(&self.splines))
    }

    /// What is to stand beside the table.
    fn recorded(&self) -> Result<Recorded, CliError> {
        let mut record = self.record.of(&self.output)?;
        record.reads("data", &self.data)?;
        for (role, file) in [("x", self.x.as_deref()), ("weights", noise::weights_file(self))] {
            file.map_or(Ok(()), |file| record.reads(role, file))?;
        }
        self.noise.inputs().try_for_each(|(role, file)| record.reads(role, file))?;
        self.shared.inputs().try_for_each(|file| record.reads("groups", file))?;
        splines::files(&self.splines).try_for_each(|file| record.reads("spline", file))?;
        words::file_of_starts(self).map_or(Ok(()), |file| record.reads("start", file))?;
        Ok(record)
    }

    /// The plot, if it is asked for, of some of `count` fits.
    fn plot(
        &self,
        model: &Model,
        count: usize,
        is_image: bool,
        options: &CurveOptions,
    ) -> Result<Option<CurvePlot>, CliError> {
        let checked = CurvePlot::check(model, is_image);
        refuse_plot(self.plot.as_deref())?;
        if self.plot.is_some() {
            checked.map_err(|reason| CliError::Other(format!("--plot: {reason}")))?;
        } else if checked.is_err() {
            return Ok(None);
        }
        let plot = CurvePlot::new(count, self.plots)
            .with_log_x(self.log_x)
            .with_log_y(self.log_y)
            .with_absolute(self.absolute)
            .with_bands(self.answers.bands()?, options);
        Ok(Some(plot))
    }
}

pub(crate) fn run(arguments: &CurveArguments) -> Result<(), CliError> {
    let format = format_of(&arguments.output)?;
    arguments.report.check(&arguments.output)?;
    refuse_shared_input(arguments)?;
    let fitter = CurveFitter::with_options(&words::fitter(arguments))?;
    let chosen = ColumnOptions::default()
        .with_skip(arguments.skip)
        .with_decimal(arguments.decimal.map(Into::into))
        .with_sheet(arguments.sheet.clone())
        .with_columns(arguments.columns.iter().map(|name| name.trim().to_owned()).collect());
    let chosen = arguments.noise.columns(chosen);
    let mut data = Data::open(&arguments.data, &chosen)?;
    for note in &data.notes {
        say!("spotfit: {}: {note}", data.file());
    }
    let at = match &arguments.x {
        Some(path) => Some(data::read_all(path)?),
        None => data.x.take(),
    };
    if let Some(at) = &at {
        at.check_points(data.count, data.points)?;
    }
    let variables = words::variables(arguments, &data, at.as_ref());
    let model = arguments.shared.tied(words::model(arguments, &variables)?)?;
    let start = words::starts(arguments, &model)?;
    let weights = noise::weights(arguments, data.points)?;
    let options = words::options(arguments, &model, &start)?;
    let answers = arguments.answers.answers(&model, &variables, &arguments.splines)?;
    let answers = arguments.shared.answers(answers, &model)?;
    let shared = arguments.shared.sharing(&model, &data)?;
    let bands = arguments.answers.bands()?;
    let options = options.with_covariance(answers.needs_covariance() || bands.is_some());
    let noise = Noise::of(arguments, &data, &options)?;
    arguments.answers.check_noise(noise.what())?;
    let has_loss = arguments.noise.has_loss();
    let refused = |error: spotfit::model::ModelError| CliError::Other(error.to_string());
    answers.check_sharing(has_loss, &shared.sharing).map_err(refused)?;
    let is_image = data.grid.is_some() && at.is_none();
    let drawn = arguments.plot.is_some() || arguments.answers.has_page();
    let mut plot = match drawn {
        true => arguments.plot(&model, data.count, is_image, &options)?,
        false => None,
    };
    plot = plot.map(|plot| plot.with_rule(noise.rule()));
    let beside = arguments.answers.beside()?;
    let columns = model.parameters();
    check_columns(columns)?;
    check_answers(columns, &options.fixed, &answers)?;
    let more = answers.names(columns, &options.fixed);
    let record = arguments.recorded()?;
    let output = Output::create(&arguments.output)?;
    let written = CliError::write(output.name());
    let estimator = words::judged_by(arguments, &options);
    let mut table = CurveTable::create(output, format, data.count, columns, estimator, &more)
        .map_err(&written)?
        .with_names(&data.names);
    let mut outliers = noise::outliers(arguments, &model)?;
    let listener = Terminal::default();
    listener.begin(data.count as u64, "fits");
    let file = arguments.data.display().to_string();
    let mut fitting = CurveFitting::begin(&model, &fitter, &options)
        .with_sharing(shared.sharing.clone(), shared.groups);
    let mut summary = AnswerSummary::default();
    let mut band_table = match beside.bands {
        Some((path, level)) => {
            let output = Output::create(path)?;
            let failed = CliError::write(output.name());
            let table = BandTable::create(output, &model, &options, level).map_err(failed)?;
            Some(table.with_rule(noise.rule()))
        }
        None => None,
    };
    let mut page = beside.page.map(|_| {
        CurvePage::new(&model, &options, data.count)
            .saying("Data", &file)
            .saying("Command", &without_outputs(record::words()).join(" "))
    });
    let mut first = 0;
    loop {
        crate::interrupt::check()?;
        // What is shared is fitted together.
        let chunk = if arguments.shared.is_shared() {
            data.count.max(1)
        } else {
            CurveFitting::chunk(data.points)
        };
        let rows = data.read(chunk)?;
        let count = rows.nrows();
        if count == 0 && first > 0 {
            break;
        }
        let part = first..first + count;
        let own = at.as_ref().map(|at| at.part(&part, data.count)).transpose()?;
        let beside = weights.as_ref().map(|weights| weights.rows(&part, data.count)).transpose()?;
        let beside = data.weights(&part, beside);
        let own_noise = noise.part(&part, &data)?;
        let beginning = match &start {
            Start::PerFit(start) => Some(start.rows(&part, data.count)?),
            _ => None,
        };
        let points = places(&own, data.grid);
        let mut curves = Curves::new(rows.view(), points);
        if let Some(weights) = &beside {
            curves = curves.with_weights(weights.view());
        }
        let from = match (&start, &beginning) {
            (Start::Shared(start), _) => CurveStart::Shared(start),
            (_, Some(start)) => CurveStart::PerFit(Values::from(start.view())),
            _ => CurveStart::Estimate,
        };
        let failed = |error| CliError::curve(&file, error, first);
        let noisy = fitting.fit_noise(&curves, from, &own_noise.noise()).map_err(failed)?;
        let (fits, shown) = (&noisy.fits.fits, noisy.shown(&curves));
        let part = CurvePart { model: &model, curves: &shown, names: &data.names, first, fits };
        if let Some(plot) = &mut plot {
            plot.add(part);
        }
        if let Some(outliers) = &mut outliers {
            noise::list(outliers, &curves, &data.names, first, &noisy)?;
        }
        if let Some(table) = &mut band_table {
            let failed = CliError::write("the table of bands");
            let weighed = if noise.rule().is_some() { &curves } else { &shown };
            table.write(CurvePart { curves: weighed, ..part }).map_err(failed)?;
        }
        let found = answers
            .columns(&model, &fitter, &curves, &noisy, &options, &shared.sharing)
            .map_err(failed)?;
        summary.add(&found);
        if let Some(page) = &mut page {
            page.add(part, &found, &options);
        }
        table.write(fits, &found).map_err(&written)?;
        first += count;
        listener.progress(first as u64);
        if count == 0 {
            break;
        }
    }
    listener.end();
    let report = fitting.finish().with_answers(summary);
    let written = match (beside.page, page) {
        (Some(path), Some(page)) => {
            let plots = plot.clone().map(CurvePlot::panels).unwrap_or_default();
            let mut output = Output::create(path)?;
            output.write_all(page.html(&arguments.title(), &report, &plots).as_bytes())?;
            Some(output)
        }
        _ => None,
    };
    let drawn = plot.map(|plot| draw_plot(arguments.plot.as_deref(), || plot.drawing()));
    let drawn = drawn.transpose()?.flatten();
    let counts = counts([("fits", report.fits), ("converged", report.converged)]);
    let outliers = outliers.map(OutlierTable::into_inner);
    let files = std::iter::once(table.into_inner()).chain(drawn).chain(outliers);
    let files = files.chain(band_table.map(BandTable::into_inner)).chain(written).collect();
    complete(record.around(files, counts)?)?;
    arguments.report.tell(&report)
}

/// The points of a part of the data.
fn places(own: &Option<Array3<f64>>, grid: Option<[usize; 2]>) -> Points<'_> {
    match (own, grid) {
        (Some(at), _) if at.shape()[0] == 1 => {
            Points::Shared(Values::from(at.index_axis(ndarray::Axis(0), 0)))
        }
        (Some(at), _) => Points::PerFit(Values::from(at.view())),
        (None, Some([width, height])) => Points::Grid { width, height },
        (None, None) => Points::Index,
    }
}

/// Words as they were typed, without the names of outputs: what is written does not depend on how it is called.
fn without_outputs(words: Vec<String>) -> Vec<String> {
    const OUTPUTS: [&str; 6] =
        ["-o", "--output", "--report", "--plot", "--bands-table", "--outliers"];
    let mut kept = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let with_name = word.split_once('=').is_some_and(|(option, _)| OUTPUTS.contains(&option));
        if OUTPUTS.contains(&&*word) {
            words.next();
        } else if !with_name {
            kept.push(word);
        }
    }
    kept
}

/// Standard input can be read for one thing only.
fn refuse_shared_input(arguments: &CurveArguments) -> Result<(), CliError> {
    let standard = arguments.inputs().filter(|path| *path == Path::new("-"));
    if standard.count() > 1 {
        let reason = "standard input can be read for one thing only; give files for the others";
        return Err(CliError::Other(reason.into()));
    }
    Ok(())
}
