//! Simulations: what they show, and that they show the same everywhere.

mod bytes;
mod cameras;
mod heights;
mod objective;
mod own_spots;
mod shapes;
