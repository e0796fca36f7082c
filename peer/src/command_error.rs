//! Why a command ends early.

use crate::config::InvalidSetting;
use crate::peer::ListenError;
use std::error::Error;
use std::fmt;
use std::io;
use std::process::ExitCode;

/// The exit code for unusable settings. Clap uses the same code for flags that it cannot parse.
const EXIT_INVALID_SETTING: u8 = 2;

/// Why a command ends early.
#[derive(Debug)]
pub enum CommandError {
    /// A setting can't be used.
    Setting(InvalidSetting),
    /// The command failed.
    Failed(Box<dyn Error + Send + Sync>),
}

impl CommandError {
    /// Prints the error. Returns the exit code.
    pub fn report(&self) -> ExitCode {
        eprintln!("error: {self}");
        match self {
            Self::Setting(_) => EXIT_INVALID_SETTING.into(),
            Self::Failed(_) => ExitCode::FAILURE,
        }
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting(error) => error.fmt(f),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl Error for CommandError {}

impl From<InvalidSetting> for CommandError {
    fn from(error: InvalidSetting) -> Self {
        Self::Setting(error)
    }
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl From<ListenError> for CommandError {
    fn from(error: ListenError) -> Self {
        Self::Failed(error.into())
    }
}
