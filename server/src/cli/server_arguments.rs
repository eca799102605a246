//! Which server is to do the work, and what it is shown.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

use clap::Args;
use refloat::wire::server_token;
use ureq::http::{HeaderMap, HeaderName, HeaderValue, Uri, header};
use zeroize::Zeroizing;

use super::failure::Failure;
use super::keyfiles;
use super::message_files::read_file;
use super::outfile::OutFile;
use crate::id::hex;

/// File of random bytes that tokens are derived from where there is no secret key.
const TOKEN_FILE: &str = "server.token";

/// Headers that requests have anyway.
const OURS: [&str; 8] = [
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "host",
    "refloat-digest",
    "transfer-encoding",
    "x-api-key",
];

/// Arguments of commands that a server can do the work of.
#[derive(Args)]
pub struct ServerArguments {
    /// Has a server do the work, http:// or https://; evaluation keys it lacks are sent first.
    #[arg(long = "server", id = "server", value_name = "URL", requires = "keys")]
    pub url: Option<String>,
    /// Token of the evaluation keys at the server, 64 hexadecimal digits [env: REFLOAT_TOKEN] [default: derived from the secret
    /// key, or from server.token in the folder of keys].
    #[arg(long, value_name = "HEX", requires = "server")]
    token: Option<String>,
    /// Opens the evaluation keys on the server to everybody's jobs, or uses those that are open.
    #[arg(long, requires = "server")]
    pub public: bool,
    /// Secret that a server may ask its users for [env: REFLOAT_API_KEY].
    #[arg(long, value_name = "SECRET", requires = "server")]
    api_key: Option<String>,
    /// A header of every request, such as one that a proxy before the server asks for; may be repeated.
    #[arg(long, value_name = "NAME: VALUE", requires = "server", value_parser = parse_header)]
    header: Vec<(HeaderName, HeaderValue)>,
    /// PEM file of the authorities that may vouch for an https server [default: those of the system].
    #[arg(long, value_name = "FILE", requires = "server")]
    pub ca: Option<PathBuf>,
    /// Seconds that the server may be silent.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, requires = "server", value_parser = clap::value_parser!(u16).range(1..=3600))]
    pub timeout: u16,
}

/// The address of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// What paths are appended to.
    pub base: String,
    /// Scheme, host and port in the one way of writing them.
    pub origin: String,
    /// Whether what is sent can be read on its way, unless it stays on this machine.
    pub open: bool,
}

impl Address {
    /// Reads <https://host:port/path>.
    pub fn parse(url: &str) -> Result<Self, Failure> {
        let refused = |reason: &str| {
            Failure::usage(format!("{url}: {reason}; give --server an address like http://127.0.0.1:7878"))
        };
        let uri: Uri = url.parse().map_err(|_| refused("no address"))?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(refused("no scheme and host"));
        };
        let scheme = scheme.to_ascii_lowercase();
        let usual = match scheme.as_str() {
            "http" => 80,
            "https" => 443,
            _ => return Err(refused("neither http:// nor https://")),
        };
        if authority.as_str().contains('@') {
            return Err(refused(
                "a password in an address is seen by everybody on the machine; use --header or --token",
            ));
        }
        if uri.query().is_some() || url.contains('#') {
            return Err(refused("an address of a server ends with its path"));
        }
        let host = canonical(authority.host())
            .ok_or_else(|| refused("the host is neither a name nor an address as it is usually written"))?;
        let port = match authority.port_u16() {
            None if authority.as_str().len() > authority.host().len() => return Err(refused("no such port")),
            Some(port) if port != usual => format!(":{port}"),
            _ => String::new(),
        };
        let origin = format!("{scheme}://{host}{port}");
        let base = format!("{origin}{}", uri.path().trim_end_matches('/'));
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let local = bare == "localhost" || bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
        Ok(Self { base, origin, open: scheme == "http" && !local })
    }
}

