//! Answers a connection that the peer does not serve.

use super::error::HttpError;
use crate::limits::{HTTP_READ_BYTES, REFUSAL_LINGER};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Sends the error without reading a request, and closes the connection.
pub async fn send(mut stream: TcpStream, error: HttpError) {
    let answering = async {
        stream.write_all(&error.to_http1()).await?;
        stream.shutdown().await?;
        // If unread bytes remain, the kernel resets the connection, and the client may never read the answer.
        let mut request = [0; 1024];
        let mut remaining = HTTP_READ_BYTES;
        while remaining > 0 {
            let length = stream.read(&mut request).await?;
            if length == 0 {
                break;
            }
            remaining = remaining.saturating_sub(length);
        }
        std::io::Result::Ok(())
    };
    // The connection closes in any case.
    let _ = timeout(REFUSAL_LINGER, answering).await;
}
