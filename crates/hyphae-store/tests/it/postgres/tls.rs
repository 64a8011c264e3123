//! Servers that prove who they are, and others.

use hyphae_core::ports::{CredentialStore, StoreError};
use hyphae_store::{PostgresAddress, PostgresOptions, Store};
use hyphae_testkit::postgres::{Release, Server, make_certificate};

async fn open(url: &str) -> Result<Store, StoreError> {
    let address = PostgresAddress::parse(url).unwrap();
    Store::create_on_server(&address, PostgresOptions::default()).await
}

/// Finds a port that nobody uses.
fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

#[tokio::test]
async fn a_server_is_used_if_the_private_root_vouches_for_its_name() {
    let Some(mut server) = Server::new(Release::Oldest, &["-A", "trust"]) else {
        return;
    };
    let folder = server.folder().to_owned();
    for (name, host) in [("right", "localhost"), ("other", "elsewhere.example")] {
        make_certificate(&folder, name, host);
        server.give_away(&folder.join(format!("{name}.key")));
    }
    let at = |name: &str| folder.join(name).display().to_string();
    let options = |name: &str, port: u16| {
        format!(
            "-c listen_addresses=localhost -c port={port} -c ssl=on -c ssl_cert_file={} -c ssl_key_file={}",
            at(&format!("{name}.pem")),
            at(&format!("{name}.key"))
        )
    };
    let port = free_port();
    server.start(&options("right", port));
    let url = |parameters: &str| {
        format!("postgres://postgres:hunter2@localhost:{port}/postgres?{parameters}")
    };
    let full = |root: &str| url(&format!("sslmode=verify-full&sslrootcert={}", at(root)));
    for good in [
        &full("right-ca.pem"),
        &url("sslmode=require"),
        &url("sslmode=prefer"),
    ] {
        let store = open(good).await.unwrap();
        store.default_tenant().await.unwrap();
        store.close().await;
    }
    let refused = |error: StoreError| {
        let text = format!("{error} {error:?}");
        assert!(
            text.contains("cannot prove that it is the server"),
            "{text}"
        );
        assert!(!text.contains("hunter2"), "{text}");
    };
    refused(open(&full("other-ca.pem")).await.unwrap_err());
    let missing = open(&full("none.pem")).await.unwrap_err().to_string();
    assert!(missing.contains("none.pem cannot be read"), "{missing}");
    // Another's name, by the same address.
    server.stop();
    server.start(&options("other", port));
    refused(open(&full("other-ca.pem")).await.unwrap_err());
    // No TLS at all.
    server.stop();
    server.start(&format!("-c listen_addresses=localhost -c port={port}"));
    refused(open(&url("sslmode=require")).await.unwrap_err());
    open(&url("sslmode=prefer")).await.unwrap();
}
