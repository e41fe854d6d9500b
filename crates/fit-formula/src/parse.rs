//! From tokens to parts of a graph.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use crate::error::{FormulaError, FormulaErrorKind};
use crate::function::Function2;
use crate::graph::{Comparison, Graph, Id, Node};
use crate::library::{self, Body, Entry};
use crate::spline::Spline;
use crate::token::{Token, is_plain_name, tokens};
use crate::{MAX_DEPTH, MAX_LENGTH, MAX_PARAMETERS, MAX_VARIABLES};

/// What a part of the text means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Number(Id),
    Truth(Id),
}

/// A value, and where it stands.
type Placed = (Value, Range<usize>);

/// What names mean that the text does not define.
pub(crate) enum Names<'a> {
    /// Variables and parameters; no other name is known.
    Known { variables: &'a [&'a str], parameters: &'a [&'a str] },
    /// Variables; any other name is a parameter, numbered as they appear.
    Variables(&'a [&'a str]),
    /// Any of these is a variable, numbered as they appear in the text.
    Columns(&'a [&'a str]),
    /// These are numbers, of which any may come out.
    Numbers(&'a [(&'a str, Id)]),
}

/// A text that was read.
pub(crate) struct Parsed {
    pub(crate) value: Value,
    /// Where the value stands.
    pub(crate) at: Range<usize>,
    pub(crate) variables: Vec<String>,
    pub(crate) parameters: Vec<String>,
}

/// Reads a text.
pub(crate) fn parse(
    text: &str,
    names: &Names<'_>,
    splines: &[(&str, &Spline)],
    graph: &mut Graph,
) -> Result<Parsed, FormulaError> {
    if text.len() > MAX_LENGTH {
        return wrong(MAX_LENGTH..text.len(), FormulaErrorKind::TooLong { length: text.len() });
    }
    let mut parser = Parser {
        tokens: tokens(text)?,
        text,
        next: 0,
        depth: 0,
        graph,
        names,
        splines,
        meanings: BTreeMap::new(),
        variables: Vec::new(),
        parameters: Vec::new(),
    };
    parser.introduce()?;
    parser.formula()
}

struct Parser<'a> {
    tokens: Vec<(Token, Range<usize>)>,
    text: &'a str,
    next: usize,
    depth: usize,
    graph: &'a mut Graph,
    names: &'a Names<'a>,
    splines: &'a [(&'a str, &'a Spline)],
    meanings: BTreeMap<String, Value>,
    variables: Vec<String>,
    parameters: Vec<String>,
}

/// How strongly an operator binds, weakest first.
const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const COMPARE: u8 = 4;
const SUM: u8 = 5;
const PRODUCT: u8 = 6;
const SIGN: u8 = 7;
const POWER: u8 = 8;

/// The same of a symbol between two operands.
fn strength_of(symbol: &str) -> Option<u8> {
    Some(match symbol {
        "|" => OR,
        "&" => AND,
        "<" | "<=" | ">" | ">=" | "==" | "!=" => COMPARE,
        "+" | "-" => SUM,
        "*" | "/" => PRODUCT,
        "^" => POWER,
        _ => return None,
    })
}

impl<'a> Parser<'a> {
    /// Gives the names that are known beforehand their meanings.
    fn introduce(&mut self) -> Result<(), FormulaError> {
        let (variables, parameters) = match *self.names {
            Names::Known { variables, parameters } => (variables, parameters),
            Names::Variables(variables) => (variables, &[][..]),
            Names::Columns(_) | Names::Numbers(_) => (&[][..], &[][..]),
        };
        let wrong = |kind| wrong(0..0, kind);
        if variables.len() > MAX_VARIABLES {
            return wrong(FormulaErrorKind::TooManyVariables);
        }
        if parameters.len() > MAX_PARAMETERS {
            return wrong(FormulaErrorKind::TooManyParameters);
        }
        let splines = self.splines.iter().map(|spline| (spline.0, None));
        let variables = variables.iter().map(|&name| (name, Some(true)));
        let parameters = parameters.iter().map(|&name| (name, Some(false)));
        let mut seen = Vec::new();
        for (name, is_variable) in splines.chain(variables).chain(parameters) {
            let kind = match is_variable {
                _ if !is_plain_name(name) => FormulaErrorKind::BadName,
                None if library::find(name, false).is_some() => FormulaErrorKind::NameTaken,
                _ if seen.contains(&name) => FormulaErrorKind::GivenTwice,
                _ => {
                    seen.push(name);
                    is_variable.map(|is_variable| self.input(name, is_variable));
                    continue;
                }
            };
            return wrong(kind(name.to_string()));
        }
        if let Names::Numbers(numbers) = *self.names {
            let known = numbers.iter().map(|&(name, id)| (name.to_string(), Value::Number(id)));
            self.meanings.extend(known);
        }
        Ok(())
    }

