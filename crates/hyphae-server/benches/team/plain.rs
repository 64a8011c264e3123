//! The same work in plain SQL, by Postgres' own `pgbench`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Context;
use hyphae_testkit::postgres::Server;
use tempfile::TempDir;

/// How long `pgbench` works.
pub(crate) const SECONDS: f64 = 4.0;

/// What is put beside the tables: numbered cells, their vectors as pgvector has them.
const PREPARE: &str = "
create extension vector;
create function pg_temp.vector_of(bytes bytea) returns vector language sql as
    'select array_agg((get_byte($1, 8 + n) + 128) % 256 - 128 order by n)::vector
     from generate_series(0, 383) n';
create table plain_cells (n bigint primary key, cell_id bytea not null);
insert into plain_cells
    select row_number() over (order by sequence) - 1, cell_id from recall_entries;
create table plain_vectors (n bigint primary key, project_no bigint not null, embedding vector(384));
alter table plain_vectors alter column embedding set storage plain;
insert into plain_vectors
    select row_number() over (order by sequence) - 1, project_no, pg_temp.vector_of(vector)
    from recall_entries;
create index on plain_vectors (project_no);
analyze;
";

const RECALL: &str = "
\\set n random(0, :size - 10)
select sequence, facts, vector from recall_entries
    where tenant_id = :tenant and project_no = 1 and sequence > :size + 1000000000;
select c.* from plain_cells p join cells c on c.tenant_id = :tenant and c.cell_id = p.cell_id
    where p.n between :n and :n + 9;
select * from conflicts where tenant_id = :tenant and verdict is null and left_id in (
    select cell_id from plain_cells where n between :n and :n + 9);
";

const NEAREST: &str = "
\\set n random(0, :size - 1)
select n from plain_vectors where project_no = 1
    order by (embedding <=> (select embedding from plain_vectors where n = :n)) + 0, n limit 10;
";

/// The rows of a store with five neighbours, each drawn anew.
const STORE: &str = "
\\set n random(0, :size - 10)
\\set id random(1, 1000000000000000)
\\set other random(1, 1000000000000000)
begin;
select 1 from tenants where tenant_id = :tenant for no key update;
update tenants set sequence = sequence + 1 where tenant_id = :tenant returning sequence \\gset
insert into cells (tenant_id, cell_id, project_no, author, cell_type, layer, visibility, status,
        salience, confidence, revision, content, embedded_text, fingerprint, created_at, updated_at,
        last_access, sequence)
    values (:tenant, decode(md5((:id)::text), 'hex'), 1, decode(md5('author'), 'hex'), 0, 0, 1, 0, 0.5, 1,
        1, repeat(md5((:id)::text), 4), repeat(md5((:id)::text), 4),
        decode(md5((:id)::text) || md5((:other)::text), 'hex'), 0, 0, 0, :sequence);
insert into recall_entries (tenant_id, project_no, sequence, cell_id, author, visibility, reach,
        model_no, vector, facts)
    values (:tenant, 1, :sequence, decode(md5((:id)::text), 'hex'), decode(md5('author'), 'hex'), 1, 1, 1,
        decode(repeat(md5((:id)::text), 25), 'hex'), decode(repeat(md5((:other)::text), 20), 'hex'));
insert into diffs (tenant_id, project_no, sequence, diff_id, kind, cell_id, revision, changed_by,
        author, visibility, reach, cell_type, salience, created_at)
    values (:tenant, 1, :sequence, decode(md5('d' || (:id)::text), 'hex'), 0, decode(md5((:id)::text), 'hex'), 1,
        decode(md5('author'), 'hex'), decode(md5('author'), 'hex'), 1, 1, 0, 0.5, 0);
insert into edges (tenant_id, src, kind, dst, weight)
    select :tenant, decode(md5((:id)::text), 'hex'), 0, cell_id, 0.5 from plain_cells
        where n between :n and :n + 4
    union all
    select :tenant, cell_id, 0, decode(md5((:id)::text), 'hex'), 0.5 from plain_cells
        where n between :n and :n + 4;
insert into audit (tenant_id, credential_id, audit_id, at, action, project_no, subjects, diffs,
        redactions)
    values (:tenant, decode(md5('author'), 'hex'), decode(md5('a' || (:id)::text), 'hex'), 0, 0, 1,
        decode(md5((:id)::text), 'hex'), decode(md5('d' || (:id)::text), 'hex'), 0);
insert into audit_subjects (tenant_id, subject, audit_id)
    values (:tenant, decode(md5((:id)::text), 'hex'), decode(md5('a' || (:id)::text), 'hex')),
        (:tenant, decode(md5('d' || (:id)::text), 'hex'), decode(md5('a' || (:id)::text), 'hex'));
commit;
";

/// A database that is ready for plain SQL.
#[derive(Debug)]
pub(crate) struct Plain {
    url: String,
    binaries: PathBuf,
    folder: TempDir,
    size: u64,
}

impl Plain {
    pub(crate) fn prepare(server: &Server, binaries: PathBuf, size: u64) -> anyhow::Result<Self> {
        let plain = Self {
            url: server.url(),
            binaries,
            folder: tempfile::tempdir()?,
            size,
        };
        let tenant = "select tenant_id from tenants where name = 'default'";
        for (name, text) in [("recall", RECALL), ("nearest", NEAREST), ("store", STORE)] {
            let text = text.replace(":tenant", &format!("({tenant})"));
            fs::write(plain.script(name), text)?;
        }
        server.run(PREPARE);
        Ok(plain)
    }

    pub(crate) fn recall(&self, clients: u32) -> anyhow::Result<Vec<f64>> {
        self.run("recall", clients)
    }

    pub(crate) fn nearest(&self) -> anyhow::Result<Vec<f64>> {
        self.run("nearest", 1)
    }

    pub(crate) fn store(&self, clients: u32) -> anyhow::Result<Vec<f64>> {
        self.run("store", clients)
    }

    fn script(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a script for some seconds and returns the milliseconds of each time.
    fn run(&self, name: &str, clients: u32) -> anyhow::Result<Vec<f64>> {
        let log = tempfile::tempdir()?;
        let done = Command::new(self.binaries.join("pgbench"))
            .args(["-n", "-M", "prepared", "-l", "--log-prefix", "log"])
            .args(["-f".to_owned(), self.script(name).display().to_string()])
            .args(["-T".to_owned(), format!("{SECONDS:.0}")])
            .args(["-c".to_owned(), clients.to_string()])
            .args(["-j".to_owned(), clients.min(2).to_string()])
            .args(["-D".to_owned(), format!("size={}", self.size)])
            .arg(&self.url)
            .current_dir(log.path())
            .output()?;
        let error = String::from_utf8_lossy(&done.stderr);
        anyhow::ensure!(done.status.success(), "{error}");
        let mut times = Vec::new();
        for file in fs::read_dir(log.path())? {
            times.extend(latencies(&file?.path())?);
        }
        anyhow::ensure!(!times.is_empty(), "pgbench did nothing: {error}");
        Ok(times)
    }
}

/// Reads the third column of a log, microseconds, as milliseconds.
fn latencies(log: &Path) -> anyhow::Result<Vec<f64>> {
    let text = fs::read_to_string(log)?;
    let of_line = |line: &str| {
        let column = line.split_whitespace().nth(2).context("a short line")?;
        Ok(column.parse::<f64>()? / 1000.0)
    };
    text.lines().map(of_line).collect()
}
