//! Maps the path of a URL to a file in the folder. Never leaves the folder.

use super::encoding::Encoding;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tokio::fs;

/// The file that is served for a folder.
const INDEX: &str = "index.html";

/// A folder of files to serve.
#[derive(Clone, Debug)]
pub struct WebFolder {
    /// The canonical path, without symbolic links. It is a prefix of the canonical path of every file in the folder.
    root: PathBuf,
}

/// A file to send.
pub struct WebFile {
    /// The file's URL path. It determines the content type and the caching.
    pub path: String,
    /// Changes when the content changes.
    pub etag: String,
    /// The compression of the file, if any.
    pub encoding: Option<Encoding>,
    /// The file on disk.
    pub file: PathBuf,
}

impl WebFolder {
    /// Opens the folder. Fails if it does not exist, or has no `index.html`.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let with_path = |error: io::Error| {
            io::Error::new(error.kind(), format!("{}: {error}", folder.display()))
        };
        let root = folder.canonicalize().map_err(with_path)?;
        if root.join(INDEX).is_file() {
            Ok(Self { root })
        } else {
            let missing = format!("no {INDEX} in {}", root.display());
            Err(io::Error::new(io::ErrorKind::NotFound, missing))
        }
    }

    /// The file at a URL's path. Uses the first encoding of `accepted` for which a compressed file exists.
    pub async fn file(&self, path: &str, accepted: &[Encoding]) -> io::Result<Option<WebFile>> {
        let Some(mut segments) = path_segments(path) else {
            return Ok(None);
        };
        if segments.last().is_some_and(String::is_empty) {
            segments.pop();
            segments.push(INDEX.to_owned());
        }
        let path = format!("/{}", segments.join("/"));
        let uncompressed: PathBuf = segments
            .iter()
            .fold(self.root.clone(), |folder, name| folder.join(name));
        // Some clients accept no compression, so the uncompressed file must exist.
        if !self.contains_file(&uncompressed).await? {
            return Ok(None);
        }
        for encoding in accepted {
            let mut name = uncompressed.clone().into_os_string();
            name.push(encoding.suffix());
            let compressed = PathBuf::from(name);
            if self.contains_file(&compressed).await? {
                return WebFile::find(compressed, &path, Some(*encoding)).await;
            }
        }
        WebFile::find(uncompressed, &path, None).await
    }

    /// Whether this is a file in the folder, also after symbolic links are resolved.
    async fn contains_file(&self, file: &Path) -> io::Result<bool> {
        match fs::canonicalize(file).await {
            Ok(real) => Ok(real.starts_with(&self.root) && fs::metadata(real).await?.is_file()),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound
                | io::ErrorKind::NotADirectory
                | io::ErrorKind::InvalidFilename => Ok(false),
                _ => Err(error),
            },
        }
    }
}

impl WebFile {
    /// The file `file`, to be served at `path`. `None` if there is no such file.
    pub async fn find(
        file: PathBuf,
        path: &str,
        encoding: Option<Encoding>,
    ) -> io::Result<Option<Self>> {
        let metadata = match fs::metadata(&file).await {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        // Builds may set the time of modification, but not the time of the last change to the file or its metadata.
        let changed = format!("{:x}.{:x}", metadata.ctime(), metadata.ctime_nsec());
        let suffix = encoding.map_or("", Encoding::name);
        Ok(Some(Self {
            path: path.to_owned(),
            etag: format!(
                "\"{:x}-{:x}-{changed}{suffix}\"",
                metadata.len(),
                metadata.ino()
            ),
            encoding,
            file,
        }))
    }
}

/// The segments of a URL's path. `None` if a segment could leave the folder, or segments a hidden file.
fn path_segments(path: &str) -> Option<Vec<String>> {
    let segments = path.strip_prefix('/')?.split('/').map(|name| {
        let name = percent_decode(name)?;
        let is_hidden = name.starts_with('.') && name != ".well-known";
        let is_safe = !is_hidden && !name.contains(['/', '\\', '\0']);
        is_safe.then_some(name)
    });
    let segments: Vec<String> = segments.collect::<Option<_>>()?;
    // Only the last segment may be empty. It stands for the folder's index file.
    let (_, folders) = segments.split_last()?;
    let has_no_empty_segment = folders.iter().all(|name| !name.is_empty());
    has_no_empty_segment.then_some(segments)
}

fn percent_decode(name: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        let digits = std::str::from_utf8(digits).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_decoded_once() {
        assert_eq!(path_segments("/a%20b/c.js").unwrap(), ["a b", "c.js"]);
        assert_eq!(path_segments("/%2561").unwrap(), ["%61"]);
        assert_eq!(path_segments("/").unwrap(), [""]);
    }

    #[test]
    fn rejects_paths_that_leave_the_folder() {
        for path in [
            "/..",
            "/../x",
            "/a/../../x",
            "/%2e%2e/x",
            "/a%2f..%2fx",
            "/..%5cx",
            "/a%00",
            "/.git/config",
            "//x",
            "/%",
            "/%zz",
            "/%ff",
            "x",
        ] {
            assert_eq!(path_segments(path), None, "{path}");
        }
        assert!(path_segments("/.well-known/x").is_some());
    }
}
