//! Sessions and their transcripts. Every statement names tenant and owner, which lead the key.

use std::path::Path;

use async_trait::async_trait;
use hyphae_core::{
    ids::{SessionId, TurnId},
    ports::{SessionError, SessionStore},
    scope::Owner,
    session::{PageSize, Session, TranscriptEntry},
};
use jiff::Timestamp;

use crate::{
    error::{BadRow, Fault},
    sql::{Connection, Row, sql},
    statements::{
        row::{Columns, from_path, from_time, to_session},
        scope::owned,
    },
    store::{Hold, Store, Verdict},
};

#[async_trait]
impl SessionStore for Store {
    #[tracing::instrument(skip_all, fields(session.id = %session.id))]
    async fn create_session(&self, owner: Owner, session: &Session) -> Result<(), SessionError> {
        let (id, session) = (session.id, session.clone());
        self.write_session(id, move |connection| {
            Box::pin(async move {
                create(connection, owner, &session).await?;
                Ok(Verdict::Commit(()))
            })
        })
        .await
    }

    async fn session(&self, owner: Owner, id: SessionId) -> Result<Session, SessionError> {
        self.read_session(id, async |connection| find(connection, owner, id).await)
            .await
    }

    async fn sessions(
        &self,
        owner: Owner,
        cwd: Option<&Path>,
        after: Option<SessionId>,
        limit: PageSize,
    ) -> Result<Vec<Session>, SessionError> {
        let cwd = cwd.map(from_path);
        let page = self
            .read(async |connection| page(connection, owner, cwd, after, limit).await)
            .await?;
        Ok(page)
    }

    #[tracing::instrument(skip_all, fields(session.id = %id, entries = entries.len()))]
    async fn append_transcript(
        &self,
        owner: Owner,
        id: SessionId,
        entries: &[TranscriptEntry],
        title: Option<&str>,
        at: Timestamp,
    ) -> Result<(), SessionError> {
        let entries = entries
            .iter()
            .map(Event::of)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|fault| self.session_error(fault, id))?;
        let title = title.map(str::to_owned);
        self.write_session(id, move |connection| {
            Box::pin(async move {
                let count = i64::try_from(entries.len())
                    .map_err(|_| Fault::other("too many entries at once"))?;
                let end = grow(connection, owner, id, count, title, at)
                    .await?
                    .ok_or(SessionError::NotFound { id })?;
                for (position, event) in (end - count..).zip(entries) {
                    append(connection, owner, id, position, event).await?;
                }
                Ok(Verdict::Commit(()))
            })
        })
        .await
    }

    async fn transcript(
        &self,
        owner: Owner,
        id: SessionId,
        skip: u64,
        limit: PageSize,
    ) -> Result<Vec<TranscriptEntry>, SessionError> {
        self.read_session(id, async |connection| {
            entries(connection, owner, id, skip, limit).await
        })
        .await
    }

    #[tracing::instrument(skip_all, fields(session.id = %id, copy.id = %copy.id))]
    async fn fork_session(
        &self,
        owner: Owner,
        id: SessionId,
        copy: &Session,
    ) -> Result<(), SessionError> {
        let copy = copy.clone();
        self.write_session(id, move |connection| {
            Box::pin(async move {
                find(connection, owner, id).await?;
                create(connection, owner, &copy).await?;
                copy_entries(connection, owner, id, copy.id).await?;
                Ok(Verdict::Commit(()))
            })
        })
        .await
    }

    #[tracing::instrument(skip_all, fields(session.id = %id))]
    async fn delete_session(&self, owner: Owner, id: SessionId) -> Result<(), SessionError> {
        self.write(Hold::Nothing, move |connection| {
            Box::pin(async move {
                delete(connection, owner, id).await?;
                Ok(Verdict::Commit(()))
            })
        })
        .await?;
        Ok(())
    }
}

