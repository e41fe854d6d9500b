//! Records of what other programs found: a head, and lines that begin with a word.

/// A record.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its first line.
    pub head: &'static str,
    lines: Vec<(&'static str, &'static str)>,
}

/// Records, of which the first line of each is its head.
pub fn records(parts: impl Iterator<Item = &'static str>) -> Vec<Record> {
    let of = |part: &'static str| {
        let mut lines = part.trim_end().lines();
        let head = lines.next().unwrap_or_default();
        Record {
            head,
            lines: lines.map(|line| line.split_once(' ').unwrap_or((line, ""))).collect(),
        }
    };
    parts.filter(|part| !part.trim().is_empty()).map(of).collect()
}

impl Record {
    /// What follows a word, if a line begins with it.
    pub fn get(&self, word: &str) -> Option<&'static str> {
        self.lines.iter().find(|line| line.0 == word).map(|line| line.1)
    }

    /// What follows a word.
    ///
    /// # Panics
    /// If no line begins with it.
    pub fn text(&self, word: &str) -> &'static str {
        self.get(word).unwrap_or_else(|| panic!("{}: no line '{word}'", self.head))
    }

    /// The words that follow one.
    pub fn words(&self, word: &str) -> Vec<&'static str> {
        self.text(word).split_whitespace().collect()
    }

    /// The numbers that follow a word; what is none is NaN.
    pub fn numbers(&self, word: &str) -> Vec<f64> {
        numbers(self.text(word))
    }

    /// The numbers of all lines that begin with one.
    pub fn rows(&self) -> Vec<Vec<f64>> {
        let row = |line: &(&str, &str)| {
            let first = line.0.parse().ok()?;
            Some([first].into_iter().chain(numbers(line.1)).collect())
        };
        self.lines.iter().filter_map(row).collect()
    }

    /// The numbers of all lines that begin with a word.
    pub fn all(&self, word: &str) -> Vec<Vec<f64>> {
        let lines = self.lines.iter().filter(|line| line.0 == word);
        lines.map(|line| numbers(line.1)).collect()
    }
}

fn numbers(text: &str) -> Vec<f64> {
    text.split_whitespace().map(|word| word.parse().unwrap_or(f64::NAN)).collect()
}
