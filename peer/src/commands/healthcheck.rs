//! The command `healthcheck`: asks a peer whether it takes requests.

use crate::command_error::CommandError;
use crate::logging::{self, LogArgs};
use crate::units::parse_duration;
use crate::upstream::HttpClient;
use std::time::Duration;
use tokio::time;
use url::Url;

/// The path that is asked if the URL has none.
const HEALTH_PATH: &str = "/-/health";

/// The flags of `healthcheck`.
#[derive(Clone, Debug, clap::Args)]
pub struct HealthcheckArgs {
    /// The HTTP URL of the peer
    #[arg(
        env = "ANTWAY_PEER_HEALTHCHECK_URL",
        value_name = "URL",
        default_value = "http://127.0.0.1:8080"
    )]
    pub url: Url,

    /// How long the answer may take (time)
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = parse_duration)]
    pub timeout: Duration,

    #[command(flatten)]
    pub log: LogArgs,
}

/// Fails if the peer does not answer in time, or not with status 200.
pub async fn healthcheck(args: &HealthcheckArgs) -> Result<(), CommandError> {
    logging::start(args.log);
    let mut url = args.url.clone();
    if url.path() == "/" {
        url.set_path(HEALTH_PATH);
    }
    let client = match url.scheme() {
        "https" => HttpClient::new()?,
        _ => HttpClient::without_authorities(),
    };
    let failed = |problem: &dyn ToString| {
        CommandError::Failed(format!("{url}: {}", problem.to_string()).into())
    };
    let status = time::timeout(args.timeout, client.status(url.as_str())).await;
    let status = status.map_err(|_| failed(&"no answer in time"))?;
    let status = status.map_err(|error| failed(&error))?;
    tracing::debug!(%url, %status, "the peer answered");
    match status.is_success() {
        true => Ok(()),
        false => Err(failed(&status)),
    }
}
