//! The command `licenses`: prints the licences of the crates in the program.

use crate::command_error::CommandError;
use std::io::{self, Write};

/// Written by `npm run notices:crates`.
const NOTICES: &str = include_str!("../../THIRD-PARTY-NOTICES.txt");

/// Prints the crates, and the texts of their licences.
pub fn licenses() -> Result<(), CommandError> {
    match io::stdout().write_all(NOTICES.as_bytes()) {
        // The reader, such as `head`, has seen enough.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
