-- Memories that stand for topics, have tags and times at which they are true, keep their whole
-- history, are linked, confirmed and disputed by those who use them; and who wrote what.

-- `content_revision` is the revision at which a cell came to say something else. Tags are
-- sorted and joined with commas, which no tag contains. Time of truth: `valid_from` inclusive,
-- `valid_until` exclusive, null is open. Sources: 0 user_stated, 1 agent_inferred,
-- 2 tool_output, 3 imported.
alter table cells add column content_revision integer not null default 1
    check (content_revision between 1 and revision);
alter table cells add column topic text check (length(topic) > 0);
alter table cells add column tags text not null default '';
alter table cells add column source integer not null default 0 check (source between 0 and 3);
alter table cells add column valid_from integer;
alter table cells add column valid_until integer check (valid_from < valid_until);
alter table cells add column verified_at integer;

-- One active cell stands for a topic, for the same people.
create unique index cells_one_a_topic on cells (
    tenant_id, project_no, visibility, (case when visibility = 0 then author else x'' end), topic
) where status = 0 and topic is not null;

create index cells_shared_topics on cells (tenant_id, topic)
    where status = 0 and visibility = 2 and topic is not null;

create index cells_shared on cells (tenant_id, project_no) where status = 0 and visibility = 2;

-- The tags of active cells once more, to find names by how they begin.
create table cell_tags (
    tenant_id blob not null references tenants (tenant_id),
    project_no integer not null,
    tag text not null check (length(tag) > 0),
    cell_id blob not null check (length(cell_id) = 16),
    author blob not null check (length(author) = 16),
    visibility integer not null check (visibility between 0 and 2),
    primary key (tenant_id, project_no, tag, cell_id),
    foreign key (tenant_id, project_no) references projects (tenant_id, project_no)
) strict, without rowid;

create index cell_tags_shared on cell_tags (tenant_id, tag) where visibility = 2;

-- What recall needs of a cell gets, between its fingerprint and its words: its status, when it
-- was stored, when it is true (always), and the length of its tags (none). Numbers are
-- little-endian.
update recall_entries set facts = (
    select cast(
        unhex(printf('%02x%02x%02x%02x', length(facts) + 25 & 255, length(facts) + 25 >> 8 & 255,
            length(facts) + 25 >> 16 & 255, length(facts) + 25 >> 24 & 255))
        || x'02' || substr(facts, 6, 55) || unhex(printf('%02x', c.status))
        || unhex(printf('%02x%02x%02x%02x%02x%02x%02x%02x', c.created_at & 255,
            c.created_at >> 8 & 255, c.created_at >> 16 & 255, c.created_at >> 24 & 255,
            c.created_at >> 32 & 255, c.created_at >> 40 & 255, c.created_at >> 48 & 255,
            c.created_at >> 56 & 255))
        || x'0000000000000080' || x'ffffffffffffff7f' || x'00000000' || substr(facts, 61)
        as blob)
    from cells c
    where c.tenant_id = recall_entries.tenant_id and c.cell_id = recall_entries.cell_id
)
where facts is not null;

-- States that a cell had before the present one, with all that may change.
create table revisions_now (
    tenant_id blob not null,
    cell_id blob not null,
    revision integer not null check (revision >= 1),
    content_revision integer not null check (content_revision between 1 and revision),
    content text not null check (length(content) > 0),
    cell_type integer not null check (cell_type between 0 and 8),
    visibility integer not null check (visibility between 0 and 2),
    status integer not null check (status between 0 and 2),
    salience real not null check (salience between 0.0 and 1.0),
    confidence real not null check (confidence between 0.0 and 1.0),
    topic text check (length(topic) > 0),
    tags text not null,
    source integer not null check (source between 0 and 3),
    session_id blob check (length(session_id) = 16),
    position integer check (position >= 0),
    said_at integer,
    valid_from integer,
    valid_until integer check (valid_from < valid_until),
    verified_at integer,
    updated_at integer not null,
    replaced_by blob not null check (length(replaced_by) = 16),
    replaced_at integer not null,
    reason text,
    primary key (tenant_id, cell_id, revision),
    foreign key (tenant_id, cell_id) references cells (tenant_id, cell_id) on delete cascade
) strict, without rowid;

