-- Ids are UUIDs as 16 bytes, times are microseconds since 1970 (UTC), every key begins with the
-- tenant. Enumerations are small integers in the order of the core's types.

-- What belongs to the whole store, for example the secret that key hashes are keyed with.
create table settings (
    name text not null primary key,
    value blob not null
) strict, without rowid;

-- Those who share one memory. `sequence` counts the tenant's committed changes.
create table tenants (
    tenant_id blob not null primary key check (length(tenant_id) = 16),
    name text unique,
    sequence integer not null default 0 check (sequence >= 0),
    model_no integer
) strict, without rowid;

-- Embedding models that a tenant's vectors belong to.
create table models (
    tenant_id blob not null references tenants (tenant_id),
    model_no integer not null,
    name text not null,
    dimension integer not null check (dimension > 0),
    primary key (tenant_id, model_no),
    unique (tenant_id, name, dimension)
) strict, without rowid;

-- What memories are filed under; a number stands for the name in all other tables.
create table projects (
    tenant_id blob not null references tenants (tenant_id),
    project_no integer not null,
    name text not null check (length(name) > 0),
    primary key (tenant_id, project_no),
    unique (tenant_id, name)
) strict, without rowid;

-- Holders of API keys. Only a keyed hash of a key is here.
create table credentials (
    tenant_id blob not null references tenants (tenant_id),
    credential_id blob not null check (length(credential_id) = 16),
    key_hash blob not null unique check (length(key_hash) = 32),
    name text not null,
    created_at integer not null,
    revoked_at integer,
    primary key (tenant_id, credential_id)
) strict, without rowid;

-- Conversations. The owner is part of the key, so that somebody else's id and an unknown one
-- are not found by the same work. `cwd` holds the bytes of a path, which need not be text.
create table sessions (
    tenant_id blob not null references tenants (tenant_id),
    owner blob not null check (length(owner) = 16),
    session_id blob not null check (length(session_id) = 16),
    cwd blob not null,
    project text not null,
    title text,
    entries integer not null default 0 check (entries >= 0),
    created_at integer not null,
    updated_at integer not null,
    primary key (tenant_id, owner, session_id)
) strict, without rowid;

create index sessions_by_cwd on sessions (tenant_id, owner, cwd, session_id);

-- What happened in conversations; `event` is JSON.
create table transcript (
    tenant_id blob not null,
    owner blob not null,
    session_id blob not null,
    position integer not null check (position >= 0),
    turn_id blob not null check (length(turn_id) = 16),
    event text not null,
    primary key (tenant_id, owner, session_id, position),
    foreign key (tenant_id, owner, session_id)
        references sessions (tenant_id, owner, session_id) on delete cascade
) strict, without rowid;

-- Memories. `sequence` is the row of `recall_entries` that belongs to a cell.
create table cells (
    tenant_id blob not null references tenants (tenant_id),
    cell_id blob not null check (length(cell_id) = 16),
    project_no integer not null,
    author blob not null check (length(author) = 16),
    cell_type integer not null check (cell_type between 0 and 8),
    layer integer not null check (layer between 0 and 2),
    visibility integer not null check (visibility between 0 and 2),
    status integer not null check (status between 0 and 2),
    salience real not null check (salience between 0.0 and 1.0),
    confidence real not null check (confidence between 0.0 and 1.0),
    revision integer not null check (revision >= 1),
    content text not null check (length(content) > 0),
    embedded_text text not null,
    fingerprint blob not null check (length(fingerprint) = 32),
    session_id blob check (length(session_id) = 16),
    position integer check (position >= 0),
    said_at integer,
    created_at integer not null,
    updated_at integer not null,
    last_access integer not null,
    sequence integer not null,
    primary key (tenant_id, cell_id),
    foreign key (tenant_id, project_no) references projects (tenant_id, project_no)
) strict;

-- No two active cells say the same to the same people. A promoted cell repeats the text of the
-- cell below it, on its own layer.
create unique index cells_say_it_once on cells (
    tenant_id, project_no, cell_type, layer, visibility,
    (case when visibility = 0 then author else x'' end), fingerprint
) where status = 0;

create index cells_by_session on cells (tenant_id, session_id, created_at, cell_id)
    where session_id is not null;

-- Texts that a cell had before the present one.
create table revisions (
    tenant_id blob not null,
    cell_id blob not null,
    revision integer not null check (revision >= 1),
    content text not null,
    replaced_by blob not null check (length(replaced_by) = 16),
    replaced_at integer not null,
    primary key (tenant_id, cell_id, revision),
    foreign key (tenant_id, cell_id) references cells (tenant_id, cell_id)
) strict, without rowid;

-- What recall needs of a cell, derived from it, in the order in which it is read: a project's
-- changes by sequence. A row without `facts` tells that the cell is recalled no longer; such a
-- row may outlive its cell. `visibility` is the present one, `reach` the widest there ever was:
-- whoever could once see the cell must learn that it is gone.
create table recall_entries (
    tenant_id blob not null references tenants (tenant_id),
    project_no integer not null,
    sequence integer not null check (sequence > 0),
    cell_id blob not null check (length(cell_id) = 16),
    author blob not null check (length(author) = 16),
    visibility integer not null check (visibility between 0 and 2),
    reach integer not null check (reach between visibility and 2),
    model_no integer,
    vector blob,
    facts blob,
    primary key (tenant_id, project_no, sequence),
    check ((facts is null) = (model_no is null)),
    check ((facts is null) = (vector is null)),
    foreign key (tenant_id, project_no) references projects (tenant_id, project_no),
    foreign key (tenant_id, model_no) references models (tenant_id, model_no)
) strict, without rowid;

create index recall_entries_shared on recall_entries (tenant_id, sequence) where reach = 2;

create index recall_entries_by_model on recall_entries (tenant_id, model_no)
    where model_no is not null;

-- Links between nodes: 0 semantic, 1 causal, 2 subscription, 3 promoted, then the relations that
-- agents give: 4 supports, 5 contradicts, 6 refines, 7 supersedes, 8 depends_on, 9 caused_by,
-- 10 example_of, 11 related. Ends are nodes of any kind, not only cells.
create table edges (
    tenant_id blob not null references tenants (tenant_id),
    src blob not null check (length(src) = 16),
    kind integer not null check (kind between 0 and 11),
    dst blob not null check (length(dst) = 16),
    weight real not null check (weight > 0.0 and weight <= 1.0),
    primary key (tenant_id, src, kind, dst),
    check (src <> dst)
) strict, without rowid;

-- Changes on their way through the topology: 0 created, 1 updated, 2 superseded,
-- 3 contradiction, 4 pattern, 5 promoted. Energy at birth follows from salience and type.
create table diffs (
    tenant_id blob not null references tenants (tenant_id),
    diff_id blob not null check (length(diff_id) = 16),
    sequence integer not null check (sequence > 0),
    kind integer not null check (kind between 0 and 5),
    cell_id blob not null,
    revision integer not null check (revision >= 1),
    author blob not null check (length(author) = 16),
    cell_type integer not null check (cell_type between 0 and 8),
    salience real not null check (salience between 0.0 and 1.0),
    created_at integer not null,
    propagated_at integer,
    primary key (tenant_id, diff_id)
) strict, without rowid;

create index diffs_waiting on diffs (tenant_id, sequence) where propagated_at is null;
