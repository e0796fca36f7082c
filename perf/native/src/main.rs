//! `antway-native <stage> <file>`: does one stage of self-encryption to a file's bytes, in parts of the size of chunks,
//! and prints `{"bytes":…,"milliseconds":…}`. The time does not include the preparation of its input (compressed, encrypted bytes).

use std::{env, error::Error, fs, hint::black_box, process::ExitCode, time::Instant};

use bytes::Bytes;
use chacha20poly1305::{ChaCha20Poly1305, Key, KeyInit, Nonce, aead::Aead};

/// The largest part of a file that becomes one chunk.
const PART_BYTES: usize = 4_190_208;
const STAGES: &str =
    "encrypt, decrypt, blake3, brotli-encode, brotli-decode, aead-encrypt, aead-decrypt";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [stage, path] = arguments.as_slice() else {
        eprintln!("antway-native <stage> <file>, where the stage is one of {STAGES}");
        return ExitCode::from(2);
    };
    match run(stage, path) {
        Ok((bytes, milliseconds)) => {
            println!("{{\"bytes\":{bytes},\"milliseconds\":{milliseconds}}}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{stage} {path}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the plaintext bytes and the milliseconds.
fn run(stage: &str, path: &str) -> Result<(usize, f64), Box<dyn Error>> {
    let file = fs::read(path)?;
    let bytes = file.len();
    let parts: Vec<Vec<u8>> = file.chunks(PART_BYTES).map(<[u8]>::to_vec).collect();
    let milliseconds = match stage {
        "encrypt" => {
            let file = Bytes::from(file);
            timed(|| self_encryption::encrypt(file))?
        }
        "decrypt" => {
            let (map, chunks) = self_encryption::encrypt(Bytes::from(file))?;
            // A large file's map is itself in chunks, which are decrypted too.
            timed(|| self_encryption::decrypt(&map, &chunks))?
        }
        "blake3" => each(&parts, |part| Ok(blake3::hash(part)))?,
        "brotli-encode" => each(&parts, |part| compress(part))?,
        "brotli-decode" => each(&mapped(&parts, compress)?, |part| decompress(part))?,
        "aead-encrypt" => each(&parts, |part| aead_encrypt(part))?,
        "aead-decrypt" => each(&mapped(&parts, aead_encrypt)?, |part| aead_decrypt(part))?,
        _ => return Err(format!("there is no such stage; there are {STAGES}").into()),
    };
    Ok((bytes, milliseconds))
}

fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<f64, E> {
    let started = Instant::now();
    black_box(work()?);
    Ok(started.elapsed().as_secs_f64() * 1000.0)
}

fn each<T>(
    parts: &[Vec<u8>],
    work: impl Fn(&[u8]) -> Result<T, Box<dyn Error>>,
) -> Result<f64, Box<dyn Error>> {
    timed(|| {
        for part in parts {
            black_box(work(part)?);
        }
        Ok(())
    })
}

fn mapped(
    parts: &[Vec<u8>],
    work: impl Fn(&[u8]) -> Result<Vec<u8>, Box<dyn Error>>,
) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    parts.iter().map(|part| work(part)).collect()
}

fn compress(part: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let parameters = brotli::enc::BrotliEncoderParams {
        quality: 6,
        ..Default::default()
    };
    let mut compressed = Vec::new();
    brotli::BrotliCompress(&mut &*part, &mut compressed, &parameters)?;
    Ok(compressed)
}

fn decompress(part: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut plain = Vec::new();
    brotli::BrotliDecompress(&mut &*part, &mut plain)?;
    Ok(plain)
}

fn aead_encrypt(part: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    cipher()
        .encrypt(&Nonce::default(), part)
        .map_err(|error| error.to_string().into())
}

fn aead_decrypt(part: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    cipher()
        .decrypt(&Nonce::default(), part)
        .map_err(|error| error.to_string().into())
}

fn cipher() -> ChaCha20Poly1305 {
    ChaCha20Poly1305::new(&Key::default())
}
