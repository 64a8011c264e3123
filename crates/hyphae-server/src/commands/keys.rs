//! `keys`: make, list and revoke API keys. Whoever may open the database file may do so.

use anyhow::bail;
use hyphae_core::{
    credential::Credential,
    ports::{Clock, CredentialStore},
};

use super::{Outcome, init::new_credential};
use crate::{args::Keys, clock::SystemClock, config::Config, output::Printer, secrets, wiring};

pub(crate) async fn run(config: &Config, keys: Keys) -> anyhow::Result<Outcome> {
    let mut out = Printer::take()?;
    let store = wiring::open_store(config).await?;
    let tenant = store.default_tenant().await?;
    match keys {
        Keys::Create { name, save } => {
            let (_, key) = new_credential(&store, &name).await?;
            if save {
                secrets::keep_key(&config.key_file(), &key)?;
            }
            out.line(key.reveal())?;
        }
        Keys::List => {
            for credential in store.credentials(tenant).await? {
                out.line(row(&credential))?;
            }
        }
        Keys::Revoke { id } => {
            let all = store.credentials(tenant).await?;
            let credential = find(&all, &id)?;
            store
                .revoke_credential(tenant, credential.id, SystemClock::default().now())
                .await?;
            out.line(format!("revoked {} ({})", credential.id, credential.name))?;
        }
    }
    store.close().await;
    Ok(Outcome::Done)
}

fn row(credential: &Credential) -> String {
    let state = match credential.revoked_at {
        Some(at) => format!("revoked {at:.0}"),
        None => "valid".to_owned(),
    };
    format!(
        "{}  {:.0}  {state}  {}",
        credential.id, credential.created_at, credential.name
    )
}

/// Finds a credential by its id or a prefix of at least eight characters that only one has.
fn find<'a>(all: &'a [Credential], id: &str) -> anyhow::Result<&'a Credential> {
    const LEAST: usize = 8;
    let id = id.trim().to_lowercase();
    if id.len() < LEAST {
        bail!("a key's id has at least {LEAST} characters here; see `hyphae-server keys list`");
    }
    let mut found = all
        .iter()
        .filter(|credential| credential.id.to_string().starts_with(&id));
    match (found.next(), found.next()) {
        (Some(credential), None) => Ok(credential),
        (None, _) => bail!("there is no key with this id; see `hyphae-server keys list`"),
        (Some(_), Some(_)) => bail!("several keys begin like this; give more of the id"),
    }
}

#[cfg(test)]
mod tests {
    use hyphae_core::ids::{CredentialId, TenantId};
    use jiff::Timestamp;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_key_is_found_by_a_prefix_that_only_it_has() {
        let credential = |id: u128| Credential {
            id: CredentialId::new(Uuid::from_u128(id)),
            tenant: TenantId::new(Uuid::nil()),
            name: String::new(),
            created_at: Timestamp::UNIX_EPOCH,
            revoked_at: None,
        };
        let all = [
            credential(0x0123_4567_89ab_u128 << 80),
            credential(0x0123_4567_0000_u128 << 80),
        ];
        assert_eq!(find(&all, "01234567-89").unwrap().id, all[0].id);
        assert!(find(&all, "01234567").is_err(), "two of them");
        assert!(find(&all, "0123456").is_err(), "too short");
        assert!(find(&all, "fedcba98").is_err(), "none");
    }
}
