//! Files of addresses: one in a line, and `#` begins a comment.

use crate::address::Address;
use std::collections::HashSet;
use std::fs;
use std::path::Path;

/// Reads the addresses in a file. The error names the file, and the line if one is wrong.
pub fn read(path: &Path) -> Result<HashSet<Address>, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut addresses = HashSet::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let address = line.parse().map_err(|_| {
            format!(
                "{}: line {number} is not an address of 64 lower-case hex characters",
                path.display()
            )
        })?;
        addresses.insert(address);
    }
    Ok(addresses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    #[test]
    fn skips_comments_and_names_a_wrong_line() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("list");
        let [one, two] = [b"1", b"2"].map(|content| Address::of(content));
        fs::write(&path, format!("# a list\n\n{one} # the first\n  {two}\n")).unwrap();
        assert_eq!(read(&path).unwrap(), HashSet::from([one, two]));
        fs::write(&path, format!("{one}\n{}\n", &two.to_string()[1..])).unwrap();
        assert!(read(&path).unwrap_err().contains("line 2"));
        let missing = read(&folder.path().join("missing")).unwrap_err();
        assert!(missing.contains("missing"), "{missing}");
    }
}
