//! One connection to a server, and values and columns as it takes and gives them.

use std::{error::Error, sync::Arc};

use tokio_postgres::{
    Client, Row,
    error::SqlState,
    types::{FromSql, IsNull, ToSql, Type, private::BytesMut},
};
use uuid::Uuid;

use super::connections::Target;
use crate::{error::Fault, sql::Value};

/// A connection.
#[derive(Debug)]
pub(crate) struct Session {
    client: Client,
    /// Where to connect again if the server is gone, for statements that may be sent twice.
    again: Option<Arc<Target>>,
}

impl Session {
    pub(crate) const fn new(client: Client) -> Self {
        Self {
            client,
            again: None,
        }
    }

    /// From now on, statements only read, each in a transaction of its own.
    pub(crate) fn begin_reading(&mut self, target: &Arc<Target>) {
        self.again = Some(Arc::clone(target));
    }

    pub(crate) fn end_reading(&mut self) {
        self.again = None;
    }

    /// Tells whether the server is known to be gone.
    pub(crate) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Returns all rows of a statement.
    pub(crate) async fn rows(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, Fault> {
        let typed = typed(values);
        match self.client.query_typed(sql, &typed).await {
            Ok(rows) => Ok(rows),
            Err(error) if is_lost(&error) => {
                let Some(target) = self.again.take() else {
                    return Err(error.into());
                };
                self.client = target.connect().await?;
                Ok(self.client.query_typed(sql, &typed).await?)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Returns how many rows a statement wrote.
    pub(crate) async fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<u64, Fault> {
        Ok(self.client.execute_typed(sql, &typed(values)).await?)
    }

    /// Runs any number of statements that have no parameters.
    pub(crate) async fn run(&self, script: &str) -> Result<(), tokio_postgres::Error> {
        self.client.batch_execute(script).await
    }
}

/// Tells whether the server has left the connection.
pub(crate) fn is_lost(error: &tokio_postgres::Error) -> bool {
    let left = [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN];
    error.is_closed() || error.code().is_some_and(|code| left.contains(code))
}

fn typed<'a>(values: &'a [Value<'_>]) -> Vec<(&'a (dyn ToSql + Sync), Type)> {
    values
        .iter()
        .map(|value| (value as &(dyn ToSql + Sync), type_of(value)))
        .collect()
}

const fn type_of(value: &Value<'_>) -> Type {
    match value {
        Value::Int(_) => Type::INT8,
        Value::Real(_) => Type::FLOAT8,
        Value::Bool(_) => Type::BOOL,
        Value::Text(_) => Type::TEXT,
        Value::Bytes(_) | Value::Id(_) => Type::BYTEA,
        Value::Ids(_) => Type::BYTEA_ARRAY,
        Value::Names(_) => Type::TEXT_ARRAY,
    }
}

impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Int(number) => number.to_sql(ty, out),
            Self::Real(number) => number.to_sql(ty, out),
            Self::Bool(yes) => yes.to_sql(ty, out),
            Self::Text(text) => text.as_deref().to_sql(ty, out),
            Self::Bytes(bytes) => bytes.as_deref().to_sql(ty, out),
            Self::Id(id) => id
                .as_ref()
                .map(Uuid::as_bytes)
                .map(<[u8; 16]>::as_slice)
                .to_sql(ty, out),
            Self::Ids(ids) => {
                let ids: Vec<&[u8]> = ids.iter().map(|id| id.as_bytes().as_slice()).collect();
                ids.to_sql(ty, out)
            }
            Self::Names(names) => names.to_sql(ty, out),
        }
    }

    /// [`type_of`] says what it is.
    fn accepts(_: &Type) -> bool {
        true
    }

    fn to_sql_checked(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        self.to_sql(ty, out)
    }
}

/// A whole number of any width.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Number(pub(crate) i64);

impl<'a> FromSql<'a> for Number {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(match *ty {
            Type::INT2 => i16::from_sql(ty, raw)?.into(),
            Type::INT4 => i32::from_sql(ty, raw)?.into(),
            _ => i64::from_sql(ty, raw)?,
        }))
    }

    fn accepts(ty: &Type) -> bool {
        matches!(*ty, Type::INT2 | Type::INT4 | Type::INT8)
    }
}
