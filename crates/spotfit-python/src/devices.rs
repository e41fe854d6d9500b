//! What a machine has, and how fast it is.

use pyo3::prelude::*;
use spotfit::InstructionSet;
use spotfit::gpu;
use spotfit::steps::devices::{known, measure as measured};

use crate::steps::{json, of_step};

/// Instruction sets, the names of GPUs or why there is none, and speeds as JSON.
type Devices = (Vec<&'static str>, Vec<String>, Option<String>, String);

/// What this machine has, and how fast it is, measured now if that is wanted.
#[pyfunction]
pub(crate) fn devices(py: Python<'_>, measure: bool) -> PyResult<Devices> {
    let sets = InstructionSet::ALL.into_iter().filter(|set| set.is_available());
    let sets = sets.map(InstructionSet::name).collect();
    py.detach(|| {
        let (gpus, reason) = match gpu::devices() {
            Ok(all) => (all.into_iter().map(|info| info.name).collect(), None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let speeds = if measure { measured() } else { known() };
        Ok((sets, gpus, reason, json(&speeds.map_err(of_step)?)?))
    })
}
