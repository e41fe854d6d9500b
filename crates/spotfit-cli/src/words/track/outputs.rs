//! Where drifts go, as it is typed.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::{CliError, step};
use crate::interrupt;
use crate::words::output::{Output, complete, complete_ended};
use crate::words::paths::{is_standard_output, is_stream, refuse_same_file};
use crate::words::plot::{refuse_plot, write_drawing};
use crate::words::record::{RecordArguments, Recorded, counts};
use crate::words::table::format_of;
use crate::words::written::{WrittenFile, WrittenRing};
use spotfit::report::figure::FigureFormat;
use spotfit::steps::track::{
    Datagrams, DriftChart, DriftRing, DriftSink, JsonLines, NpyRows, TableRows, TrackReport,
};
use spotfit::steps::{OutcomeFormat, TableFile};
use spotfit::table::{SaveOptions, TableFormat};

/// Where drifts go.
#[derive(Debug, Args)]
pub(crate) struct OutputWords {
    /// Where to write the drift: a .csv file frame,time,x,y,z,x_error,y_error,z_error,beads,status,latency_us (z with a calibration, time
    /// where it is known, latency_us where frames come as they are taken), which `spotfit drift --apply` reads; a .npy file with the same as a structured array; or - for CSV on standard output. Of
    /// a source that is not a movie the CSV file is there from its first row on, and grows by whole rows.
    #[arg(help_heading = "Output", short, long, value_name = "DRIFT.csv|DRIFT.npy")]
    output: Option<WrittenFile>,
    /// Where to draw the drift, with a band of one standard error to either side: an .svg or .png file.
    #[arg(help_heading = "Output", long, value_name = "DRIFT.svg|DRIFT.png")]
    plot: Option<WrittenFile>,
    /// Print each drift as a line of JSON on standard output, as soon as it is known.
    #[arg(help_heading = "Output", long, conflicts_with = "json")]
    json_lines: bool,
    /// Send each drift as a datagram over UDP: to a port of this machine, or to HOST:PORT.
    #[arg(help_heading = "Output", long, value_name = "PORT|HOST:PORT")]
    udp: Option<String>,
    /// Write each drift into a ring of this name in shared memory, for the program of the camera.
    #[arg(help_heading = "Output", long, value_name = "NAME")]
    ring_out: Option<WrittenRing>,
}

/// Where the table goes.
enum File {
    Csv(Box<TableFile>),
    Npy(Box<NpyRows<Output>>),
}

/// All that drifts go to.
pub(crate) struct DriftOutputs {
    name: String,
    file: Option<File>,
    record: Option<Recorded>,
    chart: Option<(Output, PathBuf, DriftChart)>,
    lines: Option<JsonLines<io::Stdout>>,
    datagrams: Option<Datagrams>,
    ring: Option<DriftRing>,
}

