//! What only a server can do, and the suite over it.

mod contract;
mod faults;
mod losses;
mod schema;
mod server;
mod tls;
mod ways;
