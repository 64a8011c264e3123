//! Rows of answers.

use sqlx::{Row as _, sqlite::SqliteRow};

/// A row of any database.
#[derive(Debug)]
pub(crate) enum Row {
    Sqlite(SqliteRow),
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

macro_rules! columns {
    ($($kind:ty)*) => {$(
        impl<'r> Column<'r> for $kind {
            fn of(row: &'r Row, index: usize) -> Option<Self> {
                match row {
                    Row::Sqlite(row) => row.try_get(index).ok(),
                }
            }
        }
    )*};
}

columns! {
    bool i64 f64 String Vec<u8> &'r str &'r [u8]
    Option<i64> Option<String> Option<&'r str> Option<&'r [u8]>
}
