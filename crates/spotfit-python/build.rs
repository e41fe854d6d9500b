//! Linking without Python: its symbols are there when it loads the module. macOS has to be told.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