-- Until now nothing but the text ever changed.
insert into revisions_now (tenant_id, cell_id, revision, content_revision, content, cell_type,
    visibility, status, salience, confidence, tags, source, session_id, position, said_at,
    updated_at, replaced_by, replaced_at)
select r.tenant_id, r.cell_id, r.revision, 1, r.content, c.cell_type, c.visibility, c.status,
    c.salience, c.confidence, '', 0, c.session_id, c.position, c.said_at,
    coalesce((select before.replaced_at from revisions before
        where before.tenant_id = r.tenant_id and before.cell_id = r.cell_id
        and before.revision = r.revision - 1), c.created_at),
    r.replaced_by, r.replaced_at
from revisions r
cross join cells c on c.tenant_id = r.tenant_id and c.cell_id = r.cell_id;

drop table revisions;
alter table revisions_now rename to revisions;

-- Links that somebody gave (kinds 4 to 11) have an id of their own, an author, and may be
-- retracted.
alter table edges add column edge_id blob
    check ((edge_id is not null) = (kind >= 4) and (edge_id is null or length(edge_id) = 16));
alter table edges add column author blob
    check ((author is not null) = (kind >= 4) and (author is null or length(author) = 16));
alter table edges add column created_at integer check ((created_at is not null) = (kind >= 4));
alter table edges add column reason text;
alter table edges add column active integer not null default 1 check (active in (0, 1));

create unique index edges_by_id on edges (tenant_id, edge_id) where edge_id is not null;

create index edges_given_to on edges (tenant_id, dst, kind) where kind >= 4;

-- Pairs of memories that cannot both be true. Kinds: 0 stated, 1 judged. Verdicts: 0 left,
-- 1 right, 2 both, 3 neither; null while it is open.
create table conflicts (
    tenant_id blob not null references tenants (tenant_id),
    conflict_id blob not null check (length(conflict_id) = 16),
    left_id blob not null,
    right_id blob not null,
    kind integer not null check (kind between 0 and 1),
    why text,
    opened_by blob not null check (length(opened_by) = 16),
    opened_at integer not null,
    verdict integer check (verdict between 0 and 3),
    reason text check ((reason is null) = (verdict is null)),
    decided_by blob check ((decided_by is null) = (verdict is null)),
    decided_at integer check ((decided_at is null) = (verdict is null)),
    primary key (tenant_id, conflict_id),
    check (left_id <> right_id),
    foreign key (tenant_id, left_id) references cells (tenant_id, cell_id) on delete cascade,
    foreign key (tenant_id, right_id) references cells (tenant_id, cell_id) on delete cascade
) strict, without rowid;

create unique index conflicts_open_once on conflicts (
    tenant_id, min(left_id, right_id), max(left_id, right_id)
) where verdict is null;

create index conflicts_open on conflicts (tenant_id, conflict_id) where verdict is null;
create index conflicts_of_left on conflicts (tenant_id, left_id);
create index conflicts_of_right on conflicts (tenant_id, right_id);

-- Who found a memory to be true, at which of its revisions.
create table confirmations (
    tenant_id blob not null,
    cell_id blob not null,
    credential_id blob not null check (length(credential_id) = 16),
    revision integer not null check (revision >= 1),
    confirmed_at integer not null,
    evidence text,
    primary key (tenant_id, cell_id, credential_id),
    foreign key (tenant_id, cell_id) references cells (tenant_id, cell_id) on delete cascade
) strict, without rowid;

