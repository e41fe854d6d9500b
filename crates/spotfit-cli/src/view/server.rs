//! The server: it listens on the loopback interface, and ends when its user wants it.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use std::{fs, thread};

use tokio::net::TcpListener;
use tokio::runtime::{Builder, Handle};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::job::failed;
use super::session::Session;
use super::{browser, connection};
use crate::error::CliError;
use crate::interrupt;
use crate::say::message::{print, say};
use crate::verbs::view::ViewArguments;

/// The most connections at a time.
const MOST: usize = 64;
/// The most requests that are worked on at a time.
const WORKERS: usize = 6;
/// How often the server looks whether it should end, and whether pages are there.
const LOOK: Duration = Duration::from_millis(50);
const BEAT: Duration = Duration::from_secs(5);
/// How long it stays after its last page.
const STAYS: Duration = Duration::from_secs(60);
/// How long a job may take to end when the server does.
const GRACE: Duration = Duration::from_millis(250);
/// How long pages have to hear of a fault, at most.
const SENT: Duration = Duration::from_secs(2);

/// Serves until Ctrl-C, or until its pages are closed.
pub(super) fn serve(session: Arc<Session>, asked: &ViewArguments) -> Result<(), CliError> {
    let runtime = Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(WORKERS)
        .thread_keep_alive(Duration::from_secs(2))
        .build();
    let runtime = runtime.map_err(CliError::write("the server"))?;
    let served: Result<(), CliError> = runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, asked.port)).await;
        let listener = listener.map_err(CliError::write(&format!("127.0.0.1:{}", asked.port)))?;
        let address = listener.local_addr().map_err(CliError::write("the server"))?;
        session.listens(address.port());
        let address = session.address();
        let page = (!asked.no_open).then(|| browser::open(&address)).flatten();
        if page.is_some() {
            say!("spotfit: {address} is open in your browser; Ctrl-C ends it");
        } else {
            print(&format!("{address}\n"))?;
        }
        let leading = page.as_ref().map(|page| page.path().to_owned());
        let (hearing, runtime) = (session.clone(), Handle::current());
        interrupt::hears_faults(move |fault| {
            leading.as_ref().map(fs::remove_file);
            hearing.events.tell(&failed(hearing.jobs.running(), fault));
            hearing.events.end();
            let (events, (heard, all_heard)) = (hearing.events.clone(), mpsc::channel());
            // What a page listens to has ended, and is written, before the thread of all pages comes to this again.
            runtime.spawn(async move {
                while events.is_heard() {
                    sleep(Duration::from_millis(1)).await;
                }
                heard.send(())
            });
            let _ = all_heard.recv_timeout(SENT);
        });
        session.begin()?;
        let accepting = tokio::spawn(accept(listener, session.clone()));
        let mut beaten = Instant::now();
        while interrupt::check().is_ok()
            && !session.events.left_for(time(STAYS, "SPOTFIT_VIEW_STAYS"))
        {
            sleep(LOOK).await;
            if beaten.elapsed() >= BEAT {
                session.events.beat();
                beaten = Instant::now();
            }
        }
        accepting.abort();
        drop(page);
        Ok(())
    });
    session.jobs.cancel_all();
    let ending = Instant::now();
    while session.jobs.is_running() && ending.elapsed() < GRACE {
        thread::sleep(Duration::from_millis(5));
    }
    served?;
    // Threads may be at work that nobody waits for.
    interrupt::close()
}

/// How long something takes at most. Tests of a debug build name a variable with other milliseconds: they neither wait nor depend on how
/// busy the machine is.
pub(super) fn time(usual: Duration, variable: &str) -> Duration {
    if cfg!(debug_assertions)
        && let Some(time) = std::env::var(variable).ok().and_then(|text| text.parse().ok())
    {
        return Duration::from_millis(time);
    }
    usual
}

/// A connection that is open.
struct Open {
    task: JoinHandle<()>,
    /// Whether who is at its other end knows the secret.
    proved: Arc<AtomicBool>,
}

/// Takes connections. Where there are too many, the oldest goes whose other end has not shown that it knows the secret.
async fn accept(listener: TcpListener, session: Arc<Session>) {
    let mut open: Vec<Open> = Vec::new();
    loop {
        let Ok((stream, from)) = listener.accept().await else {
            // There are no descriptors for now.
            sleep(LOOK).await;
            continue;
        };
        open.retain(|connection| !connection.task.is_finished());
        if open.len() >= MOST {
            let stranger =
                open.iter().position(|connection| !connection.proved.load(Ordering::Relaxed));
            let Some(stranger) = stranger else { continue };
            open.remove(stranger).task.abort();
        }
        if !from.ip().is_loopback() {
            continue;
        }
        let _ = stream.set_nodelay(true);
        let proved = Arc::new(AtomicBool::new(false));
        let task = tokio::spawn(connection::serve(stream, session.clone(), proved.clone()));
        open.push(Open { task, proved });
    }
}
