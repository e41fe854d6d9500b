//! Arrays with something for each window.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use fit_core::ArgumentError;
use spotfit::npy::{NpyError, NpyReader};

use crate::error::CliError;
use crate::words::input::Input;

/// An array with an item for each window: read by all threads where its file allows that, otherwise in turn.
pub(crate) struct Items {
    way: Way,
    file: String,
}

enum Way {
    Anywhere(NpyReader<Input>),
    InTurn(Mutex<NpyReader<Input>>),
}

/// Which windows they are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    pub(crate) first: usize,
    pub(crate) count: usize,
}

/// Numbers of items.
pub(crate) trait ItemNumber: Sized {
    fn read(
        reader: &mut NpyReader<Input>,
        count: usize,
        numbers: &mut Vec<Self>,
    ) -> Result<usize, NpyError>;
    fn read_at(
        reader: &NpyReader<Input>,
        span: Span,
        numbers: &mut Vec<Self>,
    ) -> Result<(), NpyError>;
}

macro_rules! item_number {
    ($($type:ident: $read:ident $read_at:ident),*) => {$(
        impl ItemNumber for $type {
            fn read(
                reader: &mut NpyReader<Input>,
                count: usize,
                numbers: &mut Vec<Self>,
            ) -> Result<usize, NpyError> {
                reader.$read(count, numbers)
            }

            fn read_at(
                reader: &NpyReader<Input>,
                Span { first, count }: Span,
                numbers: &mut Vec<Self>,
            ) -> Result<(), NpyError> {
                reader.$read_at(first, count, numbers)
            }
        }
    )*};
}
item_number!(f32: read_f32 read_f32_at, f64: read_f64 read_f64_at);

impl Items {
    /// The items of an array of which none was read.
    pub(crate) fn new(reader: NpyReader<Input>, file: String) -> Self {
        let way = match reader.reads_anywhere() {
            true => Way::Anywhere(reader),
            false => Way::InTurn(Mutex::new(reader)),
        };
        Self { way, file }
    }

    /// What they are called in errors.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// Reads the next items, if they come in turn.
    pub(crate) fn next<T: ItemNumber>(
        &self,
        count: usize,
        numbers: &mut Vec<T>,
    ) -> Result<(), CliError> {
        let Way::InTurn(reader) = &self.way else { return Ok(()) };
        numbers.clear();
        let mut reader = reader.lock().unwrap_or_else(PoisonError::into_inner);
        T::read(&mut reader, count, numbers).map(drop).map_err(CliError::read(&self.file))
    }

    /// Reads items, unless they come in turn.
    pub(crate) fn load<T: ItemNumber>(
        &self,
        span: Span,
        numbers: &mut Vec<T>,
    ) -> Result<(), CliError> {
        let Way::Anywhere(reader) = &self.way else { return Ok(()) };
        numbers.clear();
        T::read_at(reader, span, numbers).map_err(CliError::read(&self.file))
    }
}

/// Opens the start values of `count` windows, an array (n, 3): x, y, sigma.
pub(crate) fn starts(path: &Path, count: usize) -> Result<Items, CliError> {
    let file = path.display().to_string();
    let (input, length) = Input::open(path)?;
    let reader = NpyReader::seekable(input, length).map_err(CliError::read(&file))?;
    let shape = &reader.header().shape;
    let [given, 3] = shape[..] else {
        let reason = format!("start values are (n, 3): x, y, sigma; this array is {shape:?}");
        return Err(CliError::file(&file, reason));
    };
    if given != count {
        let error = ArgumentError::StartCount { spots: count, given };
        return Err(CliError::file(&file, error.to_string()));
    }
    Ok(Items::new(reader, file))
}
