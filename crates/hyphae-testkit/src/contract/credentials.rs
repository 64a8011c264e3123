//! Checks of [`CredentialStore`](hyphae_core::ports::CredentialStore).

use super::{Subject, fixture::World};

pub async fn a_key_opens_its_credential_and_no_other(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let store = subject.credentials();
    let (ana, ana_key) = world.credential(world.tenant);
    let (bob, bob_key) = world.credential(world.tenant);
    store.add_credential(&ana, &ana_key).await.unwrap();
    assert_eq!(store.credential_of_key(&bob_key).await.unwrap(), None);
    store.add_credential(&bob, &bob_key).await.unwrap();
    assert_eq!(store.credential_of_key(&ana_key).await.unwrap(), Some(ana));
    assert_eq!(store.credential_of_key(&bob_key).await.unwrap(), Some(bob));
}