    /// The next variable or parameter, which has this name.
    fn input(&mut self, name: &str, is_variable: bool) -> Value {
        let names = if is_variable { &mut self.variables } else { &mut self.parameters };
        let number = names.len();
        names.push(name.to_string());
        let node = if is_variable { Node::Variable } else { Node::Parameter };
        let id = self.graph.intern(node(number as u16));
        self.meanings.insert(name.to_string(), Value::Number(id));
        Value::Number(id)
    }

    /// The columns that names may stand for.
    fn columns(&self) -> &'a [&'a str] {
        match *self.names {
            Names::Columns(columns) => columns,
            _ => &[],
        }
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|token| &token.0)
    }

    fn peek_symbol(&self) -> Option<&'static str> {
        match self.peek() {
            Some(Token::Symbol(symbol)) => Some(symbol),
            _ => None,
        }
    }

    /// The bytes of the next token, or the end of the text.
    fn place(&self) -> Range<usize> {
        let end = self.text.len();
        self.tokens.get(self.next).map_or(end..end, |token| token.1.clone())
    }

    /// The bytes from a place to the end of the last token.
    fn since(&self, start: usize) -> Range<usize> {
        let last = self.next.checked_sub(1).and_then(|last| self.tokens.get(last));
        start..last.map_or(start, |token| token.1.end.max(start))
    }

    fn expected<T>(&self, expected: &'static str) -> Result<T, FormulaError> {
        let at = self.place();
        let found = self.text[at.clone()].to_string();
        wrong(at, FormulaErrorKind::Expected { expected, found })
    }

    fn take(&mut self, symbol: &str) -> bool {
        let there = self.peek_symbol() == Some(symbol);
        self.next += usize::from(there);
        there
    }

    /// Helper lines, and the value.
    fn formula(mut self) -> Result<Parsed, FormulaError> {
        loop {
            while self.take(";") {}
            if self.peek().is_none() {
                return wrong(self.place(), FormulaErrorKind::NoValue);
            }
            let assigns = matches!(
                (self.peek(), self.tokens.get(self.next + 1)),
                (Some(Token::Name(..)), Some((Token::Symbol("="), _)))
            );
            if assigns {
                self.helper()?;
                continue;
            }
            let (value, at) = self.placed(0)?;
            while self.take(";") {}
            return match self.peek() {
                None => {
                    let Self { variables, parameters, .. } = self;
                    Ok(Parsed { value, at, variables, parameters })
                }
                Some(Token::Symbol("=")) => wrong(self.place(), FormulaErrorKind::SingleEquals),
                Some(Token::Symbol(")")) => self.expected("an operator: no `(` is open"),
                Some(Token::Number(_) | Token::Name(..) | Token::Symbol("(")) => {
                    self.expected("an operator (a product is written with `*`)")
                }
                Some(_) => self.expected("an operator or the end"),
            };
        }
    }

    /// `name = expression;`
    fn helper(&mut self) -> Result<(), FormulaError> {
        let at = self.place();
        let Some(Token::Name(name, _)) = self.peek().cloned() else { return Ok(()) };
        self.next += 2;
        if self.columns().contains(&name.as_str()) {
            // `frame = 5` in a filter is more likely a comparison than a helper.
            return wrong(at, FormulaErrorKind::SingleEquals);
        }
        if self.meanings.contains_key(&name) {
            return wrong(at, FormulaErrorKind::NameTaken(name));
        }
        let value = self.expression(0)?;
        if self.peek().is_some() && !self.take(";") {
            return self.expected("an operator, or `;` after a helper");
        }
        self.meanings.insert(name, value);
        Ok(())
    }

    /// An expression of operators that bind at least as strongly as `least`.
    fn expression(&mut self, least: u8) -> Result<Value, FormulaError> {
        if self.depth >= MAX_DEPTH {
            return wrong(self.place(), FormulaErrorKind::TooDeep);
        }
        self.depth += 1;
        let value = self.operators(least);
        self.depth -= 1;
        value
    }

    /// The same with its place.
    fn placed(&mut self, least: u8) -> Result<Placed, FormulaError> {
        let start = self.place().start;
        let value = self.expression(least)?;
        Ok((value, self.since(start)))
    }

    fn operators(&mut self, least: u8) -> Result<Value, FormulaError> {
        let start = self.place().start;
        let mut left = self.operand()?;
        while let Some(symbol) = self.peek_symbol() {
            let Some(strength) = strength_of(symbol).filter(|&strength| strength >= least) else {
                break;
            };
            let before = (left, self.since(start));
            self.next += 1;
            left = match strength {
                COMPARE => self.comparisons(number(&before)?, symbol)?,
                SUM | PRODUCT => {
                    let value = self.chain(number(&before)?, strength, symbol)?;
                    self.checked(value, start)?
                }
                // A power of a power, and a sign in an exponent, belong to the exponent.
                POWER => {
                    let after = self.placed(SIGN)?;
                    let value = self.graph.power(number(&before)?, number(&after)?);
                    self.checked(value, start)?
                }
                _ => {
                    let after = self.placed(strength + 1)?;
                    let both = if symbol == "&" { Node::And } else { Node::Or };
                    let both = both(truth(&before)?, truth(&after)?);
                    Value::Truth(self.graph.intern(both))
                }
            };
        }
        Ok(left)
    }

    /// The next operator, if it binds as strongly as that.
    fn next_operator(&mut self, strength: u8) -> Option<&'static str> {
        let next = self.peek_symbol().filter(|&next| strength_of(next) == Some(strength))?;
        self.next += 1;
        Some(next)
    }

    /// The rest of a sum or of a product, whose first operator has been read. All of it becomes one part.
    fn chain(&mut self, first: Id, strength: u8, mut symbol: &str) -> Result<Id, FormulaError> {
        let mut all = alloc::vec![(first, 1)];
        loop {
            let id = number(&self.placed(strength + 1)?)?;
            all.push((id, if matches!(symbol, "-" | "/") { -1 } else { 1 }));
            let Some(next) = self.next_operator(strength) else { break };
            symbol = next;
        }
        Ok(if strength == PRODUCT {
            self.graph.product(&all)
        } else {
            let terms: Vec<(Id, f64)> =
                all.into_iter().map(|(id, sign)| (id, f64::from(sign))).collect();
            self.graph.sum(&terms, 0.0)
        })
    }

    /// One comparison, or a chain of them: a < b < c is a < b & b < c.
    fn comparisons(&mut self, mut left: Id, mut symbol: &str) -> Result<Value, FormulaError> {
        let mut all: Option<Id> = None;
        loop {
            let right = number(&self.placed(COMPARE + 1)?)?;
            let (comparison, a, b) = match symbol {
                "<" => (Comparison::Less, left, right),
                "<=" => (Comparison::LessEqual, left, right),
                ">" => (Comparison::Less, right, left),
                ">=" => (Comparison::LessEqual, right, left),
                _ => (Comparison::Equal, left, right),
            };
            let mut this = self.graph.intern(Node::Compare(comparison, a, b));
            if symbol == "!=" {
                this = self.graph.intern(Node::Not(this));
            }
            let both = all.map_or(this, |before| self.graph.intern(Node::And(before, this)));
            all = Some(both);
            let Some(next) = self.next_operator(COMPARE) else { return Ok(Value::Truth(both)) };
            (left, symbol) = (right, next);
        }
    }

    /// A number, a name, a call, a sign, or something in parentheses.
    fn operand(&mut self) -> Result<Value, FormulaError> {
        const EXPECTED: &str = "a number, a name or `(`";
        let at = self.place();
        let Some(token) = self.peek().cloned() else { return self.expected(EXPECTED) };
        match token {
            Token::Number(value) => {
                self.next += 1;
                Ok(Value::Number(self.graph.number(value)))
            }
            Token::Name(name, quoted) => {
                self.next += 1;
                if !quoted && self.peek_symbol() == Some("(") {
                    return self.call(&name, &at);
                }
                self.meaning(&name, &at)
            }
            Token::Symbol("(") => {
                self.next += 1;
                let value = self.expression(0)?;
                if !self.take(")") {
                    return self.expected("an operator or `)`");
                }
                Ok(value)
            }
            Token::Symbol(sign @ ("+" | "-")) => {
                self.next += 1;
                let id = number(&self.placed(SIGN)?)?;
                let factor = if sign == "-" { -1.0 } else { 1.0 };
                Ok(Value::Number(self.graph.scaled(factor, id)))
            }
            Token::Symbol("!") => {
                self.next += 1;
                let id = truth(&self.placed(NOT)?)?;
                Ok(Value::Truth(self.graph.intern(Node::Not(id))))
            }
            Token::Symbol(_) => self.expected(EXPECTED),
        }
    }

    /// What a name stands for.
    fn meaning(&mut self, name: &str, at: &Range<usize>) -> Result<Value, FormulaError> {
        if let Some(&value) = self.meanings.get(name) {
            return Ok(value);
        }
        let wrong = |kind| wrong(at.clone(), kind);
        if self.columns().contains(&name) {
            if self.variables.len() == MAX_VARIABLES {
                return wrong(FormulaErrorKind::TooManyVariables);
            }
            return Ok(self.input(name, true));
        }
        if name == "pi" || name == "π" {
            return Ok(Value::Number(self.graph.number(core::f64::consts::PI)));
        }
        if matches!(self.names, Names::Variables(_)) {
            if library::find(name, false).is_some() || self.spline(name).is_some() {
                return wrong(FormulaErrorKind::Expected {
                    expected: "`(` after the name of a function",
                    found: self.text[self.place()].to_string(),
                });
            }
            if !is_plain_name(name) {
                return wrong(FormulaErrorKind::BadName(name.to_string()));
            }
            if self.parameters.len() == MAX_PARAMETERS {
                return wrong(FormulaErrorKind::TooManyParameters);
            }
            return Ok(self.input(name, false));
        }
        let known = self.meanings.keys().map(String::as_str).chain(self.columns().iter().copied());
        let similar = closest(name, known);
        wrong(FormulaErrorKind::UnknownName { name: name.to_string(), similar })
    }

    /// A call, whose name has been read.
    fn call(&mut self, name: &str, at: &Range<usize>) -> Result<Value, FormulaError> {
        let spline = self.spline(name);
        let entry = library::find(name, matches!(self.names, Names::Numbers(_)));
        if entry.is_none() && spline.is_none() {
            let splines = self.splines.iter().map(|spline| spline.0);
            let similar = closest(name, splines.chain(library::names()));
            let name = name.to_string();
            return wrong(at.clone(), FormulaErrorKind::UnknownFunction { name, similar });
        }
        self.next += 1;
        let mut arguments: Vec<Placed> = Vec::new();
        if !self.take(")") {
            loop {
                arguments.push(self.placed(0)?);
                if self.take(",") {
                    continue;
                }
                if self.take(")") {
                    break;
                }
                return self.expected("`,` or `)`");
            }
        }
        let all = self.since(at.start);
        if let Some((number, wanted)) = spline {
            if arguments.len() != wanted {
                let (name, found) = (name.to_string(), arguments.len());
                return wrong(all, FormulaErrorKind::SplineArguments { name, wanted, found });
            }
            let value = self.graph.intern(Node::Spline(number, 0, numbers(&arguments)?));
            return self.checked(value, at.start);
        }
        let Some(entry) = entry else { return self.expected("a function") };
        if !entry.takes(arguments.len()) {
            let (name, usage, found) = (entry.name, entry.usage, arguments.len());
            return wrong(all, FormulaErrorKind::Arguments { name, usage, found });
        }
        let value = match entry.body {
            Body::If => {
                let condition = truth(&arguments[0])?;
                self.graph.choice(condition, number(&arguments[1])?, number(&arguments[2])?)
            }
            _ => made(self.graph, entry, &numbers(&arguments)?),
        };
        self.checked(value, at.start)
    }

    /// The number of the spline with this name, and of its arguments.
    fn spline(&self, name: &str) -> Option<(u16, usize)> {
        let found = self.splines.iter().position(|spline| spline.0 == name)?;
        Some((found as u16, self.splines[found].1.axes().len()))
    }

    /// A number that is finite if it is constant.
    fn checked(&self, id: Id, start: usize) -> Result<Value, FormulaError> {
        let wrong = |kind| wrong(self.since(start), kind);
        if matches!(self.names, Names::Numbers(_)) {
            return Ok(Value::Number(id));
        }
        if self.graph.is_full() {
            return wrong(FormulaErrorKind::TooLarge);
        }
        if self.graph.is_finite(id) {
            Ok(Value::Number(id))
        } else {
            wrong(FormulaErrorKind::NotFinite)
        }
    }
}

