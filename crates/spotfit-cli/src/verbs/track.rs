//! `spotfit track`: frames in, the drift of each at once.

use clap::Args;

use crate::error::{CliError, step, words_of};
use crate::interrupt;
use crate::say::listener::Terminal;
use crate::say::message::say;
use crate::say::watch::Watch;
use crate::words::record::RecordArguments;
use crate::words::report::ReportArguments;
use crate::words::track::{Opened, OutputWords, SourceWords, TrackWords};
use spotfit::steps::track::{self, DriftSink};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit track stage.tif -o drift.csv --beads 20 --pixel-size 107 --plot drift.svg\n  spotfit track stage.tif --smooth kalman --json-lines --rate 100\n  spotfit track simulated:500 -o drift.csv --stop-after 500"
)]
pub(crate) struct TrackArguments {
    #[command(flatten)]
    source: SourceWords,
    #[command(flatten)]
    words: TrackWords,
    #[command(flatten)]
    output: OutputWords,
    /// Draw the last drifts, their errors and the beads on the terminal, ten times a second.
    #[arg(help_heading = "Output", long)]
    watch: bool,
    /// Ask the system for priority and for memory that stays in place, and look for frames of a ring without a pause. What is
    /// refused is said.
    #[arg(help_heading = "Source", long)]
    realtime: bool,
    /// With --realtime: the processor to run on, from 0.
    #[arg(help_heading = "Source", long, value_name = "N", requires = "realtime")]
    processor: Option<usize>,
    #[command(flatten)]
    report: ReportArguments,
    #[command(flatten)]
    record: RecordArguments,
}

pub(crate) fn run(arguments: &TrackArguments) -> Result<(), CliError> {
    let TrackArguments { source, words, output, report, record, .. } = arguments;
    if !(output.is_any() || arguments.watch) {
        let reason = "nobody would hear of the drift; give -o DRIFT.csv, --json-lines, --udp, --ring-out or --watch";
        return Err(CliError::Other(reason.to_owned()));
    }
    let mut watch = arguments.watch.then(Watch::new);
    if watch.as_ref().is_some_and(Watch::is_hidden) {
        let reason = "--watch draws on the terminal, and standard error is none";
        return Err(CliError::Other(reason.to_owned()));
    }
    output.paths().try_for_each(|path| report.check(path))?;
    let Opened { mut frames, files } = source.open(arguments.realtime)?;
    let named = words.files();
    output.check(files.iter().map(AsRef::as_ref).chain(named.iter().map(|(_, file)| *file)))?;
    let camera = words.camera(source, &Terminal::without_bar())?;
    let options = words.options(frames.pixel_size(), source.stop_after, camera)?;
    let live = frames.is_live();
    let most = source.stop_after.unwrap_or(u64::MAX);
    let count = frames.frames().filter(|_| !live).map(|count| count.min(most));
    let pixel_size = options.pixel_size_of(frames.pixel_size())?;
    let mut outputs = output.open(*record, count, |record| {
        record.change(|record| record.pixel_size = pixel_size);
        files.iter().try_for_each(|file| record.reads("movie", file))?;
        named.iter().try_for_each(|(role, file)| record.reads(role, file))
    })?;
    if live {
        interrupt::means("the drift until then was kept".to_owned());
    }
    if arguments.realtime {
        for refused in track::realtime(arguments.processor) {
            say!("spotfit: warning: --realtime: {refused}");
        }
    }
    let listener = if watch.is_some() { Terminal::without_bar() } else { Terminal::default() };
    let watch = watch.as_mut().map(|watch| watch as &mut dyn DriftSink);
    let tracked = outputs.with(watch, |sinks| track::run(&options, &mut *frames, sinks, &listener));
    let tracked = tracked.map_err(step(outputs.name()))?;
    outputs.finish(&tracked)?;
    if output.prints() {
        say!("{}", words_of(&tracked.to_string()));
        return Ok(());
    }
    report.tell(&tracked)
}
