//! Who sent a request: what its headers and its connection say.

use std::net::IpAddr;

use axum::http::{HeaderMap, HeaderValue, header};

use crate::config::AccessSection;
use crate::problem::Problem;
use crate::service::access::{Caller, Peer, Presented, Token, api_key};

/// Header with the secret of an API key.
pub const API_KEY: &str = "x-api-key";

/// Who sent a request with these headers from this address.
pub fn read(access: &AccessSection, headers: &HeaderMap, address: IpAddr) -> Caller {
    let token = match headers.get(header::AUTHORIZATION) {
        None => Presented::Nothing,
        Some(value) => bearer(value).map_or(Presented::Malformed, Presented::Given),
    };
    let api_key = match headers.get(API_KEY) {
        None => Presented::Nothing,
        Some(value) => api_key(access, value.as_bytes())
            .map_or(Presented::Malformed, |key| Presented::Given(key.name.clone())),
    };
    Caller { token, api_key, peer: Peer::from(address) }
}

/// Refuses a request that says twice who sends it or to which host: a proxy may look at one header and the server at the other.
///
/// # Errors
/// Two headers have the same name.
pub fn once(headers: &HeaderMap) -> Result<(), Problem> {
    for name in [header::AUTHORIZATION.as_str(), API_KEY, header::HOST.as_str()] {
        if headers.get_all(name).iter().nth(1).is_some() {
            return Err(Problem::bad_request(format!("the request has two headers {name}; send one")));
        }
    }
    Ok(())
}

fn bearer(value: &HeaderValue) -> Option<Token> {
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") { token.trim_start_matches(' ').parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read_from_bearer_alone() {
        let hex = "ab".repeat(32);
        let token = |text: String| {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, HeaderValue::try_from(text).unwrap());
            read(&AccessSection::default(), &headers, IpAddr::from([127, 0, 0, 1])).token
        };
        for good in [format!("Bearer {hex}"), format!("bearer  {hex}")] {
            assert!(matches!(token(good), Presented::Given(token) if token.to_hex() == hex));
        }
        for bad in [
            hex.clone(),
            format!("Basic {hex}"),
            format!("Bearer {hex}0"),
            "Bearer".into(),
            format!("Bearer\t{hex}"),
        ] {
            assert!(matches!(token(bad), Presented::Malformed));
        }
    }
}
