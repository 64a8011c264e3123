-- The tables of SQLite's second version. Ids are UUIDs as 16 bytes, times are microseconds since
-- 1970 (UTC), every key begins with the tenant. Enumerations are small integers in the order of
-- the core's types. Texts are ordered by their bytes, whatever the database's language is.

-- The version of these tables: one row.
create table hyphae_schema (
    version bigint not null
);

insert into hyphae_schema (version) values (0);

-- What belongs to the whole store, for example the secret that key hashes are keyed with.
create table settings (
    name text collate "C" not null primary key,
    value bytea not null
);

-- Those who share one memory. `sequence` counts the tenant's committed changes; whoever writes
-- memories of a tenant holds its row until the end.
create table tenants (
    tenant_id bytea not null primary key check (length(tenant_id) = 16),
    name text collate "C",
    sequence bigint not null default 0 check (sequence >= 0),
    model_no bigint
) with (fillfactor = 50);

-- Embedding models that a tenant's vectors belong to.
create table models (
    tenant_id bytea not null references tenants (tenant_id),
    model_no bigint not null,
    name text collate "C" not null,
    dimension bigint not null check (dimension > 0),
    primary key (tenant_id, model_no),
    unique (tenant_id, name, dimension)
);

-- What memories are filed under; a number stands for the name in all other tables.
create table projects (
    tenant_id bytea not null references tenants (tenant_id),
    project_no bigint not null,
    name text collate "C" not null check (length(name) > 0),
    primary key (tenant_id, project_no),
    unique (tenant_id, name)
);

-- Holders of API keys. Only a keyed hash of a key is here.
create table credentials (
    tenant_id bytea not null references tenants (tenant_id),
    credential_id bytea not null check (length(credential_id) = 16),
    key_hash bytea not null check (length(key_hash) = 32),
    name text collate "C" not null,
    created_at bigint not null,
    revoked_at bigint,
    primary key (tenant_id, credential_id),
    unique (tenant_id, key_hash)
);

-- Whose key it is must be found before the tenant is known.
create index credentials_by_key on credentials (key_hash);

-- Conversations. The owner is part of the key, so that somebody else's id and an unknown one
-- are not found by the same work. `cwd` holds the bytes of a path, which need not be text.
create table sessions (
    tenant_id bytea not null references tenants (tenant_id),
    owner bytea not null check (length(owner) = 16),
    session_id bytea not null check (length(session_id) = 16),
    cwd bytea not null,
    project text collate "C" not null,
    title text collate "C",
    entries bigint not null default 0 check (entries >= 0),
    created_at bigint not null,
    updated_at bigint not null,
    primary key (tenant_id, owner, session_id)
);

create index sessions_by_cwd on sessions (tenant_id, owner, cwd, session_id);

-- What happened in conversations; `event` is JSON.
create table transcript (
    tenant_id bytea not null,
    owner bytea not null,
    session_id bytea not null,
    position bigint not null check (position >= 0),
    turn_id bytea not null check (length(turn_id) = 16),
    event text collate "C" not null,
    primary key (tenant_id, owner, session_id, position),
    foreign key (tenant_id, owner, session_id)
        references sessions (tenant_id, owner, session_id) on delete cascade
);

-- Memories. `sequence` is the row of `recall_entries` that belongs to a cell. `content_revision`
-- is the revision at which a cell came to say something else. Tags are sorted and joined with
-- commas, which no tag contains. Time of truth: `valid_from` inclusive, `valid_until` exclusive,
-- null is open. Sources: 0 user_stated, 1 agent_inferred, 2 tool_output, 3 imported.
create table cells (
    tenant_id bytea not null references tenants (tenant_id),
    cell_id bytea not null check (length(cell_id) = 16),
    project_no bigint not null,
    author bytea not null check (length(author) = 16),
    cell_type smallint not null check (cell_type between 0 and 8),
    layer smallint not null check (layer between 0 and 2),
    visibility smallint not null check (visibility between 0 and 2),
    status smallint not null check (status between 0 and 2),
    salience double precision not null check (salience between 0.0 and 1.0),
    confidence double precision not null check (confidence between 0.0 and 1.0),
    revision bigint not null check (revision >= 1),
    content text collate "C" not null check (length(content) > 0),
    embedded_text text collate "C" not null,
    fingerprint bytea not null check (length(fingerprint) = 32),
    session_id bytea check (length(session_id) = 16),
    position bigint check (position >= 0),
    said_at bigint,
    created_at bigint not null,
    updated_at bigint not null,
    last_access bigint not null,
    sequence bigint not null,
    content_revision bigint not null default 1 check (content_revision between 1 and revision),
    topic text collate "C" check (length(topic) > 0),
    tags text collate "C" not null default '',
    source smallint not null default 0 check (source between 0 and 3),
    valid_from bigint,
    valid_until bigint check (valid_from < valid_until),
    verified_at bigint,
    primary key (tenant_id, cell_id),
    foreign key (tenant_id, project_no) references projects (tenant_id, project_no)
);

