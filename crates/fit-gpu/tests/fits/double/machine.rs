//! A machine that runs the lines of PTX that we write, one thread after the other.

use std::collections::HashMap;

/// Memory from an address on, and what the threads of a block share.
pub(super) struct Machine<'t> {
    lines: Vec<Vec<&'t str>>,
    labels: HashMap<&'t str, usize>,
    pub(super) memory: Vec<u8>,
    shared: Vec<u8>,
}

/// Where the job's bytes lie in memory.
pub(super) const JOB: u64 = 64;
/// Lines that a thread may run.
const MOST: usize = 50_000_000;

fn words(line: &str) -> Vec<&str> {
    line.split(|c: char| c.is_whitespace() || ",;{}[]".contains(c))
        .filter(|word| !word.is_empty())
        .collect()
}

impl<'t> Machine<'t> {
    pub(super) fn new(text: &'t str, memory: Vec<u8>) -> Self {
        let (_, body) = text.split_once("\n{\n").expect("an entry");
        let mut lines = Vec::new();
        let mut labels = HashMap::new();
        for line in body.lines().filter(|line| !line.starts_with(".reg") && *line != "}") {
            if let Some(label) = line.strip_suffix(':') {
                labels.insert(label, lines.len());
            } else {
                lines.push(words(line));
            }
        }
        Self { lines, labels, memory, shared: vec![0; 1 << 16] }
    }

    /// Runs the threads of a block. They do not wait for each other: it has one that others need.
    pub(super) fn run(&mut self, block: u64) {
        let mut values: HashMap<&'t str, u64> = HashMap::new();
        let mut at = 0;
        let lines = std::mem::take(&mut self.lines);
        for _ in 0..MOST {
            let mut line = &lines[at][..];
            at += 1;
            if let Some(condition) = line[0].strip_prefix('@') {
                if values[condition] == 0 {
                    continue;
                }
                line = &line[1..];
            }
            match line[0] {
                "ret" => {
                    self.lines = lines;
                    return;
                }
                "bra" => at = self.labels[line[1]],
                "bar.sync" => {}
                _ => self.step(line, &mut values, block),
            }
        }
        panic!("it does not end");
    }

    fn step(&mut self, line: &[&'t str], values: &mut HashMap<&'t str, u64>, block: u64) {
        let kind: Vec<&str> = line[0].split('.').collect();
        let whole = |name: &str| -> u64 {
            match name {
                "%tid.x" => 0,
                "%ctaid.x" => block,
                "%ntid.x" => 1,
                "spotfit_rows" => 0,
                _ if name.starts_with('%') => values[name],
                _ if name.starts_with("0d") => u64::from_str_radix(&name[2..], 16).expect("bits"),
                _ => name.parse::<i64>().expect("a number") as u64,
            }
        };
        let real = |name: &str| f64::from_bits(whole(name));
        let of = |n: usize| whole(line[n]);
        let number = |n: usize| real(line[n]);
        let bits = |value: f64| value.to_bits();
        let word = |value: u64| value & 0xffff_ffff;
        let to = line[1];
        let value = match kind[0] {
            "mov" if kind[1] == "b64" && line[1].starts_with("%w") => {
                let all = of(3);
                values.insert(line[1], word(all));
                values.insert(line[2], all >> 32);
                return;
            }
            "mov" if line.len() == 4 => word(of(2)) | of(3) << 32,
            "mov" | "cvta" => of(2),
            "ld" if kind[1] == "param" => {
                let (_, offset) = line[2].split_once('+').expect("job+offset");
                let place = JOB + offset.parse::<u64>().expect("an offset");
                load(&self.memory, place, kind[2])
            }
            "ld" => {
                let (base, offset) = line[2].split_once('+').unwrap_or((line[2], "0"));
                let place = whole(base) + offset.parse::<u64>().expect("an offset");
                load(if kind[1] == "shared" { &self.shared } else { &self.memory }, place, kind[2])
            }
            "st" => {
                let (place, value) = (of(1) as usize, of(2));
                let memory = if kind[1] == "shared" { &mut self.shared } else { &mut self.memory };
                let bytes = if kind[2] == "f64" { 8 } else { 4 };
                memory[place..place + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
                return;
            }
            "cvt" => match &kind[1..] {
                ["u64", "u32"] => word(of(2)),
                ["f64", "f32"] => bits(f64::from(f32::from_bits(of(2) as u32))),
                ["rn", "f32", "u32"] => u64::from((of(2) as u32 as f32).to_bits()),
                ["rni", "s32", "f64"] => word(number(2).round_ties_even() as i32 as u32 as u64),
                ["rn", "f64", "s32"] => bits(f64::from(of(2) as u32 as i32)),
                ["rmi", "f64", "f64"] => bits(number(2).floor()),
                other => panic!("cvt {other:?}"),
            },
            "setp" => {
                let holds = match kind[2] {
                    "f64" => {
                        let (a, b) = (number(2), number(3));
                        match kind[1] {
                            "lt" => a < b,
                            "le" => a <= b,
                            "gt" => a > b,
                            "ge" => a >= b,
                            _ => a == b,
                        }
                    }
                    _ => {
                        let (a, b) = (word(of(2)), word(of(3)));
                        match kind[1] {
                            "lt" => a < b,
                            "ge" => a >= b,
                            "ne" => a != b,
                            other => panic!("setp {other}"),
                        }
                    }
                };
                u64::from(holds)
            }
            "selp" => {
                if of(4) != 0 {
                    of(2)
                } else {
                    of(3)
                }
            }
            "add" | "sub" | "mul" | "div" | "fma" | "mad" | "min"
                if kind.last() == Some(&"f64") =>
            {
                bits(match kind[0] {
                    "add" => number(2) + number(3),
                    "sub" => number(2) - number(3),
                    "mul" => number(2) * number(3),
                    "div" => number(2) / number(3),
                    _ => number(2).mul_add(number(3), number(4)),
                })
            }
            "rcp" => bits(1.0 / number(2)),
            "sqrt" => bits(number(2).sqrt()),
            "neg" => bits(-number(2)),
            "abs" => bits(number(2).abs()),
            "mul" if kind[1] == "wide" => word(of(2)) * word(of(3)),
            "and" => of(2) & of(3),
            "or" => of(2) | of(3),
            "not" => u64::from(of(2) == 0),
            _ => {
                let all = match kind[0] {
                    "add" => of(2).wrapping_add(of(3)),
                    "sub" => of(2).wrapping_sub(of(3)),
                    "mul" => of(2).wrapping_mul(of(3)),
                    "mad" => of(2).wrapping_mul(of(3)).wrapping_add(of(4)),
                    "min" => word(of(2)).min(word(of(3))),
                    "shl" => of(2) << of(3),
                    "shr" => of(2) >> of(3),
                    other => panic!("{other}"),
                };
                if line[0].ends_with("64") { all } else { word(all) }
            }
        };
        values.insert(to, value);
    }
}

fn load(memory: &[u8], place: u64, kind: &str) -> u64 {
    let bytes = match kind {
        "f64" | "u64" => 8,
        "u16" => 2,
        _ => 4,
    };
    let mut all = [0; 8];
    all[..bytes].copy_from_slice(&memory[place as usize..][..bytes]);
    u64::from_le_bytes(all)
}
