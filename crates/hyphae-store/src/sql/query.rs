//! Statements and what they are run on.

use sqlx::{
    Connection as _,
    sqlite::{SqliteArguments, SqliteConnection},
};

use super::{Row, Sql, Value};
use crate::{error::Fault, postgres::Session};

/// A connection to any database.
#[derive(Debug)]
pub(crate) enum Connection {
    Sqlite(SqliteConnection),
    Postgres(Session),
}

impl Connection {
    /// Runs any number of statements that have no parameters.
    pub(crate) async fn run(&mut self, script: &str) -> Result<(), Fault> {
        match self {
            Self::Sqlite(connection) => {
                // Scripts are constants of this program, and numbers of its own.
                let script = sqlx::AssertSqlSafe(script.to_owned());
                sqlx::raw_sql(script).execute(connection).await?;
                Ok(())
            }
            Self::Postgres(session) => Ok(session.run(script).await?),
        }
    }

    /// Undoes the transaction.
    pub(crate) async fn roll_back(&mut self) -> Result<(), Fault> {
        match self {
            Self::Sqlite(_) => self.run("rollback").await,
            Self::Postgres(session) => Ok(session.roll_back().await?),
        }
    }

    /// Ends the connection. What was not committed is gone.
    pub(crate) async fn close(self) {
        match self {
            Self::Sqlite(connection) => drop(connection.close().await),
            Self::Postgres(session) => drop(session),
        }
    }

    /// Tells whether statements travel.
    pub(crate) const fn is_far(&self) -> bool {
        matches!(self, Self::Postgres(_))
    }

    /// Tells whether a statement that breaks a rule of the tables undoes all that came before it
    /// in its transaction.
    pub(crate) const fn fails_as_a_whole(&self) -> bool {
        matches!(self, Self::Postgres(_))
    }
}

/// A statement with the values of its parameters.
#[derive(Debug)]
pub(crate) struct Query<'q> {
    sql: Sql,
    values: Vec<Value<'q>>,
}

impl<'q> Query<'q> {
    pub(crate) fn new(sql: Sql) -> Self {
        #[cfg(debug_assertions)]
        for text in [sql.sqlite, sql.postgres] {
            assert!(super::keyed::is_keyed(text), "names no tenant: {text}");
        }
        Self {
            sql,
            values: Vec::with_capacity(8),
        }
    }

    /// Gives the next parameter its value.
    pub(crate) fn bind(mut self, value: impl Into<Value<'q>>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Returns how many rows the statement wrote.
    pub(crate) async fn execute(self, connection: &mut Connection) -> Result<u64, Fault> {
        match connection {
            Connection::Sqlite(connection) => {
                let query = sqlx::query_with(self.sql.sqlite, for_sqlite(self.values)?);
                Ok(query.execute(connection).await?.rows_affected())
            }
            Connection::Postgres(session) => session.execute(self.sql.postgres, &self.values).await,
        }
    }

    /// Runs the statement and, if it wrote no row, another; returns how many rows were written. An
    /// insert with `on conflict do nothing` and an update are what `do update` is elsewhere: it
    /// names columns, which tables that lie on other servers cannot have.
    pub(crate) async fn execute_or(
        self,
        other: Query<'_>,
        connection: &mut Connection,
    ) -> Result<u64, Fault> {
        match self.execute(connection).await? {
            0 => other.execute(connection).await,
            written => Ok(written),
        }
    }

    /// Runs a statement of a transaction whose answer decides nothing. To a server it goes with
    /// the next one that is waited for, which spares a way, and which fails if this one does.
    pub(crate) async fn execute_later(self, connection: &mut Connection) -> Result<(), Fault> {
        if let Connection::Postgres(session) = connection {
            return session.execute_later(self.sql.postgres, self.values).await;
        }
        self.execute(connection).await?;
        Ok(())
    }

    /// Returns all rows.
    pub(crate) async fn fetch_all(self, connection: &mut Connection) -> Result<Vec<Row>, Fault> {
        match connection {
            Connection::Sqlite(connection) => {
                let query = sqlx::query_with(self.sql.sqlite, for_sqlite(self.values)?);
                let rows = query.fetch_all(connection).await?;
                Ok(rows.into_iter().map(Row::Sqlite).collect())
            }
            Connection::Postgres(session) => {
                let rows = session.rows(self.sql.postgres, &self.values).await?;
                Ok(rows.into_iter().map(Row::Postgres).collect())
            }
        }
    }

    /// Returns the only row, if there is one.
    pub(crate) async fn fetch_optional(
        self,
        connection: &mut Connection,
    ) -> Result<Option<Row>, Fault> {
        match connection {
            Connection::Sqlite(connection) => {
                let query = sqlx::query_with(self.sql.sqlite, for_sqlite(self.values)?);
                Ok(query.fetch_optional(connection).await?.map(Row::Sqlite))
            }
            Connection::Postgres(session) => {
                let rows = session.rows(self.sql.postgres, &self.values).await?;
                Ok(rows.into_iter().next().map(Row::Postgres))
            }
        }
    }

    /// Returns the only row of a statement that always has one.
    pub(crate) async fn fetch_one(self, connection: &mut Connection) -> Result<Row, Fault> {
        let row = self.fetch_optional(connection).await?;
        row.ok_or_else(|| Fault::other("a statement gave no row"))
    }
}

fn for_sqlite(values: Vec<Value<'_>>) -> Result<SqliteArguments, Fault> {
    let mut arguments = SqliteArguments::default();
    for value in values {
        let added = value.add_to(&mut arguments);
        added.map_err(|error| Fault::Sqlite(sqlx::Error::Encode(error)))?;
    }
    Ok(arguments)
}
