//! What the names in figures and tables mean.

use fit_cpu::InstructionSet;

use super::formulas::WAYS;
use super::texts::METHODS;

/// What a name in a record means, if it is the suite's own. Behind the name of a way to fit formulas may be vector instructions.
pub fn meaning(method: &str) -> Option<&'static str> {
    let known =
        |name: &str| METHODS.iter().find(|(own, _)| *own == name).map(|(_, meaning)| *meaning);
    known(method).or_else(|| {
        let (way, set) = method.rsplit_once(", ")?;
        let is_set = InstructionSet::ALL.iter().any(|known| known.to_string() == set);
        known(way).filter(|_| is_set && WAYS.contains(&way))
    })
}

#[cfg(test)]
mod tests {
    use super::super::formulas::{LINEAR, way};
    use super::super::methods::{Backend, ONE_CORE, Roster};
    use super::super::{crowds, end_to_end, stated};
    use super::*;

    /// Proves that every method that the suite can record has a meaning of its own, and that libraries of others have none.
    #[test]
    fn every_method_has_its_meaning() {
        let mut names: Vec<String> = Vec::new();
        let all = Roster::new(&Backend::ALL, &[]).expect("methods");
        names.extend(all.methods.iter().map(|method| method.name.clone()));
        names.extend(Backend::ALL.map(|backend| backend.name().to_owned()));
        for set in InstructionSet::ALL {
            names.extend(WAYS.map(|of| way(of, set)));
        }
        names.extend(LINEAR.map(|(of, _)| of.to_owned()));
        names.extend(crowds::METHODS.map(|(of, _)| of.to_owned()));
        names.extend(stated::METHODS.map(|(of, ..)| of.to_owned()));
        names.extend(end_to_end::PEERS.map(str::to_owned));
        let others = [
            ONE_CORE,
            crowds::BOUND,
            crowds::JOINT,
            end_to_end::ALONE,
            end_to_end::ALL_THREADS,
            end_to_end::ONE_THREAD,
            end_to_end::ON_GPU,
            "formula, gpu",
            "gpu session",
            "copies alone",
        ];
        names.extend(others.map(str::to_owned));
        for name in &names {
            assert!(meaning(name).is_some(), "{name}");
        }
        assert!(meaning("libother").is_none() && meaning("formula, other").is_none());
        let mut own: Vec<&str> = METHODS.iter().map(|(name, _)| *name).collect();
        own.sort_unstable();
        own.dedup();
        assert_eq!(own.len(), METHODS.len(), "a name has two meanings");
    }
}