-- No two active cells say the same to the same people. A promoted cell repeats the text of the
-- cell below it, on its own layer.
create unique index cells_say_it_once on cells (
    tenant_id, project_no, cell_type, layer, visibility,
    (case when visibility = 0 then author else ''::bytea end), fingerprint
) where status = 0;

create index cells_by_session on cells (tenant_id, session_id, created_at, cell_id)
    where session_id is not null;

-- One active cell stands for a topic, for the same people.
create unique index cells_one_a_topic on cells (
    tenant_id, project_no, visibility,
    (case when visibility = 0 then author else ''::bytea end), topic
) where status = 0 and topic is not null;

create index cells_shared_topics on cells (tenant_id, topic)
    where status = 0 and visibility = 2 and topic is not null;

create index cells_shared on cells (tenant_id, project_no) where status = 0 and visibility = 2;

-- The tags of active cells once more, to find names by how they begin.
create table cell_tags (
    tenant_id bytea not null references tenants (tenant_id),
    project_no bigint not null,
    tag text collate "C" not null check (length(tag) > 0),
    cell_id bytea not null check (length(cell_id) = 16),
    author bytea not null check (length(author) = 16),
    visibility smallint not null check (visibility between 0 and 2),
    primary key (tenant_id, project_no, tag, cell_id),
    foreign key (tenant_id, project_no) references projects (tenant_id, project_no)
);

create index cell_tags_shared on cell_tags (tenant_id, tag) where visibility = 2;

-- States that a cell had before the present one, with all that may change.
create table revisions (
    tenant_id bytea not null,
    cell_id bytea not null,
    revision bigint not null check (revision >= 1),
    content_revision bigint not null check (content_revision between 1 and revision),
    content text collate "C" not null check (length(content) > 0),
    cell_type smallint not null check (cell_type between 0 and 8),
    visibility smallint not null check (visibility between 0 and 2),
    status smallint not null check (status between 0 and 2),
    salience double precision not null check (salience between 0.0 and 1.0),
    confidence double precision not null check (confidence between 0.0 and 1.0),
    topic text collate "C" check (length(topic) > 0),
    tags text collate "C" not null,
    source smallint not null check (source between 0 and 3),
    session_id bytea check (length(session_id) = 16),
    position bigint check (position >= 0),
    said_at bigint,
    valid_from bigint,
    valid_until bigint check (valid_from < valid_until),
    verified_at bigint,
    updated_at bigint not null,
    replaced_by bytea not null check (length(replaced_by) = 16),
    replaced_at bigint not null,
    reason text collate "C",
    primary key (tenant_id, cell_id, revision),
    foreign key (tenant_id, cell_id) references cells (tenant_id, cell_id) on delete cascade
);

-- What recall needs of a cell, derived from it, in the order in which it is read: a project's
-- changes by sequence. A row without `facts` tells that the cell is recalled no longer; such a
-- row may outlive its cell. `visibility` is the present one, `reach` the widest there ever was:
-- whoever could once see the cell must learn that it is gone.
create table recall_entries (
    tenant_id bytea not null references tenants (tenant_id),
    project_no bigint not null,
    sequence bigint not null check (sequence > 0),
    cell_id bytea not null check (length(cell_id) = 16),
    author bytea not null check (length(author) = 16),
    visibility smallint not null check (visibility between 0 and 2),
    reach smallint not null check (reach between visibility and 2),
    model_no bigint,
    vector bytea,
    facts bytea,
    primary key (tenant_id, project_no, sequence),
    check ((facts is null) = (model_no is null)),
    check ((facts is null) = (vector is null)),
    foreign key (tenant_id, project_no) references projects (tenant_id, project_no),
    foreign key (tenant_id, model_no) references models (tenant_id, model_no)
);

