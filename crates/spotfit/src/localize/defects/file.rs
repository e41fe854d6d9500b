//! Masks of defective pixels in files.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ndarray::Array2;
use spotfit_files::private::excerpt;

use super::Defects;
use crate::movie::MovieLimits;
use crate::npy::{NpyError, NpyReader, write_header};

/// Why a mask of defective pixels could not be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the defective pixels {}: {problem}", .file.display())]
#[non_exhaustive]
pub struct DefectsError {
    /// The file.
    pub file: PathBuf,
    /// What is wrong with it.
    #[source]
    pub problem: NpyError,
}

impl Defects {
    /// Reads a mask from an NPY file: an array (height, width) of booleans or numbers, which are not 0 where a pixel is
    /// defective. What is not a number counts as defective, too.
    ///
    /// # Errors
    /// [`DefectsError`], which names the file.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, DefectsError> {
        let path = path.as_ref();
        read(path).map_err(|problem| DefectsError { file: path.to_owned(), problem })
    }

    /// Writes the mask as an NPY file: an array (height, width) of booleans.
    ///
    /// # Errors
    /// The error of the writer.
    pub fn write(&self, mut to: impl Write) -> io::Result<()> {
        write_header(&mut to, "'|b1'", &[self.height, self.width])?;
        let mask: Vec<u8> = self.mask().iter().map(|&masked| masked.into()).collect();
        to.write_all(&mask)
    }
}

fn read(path: &Path) -> Result<Defects, NpyError> {
    let metadata = path.metadata()?;
    // Opening a pipe would wait for a writer.
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a file").into());
    }
    let mut reader = NpyReader::of_booleans(File::open(path)?, Some(metadata.len()))?;
    let shape = reader.header().shape.clone();
    let found = excerpt(&format!("{shape:?}"));
    let [height, width] = shape[..] else {
        return Err(NpyError::Shape { needed: "(height, width)", found });
    };
    if height.saturating_mul(width) > MovieLimits::default().frame_pixels {
        return Err(NpyError::TooLarge(found));
    }
    let mut numbers = Vec::new();
    reader.read_f64(height, &mut numbers)?;
    let mask = numbers.into_iter().map(|number| number != 0.0).collect();
    let mask = Array2::from_shape_vec((height, width), mask);
    let mask = mask.map_err(|_| NpyError::Shape { needed: "(height, width)", found })?;
    Ok(Defects::from_mask(mask.view()))
}
