//! Where NATS is, as a setting says it: `nats://user:password@host:4222`, or several with commas between them.

use std::fmt;
use std::io;
use std::str::FromStr;

use async_nats::ServerAddr;

/// Addresses of the servers of one NATS, shown without passwords.
#[derive(Debug, Clone)]
pub struct Addresses {
    servers: Vec<ServerAddr>,
    login: Option<(String, String)>,
}

impl Addresses {
    /// Addresses without passwords, which the client logs.
    pub fn servers(&self) -> &[ServerAddr] {
        &self.servers
    }

    /// User and password of the first address that has them.
    pub fn login(&self) -> Option<&(String, String)> {
        self.login.as_ref()
    }
}

impl FromStr for Addresses {
    type Err = io::Error;

    fn from_str(text: &str) -> io::Result<Self> {
        let (mut servers, mut login) = (Vec::new(), None);
        for (index, address) in text.split(',').enumerate() {
            // Text that is not an address is not shown: it may have a password.
            let refused = || {
                let place = index + 1;
                io::Error::other(format!(
                    "cluster.nats: entry {place} of the list is not an address; give nats://host:4222 or tls://host:4222, and write special \
                     characters of a password as %40 and the like"
                ))
            };
            let address: ServerAddr = address.trim().parse().map_err(|_| refused())?;
            if address.host().is_empty() {
                return Err(refused());
            }
            if let (Some(user), Some(password)) = (address.username(), address.password()) {
                login.get_or_insert((
                    decoded(user).ok_or_else(refused)?,
                    decoded(password).ok_or_else(refused)?,
                ));
            }
            let mut bare = address.into_inner();
            bare.set_username("").and_then(|()| bare.set_password(None)).map_err(|()| refused())?;
            servers.push(ServerAddr::from_url(bare).map_err(|_| refused())?);
        }
        Ok(Self { servers, login })
    }
}

impl fmt::Display for Addresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, server) in self.servers.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(f, "{comma}{}", server.as_url_str().trim_end_matches('/'))?;
        }
        Ok(())
    }
}

/// Text with `%` and two hexadecimal digits in place of some of its bytes.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        bytes.push(if byte == b'%' { (digit(rest.next())? * 16 + digit(rest.next())?) as u8 } else { byte });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown_without_passwords() {
        for (text, shown, login) in [
            ("nats://127.0.0.1:4222", "nats://127.0.0.1:4222", None),
            (
                "nats://other:1, tls://front:a@b@[::1]:2",
                "nats://other:1,tls://[::1]:2",
                Some(("front", "a@b")),
            ),
            ("u:p%25%40ß@host", "nats://host", Some(("u", "p%@ß"))),
            ("host", "nats://host", None),
        ] {
            let addresses: Addresses = text.parse().unwrap();
            let found = addresses.login().map(|(user, password)| (user.as_str(), password.as_str()));
            assert_eq!((addresses.to_string().as_str(), found), (shown, login));
            assert!(addresses.servers().iter().all(|server| !server.has_user_pass()));
        }
    }

    #[test]
    fn what_is_no_address_is_refused_without_its_password() {
        for text in [
            "",
            "nats://a,,nats://b",
            "http://u:secret@host",
            "nats://u:secret%4@host",
            "nats://u:secret@host:x",
        ] {
            let error = text.parse::<Addresses>().unwrap_err().to_string();
            assert!(error.contains("nats://host:4222") && !error.contains("secret"), "{error}");
        }
    }
}
