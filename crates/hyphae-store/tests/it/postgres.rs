//! What only a server can do, and the suite over it.

mod between;
mod contract;
mod faults;
mod full;
mod losses;
mod nodes;
mod schema;
mod server;
mod tls;
mod ways;
