//! The suite that every adapter passes.

mod memories {
    hyphae_testkit::memory_contract!(crate::subject::empty);
}

mod sessions {
    hyphae_testkit::session_contract!(crate::subject::empty);
}

mod credentials {
    hyphae_testkit::credential_contract!(crate::subject::empty);
}

mod transfer {
    hyphae_testkit::transfer_contract!(crate::subject::empty);
}

mod isolation {
    hyphae_testkit::isolation_contract!(crate::subject::empty);
}
