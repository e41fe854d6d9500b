//! Records of versions before 0.2.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::{InputFile, Record, RecordError, State, no_record, read_json};

/// The record that `spotfit batch` of 0.1 wrote, `NAME.batch.json`; nothing if there is none. Its options are words as they
/// were typed.
///
/// # Errors
/// [`RecordError`].
pub fn old_batch(file: &Path) -> Result<Option<Record>, RecordError> {
    let Some(json) = read_json(file)? else { return Ok(None) };
    let missing = || no_record(file, "something is missing in it");
    batch(&json).map(Some).ok_or_else(missing)
}

fn text(json: &Value, name: &str) -> Option<String> {
    Some(json.get(name)?.as_str()?.to_owned())
}

fn batch(json: &Value) -> Option<Record> {
    let count = |name: &str| Some((name.to_owned(), json.get(name)?.as_u64()?));
    let state = match text(json, "state")?.as_str() {
        "begun" => State::Begun,
        "failed" => State::Failed { error: text(json, "error")? },
        "done" => {
            let names = ["frames", "candidates", "fits", "converged", "localizations"];
            State::Done { counts: names.into_iter().map(count).collect::<Option<_>>()? }
        }
        _ => return None,
    };
    let file = |json: &Value| {
        let name = text(json, "name")?;
        // Files of options are named after them: `--psf spline.hdf5`.
        let (role, name) = match name.strip_prefix("--").and_then(|name| name.split_once(' ')) {
            Some((option, name)) => (option.to_owned(), name.to_owned()),
            None => ("movie".to_owned(), name),
        };
        let (bytes, modified) = (json.get("bytes")?.as_u64()?, text(json, "modified")?);
        Some(InputFile { role, name, bytes, modified, sha256: None, whole: false })
    };
    let options = json.get("options")?.as_object()?.clone().into_iter();
    let renamed = |name: String| match name.trim_start_matches("--") {
        // They were counted from 0, without the last: what was typed then means something else now.
        "frames" => "frames from 0".to_owned(),
        name => name.to_owned(),
    };
    let options = options.map(|(name, value)| (renamed(name), value)).collect();
    let mut record = Record::new("batch", Path::new(&text(json, "output")?));
    record.spotfit = text(json, "spotfit").unwrap_or_default();
    record.state = state;
    record.source = text(json, "movie");
    record.options = options;
    record.inputs = json.get("files")?.as_array()?.iter().map(file).collect::<Option<_>>()?;
    Some(record)
}

/// The record that `fit_files` of 0.1 wrote, `NAME.fit.json`; nothing if there is none. Its options are Python's.
///
/// # Errors
/// [`RecordError`].
pub fn old_fit(file: &Path) -> Result<Option<Record>, RecordError> {
    let Some(json) = read_json(file)? else { return Ok(None) };
    let missing = || no_record(file, "something is missing in it");
    fit(file, &json).map(Some).ok_or_else(missing)
}

fn fit(file: &Path, json: &Value) -> Option<Record> {
    let options: BTreeMap<String, Value> =
        json.get("options")?.as_object()?.clone().into_iter().collect();
    let ending = options.get("format")?.as_str()?;
    let name = file.file_name()?.to_str()?.strip_suffix(".fit.json")?;
    let count = |name: &str| Some((name.to_owned(), json.get(name)?.as_u64()?));
    let counts = ["frames", "localizations", "left_out"].into_iter().filter_map(count);
    let counts: BTreeMap<String, u64> = counts.collect();
    let mut record = Record::new("fit_files", Path::new(&format!("{name}.{ending}")));
    record.spotfit = text(json, "spotfit").unwrap_or_default();
    if counts.contains_key("frames") && counts.contains_key("localizations") {
        record.state = State::Done { counts };
    }
    record.source = text(json, "movie");
    record.options = options;
    let nanoseconds = json.get("mtime_ns")?.as_u64()?;
    record.inputs = vec![InputFile {
        role: "movie".to_owned(),
        name: text(json, "movie")?,
        bytes: json.get("size")?.as_u64()?,
        modified: format!("{}.{:09}", nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000),
        sha256: None,
        whole: false,
    }];
    Some(record)
}
