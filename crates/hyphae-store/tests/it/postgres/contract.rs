//! The suite that every adapter passes, over the newest server and the oldest, and the longest
//! part of it behind a pooler.

macro_rules! suites {
    ($server:ident) => {
        mod $server {
            mod memories {
                hyphae_testkit::memory_contract!(crate::postgres::server::$server);
            }

            mod sessions {
                hyphae_testkit::session_contract!(crate::postgres::server::$server);
            }

            mod credentials {
                hyphae_testkit::credential_contract!(crate::postgres::server::$server);
            }

            mod transfer {
                hyphae_testkit::transfer_contract!(crate::postgres::server::$server);
            }

            mod isolation {
                hyphae_testkit::isolation_contract!(crate::postgres::server::$server);
            }
        }
    };
}

mod pooled {
    hyphae_testkit::memory_contract!(crate::postgres::server::pooled);
}

suites!(newest);
suites!(oldest);
suites!(restricted);
