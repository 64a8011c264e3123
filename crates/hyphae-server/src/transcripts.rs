//! Where conversations with supervised agents are kept: a file an agent, beside their logs.
//!
//! Not in the memory's database: what tools printed belongs to this machine and this user, also
//! where the memory is a team's.

use std::{path::PathBuf, sync::Arc};

use async_trait::async_trait;
use hyphae_acp::Transcripts;
use hyphae_core::{
    ids::CredentialId,
    ports::{CredentialStore, SessionError, SessionStore},
    scope::Owner,
};
use hyphae_store::{SqliteOptions, Store};
use uuid::Uuid;

/// The longest file name that is made of an agent's name, in bytes; longer names are cut.
const NAME_BYTES: usize = 128;

/// A folder with a database for each agent.
#[derive(Debug)]
pub(crate) struct Files {
    /// Must exist and be private.
    pub(crate) folder: PathBuf,
}

#[async_trait]
impl Transcripts for Files {
    async fn open(&self, agent: &str) -> Result<(Arc<dyn SessionStore>, Owner), SessionError> {
        let path = self.folder.join(file_name(agent));
        let store = Store::create_file(&path, SqliteOptions::default()).await?;
        // Whoever can read the file is who they belong to.
        let owner = Owner {
            tenant: store.default_tenant().await?,
            credential: CredentialId::new(Uuid::nil()),
        };
        Ok((Arc::new(store), owner))
    }
}

/// A name in the folder for any name of an agent.
fn file_name(agent: &str) -> String {
    let mut name: String = agent
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02x}"),
        })
        .collect();
    name.truncate(NAME_BYTES);
    format!("sessions-{name}.db")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_an_agent_becomes_one_of_a_file() {
        for (agent, want) in [
            ("claude-agent-acp", "sessions-claude-agent-acp.db"),
            ("@scope/x y", "sessions-%40scope%2fx%20y.db"),
            ("../..", "sessions-..%2f...db"),
            ("é", "sessions-%c3%a9.db"),
        ] {
            assert_eq!(file_name(agent), want);
        }
        assert_eq!(
            file_name(&"/".repeat(500)).len(),
            NAME_BYTES + "sessions-.db".len()
        );
    }
}
