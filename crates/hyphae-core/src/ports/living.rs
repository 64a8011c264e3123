//! What the life of the memory asks of a store.

use std::fmt;

use async_trait::async_trait;

use crate::{cell::Layer, ids::NodeId, living::node::Neighbour, ports::StoreError};

/// The topology of one project, to be read.
///
/// It holds what everybody in the project may see: active cells that are not private, scenes,
/// and the nodes of those who listen.
#[async_trait]
pub trait Graph: fmt::Debug + Send + Sync {
    /// Returns the links of all kinds that lead away from each of `nodes` to nodes of `layer` or to
    /// those who listen there: one list a node, in the order of `nodes`, empty for a node that is
    /// unknown. The order within a list does not matter.
    async fn around(
        &self,
        layer: Layer,
        nodes: &[NodeId],
    ) -> Result<Vec<Vec<Neighbour>>, StoreError>;
}
