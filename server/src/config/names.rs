//! Checks origins and host names in the settings. Requests have to match them to the letter; a name that none can match is refused.

use super::{Config, ConfigError};

/// Refuses names that no request can match.
pub(super) fn check(config: &Config) -> Result<(), ConfigError> {
    let server = &config.server;
    let fail = |key: &str, name: &str, wanted: &str| {
        Err(ConfigError(format!("server.{key} has {name:?}, which no request can match: {wanted}")))
    };
    if let Some(name) = server.allowed_origins.iter().find(|name| !is_origin(name)) {
        return fail(
            "allowed_origins",
            name,
            "an origin is a scheme, a host in small letters and perhaps a port, such as https://example.org, without a slash at its end; \
             \"*\" is all of them",
        );
    }
    if let Some(name) = server.allowed_hosts.iter().find(|name| !is_host(name)) {
        return fail(
            "allowed_hosts",
            name,
            "a host is a name in small letters or an address, such as example.org, without scheme, port or *",
        );
    }
    let breaks = |c: char| !c.is_ascii_graphic() || matches!(c, ';' | ',');
    if let Some(name) = server.frame_ancestors.iter().find(|name| name.is_empty() || name.contains(breaks)) {
        return Err(ConfigError(format!(
            "server.frame_ancestors has {name:?}; give one origin in each entry, such as https://example.org, without spaces, commas and \
             semicolons"
        )));
    }
    Ok(())
}

/// Whether a name is an origin as browsers write it, `null` included, or the star.
fn is_origin(name: &str) -> bool {
    let of_host = |(scheme, host): (&str, &str)| {
        let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '/' | '?' | '#' | '@' | '*' | ',');
        !scheme.is_empty() && !host.is_empty() && host.chars().all(plain)
    };
    matches!(name, "*" | "null")
        || (!name.contains(|c: char| c.is_ascii_uppercase()) && name.split_once("://").is_some_and(of_host))
}

fn is_host(name: &str) -> bool {
    let address = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    if let Some(address) = address {
        return address.parse::<std::net::Ipv6Addr>().is_ok();
    }
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-' | '_');
    !name.is_empty() && name.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_no_request_has_are_refused() {
        for name in [
            "https://a.example",
            "http://localhost:5173",
            "http://[::1]:80",
            "null",
            "*",
            "moz-extension://5a-b",
        ] {
            assert!(is_origin(name), "{name}");
        }
        for name in [
            "https://a.example/",
            "a.example",
            "https://A.example",
            "https://*.example",
            "https://",
            "://a",
            "",
        ] {
            assert!(!is_origin(name), "{name}");
        }
        for name in ["a.example", "10.0.0.1", "[::1]", "my_host"] {
            assert!(is_host(name), "{name}");
        }
        for name in ["https://a.example", "a.example:443", "*.example", "A.example", "::1", "[x]", ""] {
            assert!(!is_host(name), "{name}");
        }
    }

    #[test]
    fn the_setting_is_named() {
        let set = |change: &dyn Fn(&mut Config)| {
            let mut config = Config::default();
            change(&mut config);
            check(&config).map_err(|error| error.to_string())
        };
        assert!(
            set(&|config| config.server.frame_ancestors = vec!["'self'".into(), "https://a.example".into()])
                .is_ok()
        );
        let refused = [
            (
                set(&|config| config.server.allowed_origins = vec!["a.example".into()]),
                "server.allowed_origins",
            ),
            (set(&|config| config.server.allowed_hosts = vec!["a:1".into()]), "server.allowed_hosts"),
            (
                set(&|config| config.server.frame_ancestors = vec!["https://a; script-src *".into()]),
                "server.frame_ancestors",
            ),
        ];
        for (found, name) in refused {
            assert!(found.unwrap_err().contains(name), "{name}");
        }
    }
}
