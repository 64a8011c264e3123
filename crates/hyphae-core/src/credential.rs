//! API keys. A key is the identity of whoever holds it; only a keyed hash of it is kept.

use std::fmt;

use jiff::Timestamp;

use crate::{
    ids::{CredentialId, TenantId},
    scope::Owner,
};

/// What every key begins with.
pub const KEY_PREFIX: &str = "hyk_";

/// Random bits of a key.
pub const KEY_BITS: usize = 256;

/// A key as it is typed or configured: `hyk_` and 64 hexadecimal digits. Never shown by `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey([u8; KEY_BITS / 8]);

impl ApiKey {
    /// Makes a key of random bytes.
    pub const fn from_random(bytes: [u8; KEY_BITS / 8]) -> Self {
        Self(bytes)
    }

    /// Reads a key; white space around it is passed over.
    ///
    /// # Errors
    /// [`MalformedKey`] says what a key looks like, and nothing of what was given.
    pub fn parse(text: &str) -> Result<Self, MalformedKey> {
        let digits = text
            .trim()
            .strip_prefix(KEY_PREFIX)
            .ok_or(MalformedKey)?
            .as_bytes();
        let mut bytes = [0; KEY_BITS / 8];
        if digits.len() != bytes.len() * 2 {
            return Err(MalformedKey);
        }
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        }
        Ok(Self(bytes))
    }

    /// Returns the key as it is shown once, when it is made.
    pub fn reveal(&self) -> String {
        let digits: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{KEY_PREFIX}{digits}")
    }

    /// Returns what is kept of the key: BLAKE3 keyed with the store's own secret. A fast hash is
    /// right here, because a key has 256 random bits and cannot be guessed.
    pub fn hash(&self, store_secret: &[u8; 32]) -> KeyHash {
        KeyHash(*blake3::keyed_hash(store_secret, &self.0).as_bytes())
    }
}

fn nibble(digit: u8) -> Result<u8, MalformedKey> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        _ => Err(MalformedKey),
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

/// What is kept of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash(pub [u8; 32]);

/// A text that is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an API key is `hyk_` followed by 64 hexadecimal digits")]
pub struct MalformedKey;

/// Whoever holds a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    /// The identity.
    pub id: CredentialId,
    /// Those it shares a memory with.
    pub tenant: TenantId,
    /// What people call it.
    pub name: String,
    /// When the key was made.
    pub created_at: Timestamp,
    /// When it was revoked; a revoked key opens nothing.
    pub revoked_at: Option<Timestamp>,
}

impl Credential {
    /// Returns who the holder is to a store.
    pub const fn owner(&self) -> Owner {
        Owner {
            tenant: self.tenant,
            credential: self.id,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_survives_being_shown_and_read() {
        let key = ApiKey::from_random(std::array::from_fn(|i| i as u8 * 7));
        let text = key.reveal();
        assert_eq!(text.len(), 68);
        assert_eq!(ApiKey::parse(&format!(" {text}\n")), Ok(key));
    }

    #[test]
    fn what_is_no_key_is_refused_without_showing_it() {
        for text in [
            "",
            "hyk_",
            "hyk_zz",
            "HYK_00",
            &format!("hyk_{}", "g".repeat(64)),
        ] {
            assert_eq!(ApiKey::parse(text), Err(MalformedKey));
        }
        let key = ApiKey::from_random([7; 32]);
        assert!(!format!("{key:?}").contains("07"));
    }

    #[test]
    fn the_same_key_hashes_differently_in_two_stores() {
        let key = ApiKey::from_random([1; 32]);
        assert_ne!(key.hash(&[2; 32]), key.hash(&[3; 32]));
        assert_eq!(key.hash(&[2; 32]), key.hash(&[2; 32]));
    }
}
