//! Properties of all verbs: one table of them, from which every test is made.
#![allow(missing_docs, unreachable_pub)]

mod descriptors;
mod examples;
mod inputs;
mod strangers;
mod table;
mod written;
