//! The ports on any database: what is asked of it, and what its answers mean.
//!
//! `scope` holds the one condition on who sees what, `row` and `facts` turn rows into domain
//! values, and each port has a module. Nothing here knows which database answers; the few words
//! that differ are marked in the statements. A limit is written `$n + 0`: SQLite looks at the
//! value of a bare parameter there when it plans, and so plans anew at every call.

mod credentials;
mod facts;
mod memories;
mod models;
pub(crate) mod row;
pub(crate) mod scope;
mod sessions;

pub(crate) use credentials::{KEY_SECRET, KeySecret, add_default_tenant, add_key_secret, is_good};
