//! placeholder

pub mod contract;
