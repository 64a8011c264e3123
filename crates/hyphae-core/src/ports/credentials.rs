//! Where credentials are kept.

use std::fmt;

use async_trait::async_trait;
use jiff::Timestamp;

use crate::{
    credential::{ApiKey, Credential},
    ids::{CredentialId, TenantId},
    ports::StoreError,
};

/// Keeps credentials, and of each key only a hash.
#[async_trait]
pub trait CredentialStore: fmt::Debug + Send + Sync {
    /// Returns the tenant that an embedded database starts with (`default`).
    async fn default_tenant(&self) -> Result<TenantId, StoreError>;

    /// Keeps a credential for a new key.
    async fn add_credential(&self, credential: &Credential, key: &ApiKey)
    -> Result<(), StoreError>;

    /// Returns whoever holds this key, revoked or not; none if nobody does.
    async fn credential_of_key(&self, key: &ApiKey) -> Result<Option<Credential>, StoreError>;

    /// Returns all credentials of a tenant, oldest first.
    async fn credentials(&self, tenant: TenantId) -> Result<Vec<Credential>, StoreError>;

    /// Revokes a key; one that is revoked already stays so. Returns whether the tenant has such
    /// a credential.
    async fn revoke_credential(
        &self,
        tenant: TenantId,
        id: CredentialId,
        at: Timestamp,
    ) -> Result<bool, StoreError>;
}
