//! Stacks with one directory and all frames after each other: those beyond 4 GB of ImageJ, all of MetaMorph, and those that lost their
//! other directories.

use ::tiff::decoder::DecodingSampleType as Sample;
use ::tiff::tags::{ByteOrder, CompressionMethod, Predictor, Tag};

use super::MovieError;
use super::failure::{undecodable, wrong};
use super::page::Pages;
use crate::movie::raw::RawSource;
use crate::movie::whole::said;
use crate::npy::NumberType;
use crate::place::Bytes;

/// The frames, of so many pixels each, that lie behind the first directory, as a program's metadata promise them.
pub(super) struct Run<'a> {
    pub(super) promised: usize,
    pub(super) pixels: u64,
    pub(super) program: &'a str,
}

impl Run<'_> {
    /// The frames that are there, how many they are, and what is missing, unless that is `strict`ly refused.
    pub(super) fn open(
        self,
        decoder: &mut Pages,
        bytes: Bytes,
        strict: bool,
    ) -> Result<(RawSource, usize, Option<String>), MovieError> {
        let Self { promised, pixels, program } = self;
        if !is_stored(decoder) {
            let reason = format!("a stack of {program} with one directory must not be compressed");
            return Err(wrong(0, reason));
        }
        let number = number(decoder)?;
        let start = first_byte(decoder)?;
        let big_endian = decoder.byte_order() == ByteOrder::BigEndian;
        let length = bytes.length()?;
        let there =
            length.saturating_sub(start) / pixels.saturating_mul(number.size() as u64).max(1);
        let there = usize::try_from(there).unwrap_or(usize::MAX);
        if there < promised && (strict || there == 0) {
            let reason = format!(
                "the file is truncated: {program}'s metadata promise {promised} frames, \
             but there are {length} bytes"
            );
            return Err(wrong(0, reason));
        }
        let note = (there < promised).then(|| format!("the file {}", said(there, Some(promised))));
        let source = RawSource::new(bytes, start, number, big_endian, pixels);
        Ok((source, there.min(promised), note))
    }
}

/// Whether pixels are stored as they are: what the decoder would undo, it undoes page by page.
pub(super) fn is_stored(decoder: &mut Pages) -> bool {
    let mut tag = |tag, default: u16| decoder.get_tag_u64(tag).unwrap_or(u64::from(default));
    tag(Tag::Compression, 1) == u64::from(CompressionMethod::None.to_u16())
        && tag(Tag::Predictor, 1) == u64::from(Predictor::None.to_u16())
}

/// The type of the pixels, as the decoder of single pages takes it.
pub(super) fn number(decoder: &mut Pages) -> Result<NumberType, MovieError> {
    let layout = decoder.image_buffer_layout().map_err(|error| undecodable(0, error))?;
    match layout.sample_type {
        Some(Sample::U8) => Ok(NumberType::U8),
        Some(Sample::U16) => Ok(NumberType::U16),
        Some(Sample::U32) => Ok(NumberType::U32),
        Some(Sample::U64) => Ok(NumberType::U64),
        Some(Sample::I8) => Ok(NumberType::I8),
        Some(Sample::I16) => Ok(NumberType::I16),
        Some(Sample::I32) => Ok(NumberType::I32),
        Some(Sample::I64) => Ok(NumberType::I64),
        Some(Sample::F32) => Ok(NumberType::F32),
        Some(Sample::F64) => Ok(NumberType::F64),
        Some(Sample::F16) | None => Err(wrong(0, "its pixels are of a type that is not supported")),
    }
}

/// Where the pixels begin. The strips of the first frame must follow each other, as the frames do.
pub(super) fn first_byte(decoder: &mut Pages) -> Result<u64, MovieError> {
    let mut list = |tag| decoder.get_tag_u64_vec(tag).map_err(|error| undecodable(0, error));
    let (starts, lengths) = (list(Tag::StripOffsets)?, list(Tag::StripByteCounts)?);
    let follow = |(pair, &length): (&[u64], &u64)| pair[0].checked_add(length) == Some(pair[1]);
    if !starts.windows(2).zip(&lengths).all(follow) {
        return Err(wrong(0, "the strips of a stack with one directory must follow each other"));
    }
    starts.first().copied().ok_or_else(|| wrong(0, "it has no pixels"))
}
