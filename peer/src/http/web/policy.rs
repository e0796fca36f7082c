//! The Content-Security-Policy of hosted pages.
//!
//! A gateway has a *root origin*, with the shell, and an origin for each site. The host name of a site origin is the
//! site's address as a label before the root origin's name. The root origin frames `/-/bridge` of a site origin. A
//! site origin frames `/-/root` of the root origin.
//!
//! Content has paths on the same origins (`/<address>/…`, `/chunk/…`). Therefore the policies list the paths of
//! hosted files instead of `'self'`. This requires the host's own name, which comes from the `Host` header. A wrong
//! `Host` header only affects the page that the sender receives.

use super::host::Host;

/// `/-/bridge`: lets the root origin reach the worker of a site origin.
pub const BRIDGE: &str = "/-/bridge.html";
/// `/-/root`: lets a site origin reach the root origin.
pub const ROOT: &str = "/-/root.html";

/// The page of a site origin before its worker runs.
pub const SITE_PAGE: &str = "/-/site.html";

/// `/-/move`: takes over the library of the same gateway at another name. A page of the other name opens it in a
/// window.
pub const MOVE: &str = "/-/move.html";

/// The script of the service worker.
pub const WORKER: &str = "/sw.js";

/// The file that a site origin has as `WORKER`. It imports that script from the root origin.
pub const SITE_WORKER: &str = "/-/site-worker.js";

/// The servers that pages may connect to: this machine, and HTTPS peers anywhere, which includes WebTransport.
/// Chromium rejects `[::1]` as an invalid source; use `localhost` instead.
const CONNECT: &str = "'self' https: http://127.0.0.1:* http://localhost:* http://*.localhost:*";

/// The suffixes of files that are neither a document with scripts nor the script of a worker.
const RUNS_NOTHING: [&str; 8] = [
    ".css",
    ".ico",
    ".json",
    ".png",
    ".svg",
    ".txt",
    ".wasm",
    ".webmanifest",
];

/// Whether the file is neither a document with scripts nor the script of a worker.
fn runs_nothing(path: &str) -> bool {
    RUNS_NOTHING.iter().any(|suffix| path.ends_with(suffix))
        || (path.starts_with("/-/") && path.ends_with(".js"))
}

impl Host {
    /// The Content-Security-Policy of the file at this path.
    pub fn policy_of(&self, path: &str) -> String {
        match path {
            BRIDGE => self.gateway_page_policy("'none'", self.root()),
            ROOT => self.gateway_page_policy(
                "'none'",
                &match self {
                    Self::Root(own) => format!("*.{own}"),
                    _ => "'none'".to_owned(),
                },
            ),
            SITE_PAGE => self.gateway_page_policy(self.root(), "'none'"),
            MOVE => self.gateway_page_policy("'none'", "'none'"),
            SITE_WORKER => self.shell_policy(&match self {
                Self::Site { root, .. } => format!(" {root}{WORKER}"),
                _ => String::new(),
            }),
            // The policy of the shell has 900 bytes, in each answer.
            _ if runs_nothing(path) => "default-src 'none'; frame-ancestors 'none'".to_owned(),
            _ => self.shell_policy(""),
        }
    }

    /// The source expression of a site's root origin. `'none'` for other hosts.
    fn root(&self) -> &str {
        match self {
            Self::Site { root, .. } => root,
            _ => "'none'",
        }
    }

    /// The policy of the shell and its worker. The policy of a worker script applies to the worker's requests.
    /// Firefox also checks each response of the worker against the URL of the worker script. `imported` is the source
    /// of the script that the worker imports, after a space.
    fn shell_policy(&self, imported: &str) -> String {
        let assets = self.sources(&["/assets/", WORKER]);
        let workers = self.sources(&[WORKER, "/assets/"]);
        let manifest = self.sources(&["/manifest.webmanifest", WORKER]);
        let frames = match self {
            Self::Root(own) => format!("*.{own}"),
            Self::Site { root, .. } => root.clone(),
            _ => "'none'".to_owned(),
        };
        format!(
            "default-src 'none'; script-src {assets}{imported} 'wasm-unsafe-eval'; \
             worker-src {workers}; style-src {assets}; img-src 'self' data: blob:; media-src 'self'; font-src {assets}; \
             manifest-src {manifest}; frame-src {frames}; connect-src {CONNECT}; \
             base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
        )
    }

    /// The policy of the pages below `/-/`: which origins they may frame, and which origins may frame them.
    fn gateway_page_policy(&self, frames: &str, ancestors: &str) -> String {
        let own = self.sources(&["/-/", WORKER]);
        let worker = self.sources(&[WORKER]);
        format!(
            "default-src 'none'; script-src {own}; style-src {own}; worker-src {worker}; \
             connect-src 'self'; \
             frame-src {frames}; base-uri 'none'; form-action 'none'; frame-ancestors {ancestors}"
        )
    }

    /// The source expressions of these paths on this host. `'self'` if the host cannot be named.
    fn sources(&self, paths: &[&str]) -> String {
        match self {
            Self::Root(own) | Self::Site { own, .. } | Self::Loopback(own) => {
                let sources: Vec<_> = paths.iter().map(|path| format!("{own}{path}")).collect();
                sources.join(" ")
            }
            Self::Loopback6(_) | Self::Unnamed => "'self'".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    const SITE: &str = "abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrst";

    fn host(text: &str) -> Host {
        Host::from_header(Some(&HeaderValue::from_str(text).unwrap()))
    }

    fn directive<'a>(policy: &'a str, name: &str) -> &'a str {
        let mut directives = policy.split("; ").map(|one| one.split_once(' ').unwrap());
        directives.find(|(of, _)| *of == name).unwrap().1
    }

