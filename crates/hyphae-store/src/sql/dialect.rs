//! One text for two databases.
//!
//! A statement is written for SQLite. Where Postgres needs other words, [`either`] holds both; a
//! few words that are in many statements are replaced by a list. All of it happens when the
//! program is compiled.

/// The text of a statement for each database, made by [`sql`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sql {
    pub(crate) sqlite: &'static str,
    pub(crate) postgres: &'static str,
}

/// Makes a statement of its parts, as `concat!` does.
macro_rules! sql {
    ($($part:expr),+ $(,)?) => {{
        const TEXT: &str = concat!($($part),+);
        const SQL: $crate::sql::Sql = {
            use $crate::sql::dialect::{Database, length_for, text_for, text_of};
            const SQLITE: [u8; length_for(Database::Sqlite, TEXT)] =
                text_for(Database::Sqlite, TEXT);
            const POSTGRES: [u8; length_for(Database::Postgres, TEXT)] =
                text_for(Database::Postgres, TEXT);
            $crate::sql::Sql {
                sqlite: text_of(&SQLITE),
                postgres: text_of(&POSTGRES),
            }
        };
        SQL
    }};
}
pub(crate) use sql;

/// The first part is SQLite's, the second Postgres'. There is none inside another.
macro_rules! either {
    ($sqlite:expr, $postgres:expr) => {
        concat!("\u{2}", $sqlite, "\u{3}", $postgres, "\u{4}")
    };
}
pub(crate) use either;

/// Rows of the list that a parameter holds: `n.value` in the order of `n.key`. An id is
/// `unhex(n.value)`, a text `n.value`.
macro_rules! each {
    ($parameter:literal) => {
        $crate::sql::either!(
            concat!("json_each(", $parameter, ") n"),
            concat!("unnest(", $parameter, ") with ordinality n (value, key)")
        )
    };
}
pub(crate) use each;

/// Words of SQLite and what Postgres calls them. `cross join` keeps SQLite from turning a join
/// round; Postgres knows better by itself.
const WORDS: [(&str, &str); 3] = [
    ("cross join", "join"),
    ("unhex(n.value)", "n.value"),
    ("x''", "''::bytea"),
];

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Database {
    Sqlite,
    Postgres,
}

/// Marks of [`either`].
const FIRST: u8 = 2;
const SECOND: u8 = 3;
const END: u8 = 4;

/// Returns the length of a database's text.
pub(crate) const fn length_for(database: Database, text: &str) -> usize {
    translate::<0>(database, text.as_bytes()).1
}

/// Returns a database's text, which is as long as [`length_for`] says.
pub(crate) const fn text_for<const N: usize>(database: Database, text: &str) -> [u8; N] {
    translate(database, text.as_bytes()).0
}

/// Returns as much of a database's text as fits, and how long it is.
const fn translate<const N: usize>(database: Database, text: &[u8]) -> ([u8; N], usize) {
    let mut made = [0; N];
    let mut length = 0;
    let mut skipping = false;
    let mut at = 0;
    while at < text.len() {
        let byte = text[at];
        at += 1;
        match byte {
            FIRST => skipping = matches!(database, Database::Postgres),
            SECOND => skipping = !skipping,
            END => skipping = false,
            _ if skipping => {}
            _ => {
                let word = match database {
                    Database::Sqlite => None,
                    Database::Postgres => word_at(text, at - 1),
                };
                let piece = match word {
                    Some((old, new)) => {
                        at += old.len() - 1;
                        new.as_bytes()
                    }
                    None => &[byte],
                };
                let mut index = 0;
                while index < piece.len() {
                    if length < N {
                        made[length] = piece[index];
                    }
                    length += 1;
                    index += 1;
                }
            }
        }
    }
    (made, length)
}

/// Returns the word of [`WORDS`] that stands here.
const fn word_at(text: &[u8], at: usize) -> Option<(&'static str, &'static str)> {
    let mut index = 0;
    while index < WORDS.len() {
        if begins_with(text, at, WORDS[index].0.as_bytes()) {
            return Some(WORDS[index]);
        }
        index += 1;
    }
    None
}

const fn begins_with(text: &[u8], at: usize, word: &[u8]) -> bool {
    if text.len() - at < word.len() {
        return false;
    }
    let mut index = 0;
    while index < word.len() {
        if text[at + index] != word[index] {
            return false;
        }
        index += 1;
    }
    true
}

/// Returns what [`text_for`] made as text. Both parts of it are texts, so it is one.
pub(crate) const fn text_of(bytes: &'static [u8]) -> &'static str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => "",
    }
}

#[cfg(test)]
mod tests {

    #[test]
    fn each_database_gets_its_own_words() {
        let sql = sql!(
            "select ",
            either!("iif(a, 'ß', x'')", "case when a then 'ß' else null end"),
            " from ",
            each!("$4"),
            " cross join cells c on c.cell_id = unhex(n.value) limit $5 + 0"
        );
        assert_eq!(
            sql.sqlite,
            "select iif(a, 'ß', x'') from json_each($4) n \
             cross join cells c on c.cell_id = unhex(n.value) limit $5 + 0"
        );
        assert_eq!(
            sql.postgres,
            "select case when a then 'ß' else null end \
             from unnest($4) with ordinality n (value, key) \
             join cells c on c.cell_id = n.value limit $5 + 0"
        );
    }

    #[test]
    fn a_text_without_marks_is_the_same_for_both() {
        let sql = sql!("select 1 ", "where x");
        assert_eq!(sql.sqlite, "select 1 where x");
        assert_eq!(sql.postgres, sql.sqlite);
        let nothing = sql!("");
        assert_eq!((nothing.sqlite, nothing.postgres), ("", ""));
    }
}