-- Names that a writer gave to its requests, hashed. The project is that of the request.
create table store_keys (
    tenant_id blob not null,
    credential_id blob not null check (length(credential_id) = 16),
    key blob not null check (length(key) = 32),
    project_no integer not null,
    cell_id blob not null,
    primary key (tenant_id, credential_id, key, project_no),
    foreign key (tenant_id, project_no) references projects (tenant_id, project_no),
    foreign key (tenant_id, cell_id) references cells (tenant_id, cell_id) on delete cascade
) strict, without rowid;

create index store_keys_by_cell on store_keys (tenant_id, cell_id);

-- Changes on their way through the topology: 0 created, 1 updated, 2 superseded,
-- 3 contradiction, 4 pattern, 5 promoted, 6 retracted, 7 restored, 8 erased, 9 resolved. They
-- outlive their cell: `project_no`, `author` and `visibility` are those of the cell at that
-- time, `reach` is the widest visibility the cell had since.
create table diffs_now (
    tenant_id blob not null references tenants (tenant_id),
    project_no integer not null,
    sequence integer not null check (sequence > 0),
    diff_id blob not null check (length(diff_id) = 16),
    kind integer not null check (kind between 0 and 9),
    cell_id blob not null check (length(cell_id) = 16),
    revision integer not null check (revision >= 1),
    other blob check (length(other) = 16),
    changed_by blob not null check (length(changed_by) = 16),
    author blob not null check (length(author) = 16),
    visibility integer not null check (visibility between 0 and 2),
    reach integer not null check (reach between visibility and 2),
    cell_type integer not null check (cell_type between 0 and 8),
    salience real not null check (salience between 0.0 and 1.0),
    created_at integer not null,
    propagated_at integer,
    primary key (tenant_id, project_no, sequence),
    foreign key (tenant_id, project_no) references projects (tenant_id, project_no)
) strict, without rowid;

insert into diffs_now (tenant_id, project_no, sequence, diff_id, kind, cell_id, revision,
    changed_by, author, visibility, reach, cell_type, salience, created_at, propagated_at)
select d.tenant_id, c.project_no, d.sequence, d.diff_id, d.kind, d.cell_id, d.revision, d.author,
    c.author, c.visibility, c.visibility, d.cell_type, d.salience, d.created_at, d.propagated_at
from diffs d
cross join cells c on c.tenant_id = d.tenant_id and c.cell_id = d.cell_id;

drop table diffs;
alter table diffs_now rename to diffs;

create unique index diffs_by_id on diffs (tenant_id, diff_id);
create index diffs_shared on diffs (tenant_id, sequence) where reach = 2;
create index diffs_erased on diffs (tenant_id, cell_id) where kind = 8;
create index diffs_waiting on diffs (tenant_id, sequence) where propagated_at is null;

-- Every write: 0 store, 1 update, 2 link, 3 confirm, 4 retract, 5 erase, 6 restore, 7 resolve,
-- 8 import. `subjects` and `diffs` are ids, one after the other.
create table audit (
    tenant_id blob not null references tenants (tenant_id),
    audit_id blob not null check (length(audit_id) = 16),
    at integer not null,
    action integer not null check (action between 0 and 8),
    credential_id blob not null check (length(credential_id) = 16),
    session_id blob check (length(session_id) = 16),
    client text,
    project_no integer not null,
    subjects blob not null check (length(subjects) % 16 = 0),
    diffs blob not null check (length(diffs) % 16 = 0),
    reason text,
    redactions integer not null check (redactions >= 0),
    primary key (tenant_id, audit_id),
    foreign key (tenant_id, project_no) references projects (tenant_id, project_no)
) strict, without rowid;

-- Rows of the audit by what they are about: subjects and diffs.
create table audit_subjects (
    tenant_id blob not null,
    subject blob not null check (length(subject) = 16),
    audit_id blob not null,
    primary key (tenant_id, subject, audit_id),
    foreign key (tenant_id, audit_id) references audit (tenant_id, audit_id) on delete cascade
) strict, without rowid;