/// What a function makes of numbers, of which there are as many as it takes.
fn made(graph: &mut Graph, entry: &Entry, numbers: &[Id]) -> Id {
    let mut named: Vec<(&str, Id)> = entry.arguments().zip(numbers.iter().copied()).collect();
    match (entry.body, numbers) {
        (Body::One(function), &[x]) => graph.call(function, x),
        (Body::Two(Function2::Power), &[x, y]) => graph.power(x, y),
        (Body::Two(function), &[x, y]) => graph.call2(function, x, y),
        (Body::Any(function), [first, rest @ ..]) => {
            rest.iter().fold(*first, |all, &next| graph.call2(function, all, next))
        }
        (Body::Written(text), _) => written(graph, text, &named),
        (Body::Peak(text), &[x, x0, width, ..]) => {
            let from_centre = graph.subtract(x, x0);
            named.push(("u", graph.product(&[(from_centre, 2), (width, -2)])));
            written(graph, text, &named)
        }
        _ => graph.number(f64::NAN),
    }
}

/// What a formula of ours makes of numbers with these names.
pub(crate) fn written(graph: &mut Graph, text: &str, numbers: &[(&str, Id)]) -> Id {
    match parse(text, &Names::Numbers(numbers), &[], graph) {
        Ok(Parsed { value: Value::Number(id), .. }) => id,
        _ => graph.number(f64::NAN),
    }
}

