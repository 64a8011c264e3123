//! Closed classes of names: of two members of one class, most frames hold only one.

use std::{collections::HashMap, sync::LazyLock};

/// A class of names that answer the same question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Class {
    /// Its place in [`CLASSES`].
    pub(super) id: usize,
    /// Classes of one family take each other's place where there is room for one only.
    pub(super) family: &'static str,
    /// Whether a project usually has one of them, so that a verb which says nothing about it
    /// (`we deploy with …`) still leaves room for one only.
    pub(super) one_at_a_time: bool,
}

/// A member of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) class: Class,
    /// The name under which all its spellings are compared.
    pub(super) canon: &'static str,
}

/// Classes: the family, whether a project usually has one member at a time, and the members.
/// Spellings of one member are joined by `=`, a space inside a name is `_`. What is an everyday word
/// as well (`go`, `make`, `express`) is in [`AMBIGUOUS`] too.
const CLASSES: &[(&str, bool, &str)] = &[
    // Where data is kept.
    (
        "store",
        true,
        "postgres=postgresql=pg mysql mariadb sqlite=sqlite3 oracle mssql=sql_server cockroachdb tidb \
         planetscale neon turso libsql supabase",
    ),
    (
        "store",
        true,
        "mongodb=mongo couchdb firestore dynamodb cassandra scylladb surrealdb eventstoredb",
    ),
    (
        "store",
        true,
        "redis valkey memcached etcd consul zookeeper hazelcast",
    ),
    (
        "store",
        true,
        "clickhouse duckdb bigquery snowflake redshift",
    ),
    ("store", true, "rocksdb leveldb lmdb sled"),
    ("store", true, "neo4j dgraph arangodb"),
    (
        "store",
        true,
        "elasticsearch=elastic opensearch solr meilisearch typesense algolia tantivy loki splunk",
    ),
    (
        "store",
        true,
        "pinecone qdrant weaviate milvus pgvector faiss chroma",
    ),
    (
        "store",
        true,
        "s3=amazon_s3 gcs=google_cloud_storage azure_blob minio r2=cloudflare_r2 glacier",
    ),
    (
        "store",
        true,
        "vault=hashicorp_vault aws_secrets_manager doppler sops 1password",
    ),
    // What carries messages and work.
    (
        "broker",
        true,
        "kafka rabbitmq nats sqs=amazon_sqs pulsar activemq mosquitto redpanda pubsub kinesis zeromq \
         beanstalkd",
    ),
    (
        "broker",
        true,
        "celery sidekiq resque bullmq good_job faktory rq",
    ),
    // Languages and what runs them.
    (
        "language",
        false,
        "rust go=golang python java kotlin scala ruby php c++=cpp c c#=csharp swift typescript=ts \
         javascript=js elixir erlang haskell ocaml zig nim lua perl clojure dart bash \
         coffeescript f# julia groovy",
    ),
    (
        "runtime",
        false,
        "node=node.js=nodejs deno bun graalvm jvm pypy cpython",
    ),
    // Frameworks.
    (
        "frontend",
        true,
        "react=react.js=reactjs vue=vue.js angular svelte solidjs preact ember htmx qwik",
    ),
    (
        "frontend",
        true,
        "sveltekit next.js=nextjs nuxt remix astro gatsby",
    ),
    (
        "backend",
        true,
        "django flask fastapi tornado starlette pyramid",
    ),
    ("backend", true, "rails sinatra hanami"),
    ("backend", true, "spring spring_boot quarkus micronaut ktor"),
    ("backend", true, "express nestjs koa fastify hapi"),
    ("backend", true, "axum actix actix-web rocket warp"),
    ("backend", true, "gin fiber echo chi"),
    ("backend", true, "laravel symfony phoenix"),
    // Tools around code.
    ("packages", true, "npm yarn pnpm"),
    ("packages", true, "pip poetry uv pipenv conda pdm"),
    (
        "bundler",
        true,
        "webpack vite rollup esbuild parcel turbopack rspack",
    ),
    ("build", true, "bazel buck gradle maven sbt ant pants"),
    ("build", true, "cmake meson autotools"),
    ("build", true, "make just taskfile"),
    (
        "ci",
        true,
        "github_actions gitlab_ci jenkins circleci travis=travis_ci buildkite teamcity drone \
         azure_pipelines bitbucket_pipelines woodpecker bitrise",
    ),
    ("tests", true, "jest vitest mocha jasmine ava"),
    ("tests", true, "pytest unittest nose"),
    ("tests", true, "junit testng spock"),
    ("tests", true, "rspec minitest"),
    ("tests", true, "playwright cypress selenium puppeteer"),
    ("format", true, "prettier biome dprint"),
    ("format", true, "black ruff yapf autopep8"),
    (
        "docs",
        true,
        "mkdocs docusaurus sphinx hugo jekyll mdbook vitepress gitbook",
    ),
    // Where and how software runs.
    (
        "cloud",
        false,
        "aws=amazon_web_services gcp=google_cloud azure hetzner digitalocean ovh linode",
    ),
    (
        "cloud",
        true,
        "heroku fly.io=fly render vercel netlify railway",
    ),
    (
        "infrastructure",
        true,
        "terraform pulumi cloudformation opentofu cdk crossplane",
    ),
    ("infrastructure", true, "ansible chef puppet saltstack"),
    ("infrastructure", true, "helm kustomize capistrano"),
    ("infrastructure", true, "argocd=argo_cd flux spinnaker"),
    (
        "orchestrator",
        true,
        "kubernetes=k8s nomad ecs swarm=docker_swarm mesos openshift k3s",
    ),
    (
        "container",
        true,
        "docker podman containerd lxc buildah kaniko",
    ),
    (
        "orm",
        true,
        "prisma drizzle typeorm sequelize knex mikroorm",
    ),
    ("orm", true, "diesel sqlx seaorm=sea-orm"),
    (
        "proxy",
        true,
        "nginx caddy apache_httpd traefik haproxy envoy varnish iis",
    ),
    (
        "os",
        false,
        "linux macos=mac_os windows freebsd openbsd android ios",
    ),
    (
        "os",
        false,
        "ubuntu debian alpine fedora centos rhel arch_linux nixos distroless",
    ),
    ("cpu", true, "x86=x86_64=amd64 arm64=aarch64 riscv"),
    ("libc", true, "glibc musl"),
    // What goes over wires and into files.
    (
        "format",
        false,
        "json yaml=yml toml xml csv tsv parquet avro messagepack=msgpack protobuf=protocol_buffers cbor \
         ini hcl ndjson=jsonl=json_lines bson thrift arrow flatbuffers markdown asciidoc html json5 \
         restructuredtext=rst",
    ),
    (
        "api",
        false,
        "rest=restful grpc graphql soap json-rpc=jsonrpc websocket=websockets sse trpc xml-rpc \
         webhook=webhooks long_polling polling http/2 http/3 http/1.1 quic",
    ),
    (
        "hash",
        true,
        "argon2=argon2id=argon2i bcrypt scrypt pbkdf2 md5 sha-1=sha1 sha-256=sha256 sha-512=sha512 \
         blake3 blake2 xxhash crc32 siphash sha-3=sha3",
    ),
    (
        "compression",
        true,
        "gzip=gz zstd=zstandard brotli lz4 snappy bzip2 xz deflate",
    ),
    (
        "cipher",
        true,
        "aes aes-256 aes-256-gcm chacha20 chacha20-poly1305 rsa ed25519 ecdsa hs256 rs256 es256",
    ),
    (
        "encoding",
        true,
        "utf-8=utf8 utf-16=utf16 latin-1=latin1=iso-8859-1 ascii",
    ),
    ("encoding", true, "base64 base64url hex base58"),
    ("zone", true, "utc=gmt local_time cet est pst cest ist jst"),
    (
        "id",
        true,
        "uuid=uuids=uuidv4=uuid_v4 uuidv7=uuid_v7 ulid=ulids integer=integers=bigint=bigserial=serial \
         nanoid=nanoids cuid=cuids slug=slugs",
    ),
    (
        "proof",
        false,
        "jwt=jwts=jwt_tokens cookie=cookies=session_cookies api_key=api_keys oauth=oauth2 oidc saml basic_auth \
         mtls passkey=passkeys password=passwords magic_link=magic_links ldap kerberos totp sms",
    ),
    ("output", true, "stdout stderr syslog journald"),
    ("level", false, "trace debug info warn=warning error"),
    // Licences.
    (
        "licence",
        true,
        "mit apache-2.0=apache_2.0=apache2=apache gpl=gpl-3.0=gplv3 lgpl agpl=agpl-3.0=agplv3 mpl=mpl-2.0 \
         bsd=bsd-3-clause=bsd-2-clause isc unlicense proprietary bsl cc0",
    ),
    // How a team works.
    (
        "vcs",
        true,
        "git mercurial=hg subversion=svn jujutsu=jj perforce fossil",
    ),
    (
        "forge",
        true,
        "github gitlab bitbucket gitea forgejo codeberg sourcehut",
    ),
    (
        "merge",
        true,
        "squash=squashing rebase=rebasing merge_commit=merge_commits fast-forward",
    ),
    (
        "flow",
        true,
        "trunk-based=trunk-based_development gitflow=git_flow github_flow",
    ),
    ("branch", true, "main master develop trunk"),
    (
        "rollout",
        true,
        "blue-green=blue/green canary rolling=rolling_update recreate big-bang",
    ),
    (
        "versioning",
        true,
        "semver=semantic_versioning calver=calendar_versioning",
    ),
    (
        "editor",
        false,
        "vim=neovim=nvim emacs vs_code=vscode=visual_studio_code zed intellij=intellij_idea sublime \
         nano helix pycharm webstorm cursor",
    ),
    (
        "browser",
        false,
        "firefox chrome safari edge chromium internet_explorer opera",
    ),
    (
        "day",
        false,
        "monday=mondays tuesday=tuesdays wednesday=wednesdays thursday=thursdays friday=fridays \
         saturday=saturdays sunday=sundays",
    ),
    (
        "period",
        true,
        "hourly daily=nightly weekly monthly yearly=annually quarterly biweekly=fortnightly",
    ),
    (
        "chat",
        true,
        "slack microsoft_teams=ms_teams discord mattermost zulip irc",
    ),
    (
        "tracker",
        true,
        "jira linear trello asana github_issues youtrack",
    ),
    (
        "metrics",
        false,
        "prometheus datadog new_relic=newrelic honeycomb graphite zabbix nagios",
    ),
    ("errors", true, "sentry rollbar bugsnag airbrake"),
    (
        "flags",
        true,
        "launchdarkly unleash flagsmith split.io configcat",
    ),
    ("payments", true, "stripe paypal adyen braintree paddle"),
    (
        "mail",
        true,
        "sendgrid mailgun postmark ses=amazon_ses mailchimp",
    ),
    ("identity", true, "keycloak auth0 okta cognito clerk ory"),
    ("design", true, "figma sketch adobe_xd"),
    ("maps", true, "mapbox openstreetmap google_maps"),
    // Shape and style of code and data.
    (
        "case",
        true,
        "snake_case=snake-case camelcase=camel_case kebab-case=kebab_case pascalcase=pascal_case screaming_snake_case",
    ),
    ("indent", true, "tabs=tab spaces=space"),
    ("line end", true, "lf crlf"),
    ("quotes", true, "single_quotes double_quotes"),
    (
        "sign",
        true,
        "semicolon=semicolons comma=commas slash=slashes backslash=backslashes colon=colons \
         underscore=underscores hyphen=hyphens dash=dashes dot=dots pipe=pipes",
    ),
    (
        "architecture",
        true,
        "monolith=modular_monolith microservices=microservice serverless",
    ),
    ("repositories", true, "monorepo polyrepo=multirepo"),
    ("delivery", true, "at-least-once at-most-once exactly-once"),
    (
        "isolation",
        true,
        "serializable=serialisable read_committed repeatable_read snapshot_isolation read_uncommitted",
    ),
    (
        "locking",
        true,
        "optimistic=optimistic_locking=optimistically pessimistic=pessimistic_locking=pessimistically",
    ),
    ("eviction", true, "lru lfu fifo lifo"),
    ("reuse", true, "composition inheritance"),
    (
        "async",
        true,
        "callbacks=callback promises=promise async/await=async-await coroutines",
    ),
    (
        "styles",
        true,
        "tailwind=tailwindcss=tailwind_css bootstrap bulma material_ui=mui chakra",
    ),
    ("state", true, "redux zustand mobx recoil pinia vuex jotai"),
    ("executor", true, "tokio async-std smol"),
    (
        "consistency",
        true,
        "eventual=eventually_consistent strong=strongly_consistent",
    ),
    (
        "numbers",
        true,
        "float=floats=floating_point_numbers=double=doubles decimal=decimals=bigdecimal",
    ),
    ("validation", true, "zod joi yup ajv valibot"),
    (
        "dates",
        true,
        "moment=moment.js date-fns dayjs luxon chrono jiff",
    ),
    ("http", true, "axios ky got superagent"),
    ("http", true, "reqwest hyper ureq isahc"),
    ("logging", true, "winston pino bunyan log4js"),
    ("logging", true, "log4j logback"),
    ("mobile", true, "flutter react_native ionic xamarin"),
    ("desktop", true, "electron tauri qt gtk"),
    ("tracing", true, "jaeger tempo zipkin"),
    ("method", true, "scrum kanban"),
    ("tls", true, "openssl rustls boringssl libressl"),
    ("allocator", true, "jemalloc mimalloc tcmalloc"),
    (
        "template",
        true,
        "jinja=jinja2 handlebars mustache ejs pug liquid nunjucks",
    ),
    ("scheduler", true, "airflow dagster prefect luigi"),
    ("cdn", true, "cloudfront fastly akamai cloudflare"),
    ("consensus", true, "raft paxos"),
    ("vpn", true, "wireguard openvpn ipsec"),
    ("image", false, "png jpeg=jpg webp avif gif svg"),
    (
        "tongue",
        false,
        "english german french spanish italian dutch polish japanese chinese portuguese",
    ),
    ("models", false, "openai anthropic mistral cohere ollama"),
    ("orm", true, "hibernate jooq mybatis"),
    ("orm", true, "sqlalchemy peewee tortoise django_orm"),
];