impl ServerArguments {
    /// What every request carries: the token of the keys in `keys` at the server, and what was asked for.
    pub fn headers(&self, address: &Address, keys: &Path) -> Result<HeaderMap, Failure> {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.header {
            headers.append(name.clone(), value.clone());
        }
        let token = match or_environment(self.token.as_ref(), "REFLOAT_TOKEN")? {
            Some(token) => checked(token)?,
            None => derived(keys, &address.origin)?,
        };
        headers
            .insert(header::AUTHORIZATION, secret_value(&format!("Bearer {}", token.as_str()), "--token")?);
        if let Some(key) = or_environment(self.api_key.as_ref(), "REFLOAT_API_KEY")? {
            headers.insert("x-api-key", secret_value(&key, "--api-key")?);
        }
        Ok(headers)
    }
}

/// A host in the one way of writing it that the npm package has too, so that both derive the same token; `None` where there
/// is more than one way to understand it, as for 127.1.
fn canonical(host: &str) -> Option<String> {
    let host = host.to_ascii_lowercase();
    if let Some(address) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        let address: Ipv6Addr = address.parse().ok()?;
        return Some(match address.to_ipv4_mapped() {
            Some(_) => format!("[::ffff:{:x}:{:x}]", address.segments()[6], address.segments()[7]),
            None => format!("[{address}]"),
        });
    }
    let last = host.trim_end_matches('.').rsplit('.').next()?;
    let numeric = last.starts_with("0x") || last.bytes().all(|byte| byte.is_ascii_digit());
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    let known = if numeric { host.parse::<Ipv4Addr>().is_ok() } else { host.bytes().all(fits) };
    known.then_some(host)
}

fn or_environment(given: Option<&String>, name: &str) -> Result<Option<Zeroizing<String>>, Failure> {
    if let Some(given) = given {
        return Ok(Some(Zeroizing::new(given.clone())));
    }
    match std::env::var(name) {
        Ok(value) => Ok(Some(Zeroizing::new(value)).filter(|value| !value.is_empty())),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(error) => Err(Failure::usage(format!("{name}: {error}"))),
    }
}

/// The words leave out what was given: messages end up in logs.
fn secret_value(text: &str, what: &str) -> Result<HeaderValue, Failure> {
    let mut value = HeaderValue::from_str(text)
        .map_err(|_| Failure::usage(format!("{what} holds characters that no header can have")))?;
    value.set_sensitive(true);
    Ok(value)
}

fn checked(token: Zeroizing<String>) -> Result<Zeroizing<String>, Failure> {
    if token.len() == 64 && token.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        return Ok(token);
    }
    Err(Failure::usage(format!(
        "a token is 64 hexadecimal digits in lower case, and the one of --token or REFLOAT_TOKEN has {} characters; give the \
         one that the keys were uploaded with",
        token.chars().count()
    )))
}

/// The token of the keys in a folder at a server: from the secret key, as the npm package derives it, or from the file
/// that is kept, and made at the first time, where evaluation keys are without one.
pub fn derived(keys: &Path, origin: &str) -> Result<Zeroizing<String>, Failure> {
    let token = |bytes: &[u8]| Zeroizing::new(hex(&*Zeroizing::new(server_token(bytes, origin))));
    if let Some(secret) = keyfiles::secret_of(keys) {
        return Ok(token(&read_file(&secret)?));
    }
    let path = keys.join(TOKEN_FILE);
    if !path.exists() {
        let mut bytes = Zeroizing::new([0; 32]);
        getrandom::fill(bytes.as_mut()).map_err(|error| Failure::system(&error))?;
        OutFile::secret(&path, false)?.write(bytes.as_ref())?;
    }
    let bytes = read_file(&path)?;
    if bytes.len() != 32 {
        return Err(Failure::usage(format!(
            "{} has {} bytes and not the 32 of this file; give the token with --token, or remove the file for a new one",
            path.display(),
            bytes.len()
        )));
    }
    Ok(token(&bytes))
}

