//! One connection to a server, and values and columns as it takes and gives them.

use std::{error::Error, sync::Arc};

use futures_util::future::join_all;
use hyphae_core::ids::TenantId;
use tokio_postgres::{
    Client, Row,
    error::{DbError, Severity, SqlState},
    types::{FromSql, IsNull, ToSql, Type, private::BytesMut},
};
use uuid::Uuid;

use super::connections::Target;
use crate::{error::Fault, sql::Value};

/// A connection.
#[derive(Debug)]
pub(crate) struct Session {
    client: Client,
    mode: Mode,
    /// Whose rows may be seen, if that is known before the statements are.
    tenant: Option<TenantId>,
    /// Statements that nobody waits for, in their order.
    later: Vec<Later>,
}

/// A statement of a transaction that goes with the next that is waited for, or with the commit.
#[derive(Debug)]
struct Later {
    sql: &'static str,
    values: Vec<Value<'static>>,
}

/// The most statements that are kept back: those of a cell, some times over.
const KEPT_BACK: usize = 24;

/// What the statements of a connection are part of.
#[derive(Debug)]
enum Mode {
    /// Transactions of their own, which only read; where to connect again if the server is gone.
    Reading(Arc<Target>),
    /// One transaction that has begun, whose rows are still to be restricted.
    Open,
    /// One whose rows are.
    Restricted,
}

impl Session {
    pub(crate) const fn new(client: Client) -> Self {
        Self {
            client,
            mode: Mode::Restricted,
            tenant: None,
            later: Vec::new(),
        }
    }

    /// From now on, statements only read, each in a transaction of its own.
    pub(crate) fn begin_reading(&mut self, target: &Arc<Target>, tenant: Option<TenantId>) {
        self.mode = Mode::Reading(Arc::clone(target));
        self.tenant = tenant;
    }

    /// From now on, statements are part of a transaction, whose beginning has restricted its rows
    /// if a tenant is named.
    pub(crate) fn begin_writing(&mut self, tenant: Option<TenantId>) {
        self.mode = match tenant {
            Some(_) => Mode::Restricted,
            None => Mode::Open,
        };
        self.tenant = tenant;
    }

    pub(crate) fn end(&mut self) {
        self.mode = Mode::Restricted;
        self.later.clear();
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
        let (before, after) = self.around(values);
        let later = std::mem::take(&mut self.later);
        let typed = typed(values);
        let asked = self.client.query_typed(sql, &typed);
        let asked = behind(&self.client, &later, asked);
        let answer = within(&self.client, before.as_deref(), asked, after).await;
        match (answer, &self.mode) {
            (Err(error), Mode::Reading(target)) if is_lost(&error) => {
                self.client = target.connect().await?;
                let asked = self.client.query_typed(sql, &typed);
                Ok(within(&self.client, before.as_deref(), asked, after).await?)
            }
            (answer, _) => Ok(answer?),
        }
    }

    /// Returns how many rows a statement wrote.
    pub(crate) async fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, Fault> {
        let (before, after) = self.around(values);
        let later = std::mem::take(&mut self.later);
        let typed = typed(values);
        let asked = self.client.execute_typed(sql, &typed);
        let asked = behind(&self.client, &later, asked);
        Ok(within(&self.client, before.as_deref(), asked, after).await?)
    }

    /// Sends a statement of a transaction together with the next that is waited for, which then
    /// also fails if this one does.
    pub(crate) async fn execute_later(
        &mut self,
        sql: &'static str,
        values: Vec<Value<'_>>,
    ) -> Result<(), Fault> {
        if matches!(self.mode, Mode::Restricted) && self.later.len() < KEPT_BACK {
            let values = values.into_iter().map(Value::into_owned).collect();
            self.later.push(Later { sql, values });
        } else {
            self.execute(sql, &values).await?;
        }
        Ok(())
    }