/// Members that are everyday words too. They are names only with a capital letter inside a
/// sentence, behind a verb of choice, or beside another member of their class.
const AMBIGUOUS: &str = "go c make just express echo fiber gin rocket spring standard black rest \
    swift arrow edge opera cursor main master trunk trace debug info warn warning error standard \
    nose flux chef puppet render fly neon oracle drone buck ant bun uv \
    remix astro ember gatsby phoenix warp slash comma colon dot dash pipe space tab spaces tabs \
    commas colons dots dashes pipes slashes integer integers serial slug password passwords cookie \
    cookies hex daily nightly rolling canary recreate linear clerk sketch vault split.io swarm \
    slack composition inheritance callback callbacks promise promises merge rebase squash develop \
    polling sms ses railway linear eventual strong float floats decimal decimals consul chroma sled hugo sphinx chi flux pants moment got hyper ionic tempo liquid mustache raft prefect double doubles loki elastic biome rome julia dart ruby";

struct Names {
    members: HashMap<String, Member>,
    ambiguous: Vec<&'static str>,
    /// How many words the longest name has.
    longest: usize,
}

static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let mut members = HashMap::new();
    let mut longest = 1;
    for (id, (family, one_at_a_time, list)) in CLASSES.iter().enumerate() {
        let class = Class {
            id,
            family,
            one_at_a_time: *one_at_a_time,
        };
        for spellings in list.split_whitespace() {
            let canon = spellings.split('=').next().unwrap_or(spellings);
            for spelling in spellings.split('=') {
                longest = longest.max(spelling.split('_').count());
                // `snake_case` is written with its underscore as well.
                for written in [spelling.replace('_', " "), spelling.to_owned()] {
                    members.insert(written, Member { class, canon });
                }
            }
        }
    }
    let mut ambiguous: Vec<&str> = AMBIGUOUS.split_whitespace().collect();
    ambiguous.sort_unstable();
    Names {
        members,
        ambiguous,
        longest,
    }
});

/// Returns what a name in lower case, its words parted by single spaces, is a member of.
pub(super) fn member(name: &str) -> Option<Member> {
    NAMES.members.get(name).copied()
}

/// Returns how many words the longest name has.
pub(super) fn longest() -> usize {
    NAMES.longest
}

/// Tells whether a name is an everyday word too.
pub(super) fn is_ambiguous(name: &str) -> bool {
    NAMES.ambiguous.binary_search(&name).is_ok()
}
