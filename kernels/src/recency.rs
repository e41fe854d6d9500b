//! Registers told by how lately they were used, so that equal instructions have equal texts and pack well: two fifths less
//! than PTX as a compiler writes it, in which each has another register.
//!
//! `%f12` becomes `%f` and the number of other registers of that kind that were used since; a register that was not used before
//! becomes `%f+` if its number is one more than that of the last that was new, and otherwise `%f=` and the difference.
//!
//! This file is part of two crates: of this one, which reads, and of the one that makes the files.

/// The registers of a kind that were used, the last one at the end, and the last that was new.
#[derive(Default)]
struct Used {
    kind: String,
    numbers: Vec<i64>,
    newest: i64,
}

impl Used {
    fn of<'a>(all: &'a mut Vec<Self>, kind: &str) -> &'a mut Self {
        let index = all.iter().position(|used| used.kind == kind).unwrap_or_else(|| {
            all.push(Self { kind: kind.to_owned(), ..Self::default() });
            all.len() - 1
        });
        &mut all[index]
    }

    fn add(&mut self, number: i64) {
        self.numbers.push(number);
        self.newest = number;
    }
}

/// What begins a text and holds for `is`, and the rest.
fn leading(text: &str, is: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|letter| !is(letter)).unwrap_or(text.len()))
}

/// Calls a function for each `%` and letters, with what follows; it returns the rest.
fn each_register<'a>(
    text: &'a str,
    out: &mut String,
    mut of: impl FnMut(&'a str, &'a str, &mut String) -> Option<&'a str>,
) -> Option<()> {
    let mut text = text;
    while let Some(at) = text.find('%') {
        let (before, from) = text.split_at(at + 1);
        let (kind, rest) = leading(from, |letter| letter.is_ascii_lowercase());
        out.push_str(before);
        out.push_str(kind);
        text = of(kind, rest, out)?;
    }
    out.push_str(text);
    Some(())
}

/// Tells the registers of a PTX text by how lately they were used. [`decode`] makes the text of it again.
#[allow(dead_code, reason = "one of the two crates only reads")]
pub(crate) fn encode(text: &str) -> Option<String> {
    let (mut all, mut out) = (Vec::new(), String::with_capacity(text.len()));
    each_register(text, &mut out, |kind, rest, out| {
        let (digits, after) = leading(rest, |letter| letter.is_ascii_digit());
        if digits.is_empty() {
            return Some(rest);
        }
        let number: i64 = digits.parse().ok()?;
        let used = Used::of(&mut all, kind);
        match used.numbers.iter().rposition(|&other| other == number) {
            Some(index) => {
                out.push_str(&(used.numbers.len() - 1 - index).to_string());
                used.numbers[index..].rotate_left(1);
            }
            None => {
                match number - used.newest {
                    1 => out.push('+'),
                    more => out.push_str(&format!("={more}")),
                }
                used.add(number);
            }
        }
        Some(after)
    })?;
    // A text with other words than those of PTX might not come back.
    (decode(&out).as_deref() == Some(text)).then_some(out)
}

/// The text that [`encode`] was given; `None` if it was not given one.
pub(crate) fn decode(text: &str) -> Option<String> {
    let (mut all, mut out) = (Vec::new(), String::with_capacity(2 * text.len()));
    each_register(text, &mut out, |kind, rest, out| {
        let used = Used::of(&mut all, kind);
        let after = if let Some(after) = rest.strip_prefix('+') {
            used.add(used.newest + 1);
            after
        } else if let Some(rest) = rest.strip_prefix('=') {
            let (more, after) = leading(rest, |letter| letter == '-' || letter.is_ascii_digit());
            used.add(used.newest.checked_add(more.parse().ok()?)?);
            after
        } else {
            let (digits, after) = leading(rest, |letter| letter.is_ascii_digit());
            if digits.is_empty() {
                return Some(rest);
            }
            let since: usize = digits.parse().ok()?;
            let index = used.numbers.len().checked_sub(since)?.checked_sub(1)?;
            used.numbers[index..].rotate_left(1);
            after
        };
        out.push_str(&used.numbers.last()?.to_string());
        Some(after)
    })?;
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that texts come back, whatever registers they use in whatever order, and that others are no texts.
    #[test]
    fn texts_come_back() {
        for text in [
            "",
            "mov.u32 %r1, %tid.x;\n\t@%p3 bra $L__BB0_1;\n",
            "add.f32 %f7, %f7, %f2; add.f32 %f8, %f7, %f2; ld.f32 %f3, [%rd12+4];\nadd.f32 %f4, %f3, %f7;",
            "mov.u64 %SPL, __local_depot0; mov.u64 %r4294967296, %clock64;",
        ] {
            let packed = encode(text).expect("PTX");
            assert_eq!(decode(&packed).as_deref(), Some(text), "{packed}");
        }
        let told = encode("add %f1, %f2, %f1;\nadd %f3, %f4, %f3;\nadd %f9, %f1, %f9;");
        assert_eq!(
            told.as_deref(),
            Some("add %f+, %f+, %f1;\nadd %f+, %f+, %f1;\nadd %f=5, %f3, %f1;")
        );
        assert_eq!(encode("%f+ is no register"), None);
        assert_eq!(decode("%f0"), None);
        assert_eq!(decode("%f=--"), None);
    }
}
