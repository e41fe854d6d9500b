//! Groups and priors as users write them.

use std::collections::HashMap;

use fit_curves::Prior;

use super::groups_of;
use crate::model::{Model, ModelError};

fn wrong(reason: String) -> ModelError {
    ModelError::Shared(reason)
}

/// The groups of data sets by a text: one a line in the order of the data sets, with or without a title; or, after a comma, semicolon
/// or tab, beside the name of each data set, in any order. Empty lines and those that begin with # are left out.
///
/// ```
/// use spotfit::model::read_groups;
///
/// let names = ["d1", "d2", "d3"].map(String::from);
/// let (groups, called) = read_groups("name,pH\nd3,7\nd1,7\nd2,8\n", &names, 3)?;
/// assert_eq!((groups, called), (vec![0, 1, 0], vec!["7".to_owned(), "8".to_owned()]));
/// assert_eq!(read_groups("low\nhigh\nlow\n", &[], 3)?.0, [0, 1, 0]);
/// # Ok::<(), spotfit::model::ModelError>(())
/// ```
///
/// # Errors
/// If there is not a group for each data set.
pub fn read_groups(
    text: &str,
    names: &[String],
    count: usize,
) -> Result<(Vec<usize>, Vec<String>), ModelError> {
    let text = text.trim_start_matches('\u{feff}');
    let lines = text.lines().map(str::trim);
    let lines: Vec<&str> =
        lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let plain = |word: &str| word.trim().trim_matches('"').trim().to_owned();
    let parts = |line: &str| {
        line.split_once([',', ';', '\t']).map(|(name, group)| (plain(name), plain(group)))
    };
    let pairs: Vec<(String, String)> = lines.iter().filter_map(|line| parts(line)).collect();
    let given: Vec<String> = if pairs.is_empty() {
        let titled = lines.len() == count + 1;
        if lines.len() != count && !titled {
            let found = lines.len();
            return Err(wrong(format!("there are {found} groups for {count} data sets")));
        }
        lines[usize::from(titled)..].iter().map(|line| plain(line)).collect()
    } else if pairs.len() != lines.len() {
        return Err(wrong("some lines have a name beside the group, others have none".into()));
    } else if names.len() != count {
        let reason = "the data sets have no names: one group a line, in their order, is needed";
        return Err(wrong(reason.into()));
    } else {
        let mut known: HashMap<&str, &str> = HashMap::new();
        for (name, group) in &pairs {
            if known.insert(name, group).is_some_and(|other| other != group) {
                return Err(wrong(format!("'{name}' has two groups")));
            }
        }
        let of = |name: &String| {
            let group = known.get(name.trim()).map(|group| (*group).to_owned());
            group.ok_or_else(|| wrong(format!("the data set '{name}' has no group")))
        };
        names.iter().map(of).collect::<Result<_, _>>()?
    };
    let (groups, called) = groups_of(&given);
    Ok((groups, called.into_iter().map(str::to_owned).collect()))
}

/// A prior as it is written: `t=7+-1`, `t=7±1` or `t=7+/-1`.
///
/// ```
/// use spotfit::model::{Model, read_prior};
///
/// let model = Model::named("exponential")?;
/// let prior = read_prior("t=7±1", &model)?;
/// assert_eq!((prior.parameter, prior.mean, prior.deviation), (1, 7.0, 1.0));
/// # Ok::<(), spotfit::model::ModelError>(())
/// ```
///
/// # Errors
/// If it is no prior, or not one of a parameter.
pub fn read_prior(text: &str, model: &Model) -> Result<Prior, ModelError> {
    let unread = || wrong(format!("'{text}' is not NAME=MEAN+-DEVIATION"));
    let (name, rest) = text.split_once('=').ok_or_else(unread)?;
    let both = ["±", "+/-", "+-"].iter().find_map(|sign| rest.split_once(sign));
    let (mean, deviation) = both.ok_or_else(unread)?;
    let number = |text: &str| text.trim().parse::<f64>().map_err(|_| unread());
    let parameter = model.parameter(name.trim())?;
    Ok(Prior { parameter, mean: number(mean)?, deviation: number(deviation)? })
}
