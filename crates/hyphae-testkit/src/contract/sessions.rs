//! Checks of [`SessionStore`](hyphae_core::ports::SessionStore).

use super::{Subject, fixture::World};

pub async fn a_session_comes_back_with_every_field(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let owner = world.owner().await;
    let mut session = world.session("/work place/ü");
    session.title = Some("a title".to_owned());
    subject
        .sessions()
        .create_session(owner, &session)
        .await
        .unwrap();
    let found = subject.sessions().session(owner, session.id).await.unwrap();
    assert_eq!(found, session);
}
