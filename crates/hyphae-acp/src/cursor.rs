//! The opaque place in a list of sessions.

use hyphae_core::ids::SessionId;
use uuid::Uuid;

/// Changes when the meaning of a cursor does.
const VERSION: &str = "s1-";

/// Names the place behind a session.
pub(crate) fn after(session: SessionId) -> String {
    let plain = session.uuid();
    format!("{VERSION}{}{:02x}", plain.simple(), check_byte(plain))
}

/// Reads a cursor that [`after`] made.
pub(crate) fn read(cursor: &str) -> Option<SessionId> {
    let digits = cursor.strip_prefix(VERSION)?;
    let (plain, check) = digits.split_at_checked(32)?;
    let plain = Uuid::try_parse(plain).ok()?;
    (check == format!("{:02x}", check_byte(plain))).then_some(SessionId::new(plain))
}

/// Tells a mangled cursor from a whole one.
fn check_byte(plain: Uuid) -> u8 {
    plain
        .as_bytes()
        .iter()
        .fold(0x5a, |sum: u8, byte| sum.rotate_left(1) ^ byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_made_and_a_mangled_one_is_not() {
        let session = SessionId::new(Uuid::from_u128(0x0193_7a4e_0000_7000_8000_0000_0000_0001));
        let cursor = after(session);
        assert_eq!(read(&cursor), Some(session));
        for bad in [
            "",
            "s1-",
            "nonsense",
            &session.to_string(),
            &cursor.replace("s1-", "s2-"),
            &cursor[..cursor.len() - 1],
            &format!("{cursor}0"),
            &cursor.replace('7', "8"),
            "s1-é",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
