//! Nobody sees what is not theirs.

use super::Subject;

pub async fn no_verb_shows_what_is_not_visible(_subject: &dyn Subject) {}
