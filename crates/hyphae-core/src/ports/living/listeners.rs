//! Where those who listen are.

use std::fmt;

use async_trait::async_trait;
use jiff::Timestamp;

use crate::{
    cell::Layer,
    ids::{CredentialId, NodeId, TenantId},
    living::{
        node::NodeKind,
        place::{Beacon, Work},
    },
    ports::{ChosenModel, Link, StoreError},
    recall::Vector,
    scope::Scope,
};

/// Keeps the nodes of agents and beacons, and the links that lead to them.
///
/// A credential has one agent's node in each project that it works in, made by the first
/// [`place`](Self::place). Links lead from cells and scenes to those who listen, never back. A
/// revoked credential listens no longer: its nodes and beacons are not in any answer.
#[async_trait]
pub trait ListenerStore: fmt::Debug + Send + Sync {
    /// Returns at most `limit` credentials, with the commons of the project, that wrote or used
    /// cells there since they were last placed, oldest first by the first such use.
    async fn restless(
        &self,
        tenant: TenantId,
        limit: usize,
    ) -> Result<Vec<(Scope, CredentialId)>, StoreError>;

    /// Returns the cells that a credential wrote or used last in the project of `commons`, each
    /// once by its last use, latest first and of one time by id, at most `limit`: active ones that
    /// are not private, with a vector of the chosen model. Reading, confirming, linking and being
    /// told of a cell by name are uses; to be reached by gossip is none.
    async fn works(
        &self,
        commons: &Scope,
        credential: CredentialId,
        limit: usize,
    ) -> Result<Vec<Work>, StoreError>;

    /// Returns all who listen in a project, by id, with the cells and scenes that lead to them.
    async fn listeners(&self, commons: &Scope) -> Result<Vec<Listening>, StoreError>;

    /// Puts the agent's node of a credential somewhere, with the links that lead to it, which
    /// replace those that were there; and notes that what it used up to `seen` is in its place.
    /// Links from what is gone or not to be seen in `commons` are passed over.
    async fn place(
        &self,
        commons: &Scope,
        credential: CredentialId,
        node: NodeId,
        place: &Vector,
        links: &[NodeLinks],
        seen: Timestamp,
    ) -> Result<(), StoreError>;

    /// Replaces the links that lead to one who listens. Done when cells are new near it: its links
    /// are those that [`neighbours`](crate::topology::neighbours) keeps of the ones it has and the
    /// new ones, at most [`Layer::degree`] a layer.
    async fn relink(
        &self,
        commons: &Scope,
        node: NodeId,
        links: &[NodeLinks],
    ) -> Result<(), StoreError>;

    /// Puts up a beacon of the credential of `scope`, with the vector of what it is about.
    ///
    /// # Errors
    /// [`StoreError::OtherModel`] if `model` is not the chosen one.
    async fn add_beacon(
        &self,
        scope: &Scope,
        beacon: &Beacon,
        model: &ChosenModel,
        place: &Vector,
        links: &[NodeLinks],
    ) -> Result<AddedBeacon, StoreError>;

    /// Returns the beacons of the credential of `scope` in its project, oldest first.
    async fn beacons(&self, scope: &Scope) -> Result<Vec<Beacon>, StoreError>;

    /// Takes a beacon of the credential of `scope` down, with its links; what it brought stays in
    /// the inbox. Tells whether there was one: somebody else's and an unknown one are the same.
    async fn remove_beacon(&self, scope: &Scope, beacon: NodeId) -> Result<bool, StoreError>;
}

/// One who listens, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct Listening {
    /// Its node.
    pub id: NodeId,
    /// An agent or a beacon.
    pub kind: NodeKind,
    /// Its place; none while it has none of the chosen model.
    pub place: Option<Vector>,
    /// What leads to it.
    pub links: Vec<NodeLinks>,
}

/// The links of one layer that lead to one who listens; of each, where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeLinks {
    /// The layer.
    pub layer: Layer,
    /// From where, and how strong.
    pub links: Vec<Link>,
}

/// Whether a beacon was put up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddedBeacon {
    /// It was.
    Done,
    /// The credential has [`Beacon::MAX`] in the project already.
    TooMany,
    /// It has one about the same text with the same interest: this one.
    Same(NodeId),
}