impl OutputWords {
    /// Refuses outputs that make no sense together or would replace one of these files, before any work is done for them.
    pub(crate) fn check<'a>(
        &self,
        inputs: impl IntoIterator<Item = &'a Path>,
    ) -> Result<(), CliError> {
        let (output, plot) = (self.output.as_deref(), self.plot.as_deref());
        output.map(format_of).transpose()?;
        refuse_plot(plot)?;
        let files: Vec<&Path> = [output, plot].into_iter().flatten().collect();
        for input in inputs {
            files.iter().try_for_each(|file| refuse_same_file(input, file))?;
        }
        if self.json_lines && files.iter().any(|file| is_standard_output(file)) {
            let reason = "--json-lines prints on standard output; write the drift to a file";
            return Err(CliError::Other(reason.to_owned()));
        }
        Ok(())
    }

    /// Where the table goes, if it goes anywhere.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        [self.output.as_deref(), self.plot.as_deref()].into_iter().flatten()
    }

    /// Whether drifts go anywhere.
    pub(crate) fn is_any(&self) -> bool {
        let Self { output, plot, json_lines, udp, ring_out } = self;
        output.is_some() || plot.is_some() || *json_lines || udp.is_some() || ring_out.is_some()
    }

    /// Whether drifts are printed on standard output.
    pub(crate) fn prints(&self) -> bool {
        self.json_lines
    }

    /// Begins to write. `frames` is how many rows there will be, of a movie.
    pub(crate) fn open(
        &self,
        record: RecordArguments,
        frames: Option<u64>,
        inputs: impl FnOnce(&mut Recorded) -> Result<(), CliError>,
    ) -> Result<DriftOutputs, CliError> {
        let live = frames.is_none();
        let mut recorded = self.output.as_deref().map(|path| record.of(path)).transpose()?;
        if let Some(recorded) = &mut recorded {
            inputs(recorded)?;
        }
        let chart =
            self.plot.as_deref().map(|path| Output::create(path).map(|output| (output, path)));
        let chart = chart.transpose()?;
        let datagrams = self.udp.as_deref().map(Datagrams::new).transpose()?;
        let ring = self.ring_out.as_deref().map(DriftRing::new).transpose()?;
        let file = self.output.as_deref().map(|path| -> Result<File, CliError> {
            let name = path.display().to_string();
            if format_of(path)? == OutcomeFormat::Npy {
                let rows = NpyRows::new(&name, Output::create(path)?, frames);
                return Ok(File::Npy(Box::new(rows)));
            }
            let options = SaveOptions::default().with_overwrite(record.overwrite);
            let table = match live && !is_stream(path) {
                true => TableFile::growing(path, options),
                false => {
                    let output = Output::create(path)?.into();
                    TableFile::through(output, path, TableFormat::Csv, options)
                }
            };
            // Each row of a stream is to be had at once.
            let table = table.map_err(step(&name))?.flushing(live);
            let of_table = recorded.take().and_then(Recorded::into_record);
            let table = of_table.into_iter().try_fold(table, TableFile::with_record)?;
            Ok(File::Csv(Box::new(table)))
        });
        Ok(DriftOutputs {
            name: self.output.as_deref().unwrap_or(Path::new("-")).display().to_string(),
            file: file.transpose()?,
            record: recorded,
            chart: chart.map(|(output, path)| (output, path.to_owned(), DriftChart::default())),
            lines: self.json_lines.then(|| JsonLines::new("standard output", io::stdout())),
            datagrams,
            ring,
        })
    }
}

impl DriftOutputs {
    /// What the table is called.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Gives everything that drifts go to, what answers soonest first.
    pub(crate) fn with<T>(
        &mut self,
        more: Option<&mut dyn DriftSink>,
        run: impl FnOnce(&mut [&mut dyn DriftSink]) -> T,
    ) -> T {
        let Self { file, chart, lines, datagrams, ring, .. } = self;
        let (mut rows, npy) = match file {
            Some(File::Csv(table)) => (Some(TableRows::new(&mut **table)), None),
            Some(File::Npy(npy)) => (None, Some(npy)),
            None => (None, None),
        };
        let mut sinks: Vec<&mut dyn DriftSink> = Vec::new();
        sinks.extend(ring.as_mut().map(|sink| sink as &mut dyn DriftSink));
        sinks.extend(datagrams.as_mut().map(|sink| sink as &mut dyn DriftSink));
        sinks.extend(lines.as_mut().map(|sink| sink as &mut dyn DriftSink));
        sinks.extend(rows.as_mut().map(|sink| sink as &mut dyn DriftSink));
        sinks.extend(npy.map(|sink| &mut **sink as &mut dyn DriftSink));
        sinks.extend(chart.as_mut().map(|(.., chart)| chart as &mut dyn DriftSink));
        if let Some(more) = more {
            sinks.push(more);
        }
        run(&mut sinks)
    }

    /// Completes all files.
    pub(crate) fn finish(self, report: &TrackReport) -> Result<(), CliError> {
        let Self { name, file, record, chart, .. } = self;
        let counts = counts([
            ("frames", report.frames as usize),
            ("missed", report.lost.missed as usize),
            ("beads", report.beads),
        ]);
        let chart = finished_chart(chart)?;
        let files = match (file, record) {
            (Some(File::Csv(table)), _) => {
                let others = chart.map(Into::into);
                let mut go_on = || report.interrupted || interrupt::check().is_ok();
                let counts = counts.into_iter().collect();
                return table.finish_counted(others, counts, &mut go_on).map_err(step(&name));
            }
            (Some(File::Npy(npy)), Some(record)) => {
                record.around(vec![npy.into_inner()], counts)?
            }
            (Some(File::Npy(npy)), None) => vec![npy.into_inner()],
            (None, _) => Vec::new(),
        };
        let files = files.into_iter().chain(chart);
        if report.interrupted { complete_ended(files) } else { complete(files) }
    }
}

fn finished_chart(
    chart: Option<(Output, PathBuf, DriftChart)>,
) -> Result<Option<Output>, CliError> {
    let Some((mut output, path, chart)) = chart else { return Ok(None) };
    write_drawing(&mut output, &path, &chart.drawing(), FigureFormat::Svg)?;
    Ok(Some(output))
}
