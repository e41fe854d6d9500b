//! Registers told by how lately they were used, so that equal instructions have equal texts and pack well: two fifths of
//! PTX as a compiler writes it, in which each has another register.
//!
//! `%f12` becomes `%f` and the number of other registers of that kind that were used since. Compilers number registers block
//! by block and write the blocks in another order, so a register that was not used before is told by one beside it: `%f+` is
//! the one after the last that was new; `%f+0`, `%f+1` … are those after earlier ones, and `%f-0`, `%f-1` … those before, counted
//! back over the ones that have no such neighbour yet; any other is `%f=` and the difference from the last that was new.
//!
//! This file is part of two crates: of this one, which reads, and of the one that makes the files.

/// The registers of a kind.
struct Used {
    kind: String,
    /// Those that were used, the last one at the end.
    numbers: Vec<i64>,
    /// The last that was new.
    newest: i64,
    /// Those whose next was not used, and those whose previous was not, the last that was new at the end.
    ends: Vec<i64>,
    starts: Vec<i64>,
}

/// How a register that was not used before is told.
enum New {
    /// It is the one after the last that was new.
    Next,
    /// It is the one after another, with so many between.
    After(usize),
    /// It is the one before another.
    Before(usize),
    /// It is so much more than the last that was new.
    More(i64),
}

/// Where a number is, counted from the end.
fn since(numbers: &[i64], number: i64) -> Option<usize> {
    numbers.iter().rev().position(|&other| other == number)
}

/// The number that [`since`] counts so many to.
fn back(numbers: &[i64], since: usize) -> Option<i64> {
    numbers.iter().rev().nth(since).copied()
}

fn remove(numbers: &mut Vec<i64>, number: i64) -> bool {
    let index = numbers.iter().rposition(|&other| other == number);
    index.map(|index| numbers.remove(index)).is_some()
}

impl Used {
    fn of<'a>(all: &'a mut Vec<Self>, kind: &str) -> &'a mut Self {
        let index = all.iter().position(|used| used.kind == kind).unwrap_or_else(|| {
            let kind = kind.to_owned();
            // As if there was one before the first.
            all.push(Self { kind, numbers: vec![], newest: 0, ends: vec![0], starts: vec![] });
            all.len() - 1
        });
        &mut all[index]
    }

    /// Those that a register may come after, but for the last that was new.
    fn earlier_ends(&self) -> &[i64] {
        match self.ends.split_last() {
            Some((&last, others)) if last == self.newest => others,
            _ => &self.ends,
        }
    }

    /// How to tell a register that was not used before.
    fn tell(&self, number: i64) -> New {
        if number - 1 == self.newest {
            New::Next
        } else if let Some(since) = since(self.earlier_ends(), number - 1) {
            New::After(since)
        } else if let Some(since) = since(&self.starts, number + 1) {
            New::Before(since)
        } else {
            New::More(number - self.newest)
        }
    }

    /// The register that was told so.
    fn told(&self, new: &New) -> Option<i64> {
        match *new {
            New::Next => self.newest.checked_add(1),
            New::After(since) => back(self.earlier_ends(), since)?.checked_add(1),
            New::Before(since) => back(&self.starts, since)?.checked_sub(1),
            New::More(more) => self.newest.checked_add(more),
        }
    }

    /// Adds a register that was not used before; `None` if it is none.
    fn add(&mut self, number: i64) -> Option<()> {
        let [previous, next] = [number.checked_sub(1)?, number.checked_add(1)?];
        if !remove(&mut self.ends, previous) {
            self.starts.push(number);
        }
        if !remove(&mut self.starts, next) {
            self.ends.push(number);
        }
        self.numbers.push(number);
        self.newest = number;
        Some(())
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
        let number = digits.parse().ok().filter(|&number: &i64| number < i64::MAX)?;
        let used = Used::of(&mut all, kind);
        match used.numbers.iter().rposition(|&other| other == number) {
            Some(index) => {
                out.push_str(&(used.numbers.len() - 1 - index).to_string());
                used.numbers[index..].rotate_left(1);
            }
            None => {
                match used.tell(number) {
                    New::Next => out.push('+'),
                    New::After(since) => out.push_str(&format!("+{since}")),
                    New::Before(since) => out.push_str(&format!("-{since}")),
                    New::More(more) => out.push_str(&format!("={more}")),
                }
                used.add(number)?;
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
        let sign = rest.chars().next().filter(|sign| "+-=".contains(*sign));
        let number = if sign.is_some() { &rest[1..] } else { rest };
        let minus = usize::from(sign == Some('=') && number.starts_with('-'));
        let (_, after) = leading(&number[minus..], |letter| letter.is_ascii_digit());
        let digits = &number[..number.len() - after.len()];
        let new = match sign {
            None if digits.is_empty() => return Some(rest),
            None => {
                let since: usize = digits.parse().ok()?;
                let index = used.numbers.len().checked_sub(since)?.checked_sub(1)?;
                used.numbers[index..].rotate_left(1);
                None
            }
            Some('+') if digits.is_empty() => Some(New::Next),
            Some('+') => Some(New::After(digits.parse().ok()?)),
            Some('-') => Some(New::Before(digits.parse().ok()?)),
            Some(_) => Some(New::More(digits.parse().ok()?)),
        };
        if let Some(new) = new {
            used.add(used.told(&new)?)?;
        }
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
            "mov.b32 %r0, %r9223372036854775806; mov.b32 %r9223372036854775805, %r1; mov.b32 %r2, %r0;",
        ] {
            let packed = encode(text).expect("PTX");
            assert_eq!(decode(&packed).as_deref(), Some(text), "{packed}");
        }
        for (text, told) in [
            (
                "add %f1, %f2, %f1;\nadd %f3, %f4, %f3;\nadd %f9, %f1, %f9;",
                "add %f+, %f+, %f1;\nadd %f+, %f+, %f1;\nadd %f=5, %f3, %f1;",
            ),
            // After one of two earlier ends; before one of two starts; after the last, which is no earlier end.
            ("%f1 %f20 %f40 %f2 %f39 %f19 %f18 %f41", "%f+ %f=19 %f=20 %f+1 %f-0 %f-1 %f-0 %f+1"),
            ("[%rd1+4] [%rd7-4] [%rd6-4] [%rd8+4]", "[%rd++4] [%rd=6-4] [%rd-0-4] [%rd+0+4]"),
        ] {
            assert_eq!(encode(text).as_deref(), Some(told));
        }
        assert_eq!(encode("%f+ is no register"), None);
        assert_eq!(encode("%f9223372036854775807"), None);
        for damaged in ["%f0", "%f=--", "%f-0", "%f+0", "%f-", "%f=9223372036854775807"] {
            assert_eq!(decode(damaged), None, "{damaged}");
        }
    }
}
