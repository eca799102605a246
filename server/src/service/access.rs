//! Who asks, and what they may do.
//!
//! A key set belongs to whoever has its *token*: 32 random bytes that its first request brought, or was given. The server
//! keeps a hash. *API keys* are another matter: the operator hands them out, so that not everybody can make key sets and
//! jobs, and quotas go by them.

use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::Service;
use crate::config::{AccessSection, ApiKey, api_key_hash};
use crate::id::{hex, unhex};
use crate::problem::Problem;
use crate::store::holder::Holder;

/// Keeps hashes of tokens apart from every other use of BLAKE3.
const CONTEXT: &str = "refloat 2026-11-22 token of a key set";

/// What makes its bearer the owner of a key set. Written as 64 lowercase hexadecimal digits.
pub struct Token(Zeroizing<[u8; 32]>);

/// The text is not 64 lowercase hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadToken;

impl FromStr for Token {
    type Err = BadToken;

    fn from_str(text: &str) -> Result<Self, BadToken> {
        let mut bytes = Zeroizing::new([0; 32]);
        unhex(text, bytes.as_mut()).ok_or(BadToken)?;
        Ok(Self(bytes))
    }
}

impl Token {
    /// A fresh token from the operating system's entropy.
    ///
    /// # Errors
    /// The operating system has no entropy to give.
    pub fn random() -> std::io::Result<Self> {
        let mut bytes = Zeroizing::new([0; 32]);
        getrandom::fill(bytes.as_mut()).map_err(std::io::Error::other)?;
        Ok(Self(bytes))
    }

    /// The text to hand to its owner.
    pub fn to_hex(&self) -> String {
        hex(self.0.as_ref())
    }

    /// The hash that the server keeps.
    pub fn hash(&self) -> [u8; 32] {
        blake3::derive_key(CONTEXT, self.0.as_ref())
    }
}

/// Something that a request may bring along.
#[derive(Default)]
pub enum Presented<T> {
    /// The request does not have it.
    #[default]
    Nothing,
    /// The request has something invalid in its place.
    Malformed,
    /// The request has it.
    Given(T),
}

/// The network address by which requests are counted: of IPv6 the first 64 bits, as the rest belongs to one customer of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Peer(IpAddr);

impl From<IpAddr> for Peer {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V6(address) if !address.is_loopback() => {
                Self(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into())
            }
            address => Self(address),
        }
    }
}

impl Peer {
    /// The first address of the network.
    pub fn address(self) -> IpAddr {
        self.0
    }
}

/// One of the addresses for documentation.
#[cfg(test)]
pub(crate) fn some_peer(last: u8) -> Peer {
    IpAddr::from([192, 0, 2, last]).into()
}

impl std::fmt::Display for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Who asks.
pub struct Caller {
    /// The token of a key set.
    pub token: Presented<Token>,
    /// The name of the API key whose secret was given.
    pub api_key: Presented<String>,
    /// Where the request comes from.
    pub peer: Peer,
}

impl Caller {
    /// Somebody on this machine who brings nothing along.
    pub fn local() -> Self {
        Self {
            token: Presented::Nothing,
            api_key: Presented::Nothing,
            peer: Peer(IpAddr::V6(Ipv6Addr::LOCALHOST)),
        }
    }
}

/// What is done to a key set or with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Jobs, their results, and the state of the set: open to all if the set is public.
    Use,
    /// Uploading, sealing, deleting: for the owner alone.
    Change,
}

/// The API key that has this secret, compared in a time that tells nothing about it.
pub fn api_key<'a>(access: &'a AccessSection, secret: &[u8]) -> Option<&'a ApiKey> {
    let hash = api_key_hash(secret);
    access.api_keys.iter().fold(None, |found, key| {
        if bool::from(key.hash.as_bytes().ct_eq(hash.as_bytes())) { Some(key) } else { found }
    })
}

