//! The values of `--upstream`.

use super::http::HttpApi;
use std::str::FromStr;
use url::Url;

/// The kind and address of an upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpstreamUrl {
    /// An HTTP server. The URL has no slash at the end.
    Http(HttpApi, String),
    /// A bucket, container or folder, with an optional prefix for the names of all chunks.
    #[cfg(feature = "object-store")]
    ObjectStore(Url),
}

impl FromStr for UpstreamUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (api, plain) = match text.split_once('+') {
            Some(("anttp", plain)) => (Some(HttpApi::AntTp), plain),
            Some(("antd", plain)) => (Some(HttpApi::Antd), plain),
            _ => (None, text),
        };
        let url = Url::parse(plain).map_err(|error| error.to_string())?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err("the URL must not have a user name or password".to_owned());
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err("the URL must not have a query or fragment".to_owned());
        }
        match (api, url.scheme()) {
            (api, "http" | "https") => {
                let base = url.as_str().trim_end_matches('/').to_owned();
                Ok(Self::Http(api.unwrap_or(HttpApi::Peer), base))
            }
            #[cfg(feature = "object-store")]
            (None, "s3" | "gs" | "az" | "file") => Ok(Self::ObjectStore(url)),
            #[cfg(not(feature = "object-store"))]
            (None, "s3" | "gs" | "az" | "file") => {
                Err("this peer was built without the feature `object-store`".to_owned())
            }
            _ => Err(format!(
                "not an upstream; expected {}",
                "http(s)://, anttp+http(s)://, antd+http(s)://, s3://, gs://, az:// or file:///; for the Autonomi network use --network"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_selects_the_upstream() {
        let http = |api, base: &str| Ok(UpstreamUrl::Http(api, base.to_owned()));
        assert_eq!(
            "https://peer.example/".parse(),
            http(HttpApi::Peer, "https://peer.example")
        );
        assert_eq!(
            "http://127.0.0.1:8080/a/b".parse(),
            http(HttpApi::Peer, "http://127.0.0.1:8080/a/b")
        );
        assert_eq!(
            "anttp+http://localhost:18888".parse(),
            http(HttpApi::AntTp, "http://localhost:18888")
        );
        assert_eq!(
            "antd+https://d.example".parse(),
            http(HttpApi::Antd, "https://d.example")
        );
    }

    #[cfg(feature = "object-store")]
    #[test]
    fn object_stores_have_schemes_of_their_own() {
        for url in [
            "s3://bucket",
            "gs://b/prefix",
            "az://container/p/q",
            "file:///var/chunks",
        ] {
            assert!(
                matches!(url.parse(), Ok(UpstreamUrl::ObjectStore(_))),
                "{url}"
            );
        }
    }

    #[test]
    fn rejects_url_parts_that_would_be_ignored() {
        for bad in [
            "",
            "peer.example",
            "autonomi:",
            "ftp://peer.example",
            "anttp+s3://bucket",
            "other+http://x",
            "https://user:secret@peer.example",
            "https://peer.example?x=1",
            "https://peer.example#sha-256=00",
        ] {
            assert!(bad.parse::<UpstreamUrl>().is_err(), "{bad}");
        }
    }
}
