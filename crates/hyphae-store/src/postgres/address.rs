//! Where a server is, and how it proves itself. An address may hold a password, so nothing of it
//! is ever shown but what is harmless.

use std::{fmt, path::PathBuf, str::FromStr as _};

use tokio_postgres::{
    Config,
    config::{Host, SslMode},
};

/// The address of a database on a server: `postgres://USER:PASSWORD@HOST:PORT/DATABASE`.
///
/// Parameters are those of libpq as far as they make sense here, among them `host` for the
/// folder of a Unix socket, `sslmode` (`disable`, `prefer`, `require`, `verify-full`) and `sslrootcert`,
/// a file of certificates in PEM. Without `sslmode` it is `prefer`, as libpq has it.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresAddress {
    pub(crate) config: Config,
    pub(crate) trust: Trust,
}

/// What a server must prove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Nothing: whoever listens on the wire may be in between.
    Anybody,
    /// That one of these certificates vouches for the name of the host.
    Roots(PathBuf),
}

/// An address that cannot be used. The message repeats nothing of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadAddress(&'static str);

impl fmt::Display for BadAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for BadAddress {}

impl PostgresAddress {
    /// Reads an address.
    ///
    /// # Errors
    /// [`BadAddress`] if it is none, or asks for what there is not.
    pub fn parse(url: &str) -> Result<Self, BadAddress> {
        let (base, parameters) = url.split_once('?').unwrap_or((url, ""));
        let (mut mode, mut roots) = ("prefer", None);
        let mut rest = Vec::new();
        for parameter in parameters.split('&').filter(|text| !text.is_empty()) {
            match parameter.split_once('=') {
                Some(("sslmode", value)) => mode = value,
                Some(("sslrootcert", value)) => {
                    let path = decoded(value).ok_or(BadAddress("sslrootcert names no file"))?;
                    roots = Some(PathBuf::from(path));
                }
                _ => rest.push(parameter),
            }
        }
        let plain = match rest.is_empty() {
            true => base.to_owned(),
            false => format!("{base}?{}", rest.join("&")),
        };
        let mut config = Config::from_str(&plain).map_err(|_| {
            BadAddress(
                "the address is not understood; write postgres://USER:PASSWORD@HOST:PORT/DATABASE",
            )
        })?;
        let (mode, trust) = match (mode, roots) {
            ("disable", _) => (SslMode::Disable, Trust::Anybody),
            ("prefer", None) => (SslMode::Prefer, Trust::Anybody),
            ("require", None) => (SslMode::Require, Trust::Anybody),
            // A root that nobody is checked against would only look safe.
            ("require" | "verify-full", Some(roots)) => (SslMode::Require, Trust::Roots(roots)),
            ("verify-full", None) => {
                return Err(BadAddress(
                    "sslmode=verify-full needs sslrootcert=FILE, the certificates that are trusted",
                ));
            }
            ("prefer", Some(_)) => {
                return Err(BadAddress("sslrootcert needs sslmode=verify-full"));
            }
            _ => {
                return Err(BadAddress(
                    "sslmode is one of disable, prefer, require and verify-full",
                ));
            }
        };
        if config.get_hosts().is_empty() {
            return Err(BadAddress(
                "the address names no host; for a Unix socket add ?host=FOLDER",
            ));
        }
        let local = (config.get_hosts().iter()).all(|host| matches!(host, Host::Unix(_)));
        config.ssl_mode(if local { SslMode::Disable } else { mode });
        config.application_name("hyphae-server");
        Ok(Self { config, trust })
    }

    /// Tells whether the address holds a password.
    pub fn has_password(&self) -> bool {
        self.config.get_password().is_some()
    }
}

impl fmt::Display for PostgresAddress {
    /// Shows where the database is, never who asks and with which password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgres://")?;
        let ports = self.config.get_ports();
        for (index, host) in self.config.get_hosts().iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            match host {
                Host::Tcp(name) if name.contains(':') => write!(f, "[{name}]")?,
                Host::Tcp(name) => f.write_str(name)?,
                Host::Unix(folder) => write!(f, "{}", folder.display())?,
            }
            if let Some(port) = ports.get(index).or(ports.first()) {
                write!(f, ":{port}")?;
            }
        }
        let user = self.config.get_user();
        match self.config.get_dbname().or(user) {
            Some(database) => write!(f, "/{database}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresAddress({self})")
    }
}

/// Undoes percent encoding.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let mut digit = || char::from(rest.next()?).to_digit(16);
            let number = digit()? * 16 + digit()?;
            bytes.push(u8::try_from(number).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes)
        .ok()
        .filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn good(url: &str) -> PostgresAddress {
        PostgresAddress::parse(url).unwrap()
    }

    #[test]
    fn an_address_shows_where_and_never_the_password() {
        for (url, shown) in [
            (
                "postgres://ana:hunter2@db.example:6543/team",
                "postgres://db.example:6543/team",
            ),
            (
                "postgresql://ana:hunter2@db.example/team?sslmode=require",
                "postgres://db.example:5432/team",
            ),
            ("postgres://ana:hunter2@[::1]/", "postgres://[::1]:5432/ana"),
            (
                "postgres:///team?host=/run/postgresql&user=ana&password=hunter2",
                "postgres:///run/postgresql/team",
            ),
            (
                "postgres://a,b:7777/team?password=hunter2",
                "postgres://a:5432,b:7777/team",
            ),
        ] {
            let address = good(url);
            assert_eq!(address.to_string(), shown);
            assert_eq!(format!("{address:?}"), format!("PostgresAddress({shown})"));
        }
    }

    #[test]
    fn what_a_server_must_prove_follows_the_mode() {
        let roots = || Trust::Roots(PathBuf::from("/etc/my ca.pem"));
        for (parameters, mode, trust) in [
            ("", SslMode::Prefer, Trust::Anybody),
            ("?sslmode=disable", SslMode::Disable, Trust::Anybody),
            ("?sslmode=require", SslMode::Require, Trust::Anybody),
            (
                "?sslmode=require&sslrootcert=/etc/my%20ca.pem",
                SslMode::Require,
                roots(),
            ),
            (
                "?sslrootcert=/etc/my%20ca.pem&sslmode=verify-full",
                SslMode::Require,
                roots(),
            ),
        ] {
            let address = good(&format!("postgres://h/d{parameters}"));
            assert_eq!(address.config.get_ssl_mode(), mode, "{parameters}");
            assert_eq!(address.trust, trust, "{parameters}");
        }
        assert!(good("postgres://u:p@h/d").has_password());
        assert!(!good("postgres://u@h/d").has_password());
        let socket = good("postgres:///d?host=/run&sslmode=prefer");
        assert_eq!(socket.config.get_ssl_mode(), SslMode::Disable);
    }

    #[test]
    fn what_is_no_address_is_refused_without_repeating_it() {
        for url in [
            "postgres://u:hunter2@h:port/d",
            "postgres://h/d?hunter2=1",
            "postgres://h/d?sslmode=hunter2",
            "postgres://h/d?sslmode=verify-full",
            "postgres://h/d?sslmode=verify-full&sslrootcert=%zzhunter2",
            "postgres://h/d?sslrootcert=hunter2",
            "postgres:///hunter2",
            "mysql://hunter2",
        ] {
            let error = PostgresAddress::parse(url).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{url}");
        }
    }
}