-- A vector is noise, and what compresses words takes longer than reading them.
alter table recall_entries alter column vector set storage external;
alter table recall_entries alter column facts set storage external;

create index recall_entries_shared on recall_entries (tenant_id, sequence) where reach = 2;

create index recall_entries_by_model on recall_entries (tenant_id, model_no)
    where model_no is not null;

-- Links between nodes: 0 semantic, 1 causal, 2 subscription, 3 promoted, then the relations that
-- agents give: 4 supports, 5 contradicts, 6 refines, 7 supersedes, 8 depends_on, 9 caused_by,
-- 10 example_of, 11 related. Ends are nodes of any kind, not only cells. Those that somebody gave
-- (kinds 4 to 11) have an id of their own, an author, and may be retracted.
create table edges (
    tenant_id bytea not null references tenants (tenant_id),
    src bytea not null check (length(src) = 16),
    kind smallint not null check (kind between 0 and 11),
    dst bytea not null check (length(dst) = 16),
    weight double precision not null check (weight > 0.0 and weight <= 1.0),
    edge_id bytea
        check ((edge_id is not null) = (kind >= 4) and (edge_id is null or length(edge_id) = 16)),
    author bytea
        check ((author is not null) = (kind >= 4) and (author is null or length(author) = 16)),
    created_at bigint check ((created_at is not null) = (kind >= 4)),
    reason text collate "C",
    active boolean not null default true,
    primary key (tenant_id, src, kind, dst),
    check (src <> dst)
);

create unique index edges_by_id on edges (tenant_id, edge_id) where edge_id is not null;

create index edges_to on edges (tenant_id, dst, kind);

-- Pairs of memories that cannot both be true. Kinds: 0 stated, 1 judged. Verdicts: 0 left,
-- 1 right, 2 both, 3 neither; null while it is open.
create table conflicts (
    tenant_id bytea not null references tenants (tenant_id),
    conflict_id bytea not null check (length(conflict_id) = 16),
    left_id bytea not null,
    right_id bytea not null,
    kind smallint not null check (kind between 0 and 1),
    why text collate "C",
    opened_by bytea not null check (length(opened_by) = 16),
    opened_at bigint not null,
    verdict smallint check (verdict between 0 and 3),
    reason text collate "C" check ((reason is null) = (verdict is null)),
    decided_by bytea check ((decided_by is null) = (verdict is null)),
    decided_at bigint check ((decided_at is null) = (verdict is null)),
    primary key (tenant_id, conflict_id),
    check (left_id <> right_id),
    foreign key (tenant_id, left_id) references cells (tenant_id, cell_id) on delete cascade,
    foreign key (tenant_id, right_id) references cells (tenant_id, cell_id) on delete cascade
);

create unique index conflicts_open_once on conflicts (
    tenant_id, least(left_id, right_id), greatest(left_id, right_id)
) where verdict is null;

create index conflicts_open on conflicts (tenant_id, conflict_id) where verdict is null;
create index conflicts_of_left on conflicts (tenant_id, left_id);
create index conflicts_of_right on conflicts (tenant_id, right_id);

-- Who found a memory to be true, at which of its revisions.
create table confirmations (
    tenant_id bytea not null,
    cell_id bytea not null,
    credential_id bytea not null check (length(credential_id) = 16),
    revision bigint not null check (revision >= 1),
    confirmed_at bigint not null,
    evidence text collate "C",
    primary key (tenant_id, cell_id, credential_id),
    foreign key (tenant_id, cell_id) references cells (tenant_id, cell_id) on delete cascade
);

-- Names that a writer gave to its requests, hashed. The project is that of the request.
create table store_keys (
    tenant_id bytea not null,
    credential_id bytea not null check (length(credential_id) = 16),
    key bytea not null check (length(key) = 32),
    project_no bigint not null,
    cell_id bytea not null,
    primary key (tenant_id, credential_id, key, project_no),
    foreign key (tenant_id, project_no) references projects (tenant_id, project_no),
    foreign key (tenant_id, cell_id) references cells (tenant_id, cell_id) on delete cascade
);

