//! What a request says beside its path.

use std::str::FromStr;

use serde::de::DeserializeOwned;

use super::answer::Refused;

/// Names and values, in their order.
#[derive(Debug, Default)]
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    pub(super) fn of(text: &str) -> Result<Self, Refused> {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        let decoded = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decoded(name)?, decoded(value)?))
        });
        Ok(Self(decoded.collect::<Result<_, Refused>>()?))
    }

    /// What is said for a name; nothing where it is empty.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// The same, read.
    pub(super) fn value<T: FromStr>(&self, name: &str) -> Result<Option<T>, Refused> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let wrong = |_| Refused::wrong(format!("{name}={} cannot be read", short(text)));
        text.parse().map(Some).map_err(wrong)
    }

    pub(super) fn needed<T: FromStr>(&self, name: &str) -> Result<T, Refused> {
        let missing = || Refused::wrong(format!("{name} is needed"));
        self.value(name)?.ok_or_else(missing)
    }

    /// A finite number.
    pub(super) fn number(&self, name: &str) -> Result<Option<f64>, Refused> {
        let number = self.value::<f64>(name)?;
        let wrong = || Refused::wrong(format!("{name} is not finite"));
        number.map(|number| number.is_finite().then_some(number).ok_or_else(wrong)).transpose()
    }

    /// Values with commas between them; none if nothing is said.
    pub(super) fn several<T: FromStr>(&self, name: &str) -> Result<Vec<T>, Refused> {
        let Some(text) = self.text(name) else { return Ok(Vec::new()) };
        let wrong = |_| Refused::wrong(format!("{name}={} cannot be read", short(text)));
        text.split(',').map(|part| part.trim().parse().map_err(wrong)).collect()
    }
}

/// The beginning of a text of somebody else.
fn short(text: &str) -> String {
    text.chars().take(80).collect()
}

/// The text that stands encoded in an address.
fn decoded(text: &str) -> Result<String, Refused> {
    let wrong = || Refused::wrong("the address is not well encoded");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                let (high, low) = (digit().ok_or_else(wrong)?, digit().ok_or_else(wrong)?);
                (high << 4 | low) as u8
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

/// What a body says.
pub(super) fn body<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refused> {
    serde_json::from_slice(bytes).map_err(|error| Refused::wrong(format!("the request: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that what a browser encodes is read, and that the rest is refused.
    #[test]
    fn addresses_are_decoded() {
        let query = Query::of("a=1%2C2&b=photons+%3E+3&c=&d").unwrap();
        assert_eq!(query.several::<f64>("a").unwrap(), [1.0, 2.0]);
        assert_eq!(query.text("b"), Some("photons > 3"));
        assert_eq!((query.text("c"), query.text("d"), query.text("e")), (None, None, None));
        assert!(query.number("b").is_err() && query.needed::<f64>("e").is_err());
        for wrong in ["a=%", "a=%1", "a=%zz", "a=%ff"] {
            assert!(Query::of(wrong).is_err(), "{wrong}");
        }
        assert!(Query::of("a=inf").unwrap().number("a").is_err());
    }
}
