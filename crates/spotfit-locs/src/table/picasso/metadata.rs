//! What is known of the movie of a table, in the YAML file beside it and in the table itself.

use spotfit_files::private::{excerpt, possible_pixel};
use spotfit_files::yaml::Value;

use super::{FORMAT, GENERATED, NANOMETRES, SPOTFIT};
use crate::table::{Info, TableError, Unit};

/// The format that Picasso's YAML names, if it names one: the last that says something counts.
pub(super) fn format_mark(documents: &[Value]) -> Option<String> {
    let mark = documents.iter().rev().find_map(|document| document.get(FORMAT))?;
    Some(match mark {
        Value::Text(text) => text.clone(),
        // Without quotes YAML makes a number of it.
        other => json(other),
    })
}

/// The unit of lengths by the marks of a table and of the YAML file beside it.
pub(super) fn length_unit(own: Option<String>, beside: Option<String>) -> Result<Unit, TableError> {
    if let (Some(own), Some(beside)) = (&own, &beside)
        && own != beside
    {
        let (table, beside) = (excerpt(own), excerpt(beside));
        return Err(TableError::Unreadable(format!(
            "its picasso_format is '{table}', but the YAML file beside it says '{beside}'; which unit its lengths have is not known"
        )));
    }
    match own.or(beside) {
        None => Ok(Unit::Pixel),
        Some(mark) if mark == NANOMETRES => Ok(Unit::Nanometre),
        Some(mark) => Err(TableError::Unreadable(format!(
            "its picasso_format is '{}'; tables of '1.0', in nanometres, and those without this mark, in pixels, are read",
            excerpt(&mark)
        ))),
    }
}

/// Whether YAML of Picasso is marked as of version 1.0, whose lengths are in nanometres.
///
/// # Errors
/// [`TableError::Unreadable`] for other versions.
pub fn in_nanometres(documents: &[Value]) -> Result<bool, TableError> {
    Ok(length_unit(None, format_mark(documents))? == Unit::Nanometre)
}

/// The size of a pixel in nanometres that YAML of Picasso says: the last `Pixelsize`, or else the last `Camera.Pixelsize`. What no
/// microscope has is left aside.
pub fn pixel_size(documents: &[Value]) -> Option<f64> {
    said_sizes(documents).find_map(|said| said.ok().flatten())
}

/// The sizes that YAML of Picasso says, or what is odd about them.
pub(super) fn said_sizes(documents: &[Value]) -> impl Iterator<Item = Result<Option<f64>, String>> {
    ["Pixelsize", "Camera.Pixelsize"].into_iter().filter_map(|key| {
        let size = number(documents, key)?;
        Some(possible_pixel(size, format_args!("'{key}' of Picasso's metadata")))
    })
}

/// The positive number that the last document with this key has for it.
fn number(documents: &[Value], key: &str) -> Option<f64> {
    let found = documents.iter().rev().find_map(|document| document.get(key)?.number());
    found.filter(|number| *number > 0.0 && number.is_finite())
}

/// What documents say of the movie. The last that says something counts.
pub(super) fn info(documents: Vec<Value>) -> Info {
    let whole = |key: &str| {
        number(&documents, key).filter(|number| number.fract() == 0.0 && *number < 1e15)
    };
    Info {
        pixel_size: pixel_size(&documents),
        width: whole("Width").map(|width| width as usize),
        height: whole("Height").map(|height| height as usize),
        frames: whole("Frames").map(|frames| frames as usize),
        documents,
    }
}

/// The documents with what Picasso needs: the size of the movie must be there.
pub(super) fn documents(info: &Info, reach: [f64; 3]) -> Vec<Value> {
    let mut documents = info.documents.clone();
    // The table itself is marked, as those of Picasso are.
    for document in &mut documents {
        if let Value::Map(entries) = document {
            entries.retain(|(key, _)| key != FORMAT);
        }
    }
    let size = [
        ("Width", info.width.map_or(reach[0], |width| width as f64)),
        ("Height", info.height.map_or(reach[1], |height| height as f64)),
        ("Frames", info.frames.map_or(reach[2], |frames| (frames as f64).max(reach[2]))),
    ];
    if documents.is_empty() || !matches!(documents[0], Value::Map(_)) {
        documents.insert(0, Value::Map(Vec::new()));
    }
    if let Some(Value::Map(first)) = documents.first_mut() {
        for (key, value) in size {
            let size = Value::Int(value.max(1.0) as i64);
            match first.iter_mut().find(|(known, _)| known == key) {
                // A movie that was joined with others has become longer.
                Some((_, said)) if key == "Frames" && said.number() < Some(value) => *said = size,
                Some(_) => {}
                None => first.push((key.to_owned(), size)),
            }
        }
    }
    let known = documents.iter().rev().find_map(|document| document.get("Pixelsize")?.number());
    let mut last = vec![(
        GENERATED.to_owned(),
        Value::Text(format!("{SPOTFIT}{}", env!("CARGO_PKG_VERSION"))),
    )];
    if let Some(size) = info.pixel_size.filter(|&size| known != Some(size)) {
        last.push(("Pixelsize".to_owned(), Value::Float(size)));
    }
    documents.push(Value::Map(last));
    documents
}

/// A value as JSON. What JSON has no number for becomes null.
pub(super) fn json(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) if value.is_finite() => format!("{value:?}"),
        Value::Float(_) => "null".to_owned(),
        Value::Text(text) => quoted(text),
        Value::List(values) => {
            let values: Vec<String> = values.iter().map(json).collect();
            format!("[{}]", values.join(", "))
        }
        Value::Map(entries) => {
            let entry =
                |(key, value): &(String, Value)| format!("{}: {}", quoted(key), json(value));
            let entries: Vec<String> = entries.iter().map(entry).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for symbol in text.chars() {
        match symbol {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            control if control < ' ' => out.push_str(&format!("\\u{:04x}", control as u32)),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}