create index store_keys_by_cell on store_keys (tenant_id, cell_id);

-- Changes on their way through the topology: 0 created, 1 updated, 2 superseded,
-- 3 contradiction, 4 pattern, 5 promoted, 6 retracted, 7 restored, 8 erased, 9 resolved. They
-- outlive their cell: `project_no`, `author` and `visibility` are those of the cell at that
-- time, `reach` is the widest visibility the cell had since.
create table diffs (
    tenant_id bytea not null references tenants (tenant_id),
    project_no bigint not null,
    sequence bigint not null check (sequence > 0),
    diff_id bytea not null check (length(diff_id) = 16),
    kind smallint not null check (kind between 0 and 9),
    cell_id bytea not null check (length(cell_id) = 16),
    revision bigint not null check (revision >= 1),
    other bytea check (length(other) = 16),
    changed_by bytea not null check (length(changed_by) = 16),
    author bytea not null check (length(author) = 16),
    visibility smallint not null check (visibility between 0 and 2),
    reach smallint not null check (reach between visibility and 2),
    cell_type smallint not null check (cell_type between 0 and 8),
    salience double precision not null check (salience between 0.0 and 1.0),
    created_at bigint not null,
    propagated_at bigint,
    primary key (tenant_id, project_no, sequence),
    foreign key (tenant_id, project_no) references projects (tenant_id, project_no)
);

create unique index diffs_by_id on diffs (tenant_id, diff_id);
create index diffs_shared on diffs (tenant_id, sequence) where reach = 2;
create index diffs_erased on diffs (tenant_id, cell_id) where kind = 8;
create index diffs_waiting on diffs (tenant_id, sequence) where propagated_at is null;

-- Every write: 0 store, 1 update, 2 link, 3 confirm, 4 retract, 5 erase, 6 restore, 7 resolve,
-- 8 import. `subjects` and `diffs` are ids, one after the other.
create table audit (
    tenant_id bytea not null references tenants (tenant_id),
    audit_id bytea not null check (length(audit_id) = 16),
    at bigint not null,
    action smallint not null check (action between 0 and 8),
    credential_id bytea not null check (length(credential_id) = 16),
    session_id bytea check (length(session_id) = 16),
    client text collate "C",
    project_no bigint not null,
    subjects bytea not null check (length(subjects) % 16 = 0),
    diffs bytea not null check (length(diffs) % 16 = 0),
    reason text collate "C",
    redactions bigint not null check (redactions >= 0),
    primary key (tenant_id, audit_id),
    foreign key (tenant_id, project_no) references projects (tenant_id, project_no)
);

-- Rows of the audit by what they are about: subjects and diffs.
create table audit_subjects (
    tenant_id bytea not null,
    subject bytea not null check (length(subject) = 16),
    audit_id bytea not null,
    primary key (tenant_id, subject, audit_id),
    foreign key (tenant_id, audit_id) references audit (tenant_id, audit_id) on delete cascade
);

-- A second wall behind the conditions of the statements: whoever does not own the tables sees, in
-- each transaction, the rows of one tenant only, the one that the transaction has named. Before
-- that, only whose key it is can be found out, and what the tenants are called.
do $$
declare
    name text;
begin
    foreach name in array array[
        'models', 'projects', 'sessions', 'transcript', 'cells', 'cell_tags', 'revisions',
        'recall_entries', 'edges', 'conflicts', 'confirmations', 'store_keys', 'diffs', 'audit',
        'audit_subjects'
    ] loop
        execute format('alter table %I enable row level security', name);
        execute format(
            'create policy of_tenant on %I using (
                 tenant_id = decode(nullif(current_setting(''hyphae.tenant'', true), ''''), ''hex''))',
            name
        );
    end loop;
    foreach name in array array['tenants', 'credentials'] loop
        execute format('alter table %I enable row level security', name);
        execute format(
            'create policy of_tenant on %I using (
                 coalesce(current_setting(''hyphae.tenant'', true), '''') = ''''
                 or tenant_id = decode(nullif(current_setting(''hyphae.tenant'', true), ''''), ''hex''))',
            name
        );
    end loop;
end
$$;
