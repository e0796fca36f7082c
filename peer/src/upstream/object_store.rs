//! Object stores as upstreams: S3 and compatible services, Google Cloud Storage, Azure Blob Storage, and folders.
//!
//! A chunk is the object `<prefix>/<address>`. Keys and endpoints come from the environment variables that crate
//! `object_store` documents.

use super::{FoundChunk, Sink, Upstream};
use crate::address::Address;
use crate::limits::MAX_CHUNK_BYTES;
use crate::source::{Chunk, SourceError, SourceFuture};
use crate::via::Via;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, parse_url_opts};
use std::env;
use url::Url;

/// The prefixes of the environment variables that are read. Other variables may belong to other programs.
const VARIABLE_PREFIXES: [&str; 3] = ["AWS_", "AZURE_", "GOOGLE_"];

/// One bucket, container or folder.
pub struct ObjectStoreUpstream {
    name: String,
    store: Box<dyn ObjectStore>,
    prefix: Path,
}

impl ObjectStoreUpstream {
    /// Reads the settings. Does not connect yet.
    pub fn open(url: &Url) -> Result<Self, String> {
        // The HTTP client of the object stores uses the process's default provider. The call fails harmlessly if it
        // is set already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let settings = env::vars().filter(|(name, _)| {
            VARIABLE_PREFIXES
                .iter()
                .any(|prefix| name.starts_with(prefix))
        });
        let opened = parse_url_opts(url, settings);
        let (store, prefix) = opened.map_err(|error| format!("{url}: {error}"))?;
        Ok(Self {
            name: url.as_str().to_owned(),
            store,
            prefix,
        })
    }

    fn path(&self, address: Address) -> Path {
        self.prefix.clone().join(address.to_string())
    }

    async fn read(&self, address: Address) -> Result<Option<FoundChunk>, SourceError> {
        let found = match self.store.get(&self.path(address)).await {
            Ok(found) => found,
            Err(Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(SourceError::Failed(error.to_string())),
        };
        let size = found.meta.size;
        if size > MAX_CHUNK_BYTES.into() {
            let reason = format!("an object of {size} bytes is larger than a chunk");
            return Err(SourceError::Failed(reason));
        }
        Ok(Some(FoundChunk::Arriving(Box::pin(async {
            let bytes = found.bytes().await;
            bytes.map_err(|error| SourceError::Failed(error.to_string()))
        }))))
    }
}

impl Upstream for ObjectStoreUpstream {
    fn name(&self) -> &str {
        &self.name
    }

    fn get<'a>(&'a self, address: Address, _via: &'a Via) -> SourceFuture<'a, Option<FoundChunk>> {
        Box::pin(self.read(address))
    }
}

impl Sink for ObjectStoreUpstream {
    fn name(&self) -> &str {
        &self.name
    }

    fn put(&self, chunk: Chunk) -> SourceFuture<'_, ()> {
        Box::pin(async move {
            let path = self.path(chunk.address());
            match self.store.put(&path, chunk.bytes().clone().into()).await {
                Ok(_) => Ok(()),
                Err(error) => Err(SourceError::Failed(error.to_string())),
            }
        })
    }
}
