//! `init`: the database and a first key.

use std::fs;

use anyhow::Context;
use hyphae_core::{
    credential::{ApiKey, Credential},
    ids::CredentialId,
    ports::{ChosenModel, Clock, CredentialStore, MemoryStore},
};
use hyphae_store::Store;

use super::Outcome;
use crate::{
    args::Init,
    clock::SystemClock,
    config::{Config, Database},
    output::Printer,
    secrets, wiring,
};

/// Makes what is missing and says what there is. Running it again changes nothing.
pub(crate) async fn run(config: &Config, args: Init) -> anyhow::Result<Outcome> {
    let mut out = Printer::take()?;
    let existed = match &config.database {
        Database::Embedded(path) => path.exists(),
        Database::Server(_) => wiring::open_store(config).await.is_ok(),
    };
    let store = wiring::create_database(&config.database).await?;
    out.line(format!(
        "database  {}{}",
        config.database,
        if existed { " (was there)" } else { "" }
    ))?;

    let key_file = config.key_file();
    if config.api_key.is_some() || fs::symlink_metadata(&key_file).is_ok() {
        let found = secrets::find_key(config)?;
        let known = store.credential_of_key(&found.key).await?;
        if known.is_some_and(|credential| credential.revoked_at.is_none()) {
            let place = if config.api_key.is_some() {
                found.place
            } else {
                key_file.display().to_string()
            };
            out.line(format!("key       {place} (was there)"))?;
            store.close().await;
            return Ok(Outcome::Done);
        }
        if config.api_key.is_none() {
            anyhow::bail!(
                "{} holds a key that this database does not know; move the file away, or run `hyphae-server keys create --name NAME --save`",
                key_file.display()
            );
        }
    }
    let (credential, key) = new_credential(&store, &args.name).await?;
    let owner = credential.owner();
    if store.chosen_model(owner).await?.is_none() {
        let embedder = wiring::embedder_of(args.embedder);
        let model = embedder.model();
        let chosen = ChosenModel {
            id: model.id.clone(),
            dimension: model.dimension,
        };
        store.choose_model(owner, &chosen).await?;
    }
    if config.api_key.is_none() {
        secrets::keep_key(&key_file, &key)?;
        out.line(format!("key       {} (mode 0600)", key_file.display()))?;
    }
    out.line("")?;
    out.line("This is the key. It is shown this once; the database keeps only a hash of it.")?;
    out.line("")?;
    out.line(key.reveal())?;
    out.line("")?;
    out.line("Next: `hyphae-server console`, or `hyphae-server setup zed`.")?;
    store.close().await;
    Ok(Outcome::Done)
}

/// Makes a key and keeps its credential in the tenant that the database starts with.
pub(super) async fn new_credential(
    store: &Store,
    name: &str,
) -> anyhow::Result<(Credential, ApiKey)> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > 100 || name.chars().any(char::is_control) {
        anyhow::bail!("a key's name is 1 to 100 characters without control characters");
    }
    let mut random = [0; 32];
    getrandom::fill(&mut random).context("the system has no randomness for a key")?;
    let key = ApiKey::from_random(random);
    let clock = SystemClock::default();
    let credential = Credential {
        id: CredentialId::new(clock.new_id()),
        tenant: store.default_tenant().await?,
        name: name.to_owned(),
        created_at: clock.now(),
        revoked_at: None,
    };
    store.add_credential(&credential, &key).await?;
    Ok((credential, key))
}
