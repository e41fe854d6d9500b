//! Scalars: the core schema of YAML 1.2, and scalars of NumPy.

use super::Value;

/// The value of a scalar without quotes.
pub(super) fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => number(text).unwrap_or_else(|| Value::Text(text.to_owned())),
    }
}

/// The number that a text stands for.
pub(super) fn number(text: &str) -> Option<Value> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    match unsigned {
        ".inf" | ".Inf" | ".INF" => return Some(Value::Float(sign * f64::INFINITY)),
        ".nan" | ".NaN" | ".NAN" if unsigned == text => return Some(Value::Float(f64::NAN)),
        _ => {}
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix)
            && digits.bytes().all(|byte| (byte as char).is_digit(radix))
        {
            return i64::from_str_radix(digits, radix).ok().map(Value::Int);
        }
    }
    let digits = |byte: &u8| byte.is_ascii_digit();
    if !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        let whole = text.parse().ok().map(Value::Int);
        return whole.or_else(|| text.parse().ok().map(Value::Float));
    }
    // Rust's syntax of floats, without its words for NaN and infinity, is that of YAML.
    let symbols = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    let float = unsigned.bytes().all(symbols) && unsigned.as_bytes().iter().any(digits);
    float.then(|| text.parse().ok().map(Value::Float)).flatten()
}

/// The number in a list that PyYAML writes for a scalar of NumPy: the data type, with the order of bytes in its
/// state, and the bytes in base 64.
pub(super) fn numpy(list: &[Value]) -> Option<Value> {
    let [datatype, Value::Text(packed)] = list else { return None };
    let Value::List(arguments) = datatype.get("args")? else { return None };
    let kind = arguments.first()?.text()?;
    let big_endian = match datatype.get("state") {
        Some(Value::List(state)) => state.get(1).and_then(Value::text) == Some(">"),
        _ => false,
    };
    let mut bytes = base_64(packed)?;
    if big_endian {
        bytes.reverse();
    }
    let (class, size) = kind.split_at_checked(1)?;
    if size != bytes.len().to_string() || !(1..=8).contains(&bytes.len()) {
        return None;
    }
    let mut wide = [0; 8];
    // Two's complement continues with the sign.
    if class == "i" && bytes.last()? & 0x80 != 0 {
        wide = [0xff; 8];
    }
    wide[..bytes.len()].copy_from_slice(&bytes);
    let bits = u64::from_le_bytes(wide);
    match (class, bytes.len()) {
        ("b", 1) => Some(Value::Bool(bits != 0)),
        ("i", _) => Some(Value::Int(bits as i64)),
        ("u", _) => {
            Some(i64::try_from(bits).map_or_else(|_| Value::Float(bits as f64), Value::Int))
        }
        ("f", 4) => Some(Value::Float(f32::from_bits(bits as u32).into())),
        ("f", 8) => Some(Value::Float(f64::from_bits(bits))),
        _ => None,
    }
}

/// The bytes of a short text in base 64; white space does not count.
fn base_64(text: &str) -> Option<Vec<u8>> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0u32, 0);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=') {
        let digit = DIGITS.iter().position(|&digit| digit == byte)?;
        bits = bits << 6 | digit as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    Some(bytes)
}
