//! From the events of the parser to values.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};

use super::{DEEPEST, LARGEST, Value, YamlError, scalar};

/// What all values together that anchors repeat may weigh.
const HEAVIEST: usize = 64 << 20;
const ALIASES: &str = "what anchors repeat is too large";
const KEY: &str = "a key is a list or a mapping";

/// Reads all documents in a text of up to 16 MiB.
///
/// # Errors
///
/// [`YamlError::Wrong`] if it is larger or not YAML, if it is nested more than 64
/// times, if its aliases take more than 64 MiB, or if the keys of a mapping are not different scalars.
pub fn parse(text: &str) -> Result<Vec<Value>, YamlError> {
    if text.len() as u64 > LARGEST {
        return Err(YamlError::large());
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut builder = Builder::default();
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| {
            syntax(error.marker().line(), error.marker().col() + 1, error.info())
        })?;
        builder.event(event, span.start.line())?;
    }
    Ok(builder.documents)
}

fn syntax(line: usize, column: usize, what: &str) -> YamlError {
    YamlError::Wrong(format!("line {line}, column {column} of the YAML file: {what}"))
}

/// A list or mapping that has not ended.
struct Open {
    anchor: usize,
    /// NumPy's name for its scalars stands before the list.
    numpy: bool,
    content: Content,
}

enum Content {
    List(Vec<Value>),
    /// The entries, and a key whose value is still to come.
    Map(Vec<(String, Value)>, Option<String>),
}

/// What an anchor names: the value, how deeply it is nested, and how much memory it takes, about.
struct Anchor {
    value: Value,
    depth: usize,
    weight: usize,
}

#[derive(Default)]
struct Builder {
    documents: Vec<Value>,
    open: Vec<Open>,
    anchors: HashMap<usize, Anchor>,
    /// What the copies weigh that were made for anchors and aliases.
    weight: usize,
}

impl Builder {
    fn event(&mut self, event: Event<'_>, line: usize) -> Result<(), YamlError> {
        match event {
            Event::DocumentStart(_) => self.anchors.clear(),
            Event::Scalar(text, style, anchor, tag) => {
                let tag = tag.as_deref().map_or("", |tag: &Tag| tag.suffix.as_str());
                let value = match (style, tag) {
                    (_, "str") => Value::Text(text.into_owned()),
                    (_, "float") => match scalar::number(&text) {
                        Some(Value::Int(number)) => Value::Float(number as f64),
                        number => number.unwrap_or_else(|| Value::Text(text.into_owned())),
                    },
                    (ScalarStyle::Plain, tag) if tag != "binary" => scalar::plain(&text),
                    (_, "int") => scalar::plain(&text),
                    _ => Value::Text(text.into_owned()),
                };
                self.value(value, anchor, line)?;
            }
            Event::SequenceStart(anchor, tag) => {
                let tag = tag.as_deref().map_or("", |tag: &Tag| tag.suffix.as_str());
                let numpy = tag.starts_with("python/object/apply:numpy.")
                    && tag.ends_with("core.multiarray.scalar");
                self.begin(Open { anchor, numpy, content: Content::List(Vec::new()) }, line)?;
            }
            Event::MappingStart(anchor, _) => {
                let content = Content::Map(Vec::new(), None);
                self.begin(Open { anchor, numpy: false, content }, line)?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(Open { anchor, numpy, content }) = self.open.pop() else { return Ok(()) };
                let value = match content {
                    Content::List(list) => {
                        let number = if numpy { scalar::numpy(&list) } else { None };
                        number.unwrap_or(Value::List(list))
                    }
                    Content::Map(entries, _) => {
                        different(&entries, line)?;
                        Value::Map(entries)
                    }
                };
                self.value(value, anchor, line)?;
            }
            Event::Alias(anchor) => {
                let Some(Anchor { value, depth, weight }) = self.anchors.get(&anchor) else {
                    return Err(syntax(line, 1, "an alias stands within what it repeats"));
                };
                self.weight += weight;
                if self.weight > HEAVIEST {
                    return Err(YamlError::line(line, ALIASES));
                }
                if self.open.len() + depth > DEEPEST {
                    return Err(YamlError::deep(line));
                }
                let value = value.clone();
                self.value(value, 0, line)?;
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
        Ok(())
    }

    fn begin(&mut self, open: Open, line: usize) -> Result<(), YamlError> {
        self.open.push(open);
        if self.open.len() > DEEPEST { Err(YamlError::deep(line)) } else { Ok(()) }
    }

    /// Puts a value where it belongs.
    fn value(&mut self, value: Value, anchor: usize, line: usize) -> Result<(), YamlError> {
        if anchor != 0 {
            let (depth, weight) = measure(&value);
            self.weight += weight;
            if self.weight > HEAVIEST {
                return Err(YamlError::line(line, ALIASES));
            }
            self.anchors.insert(anchor, Anchor { value: value.clone(), depth, weight });
        }
        match self.open.last_mut().map(|open| &mut open.content) {
            None => self.documents.push(value),
            Some(Content::List(list)) => list.push(value),
            Some(Content::Map(entries, key)) => match key.take() {
                Some(key) => entries.push((key, value)),
                None => *key = Some(name(value).ok_or_else(|| YamlError::line(line, KEY))?),
            },
        }
        Ok(())
    }
}

/// A key as text.
fn name(value: Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text),
        Value::Null => Some("null".into()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Int(number) => Some(number.to_string()),
        Value::Float(number) => Some(super::write::float(number)),
        Value::List(_) | Value::Map(_) => None,
    }
}

/// How deeply a value is nested, and how much memory it takes, about.
fn measure(value: &Value) -> (usize, usize) {
    let own = size_of::<Value>();
    let sum = |(depth, weight): (usize, usize), (inner, more): (usize, usize)| {
        (depth.max(inner + 1), weight + more)
    };
    match value {
        Value::Text(text) => (0, own + text.len()),
        Value::List(list) => list.iter().map(measure).fold((1, own), sum),
        Value::Map(entries) => entries.iter().fold((1, own), |total, (key, value)| {
            let (depth, weight) = measure(value);
            sum(total, (depth, weight + own + key.len()))
        }),
        _ => (0, own),
    }
}

/// An error if a key occurs twice.
fn different(entries: &[(String, Value)], line: usize) -> Result<(), YamlError> {
    let mut keys: Vec<&str> = entries.iter().map(|(key, _)| key.as_str()).collect();
    keys.sort_unstable();
    match keys.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => {
            let key: String = pair[0].chars().take(60).collect();
            let what = format!("the mapping that ends here has the key '{key}' twice");
            Err(YamlError::line(line, what))
        }
    }
}