async fn create(connection: &mut Connection, owner: Owner, session: &Session) -> Result<(), Fault> {
    let sql = sql!(
        "insert into sessions
         (tenant_id, owner, session_id, cwd, project, title, created_at, updated_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing"
    );
    let done = owned(sql, owner)
        .bind(session.id.uuid())
        .bind(from_path(&session.cwd))
        .bind(session.project.as_str())
        .bind(session.title.as_deref())
        .bind(from_time(session.created_at))
        .bind(from_time(session.updated_at))
        .execute(connection)
        .await?;
    if done == 0 {
        return Err(Fault::other("a session with this id is kept already"));
    }
    Ok(())
}

async fn find(connection: &mut Connection, owner: Owner, id: SessionId) -> Result<Session, Fault> {
    let sql = sql!(
        "select session_id, cwd, project, title, created_at, updated_at from sessions
         where tenant_id = $1 and owner = $2 and session_id = $3"
    );
    let row = owned(sql, owner)
        .bind(id.uuid())
        .fetch_optional(connection)
        .await?
        .ok_or(SessionError::NotFound { id })?;
    Ok(to_session(&row)?)
}

/// Ids are time-ordered, so the newest session has the greatest. The page is filled up with
/// further sessions for each that cannot be read.
async fn page(
    connection: &mut Connection,
    owner: Owner,
    cwd: Option<Vec<u8>>,
    after: Option<SessionId>,
    limit: PageSize,
) -> Result<Vec<Session>, Fault> {
    let wanted = usize::from(limit.get());
    let mut before = after.map_or(vec![0xff; 17], |id| id.uuid().as_bytes().to_vec());
    let mut page = Vec::with_capacity(wanted);
    loop {
        let rows = match &cwd {
            Some(cwd) => rows_in(connection, owner, cwd, &before, limit).await?,
            None => rows(connection, owner, &before, limit).await?,
        };
        let is_last = rows.len() < wanted;
        for row in &rows {
            match to_session(row) {
                Ok(session) => page.push(session),
                Err(BadRow { what }) => {
                    tracing::warn!(what, "a session cannot be read and is left out");
                }
            }
        }
        page.truncate(wanted);
        if is_last || page.len() == wanted {
            return Ok(page);
        }
        if let Some(last) = rows.last() {
            before = Columns(last).get(0, "id")?;
        }
    }
}

async fn rows(
    connection: &mut Connection,
    owner: Owner,
    before: &[u8],
    limit: PageSize,
) -> Result<Vec<Row>, Fault> {
    let sql = sql!(
        "select session_id, cwd, project, title, created_at, updated_at from sessions
         where tenant_id = $1 and owner = $2 and session_id < $3
         order by session_id desc limit $4 + 0"
    );
    let rows = owned(sql, owner)
        .bind(before)
        .bind(i64::from(limit.get()))
        .fetch_all(connection)
        .await?;
    Ok(rows)
}

async fn rows_in(
    connection: &mut Connection,
    owner: Owner,
    cwd: &[u8],
    before: &[u8],
    limit: PageSize,
) -> Result<Vec<Row>, Fault> {
    let sql = sql!(
        "select session_id, cwd, project, title, created_at, updated_at from sessions
         where tenant_id = $1 and owner = $2 and cwd = $5 and session_id < $3
         order by session_id desc limit $4 + 0"
    );
    let rows = owned(sql, owner)
        .bind(before)
        .bind(i64::from(limit.get()))
        .bind(cwd)
        .fetch_all(connection)
        .await?;
    Ok(rows)
}

/// Makes room for `count` entries and returns how many there are then; none if there is no such
/// session.
async fn grow(
    connection: &mut Connection,
    owner: Owner,
    id: SessionId,
    count: i64,
    title: Option<String>,
    at: Timestamp,
) -> Result<Option<i64>, Fault> {
    let sql = sql!(
        "update sessions
         set entries = entries + $4, title = coalesce(title, $5), updated_at = $6
         where tenant_id = $1 and owner = $2 and session_id = $3 returning entries"
    );
    let row = owned(sql, owner)
        .bind(id.uuid())
        .bind(count)
        .bind(title)
        .bind(from_time(at))
        .fetch_optional(connection)
        .await?;
    let end = row.map(|row| Columns(&row).get(0, "length")).transpose()?;
    Ok(end)
}

/// An entry as it is kept.
struct Event {
    turn: TurnId,
    json: String,
}

impl Event {
    fn of(entry: &TranscriptEntry) -> Result<Self, Fault> {
        Ok(Self {
            turn: entry.turn,
            json: serde_json::to_string(&entry.event)
                .map_err(|_| Fault::other("an event cannot be written as JSON"))?,
        })
    }
}

async fn append(
    connection: &mut Connection,
    owner: Owner,
    id: SessionId,
    position: i64,
    event: Event,
) -> Result<(), Fault> {
    let sql = sql!(
        "insert into transcript (tenant_id, owner, session_id, position, turn_id, event)
         values ($1, $2, $3, $4, $5, $6)"
    );
    owned(sql, owner)
        .bind(id.uuid())
        .bind(position)
        .bind(event.turn.uuid())
        .bind(event.json)
        .execute(connection)
        .await?;
    Ok(())
}

async fn entries(
    connection: &mut Connection,
    owner: Owner,
    id: SessionId,
    skip: u64,
    limit: PageSize,
) -> Result<Vec<TranscriptEntry>, Fault> {
    let skip = i64::try_from(skip).unwrap_or(i64::MAX);
    let sql = sql!(
        "select s.entries, t.position, t.turn_id, t.event
         from sessions s
         left join transcript t on t.tenant_id = s.tenant_id and t.owner = s.owner
             and t.session_id = s.session_id and t.position >= $4
         where s.tenant_id = $1 and s.owner = $2 and s.session_id = $3
         order by t.position limit $5 + 0"
    );
    let rows = owned(sql, owner)
        .bind(id.uuid())
        .bind(skip)
        .bind(i64::from(limit.get()))
        .fetch_all(connection)
        .await?;
    let first = rows.first().ok_or(SessionError::NotFound { id })?;
    let kept: i64 = Columns(first).get(0, "length")?;
    let wanted = kept.saturating_sub(skip).clamp(0, i64::from(limit.get()));
    (0..wanted)
        .map(|index| {
            let position = skip + index;
            let row = usize::try_from(index)
                .ok()
                .and_then(|index| rows.get(index));
            let row = row.ok_or(BadRow { what: "transcript" })?;
            Ok(to_entry(row, position)?)
        })
        .collect()
}

fn to_entry(row: &Row, position: i64) -> Result<TranscriptEntry, BadRow> {
    let what = "transcript";
    let row = Columns(row);
    if row.get::<Option<i64>>(1, what)? != Some(position) {
        return Err(BadRow { what });
    }
    Ok(TranscriptEntry {
        turn: TurnId::new(row.id(2)?),
        event: serde_json::from_str(row.get(3, what)?).map_err(|_| BadRow { what })?,
    })
}

async fn copy_entries(
    connection: &mut Connection,
    owner: Owner,
    from: SessionId,
    to: SessionId,
) -> Result<(), Fault> {
    let sql = sql!(
        "insert into transcript (tenant_id, owner, session_id, position, turn_id, event)
         select tenant_id, owner, $4, position, turn_id, event from transcript
         where tenant_id = $1 and owner = $2 and session_id = $3"
    );
    let copied = owned(sql, owner)
        .bind(from.uuid())
        .bind(to.uuid())
        .execute(&mut *connection)
        .await?;
    set_length(connection, owner, to, copied).await
}

async fn set_length(
    connection: &mut Connection,
    owner: Owner,
    id: SessionId,
    entries: u64,
) -> Result<(), Fault> {
    let entries = i64::try_from(entries).map_err(|_| Fault::other("too many entries"))?;
    let sql = sql!(
        "update sessions set entries = $4
         where tenant_id = $1 and owner = $2 and session_id = $3"
    );
    owned(sql, owner)
        .bind(id.uuid())
        .bind(entries)
        .execute(connection)
        .await?;
    Ok(())
}

/// The transcript goes with its session.
async fn delete(connection: &mut Connection, owner: Owner, id: SessionId) -> Result<(), Fault> {
    let sql = sql!("delete from sessions where tenant_id = $1 and owner = $2 and session_id = $3");
    owned(sql, owner)
        .bind(id.uuid())
        .execute(connection)
        .await?;
    Ok(())
}
