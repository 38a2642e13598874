//! Under which names the server answers, and which origins are its own.

use axum::http::{HeaderMap, Uri, header};

/// The names under which a server is asked.
#[derive(Debug, Clone)]
pub(crate) struct Hosts {
    port: u16,
    /// Names beyond loopback, in lower case.
    names: Vec<String>,
    is_tls: bool,
    is_behind_proxy: bool,
}

/// Who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    Loopback,
    /// By a name that others know: what is answered is redacted.
    Named,
}

impl Hosts {
    pub(crate) fn new(port: u16, names: &[String], is_tls: bool, is_behind_proxy: bool) -> Self {
        let names = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        Self { port, names, is_tls, is_behind_proxy }
    }

    /// The name that a request is for; nothing, if it is none of ours. There must be one `Host`,
    /// and an absolute address must name us as well.
    pub(crate) fn asked(&self, uri: &Uri, headers: &HeaderMap) -> Option<Asked> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else { return None };
        let asked = self.authority(host.to_str().ok()?)?;
        match uri.authority() {
            Some(authority) => self.authority(authority.as_str()).filter(|it| *it == asked),
            None => Some(asked),
        }
    }

    fn authority(&self, text: &str) -> Option<Asked> {
        let text = text.to_ascii_lowercase();
        if let Some(name) = text.strip_suffix(&format!(":{}", self.port)) {
            if matches!(name, "localhost" | "127.0.0.1" | "[::1]") {
                return Some(Asked::Loopback);
            }
            return self.is_name(name).then_some(Asked::Named);
        }
        // A proxy, and the usual ports, leave the number out.
        let has_no_port = self.is_behind_proxy || matches!(self.port, 80 | 443);
        (has_no_port && self.is_name(&text)).then_some(Asked::Named)
    }

    fn is_name(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    /// Whether an `Origin` is a page of ours.
    pub(crate) fn is_own_origin(&self, origin: &str) -> bool {
        let scheme = if self.is_tls { "https://" } else { "http://" };
        let host = origin.strip_prefix(scheme);
        if self.is_behind_proxy {
            let host = host.or_else(|| origin.strip_prefix("https://"));
            return host.is_some_and(|host| self.authority(host).is_some());
        }
        host.is_some_and(|host| self.authority(host).is_some())
    }

    pub(crate) fn cookie_name(&self) -> String {
        format!("antiphon_{}", self.port)
    }

    /// Whether cookies go over TLS only.
    pub(crate) fn is_tls(&self) -> bool {
        self.is_tls
    }

    pub(crate) fn address(&self) -> String {
        let scheme = if self.is_tls { "https" } else { "http" };
        let name = self.names.first().filter(|_| self.is_tls);
        format!("{scheme}://{}:{}", name.map_or("127.0.0.1", String::as_str), self.port)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderValue, Uri, header};

    use super::{Asked, Hosts};

    fn asked(host: &str, uri: &str) -> Option<Asked> {
        let hosts = Hosts::new(7462, &["Team.example".to_owned()], false, false);
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_str(host).unwrap());
        hosts.asked(&uri.parse::<Uri>().unwrap(), &headers)
    }

    #[test]
    fn only_exact_names_with_the_port_are_ours() {
        for host in ["localhost:7462", "127.0.0.1:7462", "[::1]:7462", "LOCALHOST:7462"] {
            assert_eq!(asked(host, "/"), Some(Asked::Loopback), "{host}");
        }
        assert_eq!(asked("team.example:7462", "/"), Some(Asked::Named));
        let wrong =
            ["localhost", "127.0.0.1:7463", "localhost.:7462", "127.1:7462", "0.0.0.0:7462"];
        let more = ["evil@127.0.0.1:7462", "localhost.evil.example:7462", "team.example", ""];
        for host in wrong.into_iter().chain(more) {
            assert_eq!(asked(host, "/"), None, "{host}");
        }
        assert_eq!(asked("127.0.0.1:7462", "http://evil.example/"), None);
    }

    #[test]
    fn an_origin_is_ours_only_with_our_scheme_and_port() {
        let hosts = Hosts::new(7462, &[], false, false);
        assert!(hosts.is_own_origin("http://127.0.0.1:7462"));
        for origin in
            ["null", "https://127.0.0.1:7462", "http://127.0.0.1", "http://127.0.0.1:74620"]
        {
            assert!(!hosts.is_own_origin(origin), "{origin}");
        }
    }
}
