//! Files: what is read and written, and what is refused.

mod camera_maps;
mod csv;
mod damaged;
mod headers;
mod movie_axes;
mod picasso;
mod planes;
mod readers;
