//! Addresses of servers, as given in options.

use std::net::{Ipv4Addr, Ipv6Addr};

use ureq::http::Uri;

use super::failure::Failure;

/// The address of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The address without a trailing slash; paths are appended to it.
    pub base: String,
    /// Scheme, host and port in canonical form.
    pub origin: String,
    /// Whether requests can be read on their way: plain HTTP to another machine.
    pub open: bool,
}

impl Address {
    /// Reads <https://host:port/path>, the value of an option.
    pub fn parse(option: &str, url: &str) -> Result<Self, Failure> {
        let refused = |reason: &str| {
            Failure::usage(format!("{url}: {reason}; give {option} an address like http://127.0.0.1:7878"))
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

/// A host in the canonical form, which is the npm package's too, so that both derive the same token; `None` if it can be read
/// in more than one way, such as 127.1.
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
            let address = Address::parse("--server", url).unwrap();
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
            assert!(Address::parse("--server", bad).unwrap_err().detail.contains("--server"), "{bad}");
        }
    }
}
