//! Options that choose a server and authenticate to it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use refloat::wire::server_token;
use ureq::http::{HeaderMap, HeaderName, HeaderValue, header};
use zeroize::Zeroizing;

use super::address::Address;
use super::connection::Connection;
use super::failure::Failure;
use super::keyfiles;
use super::message_files::read_file;
use super::outfile::OutFile;
use super::output::Output;
use crate::id::{Id, hex};

/// File of random bytes that tokens are derived from if there is no secret key.
const TOKEN_FILE: &str = "server.token";

/// Headers that refloat sets itself.
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
    /// Opens the evaluation keys on the server to everybody's jobs, or uses those that are open.
    #[arg(long, requires = "server")]
    pub public: bool,
    #[command(flatten)]
    pub reach: Reach,
}

/// How a server is reached, and what authenticates to it: arguments of commands with an argument `server`.
#[derive(Args)]
pub struct Reach {
    /// Token of the evaluation keys at the server, 64 hexadecimal digits [env: REFLOAT_TOKEN] [default: derived from the secret
    /// key, or from server.token in the folder of keys].
    #[arg(long, value_name = "HEX", requires = "server")]
    token: Option<String>,
    /// Secret that a server may ask its users for [env: REFLOAT_API_KEY].
    #[arg(long, value_name = "SECRET", requires = "server")]
    api_key: Option<String>,
    /// A header of every request, such as one that a proxy before the server asks for; may be repeated.
    #[arg(long, value_name = "NAME: VALUE", requires = "server", value_parser = parse_header)]
    header: Vec<(HeaderName, HeaderValue)>,
    /// PEM file of the authorities that may vouch for an https server [default: those of the system].
    #[arg(long, value_name = "FILE", requires = "server")]
    ca: Option<PathBuf>,
    /// Seconds that the server may be silent.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, requires = "server", value_parser = clap::value_parser!(u16).range(1..=3600))]
    timeout: u16,
}

impl Reach {
    /// A connection to the server at an address, with the token of the keys in the folder `keys`, if one is given, and the headers
    /// from the options.
    pub fn connect(
        &self,
        address: &Address,
        keys: Option<&Path>,
        output: &Output,
    ) -> Result<Connection, Failure> {
        let headers = self.headers(address, keys)?;
        if address.open && headers.contains_key(header::AUTHORIZATION) {
            output.note(&format!(
                "the token of the keys goes to {} for everybody on the way to read; https:// keeps it private",
                address.origin
            ));
        }
        let patience = Duration::from_secs(self.timeout.into());
        Connection::new(address, headers, patience, self.ca.as_deref(), output.clone())
    }

    /// The headers of every request.
    fn headers(&self, address: &Address, keys: Option<&Path>) -> Result<HeaderMap, Failure> {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.header {
            headers.append(name.clone(), value.clone());
        }
        let token = match (or_environment(self.token.as_ref(), "REFLOAT_TOKEN")?, keys) {
            (Some(token), _) => Some(checked(token)?),
            (None, Some(keys)) => Some(derived(keys, &address.origin)?),
            (None, None) => None,
        };
        if let Some(token) = token {
            let value = secret_value(&format!("Bearer {}", token.as_str()), "--token")?;
            headers.insert(header::AUTHORIZATION, value);
        }
        if let Some(key) = or_environment(self.api_key.as_ref(), "REFLOAT_API_KEY")? {
            headers.insert("x-api-key", secret_value(&key, "--api-key")?);
        }
        Ok(headers)
    }

    /// The command that fetches a job later from a server at an address: with the same options, except for secrets.
    pub fn fetch(&self, address: &Address, keys: Option<&Path>) -> FetchCommand {
        let mut options = vec![format!("--server {}", address.base)];
        if self.token.is_some() {
            options.push("--token HEX".to_owned());
        } else if let Some(keys) = keys {
            options.push(format!("--keys {}", shell_word(keys)));
        }
        options.extend(self.header.iter().map(|(name, _)| format!("--header '{name}: VALUE'")));
        options.extend(self.ca.iter().map(|ca| format!("--ca {}", shell_word(ca))));
        FetchCommand(options.join(" "))
    }
}

/// The command by which the result of a job is fetched.
pub struct FetchCommand(String);

impl FetchCommand {
    /// The command for one job.
    pub fn of(&self, job: &Id) -> String {
        format!("refloat fetch {job} {} --out FILE", self.0)
    }
}

/// A path quoted for a shell if necessary.
fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@%,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
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

/// The error messages leave out the value, because messages end up in logs.
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

/// The token at a server for the keys in a folder. It is derived from the secret key, as in the npm package; if there is none, from
/// a file of random bytes, which is made the first time.
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
        name.trim().parse().map_err(|_| format!("{:?} is not the name of a header", name.trim()))?;
    if OURS.contains(&name.as_str()) {
        return Err(format!("{name} is set by refloat; for tokens there are --token and --api-key"));
    }
    let mut value: HeaderValue =
        value.trim().parse().map_err(|_| format!("the value of {name} cannot be that of a header"))?;
    value.set_sensitive(true);
    Ok((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_strictly() {
        let (name, value) = parse_header("X-Gate:  open sesame ").unwrap();
        assert_eq!((name.as_str(), value.to_str().unwrap()), ("x-gate", "open sesame"));
        for bad in ["no colon", "a b: c", "Authorization: Basic eA==", "host: a", "x: a\nb", ": x"] {
            assert!(parse_header(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_job_is_fetched_with_the_same_options_but_for_secrets() {
        let address = Address::parse("--server", "https://a.example/x/").unwrap();
        let header = vec![parse_header("X-Gate: open").unwrap()];
        let reach = |token: Option<&str>, ca: Option<&str>| Reach {
            token: token.map(str::to_owned),
            api_key: Some("word".to_owned()),
            header: header.clone(),
            ca: ca.map(PathBuf::from),
            timeout: 60,
        };
        let of =
            |reach: Reach, keys: Option<&str>| reach.fetch(&address, keys.map(Path::new)).of(&Id([7; 16]));
        let begin = "refloat fetch 07070707070707070707070707070707 --server https://a.example/x";
        assert_eq!(
            of(reach(None, None), Some("my keys")),
            format!("{begin} --keys 'my keys' --header 'x-gate: VALUE' --out FILE")
        );
        assert_eq!(
            of(reach(Some("secret"), Some("/it's.pem")), Some("keys")),
            format!(r"{begin} --token HEX --header 'x-gate: VALUE' --ca '/it'\''s.pem' --out FILE")
        );
        assert!(!of(reach(None, None), None).contains("--keys"));
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
