//! stdin and the real stdout as byte streams that do not need a thread, where they are pipes.
//!
//! Most clients start a server on pipes. A pipe is opened anew through `/proc`, so that the mode
//! "do not block" is ours alone and nobody who shares the old descriptor is surprised by it.
//! Sockets, files and terminals, and systems without `/proc`, are served by blocking threads.

use std::{fs::File, os::fd::AsRawFd};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::unix::pipe::OpenOptions,
};

/// Returns stdin.
pub(crate) fn input() -> Box<dyn AsyncRead + Send + Unpin> {
    match OpenOptions::new().open_receiver("/proc/self/fd/0") {
        Ok(pipe) => Box::new(pipe),
        Err(_) => Box::new(tokio::io::stdin()),
    }
}

/// Returns a stream over the real stdout, as [`crate::output::take_stdout`] gave it.
pub(crate) fn output(wire: File) -> Box<dyn AsyncWrite + Send + Unpin> {
    match OpenOptions::new().open_sender(format!("/proc/self/fd/{}", wire.as_raw_fd())) {
        Ok(pipe) => Box::new(pipe),
        Err(_) => Box::new(tokio::fs::File::from_std(wire)),
    }
}