impl Service {
    /// Lets `caller` do `act` with something that belongs to `holder`; errors call it `what`.
    ///
    /// # Errors
    /// The token is missing or another one.
    pub(super) fn admit(
        &self,
        caller: &Caller,
        holder: &Holder,
        act: Act,
        what: &str,
    ) -> Result<(), Problem> {
        if holder.public && act == Act::Use {
            return Ok(());
        }
        let Some(kept) = &holder.token else {
            if self.config.access.allow_untokened {
                return Ok(());
            }
            return Err(token_wrong(format!(
                "{what} was stored by a version of refloat that gave no tokens, so nobody can show to own it; \
                 start the server with access.allow_untokened = true to use or delete it, then upload the keys anew"
            )));
        };
        let given = token_of(caller, what)?.ok_or_else(|| {
            token_missing(format!(
                "{what} belongs to whoever has its token; send the token that its upload began with as Authorization: Bearer"
            ))
        })?;
        if bool::from(hex(&given.hash()).as_bytes().ct_eq(kept.as_bytes())) {
            return Ok(());
        }
        Err(token_wrong(format!(
            "the token is not the one of {what}; use the one that its upload began with"
        )))
    }

    /// The API key that counts for what `caller` makes: none if the operator asks for none.
    ///
    /// # Errors
    /// An API key is asked for, and `caller` has none or a wrong one.
    pub(super) fn account(&self, caller: &Caller) -> Result<Option<&ApiKey>, Problem> {
        let keys = &self.config.access.api_keys;
        if keys.is_empty() {
            return Ok(None);
        }
        match &caller.api_key {
            Presented::Given(name) => Ok(keys.iter().find(|key| key.name == *name)),
            Presented::Nothing => Err(Problem::new(
                401,
                "API_KEY_MISSING",
                "API key missing",
                "this server takes keys and jobs from those with an API key; send it as x-api-key",
            )),
            Presented::Malformed => Err(Problem::new(
                403,
                "API_KEY_WRONG",
                "API key wrong",
                "this API key is not known here; ask the operator of the server for one",
            )),
        }
    }
}

/// The token of a request, if it has one.
///
/// # Errors
/// There is something else in its place.
pub(super) fn token_of<'a>(caller: &'a Caller, what: &str) -> Result<Option<&'a Token>, Problem> {
    match &caller.token {
        Presented::Given(token) => Ok(Some(token)),
        Presented::Nothing => Ok(None),
        Presented::Malformed => Err(token_missing(format!(
            "the Authorization header is not Bearer with the 64 lowercase hexadecimal digits of the token of {what}"
        ))),
    }
}

fn token_missing(detail: String) -> Problem {
    Problem::new(401, "TOKEN_MISSING", "Token missing", detail)
}

fn token_wrong(detail: String) -> Problem {
    Problem::new(403, "TOKEN_WRONG", "Token wrong", detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_one_text_form_and_a_hash_of_their_own() {
        let text = "0f".repeat(32);
        let token: Token = text.parse().ok().unwrap();
        assert_eq!(token.to_hex(), text);
        assert_ne!(token.hash(), *blake3::hash(&[0x0f; 32]).as_bytes());
        assert_ne!(Token::random().unwrap().to_hex(), Token::random().unwrap().to_hex());
        for bad in ["", "0F", &"0F".repeat(32), &"0f".repeat(31), &"0f".repeat(33), &" 0".repeat(32)] {
            assert!(bad.parse::<Token>().is_err(), "{bad}");
        }
    }

    #[test]
    fn peers_are_networks_of_one_customer() {
        let peer = |text: &str| Peer::from(text.parse::<IpAddr>().unwrap());
        assert_eq!(peer("2001:db8:1:2:3::4"), peer("2001:db8:1:2::1"));
        assert_ne!(peer("2001:db8:1:2::1"), peer("2001:db8:1:3::1"));
        assert_eq!(peer("::ffff:192.0.2.1"), peer("192.0.2.1"));
        assert_ne!(peer("192.0.2.1"), peer("192.0.2.2"));
        assert_eq!(peer("::1"), Caller::local().peer);
    }
}
