//! `hyphae-server acp -- COMMAND`: other agents, well-behaved and not, under the supervisor.

mod editor;
mod faults;
mod leftovers;
mod passing;
mod sessions;
