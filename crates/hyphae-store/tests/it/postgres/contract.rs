//! The suite that every adapter passes, over the newest server and the oldest.

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

suites!(newest);
suites!(oldest);
