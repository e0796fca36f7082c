//! Maps the path of a URL to a file in the folder. Never leaves the folder.

use super::encoding::Encoding;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use tokio::fs::{self, File};
use tokio::io::AsyncReadExt;

/// The file that is served for a folder.
const INDEX: &str = "index.html";

/// A folder of files to serve.
#[derive(Clone, Debug)]
pub struct WebFolder {
    /// The canonical path, without symbolic links. It is a prefix of the canonical path of every file in the folder.
    root: PathBuf,
}

/// The content of a file.
pub struct WebFile {
    /// The file's URL path. It determines the content type and the caching.
    pub path: String,
    /// Changes when the content changes.
    pub etag: String,
    /// The compression of `bytes`, if any.
    pub encoding: Option<Encoding>,
    /// The content.
    pub bytes: Vec<u8>,
}

impl WebFolder {
    /// Opens the folder. Fails if it does not exist, or has no `index.html`.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let named = |error: io::Error| {
            io::Error::new(error.kind(), format!("{}: {error}", folder.display()))
        };
        let root = folder.canonicalize().map_err(named)?;
        if root.join(INDEX).is_file() {
            Ok(Self { root })
        } else {
            let missing = format!("no {INDEX} in {}", root.display());
            Err(io::Error::new(io::ErrorKind::NotFound, missing))
        }
    }

    /// The file at a URL's path. Uses the first encoding of `accepted` for which a compressed file exists.
    pub async fn file(&self, path: &str, accepted: &[Encoding]) -> io::Result<Option<WebFile>> {
        let Some(mut names) = names_of(path) else {
            return Ok(None);
        };
        if names.last().is_some_and(String::is_empty) {
            names.pop();
            names.push(INDEX.to_owned());
        }
        let path = format!("/{}", names.join("/"));
        let plain: PathBuf = names
            .iter()
            .fold(self.root.clone(), |folder, name| folder.join(name));
        // Some clients accept no compression, so the uncompressed file must exist.
        if !self.holds(&plain).await? {
            return Ok(None);
        }
        for encoding in accepted {
            let mut name = plain.clone().into_os_string();
            name.push(encoding.suffix());
            let compressed = PathBuf::from(name);
            if self.holds(&compressed).await? {
                return WebFile::read(&compressed, &path, Some(*encoding)).await;
            }
        }
        WebFile::read(&plain, &path, None).await
    }

    /// Whether this is a file in the folder, also after symbolic links are resolved.
    async fn holds(&self, file: &Path) -> io::Result<bool> {
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
    /// Reads `file`, to be served at `path`. `None` if there is no such file.
    pub async fn read(
        file: &Path,
        path: &str,
        encoding: Option<Encoding>,
    ) -> io::Result<Option<Self>> {
        let mut file = match File::open(file).await {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let metadata = file.metadata().await?;
        let modified = metadata.modified()?.duration_since(UNIX_EPOCH);
        let modified = modified.map_or(0, |time| time.as_nanos());
        let mut bytes = Vec::with_capacity(metadata.len() as usize);
        file.read_to_end(&mut bytes).await?;
        let suffix = encoding.map_or("", Encoding::name);
        Ok(Some(Self {
            path: path.to_owned(),
            etag: format!("\"{:x}-{modified:x}{suffix}\"", bytes.len()),
            encoding,
            bytes,
        }))
    }
}

/// The segments of a URL's path. `None` if a segment could leave the folder, or names a hidden file.
fn names_of(path: &str) -> Option<Vec<String>> {
    let names = path.strip_prefix('/')?.split('/').map(|name| {
        let name = percent_decode(name)?;
        let is_hidden = name.starts_with('.') && name != ".well-known";
        let is_safe = !is_hidden && !name.contains(['/', '\\', '\0']);
        is_safe.then_some(name)
    });
    let names: Vec<String> = names.collect::<Option<_>>()?;
    // Only the last segment may be empty. It stands for the folder's index file.
    let (_, folders) = names.split_last()?;
    let is_clean = folders.iter().all(|name| !name.is_empty());
    is_clean.then_some(names)
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
        assert_eq!(names_of("/a%20b/c.js").unwrap(), ["a b", "c.js"]);
        assert_eq!(names_of("/%2561").unwrap(), ["%61"]);
        assert_eq!(names_of("/").unwrap(), [""]);
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
            assert_eq!(names_of(path), None, "{path}");
        }
        assert!(names_of("/.well-known/x").is_some());
    }
}