fn parse_header(text: &str) -> Result<(HeaderName, HeaderValue), String> {
    let (name, value) = text.split_once(':').ok_or("a header is written as 'Name: value'")?;
    let name: HeaderName =
        name.trim().parse().map_err(|_| format!("{:?} is no name of a header", name.trim()))?;
    if OURS.contains(&name.as_str()) {
        return Err(format!("{name} is set by refloat; for tokens there are --token and --api-key"));
    }
    let mut value: HeaderValue =
        value.trim().parse().map_err(|_| format!("the value of {name} is none of a header"))?;
    value.set_sensitive(true);
    Ok((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_one_origin() {
        for (url, base, origin, open) in [
            ("http://127.0.0.1:7878", "http://127.0.0.1:7878", "http://127.0.0.1:7878", false),
            ("HTTPS://Example.ORG:443/", "https://example.org", "https://example.org", false),
            (
                "https://example.org:8443/refloat/",
                "https://example.org:8443/refloat",
                "https://example.org:8443",
                false,
            ),
            ("http://example.org:80", "http://example.org", "http://example.org", true),
            ("http://[::1]:7878/", "http://[::1]:7878", "http://[::1]:7878", false),
            ("http://localhost", "http://localhost", "http://localhost", false),
            ("http://[0:0::1]:80", "http://[::1]", "http://[::1]", false),
            ("http://[::FFFF:10.0.0.1]", "http://[::ffff:a00:1]", "http://[::ffff:a00:1]", true),
            ("http://7.a_b.example", "http://7.a_b.example", "http://7.a_b.example", true),
        ] {
            let address = Address::parse(url).unwrap();
            assert_eq!(
                (address.base.as_str(), address.origin.as_str(), address.open),
                (base, origin, open),
                "{url}"
            );
        }
        for bad in [
            "example.org",
            "ftp://example.org",
            "http://",
            "http://user:word@example.org",
            "http://a.example/?q=1",
            "http://a.example:99999",
            "http://a.example/#x",
            "http://a b",
            "http://127.1",
            "http://010.0.0.1",
            "http://2130706433",
            "http://0x7f.1",
            "http://10.0.0.1.",
            "http://a%41",
            "http://.",
            "http://[::1%25lo]",
        ] {
            assert!(Address::parse(bad).unwrap_err().detail.contains("--server"), "{bad}");
        }
    }

    #[test]
    fn headers_are_read_strictly() {
        let (name, value) = parse_header("X-Gate:  open sesame ").unwrap();
        assert_eq!((name.as_str(), value.to_str().unwrap()), ("x-gate", "open sesame"));
        for bad in ["no colon", "a b: c", "Authorization: Basic eA==", "host: a", "x: a\nb", ": x"] {
            assert!(parse_header(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn tokens_stay_with_their_keys_and_servers() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("evaluation")).unwrap();
        let alone = derived(folder.path(), "http://a.example").unwrap();
        assert_eq!(alone.len(), 64);
        assert_eq!(derived(folder.path(), "http://a.example").unwrap(), alone);
        assert_ne!(derived(folder.path(), "http://b.example").unwrap(), alone);
        std::fs::write(at("secret.key"), "a secret").unwrap();
        let owned = derived(folder.path(), "http://a.example").unwrap();
        assert_eq!(*owned, hex(&server_token(b"a secret", "http://a.example")));
        assert_eq!(derived(&at("evaluation"), "http://a.example").unwrap(), owned);
        assert_eq!(derived(&at("secret.key"), "http://a.example").unwrap(), owned);
        std::fs::remove_file(at("secret.key")).unwrap();
        std::fs::write(at(TOKEN_FILE), "short").unwrap();
        assert!(derived(folder.path(), "http://a.example").unwrap_err().detail.contains("5 bytes"));
        assert!(
            checked(Zeroizing::new("A".repeat(64))).is_err()
                && checked(Zeroizing::new("a".repeat(64))).is_ok()
        );
    }
}