    /// Returns what is sent before and behind a statement, so that it sees one tenant's rows only:
    /// the process' own, or else the one that it names first itself.
    fn around(&mut self, values: &[Value<'_>]) -> (Option<String>, Option<&'static str>) {
        let named = match values.first() {
            Some(Value::Id(Some(id))) => Some(TenantId::new(*id)),
            _ => None,
        };
        let Some(tenant) = self.tenant.or(named) else {
            return (None, None);
        };
        match &self.mode {
            Mode::Reading(target) if target.is_restricting() => {
                let before = format!("begin read only; {}", restriction(tenant));
                (Some(before), Some("commit"))
            }
            Mode::Open => {
                self.mode = Mode::Restricted;
                (Some(restriction(tenant)), None)
            }
            Mode::Reading(_) | Mode::Restricted => (None, None),
        }
    }

    /// Runs any number of statements that have no parameters.
    pub(crate) async fn run(&mut self, script: &str) -> Result<(), tokio_postgres::Error> {
        let later = std::mem::take(&mut self.later);
        behind(&self.client, &later, self.client.batch_execute(script)).await
    }

    /// Undoes a transaction.
    pub(crate) async fn roll_back(&mut self) -> Result<(), tokio_postgres::Error> {
        self.later.clear();
        self.run("rollback").await
    }
}

/// Sends a statement behind others, all at once. The first that fails says why.
async fn behind<T>(
    client: &Client,
    others: &[Later],
    asked: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, tokio_postgres::Error> {
    // Nearly every read.
    if others.is_empty() {
        return asked.await;
    }
    let typed: Vec<_> = others.iter().map(|other| typed(&other.values)).collect();
    let others = others.iter().zip(&typed);
    let others = others.map(|(other, typed)| client.execute_typed(other.sql, typed));
    // They are sent in this order, and answered in it.
    let (others, answer) = tokio::join!(biased; join_all(others), asked);
    for other in others {
        other?;
    }
    answer
}

/// Lets a transaction see one tenant's rows only, where the tables' policies ask for that.
pub(crate) fn restriction(tenant: TenantId) -> String {
    let tenant = tenant.uuid();
    format!("set local hyphae.tenant = '{}'", tenant.as_simple())
}

/// Sends a statement with others around it, all at once.
async fn within<T>(
    client: &Client,
    before: Option<&str>,
    asked: impl Future<Output = Result<T, tokio_postgres::Error>>,
    after: Option<&str>,
) -> Result<T, tokio_postgres::Error> {
    // They are sent in this order, and answered in it.
    let (before, answer, after) =
        tokio::join!(biased; run(client, before), asked, run(client, after));
    before?;
    let answer = answer?;
    after?;
    Ok(answer)
}

async fn run(client: &Client, script: Option<&str>) -> Result<(), tokio_postgres::Error> {
    match script {
        Some(script) => client.batch_execute(script).await,
        None => Ok(()),
    }
}

/// Tells whether the server has left the connection.
pub(crate) fn is_lost(error: &tokio_postgres::Error) -> bool {
    let left = [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN];
    error.is_closed() || error.code().is_some_and(|code| left.contains(code))
}

/// Tells whether a server could not reach another one that keeps rows for it.
pub(crate) fn is_of_a_node(error: &tokio_postgres::Error) -> bool {
    let codes = [
        SqlState::SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION,
        SqlState::CONNECTION_EXCEPTION,
        SqlState::CONNECTION_DOES_NOT_EXIST,
        SqlState::CONNECTION_FAILURE,
    ];
    error.code().is_some_and(|code| codes.contains(code))
}

/// Tells whether a commit that was answered with this may have been kept all the same: the
/// server ended itself over it, or lost the other one that was to keep it.
pub(crate) fn is_in_doubt(error: &tokio_postgres::Error) -> bool {
    let severity = error.as_db_error().and_then(DbError::parsed_severity);
    is_lost(error)
        || is_of_a_node(error)
        || matches!(severity, Some(Severity::Panic | Severity::Fatal))
}

/// Tells whether a transaction found what another one changed since it began.
pub(crate) fn is_overtaken(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::T_R_SERIALIZATION_FAILURE)
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
