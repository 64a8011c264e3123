//! Rows of answers.

use sqlx::{Row as _, sqlite::SqliteRow};

use crate::postgres::Number;

/// A row of any database.
#[derive(Debug)]
pub(crate) enum Row {
    Sqlite(SqliteRow),
    Postgres(tokio_postgres::Row),
}

impl Row {
    /// Returns the value of a column; none if it is of another kind, or null where that cannot be.
    pub(crate) fn get<'r, T: Column<'r>>(&'r self, index: usize) -> Option<T> {
        T::of(self, index)
    }
}

/// What a column of a row may hold.
pub(crate) trait Column<'r>: Sized {
    fn of(row: &'r Row, index: usize) -> Option<Self>;
}

/// Kinds of columns, and what Postgres' driver reads them as if that is something else.
macro_rules! columns {
    ($($kind:ty $(, $read:ty => $made:expr)?;)*) => {$(
        impl<'r> Column<'r> for $kind {
            fn of(row: &'r Row, index: usize) -> Option<Self> {
                match row {
                    Row::Sqlite(row) => row.try_get(index).ok(),
                    Row::Postgres(row) => columns!(@read row, index $(, $read => $made)?),
                }
            }
        }
    )*};
    (@read $row:ident, $index:ident) => {
        $row.try_get($index).ok()
    };
    (@read $row:ident, $index:ident, $read:ty => $made:expr) => {
        $row.try_get::<_, $read>($index).ok().map($made)
    };
}

columns! {
    bool;
    f64;
    String;
    Vec<u8>;
    &'r str;
    &'r [u8];
    Option<String>;
    Option<&'r str>;
    Option<&'r [u8]>;
    i64, Number => |number| number.0;
    Option<i64>, Option<Number> => |number| number.map(|number| number.0);
}
