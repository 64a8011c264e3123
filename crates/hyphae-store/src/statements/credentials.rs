//! Credentials: who holds which key. The database has a secret of its own, and of each key only
//! the hash that is keyed with it.

use std::fmt;

use async_trait::async_trait;
use hyphae_core::{
    credential::{ApiKey, Credential, KeyHash},
    ids::{CredentialId, TenantId},
    ports::{CredentialStore, StoreError},
    scope::Owner,
};
use jiff::Timestamp;
use uuid::Uuid;

use crate::{
    error::{BadRow, Fault},
    sql::{Connection, Query, sql},
    statements::{
        row::{Columns, from_time, to_credential},
        scope::{of_tenant, owned},
    },
    store::{Hold, Store, Verdict},
};

/// The name of the setting that key hashes are keyed with.
pub(crate) const KEY_SECRET: &str = "key_secret";

/// The tenant that every new database has.
pub(crate) const DEFAULT_TENANT: &str = "default";

/// What key hashes are keyed with. Never shown.
#[derive(Clone, Copy)]
pub(crate) struct KeySecret([u8; 32]);

impl fmt::Debug for KeySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeySecret(…)")
    }
}

#[async_trait]
impl CredentialStore for Store {
    async fn default_tenant(&self) -> Result<TenantId, StoreError> {
        self.read(async |connection| tenant_named(connection, DEFAULT_TENANT).await)
            .await
    }

    #[tracing::instrument(skip_all, fields(credential.id = %credential.id))]
    async fn add_credential(
        &self,
        credential: &Credential,
        key: &ApiKey,
    ) -> Result<(), StoreError> {
        let hash = key.hash(&self.key_secret().await?.0);
        let credential = credential.clone();
        self.write(Hold::Nothing, move |connection| {
            Box::pin(async move {
                ensure_tenant(connection, credential.tenant).await?;
                if add(connection, &credential, hash).await? {
                    Ok(Verdict::Commit(()))
                } else {
                    Err(Fault::other("this credential or its key is kept already"))
                }
            })
        })
        .await
    }

    #[tracing::instrument(skip_all)]
    async fn credential_of_key(&self, key: &ApiKey) -> Result<Option<Credential>, StoreError> {
        let hash = key.hash(&self.key_secret().await?.0);
        self.read(async |connection| of_hash(connection, hash).await)
            .await
    }

    async fn credentials(&self, tenant: TenantId) -> Result<Vec<Credential>, StoreError> {
        self.read(async |connection| all_of(connection, tenant).await)
            .await
    }

    #[tracing::instrument(skip_all, fields(credential.id = %id))]
    async fn revoke_credential(
        &self,
        tenant: TenantId,
        id: CredentialId,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        self.write(Hold::Nothing, move |connection| {
            Box::pin(async move { Ok(Verdict::Commit(revoke(connection, tenant, id, at).await?)) })
        })
        .await
    }
}

impl Store {
    /// Reads the secret once; it never changes.
    async fn key_secret(&self) -> Result<KeySecret, StoreError> {
        self.key_secret
            .get_or_try_init(|| self.read(async |connection| read_secret(connection).await))
            .await
            .copied()
    }
}

async fn read_secret(connection: &mut Connection) -> Result<KeySecret, Fault> {
    let row = Query::new(sql!("select value from settings where name = $1"))
        .bind(KEY_SECRET)
        .fetch_one(connection)
        .await?;
    let what = "secret for key hashes";
    let bytes: &[u8] = Columns(&row).get(0, what)?;
    let secret = bytes.try_into().map_err(|_| BadRow { what })?;
    Ok(KeySecret(secret))
}

async fn tenant_named(connection: &mut Connection, name: &'static str) -> Result<TenantId, Fault> {
    let row = Query::new(sql!("select tenant_id from tenants where name = $1"))
        .bind(name)
        .fetch_one(connection)
        .await?;
    Ok(TenantId::new(Columns(&row).id(0)?))
}

async fn ensure_tenant(connection: &mut Connection, tenant: TenantId) -> Result<(), Fault> {
    let sql = sql!("insert into tenants (tenant_id) values ($1) on conflict do nothing");
    of_tenant(sql, tenant).execute(connection).await?;
    Ok(())
}

/// Returns whether the credential is new.
async fn add(
    connection: &mut Connection,
    credential: &Credential,
    hash: KeyHash,
) -> Result<bool, Fault> {
    let sql = sql!(
        "insert into credentials
         (tenant_id, credential_id, key_hash, name, created_at, revoked_at)
         values ($1, $2, $3, $4, $5, $6) on conflict do nothing"
    );
    let done = of_tenant(sql, credential.tenant)
        .bind(credential.id.uuid())
        .bind(hash.0.as_slice())
        .bind(credential.name.as_str())
        .bind(from_time(credential.created_at))
        .bind(credential.revoked_at.map(from_time))
        .execute(connection)
        .await?;
    Ok(done > 0)
}

async fn of_hash(connection: &mut Connection, hash: KeyHash) -> Result<Option<Credential>, Fault> {
    let row = Query::new(sql!(
        "select credential_id, tenant_id, name, created_at, revoked_at
         from credentials where key_hash = $1"
    ))
    .bind(hash.0.as_slice())
    .fetch_optional(connection)
    .await?;
    Ok(row.as_ref().map(to_credential).transpose()?)
}

/// Tells whether a credential is there and was not revoked.
pub(crate) async fn is_good(connection: &mut Connection, owner: Owner) -> Result<bool, Fault> {
    let sql = sql!(
        "select 1 from credentials
         where tenant_id = $1 and credential_id = $2 and revoked_at is null"
    );
    let row = owned(sql, owner).fetch_optional(connection).await?;
    Ok(row.is_some())
}

async fn all_of(connection: &mut Connection, tenant: TenantId) -> Result<Vec<Credential>, Fault> {
    let sql = sql!(
        "select credential_id, tenant_id, name, created_at, revoked_at
         from credentials where tenant_id = $1 order by created_at, credential_id"
    );
    let rows = of_tenant(sql, tenant).fetch_all(connection).await?;
    Ok(rows.iter().map(to_credential).collect::<Result<_, _>>()?)
}

/// Returns whether there is such a credential.
async fn revoke(
    connection: &mut Connection,
    tenant: TenantId,
    id: CredentialId,
    at: Timestamp,
) -> Result<bool, Fault> {
    let sql = sql!(
        "update credentials set revoked_at = coalesce(revoked_at, $3)
         where tenant_id = $1 and credential_id = $2"
    );
    let done = of_tenant(sql, tenant)
        .bind(id.uuid())
        .bind(from_time(at))
        .execute(connection)
        .await?;
    Ok(done > 0)
}

/// Gives a new database the secret that its key hashes are keyed with.
pub(crate) async fn add_key_secret(connection: &mut Connection) -> Result<(), Fault> {
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).map_err(|_| Fault::other("the system gives no random bytes"))?;
    Query::new(sql!("insert into settings (name, value) values ($1, $2)"))
        .bind(KEY_SECRET)
        .bind(secret.as_slice())
        .execute(connection)
        .await?;
    Ok(())
}

/// Gives a new database its first tenant.
pub(crate) async fn add_default_tenant(connection: &mut Connection) -> Result<(), Fault> {
    Query::new(sql!(
        "insert into tenants (tenant_id, name) values ($1, $2)"
    ))
    .bind(Uuid::now_v7())
    .bind(DEFAULT_TENANT)
    .execute(connection)
    .await?;
    Ok(())
}
