//! Identities. Each kind of thing has its own type, all are time-ordered UUIDs (version 7).

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Wraps an id that [`crate::ports::Clock`] made or a store kept.
            pub const fn new(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// Returns the plain UUID.
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.as_hyphenated().fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::parse_str(text).map(Self)
            }
        }
    };
}

id!(
    /// Names one row of the audit.
    AuditId
);
id!(
    /// Names a cell, which is one memory.
    CellId
);
id!(
    /// Names a conflict between two memories.
    ConflictId
);
id!(
    /// Names a credential. A credential *is* the identity of whoever holds its key.
    CredentialId
);
id!(
    /// Names a diff, which is one change on its way through the topology.
    DiffId
);
id!(
    /// Names a link between two memories that somebody gave.
    EdgeId
);
id!(
    /// Names one message of a conversation; chunks with the same id belong together.
    MessageId
);
id!(
    /// Names anything that has a place in the topology: a cell (by its own id), an agent, a scene
    /// or a beacon.
    NodeId
);
id!(
    /// Names one consolidation.
    RunId
);
id!(
    /// Names a conversation.
    SessionId
);
id!(
    /// Names those who share one memory; nothing crosses from one tenant to another.
    TenantId
);
id!(
    /// Names a process that works in the background; a new one each time it starts.
    WorkerId
);
id!(
    /// Names one turn of a session: a prompt and all that answers it.
    TurnId
);

impl From<CellId> for NodeId {
    fn from(cell: CellId) -> Self {
        Self::new(cell.uuid())
    }
}
