//! Fits, one by one: what they search for, what they end with, and what they say of it.

mod derivatives;
mod errors;
mod rotated;
mod search;
mod surface;
