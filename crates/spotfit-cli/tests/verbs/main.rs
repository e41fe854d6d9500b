//! Properties of all verbs: one table of them, from which every test is made.
#![cfg(unix)]
#![allow(missing_docs, unreachable_pub)]

#[path = "../common/mod.rs"]
mod common;

mod descriptors;
mod examples;
mod inputs;
mod strangers;
mod table;
