//! What stands beside the coefficients of a PSF in its file, as Picasso has it.

use std::io::{self, Write};

use fit_crowd::Misfit;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

/// The attribute `metadata`, as JSON.
#[derive(Debug, Serialize)]
pub(super) struct Metadata {
    pub(super) model: &'static str,
    pub(super) n_data: [usize; 3],
    pub(super) n_intervals: [usize; 3],
    pub(super) oversampling: f64,
    pub(super) lateral_centered: bool,
    pub(super) z_center: f64,
    pub(super) z_init: f64,
    pub(super) z_step_nm: f64,
    pub(super) magnification_factor: f64,
    pub(super) photon_scale: f64,
    #[serde(rename = "box")]
    pub(super) side: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pixelsize: Option<f64>,
    pub(super) n_channels: u32,
    pub(super) picasso_format: &'static str,
    /// Ours: where z is 0, in planes of the knots.
    pub(super) knots_zero: f64,
    /// Ours: what the pixels at z = 0 add up to, if that is less than 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) light: Option<f64>,
    /// Ours: false if z is no height.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) heights: Option<bool>,
    /// Ours: for each height of the misfit its shares, and the moment.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) misfit: Vec<[f64; MISFIT]>,
    /// Ours: the part of the frame across which it varies, along x and along y.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) field_part: Option<[[f64; 2]; 2]>,
}

/// Numbers of a misfit at a height.
pub(super) const MISFIT: usize = Misfit::DISTANCES.len() + 1;

impl Metadata {
    /// The text; an error says what is wrong.
    pub(super) fn to_json(&self) -> Result<String, String> {
        let mut text = Vec::new();
        let written = self.serialize(&mut Serializer::with_formatter(&mut text, Spaced));
        written.map_err(|error| error.to_string())?;
        String::from_utf8(text).map_err(|error| error.to_string())
    }
}

/// One line with spaces after commas and colons, as Python writes JSON.
struct Spaced;

impl Spaced {
    fn separate(first: bool, writer: &mut (impl Write + ?Sized)) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }
}

impl Formatter for Spaced {
    fn begin_array_value<W: Write + ?Sized>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        Self::separate(first, writer)
    }

    fn begin_object_key<W: Write + ?Sized>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        Self::separate(first, writer)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that the text is what Python's `json.dumps` makes of the same, to the byte.
    #[test]
    fn json_is_as_python_writes_it() {
        let metadata = Metadata {
            model: "spline-3d",
            n_data: [3, 4, 5],
            n_intervals: [2, 3, 4],
            oversampling: 1.0,
            lateral_centered: true,
            z_center: 2.25,
            z_init: 2.25,
            z_step_nm: 50.0,
            magnification_factor: 1.0,
            photon_scale: 12.5,
            side: 18,
            pixelsize: Some(100.0),
            n_channels: 1,
            picasso_format: "1.0",
            knots_zero: 1.0 / 3.0,
            light: None,
            heights: None,
            misfit: Vec::new(),
            field_part: None,
        };
        let text = metadata.to_json().unwrap();
        assert_eq!(
            text,
            "{\"model\": \"spline-3d\", \"n_data\": [3, 4, 5], \"n_intervals\": [2, 3, 4], \"oversampling\": 1.0, \
             \"lateral_centered\": true, \"z_center\": 2.25, \"z_init\": 2.25, \"z_step_nm\": 50.0, \
             \"magnification_factor\": 1.0, \"photon_scale\": 12.5, \"box\": 18, \"pixelsize\": 100.0, \
             \"n_channels\": 1, \"picasso_format\": \"1.0\", \"knots_zero\": 0.3333333333333333}"
        );
        let unknown = Metadata { pixelsize: None, ..metadata };
        assert!(!unknown.to_json().unwrap().contains("pixelsize"));
    }
}
