//! PTX as it is stored: an `.lzma` file a module, a fifteenth of the text.

use std::io::{Read, Write};

use crate::recency::{decode, encode};
use lzma_rust2::{LzmaOptions, LzmaReader, LzmaWriter};

/// What the name of a stored module ends with.
pub(crate) const EXTENSION: &str = ".ptx.lzma";

/// Memory that unpacking may take, in KiB: enough for any module.
const MOST_MEMORY: u32 = 64 << 10;

/// Packs a text.
pub(crate) fn pack(text: &str) -> std::io::Result<Vec<u8>> {
    let text = encode(text).ok_or_else(|| std::io::Error::other("not PTX"))?;
    let mut options = LzmaOptions::with_preset(9);
    // No larger than the text: whoever unpacks it needs as much memory.
    options.dict_size = text.len().next_power_of_two().clamp(1 << 12, 1 << 24) as u32;
    // Text has no structure of two or four bytes.
    (options.lc, options.pb) = (4, 0);
    let mut writer = LzmaWriter::new_use_header(Vec::new(), &options, Some(text.len() as u64))?;
    writer.write_all(text.as_bytes())?;
    writer.finish()
}

/// Unpacks it.
pub(crate) fn unpack(packed: &[u8]) -> std::io::Result<String> {
    let mut text = String::new();
    LzmaReader::new_mem_limit(packed, MOST_MEMORY, None)?.read_to_string(&mut text)?;
    decode(&text).ok_or_else(|| std::io::Error::other("the registers are not those of a text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that a text comes back as it was, smaller in between, and that what is damaged is an error or another
    /// text.
    #[test]
    fn a_text_comes_back() {
        for text in [String::new(), "ret;".to_owned(), "\tadd.f32 \t%f1, %f2, %f3;\n".repeat(5000)]
        {
            let packed = pack(&text).expect("packed");
            assert_eq!(unpack(&packed).expect("unpacked"), text);
            assert!(packed.len() < text.len() / 10 + 40, "{} of {}", packed.len(), text.len());
            assert!(unpack(&packed[..packed.len() / 2]).is_err());
        }
    }
}
