//! Datagrams over UDP.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket};

use super::{About, DriftSink, Row, unwritten};
use crate::steps::{Listener, Note, StepError};
use crate::table::Unit;

/// The bytes of a datagram.
pub const DATAGRAM_BYTES: usize = 104;

/// Sends a datagram over UDP for each drift. It waits for nobody: a datagram that nobody takes is lost, and counted.
///
/// A datagram has [`DATAGRAM_BYTES`] bytes, all numbers with the lowest byte first: the text `SPOTDRFT`; the version 2 in 4 bytes; 4
/// bytes of marks, of which 1 says that x and y are in nanometres and not in pixels; and eleven numbers of 8 bytes (IEEE 754), those of
/// [`Row::numbers`]: frame, time, x, y, z, their three errors, beads, latency in microseconds, and status.
#[derive(Debug)]
pub struct Datagrams {
    name: String,
    socket: UdpSocket,
    nanometres: bool,
    sent: u64,
    lost: u64,
}

impl Datagrams {
    /// Sends to an address, `HOST:PORT`, or to a port of this machine, `PORT`.
    ///
    /// # Errors
    /// [`StepError::Output`].
    pub fn new(to: &str) -> Result<Self, StepError> {
        let name = format!("udp {to}");
        let wrong = |reason: &str| io::Error::new(io::ErrorKind::InvalidInput, reason.to_owned());
        let address = match to.parse::<u16>() {
            Ok(port) => Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port))),
            Err(_) => to
                .to_socket_addrs()
                .and_then(|mut all| all.next().ok_or_else(|| wrong("it has no address"))),
        };
        let address = address.and_then(|address| match address.port() {
            0 => Err(wrong("there is no port 0")),
            _ => Ok(address),
        });
        let address = address.map_err(unwritten(&name))?;
        let any: SocketAddr = match address {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let socket = UdpSocket::bind(any).and_then(|socket| {
            socket.connect(address)?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        });
        let socket = socket.map_err(unwritten(&name))?;
        Ok(Self { name, socket, nanometres: false, sent: 0, lost: 0 })
    }

    fn datagram(&self, row: &Row) -> [u8; DATAGRAM_BYTES] {
        let mut bytes = [0; DATAGRAM_BYTES];
        bytes[..8].copy_from_slice(b"SPOTDRFT");
        bytes[8..12].copy_from_slice(&2_u32.to_le_bytes());
        bytes[12..16].copy_from_slice(&u32::from(self.nanometres).to_le_bytes());
        for (place, number) in bytes[16..].chunks_exact_mut(8).zip(row.numbers()) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }
}

impl DriftSink for Datagrams {
    fn begin(&mut self, about: &About) -> Result<(), StepError> {
        self.nanometres = about.unit == Unit::Nanometre;
        Ok(())
    }

    fn take(&mut self, row: &Row, listener: &dyn Listener) -> Result<(), StepError> {
        match self.socket.send(&self.datagram(row)) {
            Ok(_) => self.sent += 1,
            Err(error) => {
                if self.lost == 0 {
                    let text = format!("{}: {error}; tracking goes on", self.name);
                    listener.note(&Note::Warning(text));
                }
                self.lost += 1;
            }
        }
        Ok(())
    }

    fn end(&mut self, listener: &dyn Listener) -> Result<(), StepError> {
        if self.lost > 0 {
            let Self { name, sent, lost, .. } = self;
            let text = format!("{name}: {lost} of {} datagrams were not taken", *sent + *lost);
            listener.note(&Note::Warning(text));
        }
        Ok(())
    }
}
