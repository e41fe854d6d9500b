//! Files of a measured camera.

use std::io::{self, Seek, Write};

use ndarray::Array2;

use super::MeasuredCamera;
use crate::camera_maps::write_npz;
use crate::hdf5::{H5Array, H5Error, NumberKind, write_arrays};
use crate::localize::Defects;

impl MeasuredCamera {
    /// Writes the maps as NPZ, as `localize` reads them: offset, gain (if it is known; 0 where a pixel is dead) and variance, with their
    /// standard errors as `offset_error` and so on, and `hot` and `dead`, 1 where pixels are so.
    ///
    /// # Errors
    /// The error of the writer.
    pub fn write_npz<W: Write + Seek>(&self, to: W) -> io::Result<W> {
        let single = |map: &Array2<f64>| map.mapv(|value| value as f32);
        let flags = |map: &Array2<bool>| map.mapv(|here| f32::from(u8::from(here)));
        let mut arrays = vec![("offset", single(&self.pixels.offset))];
        if let Some(gain) = self.masked_gain() {
            arrays.push(("gain", single(&gain)));
        }
        arrays.push(("variance", single(&self.pixels.variance)));
        arrays.push(("offset_error", single(&self.pixels.offset_error)));
        if let Some(error) = &self.pixels.gain_error {
            arrays.push(("gain_error", single(error)));
        }
        arrays.push(("variance_error", single(&self.pixels.variance_error)));
        arrays.push(("hot", flags(&self.hot)));
        arrays.push(("dead", flags(&self.dead)));
        let views: Vec<_> = arrays.iter().map(|(name, array)| (*name, array.view())).collect();
        write_npz(to, &views, "Measured by Spotfit")
    }

    /// Writes the maps as HDF5, as Picasso's camera calibrations are: offset, gain (if it is known) and variance.
    ///
    /// # Errors
    /// The error of the writer.
    pub fn write_hdf5<W: Write>(&self, to: W) -> Result<W, H5Error> {
        let (height, width) = self.pixels.offset.dim();
        let gain = self.masked_gain();
        let maps = [
            ("offset", Some(&self.pixels.offset)),
            ("gain", gain.as_ref()),
            ("variance", Some(&self.pixels.variance)),
        ];
        let values: Vec<(&str, Vec<f64>)> = maps
            .into_iter()
            .filter_map(|(name, map)| Some((name, map?.iter().copied().collect())))
            .collect();
        let shape = [height, width];
        let arrays: Vec<H5Array<'_>> = values
            .iter()
            .map(|(name, values)| H5Array { name, shape: &shape, kind: NumberKind::F32, values })
            .collect();
        write_arrays(to, &arrays, None)
    }

    /// The pixels that are hot or dead, as `localize` masks defects.
    pub fn defects(&self) -> Defects {
        let mut mask = self.hot.clone();
        mask.zip_mut_with(&self.dead, |mask, dead| *mask |= dead);
        Defects::from_mask(mask.view())
    }
}