fn wrong<T>(at: Range<usize>, kind: FormulaErrorKind) -> Result<T, FormulaError> {
    Err(FormulaError::new(at, kind))
}

fn numbers(arguments: &[Placed]) -> Result<Vec<Id>, FormulaError> {
    arguments.iter().map(number).collect()
}

fn number((value, at): &Placed) -> Result<Id, FormulaError> {
    match *value {
        Value::Number(id) => Ok(id),
        Value::Truth(_) => wrong(at.clone(), FormulaErrorKind::NeedsNumber),
    }
}

fn truth((value, at): &Placed) -> Result<Id, FormulaError> {
    match *value {
        Value::Truth(id) => Ok(id),
        Value::Number(_) => wrong(at.clone(), FormulaErrorKind::NeedsTruth),
    }
}

/// The known name that a wrong one most likely stands for, if there is one.
fn closest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    /// Longer names are not compared.
    const LONG: usize = 40;
    let wrong: Vec<char> = name.chars().take(LONG).collect();
    let most = (wrong.len() / 3).max(1);
    let near = |other: &&str| other.chars().count() <= LONG;
    let rated = known.filter(near).map(|other| (distance(&wrong, other), other));
    rated
        .filter(|&(edits, other)| edits <= most && edits < other.chars().count())
        .min()
        .map(|(_, other)| other.to_string())
}

/// Letters to insert, delete or replace; a change of case costs nothing.
fn distance(a: &[char], b: &str) -> usize {
    let mut row: Vec<usize> = (0..=a.len()).collect();
    for (i, other) in b.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, one) in a.iter().enumerate() {
            let same = one.to_lowercase().eq(other.to_lowercase());
            let changed = diagonal + usize::from(!same);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[a.len()]
}