    #[test]
    fn the_shell_may_run_only_its_files_and_frame_its_sites() {
        let policy = host("antway.localhost:8080").policy_of("/index.html");
        for (name, sources) in [
            (
                "script-src",
                "antway.localhost:8080/assets/ antway.localhost:8080/sw.js 'wasm-unsafe-eval'",
            ),
            (
                "worker-src",
                "antway.localhost:8080/sw.js antway.localhost:8080/assets/",
            ),
            (
                "style-src",
                "antway.localhost:8080/assets/ antway.localhost:8080/sw.js",
            ),
            (
                "manifest-src",
                "antway.localhost:8080/manifest.webmanifest antway.localhost:8080/sw.js",
            ),
            ("frame-src", "*.antway.localhost:8080"),
            ("frame-ancestors", "'none'"),
        ] {
            assert_eq!(directive(&policy, name), sources);
        }
        let policy = host("127.0.0.1:8080").policy_of("/");
        assert_eq!(
            directive(&policy, "style-src"),
            "127.0.0.1:8080/assets/ 127.0.0.1:8080/sw.js"
        );
        assert_eq!(directive(&policy, "frame-src"), "'none'");
    }

    #[test]
    fn the_page_of_a_site_may_frame_its_root_origin() {
        let policy = host(&format!("{SITE}.antway.localhost:8080")).policy_of("/index.html");
        assert_eq!(directive(&policy, "frame-src"), "antway.localhost:8080");
        assert_eq!(directive(&policy, "frame-ancestors"), "'none'");
        let own = format!("{SITE}.antway.localhost:8080");
        let assets = format!("{own}/assets/ {own}/sw.js");
        assert_eq!(directive(&policy, "style-src"), assets);
        let policy = host(&own).policy_of(SITE_PAGE);
        assert_eq!(directive(&policy, "frame-src"), "antway.localhost:8080");
        assert_eq!(directive(&policy, "frame-ancestors"), "'none'");
        assert_eq!(
            directive(&policy, "style-src"),
            format!("{own}/-/ {own}/sw.js")
        );
    }

    #[test]
    fn the_worker_of_a_site_may_import_that_of_its_root_origin() {
        let own = format!("{SITE}.gateway.example");
        let policy = host(&own).policy_of(SITE_WORKER);
        assert_eq!(
            directive(&policy, "script-src"),
            format!("{own}/assets/ {own}/sw.js gateway.example/sw.js 'wasm-unsafe-eval'")
        );
        let shell = host(&own).policy_of("/index.html");
        assert!(!directive(&shell, "script-src").contains(" gateway.example/"));
        for on in ["gateway.example", "127.0.0.1", ""] {
            let shell = host(on).policy_of("/index.html");
            assert_eq!(host(on).policy_of(SITE_WORKER), shell, "{on}");
        }
    }

    #[test]
    fn the_root_origin_may_frame_the_bridge_and_sites_may_frame_the_root() {
        let site = format!("{SITE}.gateway.example");
        let none = "'none'";
        for (on, path, ancestors) in [
            (&*site, BRIDGE, "gateway.example"),
            ("gateway.example", BRIDGE, none),
            ("127.0.0.1:1", BRIDGE, none),
            ("[::1]:1", BRIDGE, none),
            (&*site, ROOT, none),
            ("gateway.example", ROOT, "*.gateway.example"),
            ("127.0.0.1:1", ROOT, none),
            ("", ROOT, none),
        ] {
            let policy = host(on).policy_of(path);
            assert_eq!(
                directive(&policy, "frame-ancestors"),
                ancestors,
                "{on} {path}"
            );
            assert_eq!(directive(&policy, "default-src"), none);
        }
        let policy = host(&site).policy_of(BRIDGE);
        assert_eq!(
            directive(&policy, "script-src"),
            format!("{site}/-/ {site}/sw.js")
        );
        assert_eq!(directive(&policy, "worker-src"), format!("{site}/sw.js"));
        assert_eq!(directive(&policy, "connect-src"), "'self'");
    }

    #[test]
    fn the_move_page_cannot_frame_or_be_framed() {
        let policy = host("antway.localhost:8080").policy_of(MOVE);
        for (name, sources) in [
            (
                "script-src",
                "antway.localhost:8080/-/ antway.localhost:8080/sw.js",
            ),
            ("connect-src", "'self'"),
            ("frame-src", "'none'"),
            ("frame-ancestors", "'none'"),
        ] {
            assert_eq!(directive(&policy, name), sources);
        }
    }

    #[test]
    fn files_that_run_nothing_have_a_short_policy() {
        let short = "default-src 'none'; frame-ancestors 'none'";
        for path in [
            "/icon.svg",
            "/antway.json",
            "/-/probe-1.json",
            "/-/site.js",
            "/assets/a.css",
            "/assets/a.wasm",
        ] {
            assert_eq!(host(SITE).policy_of(path), short, "{path}");
        }
        for path in ["/", "/index.html", "/sw.js", "/assets/a.js", SITE_WORKER] {
            assert_ne!(host("a.example").policy_of(path), short, "{path}");
        }
    }

    #[test]
    fn uses_self_if_the_host_cannot_be_named() {
        for on in ["[::1]:8080", "10.0.0.1", ""] {
            let policy = host(on).policy_of("/");
            assert_eq!(
                directive(&policy, "script-src"),
                "'self' 'wasm-unsafe-eval'"
            );
        }
    }
}
