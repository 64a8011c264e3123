//! What only a server can do, and the suite over it.

mod contract;
mod server;
