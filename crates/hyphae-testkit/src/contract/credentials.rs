//! Checks of [`CredentialStore`](hyphae_core::ports::CredentialStore).

use hyphae_core::{
    credential::Credential,
    ids::{CredentialId, TenantId},
    ports::StoreError,
};

use super::{Subject, fixture::World};

pub async fn a_key_opens_its_credential_and_no_other(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let store = subject.credentials();
    let (ana, ana_key) = world.credential(world.tenant);
    let (bob, bob_key) = world.credential(TenantId::new(world.id()));
    store.add_credential(&ana, &ana_key).await.unwrap();
    assert_eq!(store.credential_of_key(&bob_key).await.unwrap(), None);
    store.add_credential(&bob, &bob_key).await.unwrap();
    assert_eq!(store.credential_of_key(&ana_key).await.unwrap(), Some(ana));
    assert_eq!(store.credential_of_key(&bob_key).await.unwrap(), Some(bob));
}

pub async fn the_default_tenant_stays_the_same(subject: &dyn Subject) {
    let first = subject.credentials().default_tenant().await.unwrap();
    let other = subject.again().await;
    assert_eq!(other.credentials().default_tenant().await.unwrap(), first);
}

pub async fn another_handle_knows_the_same_keys(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let other = subject.again().await;
    let (ana, key) = world.credential(world.tenant);
    subject
        .credentials()
        .add_credential(&ana, &key)
        .await
        .unwrap();
    let found = other.credentials().credential_of_key(&key).await.unwrap();
    assert_eq!(found, Some(ana));
}

pub async fn credentials_are_listed_oldest_first_and_by_tenant(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let store = subject.credentials();
    let elsewhere = TenantId::new(world.id());
    let mut all = Vec::new();
    for _ in 0..3 {
        let (credential, key) = world.credential(world.tenant);
        all.push((credential, key));
    }
    for (credential, key) in all.iter().rev() {
        store.add_credential(credential, key).await.unwrap();
    }
    let (other, key) = world.credential(elsewhere);
    store.add_credential(&other, &key).await.unwrap();
    let want: Vec<Credential> = all.into_iter().map(|(credential, _)| credential).collect();
    assert_eq!(store.credentials(world.tenant).await.unwrap(), want);
    assert_eq!(store.credentials(elsewhere).await.unwrap(), [other]);
    let unknown = TenantId::new(world.id());
    assert_eq!(store.credentials(unknown).await.unwrap(), []);
}

pub async fn a_revoked_key_stays_revoked_since_the_first_time(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let store = subject.credentials();
    let (mut ana, key) = world.credential(world.tenant);
    store.add_credential(&ana, &key).await.unwrap();
    let (first, second) = (world.now(), world.now());
    for at in [first, second] {
        assert!(
            store
                .revoke_credential(ana.tenant, ana.id, at)
                .await
                .unwrap()
        );
        ana.revoked_at = Some(first);
        let found = store.credential_of_key(&key).await.unwrap();
        assert_eq!(found.as_ref(), Some(&ana));
    }
}

pub async fn only_a_credential_of_the_tenant_is_revoked(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let store = subject.credentials();
    let (ana, key) = world.credential(world.tenant);
    store.add_credential(&ana, &key).await.unwrap();
    let elsewhere = world.stranger().await;
    for (tenant, id) in [
        (elsewhere.tenant, ana.id),
        (ana.tenant, elsewhere.credential),
        (ana.tenant, CredentialId::new(world.id())),
        (TenantId::new(world.id()), ana.id),
    ] {
        let done = store.revoke_credential(tenant, id, world.now()).await;
        assert!(!done.unwrap());
    }
    assert_eq!(store.credential_of_key(&key).await.unwrap(), Some(ana));
}

pub async fn a_key_has_one_holder(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let store = subject.credentials();
    let (ana, key) = world.credential(world.tenant);
    let (bob, other_key) = world.credential(world.tenant);
    store.add_credential(&ana, &key).await.unwrap();
    for done in [
        store.add_credential(&bob, &key).await,
        store.add_credential(&ana, &other_key).await,
    ] {
        let Err(error @ StoreError::Unavailable { .. }) = done else {
            panic!("{done:?}");
        };
        let shown = format!("{error} {error:?}");
        for key in [&key, &other_key] {
            assert!(!shown.contains(&key.reveal()[4..20]), "{shown}");
        }
    }
    assert_eq!(store.credentials(world.tenant).await.unwrap(), [ana]);
    assert_eq!(store.credential_of_key(&other_key).await.unwrap(), None);
}

pub async fn a_name_of_any_kind_comes_back(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let store = subject.credentials();
    for name in ["", "'; --", "ana's ☂ key", "\u{202e}x", &"n".repeat(10_000)] {
        let (mut credential, key) = world.credential(world.tenant);
        credential.name = name.to_owned();
        store.add_credential(&credential, &key).await.unwrap();
        let found = store.credential_of_key(&key).await.unwrap();
        assert_eq!(found, Some(credential));
    }
}
