//! Makes the records: chunks in `<folder>/chunks/`, and two states of a pointer in `<folder>/pointers/`.

use ant_core::data::{
    Pointer, PointerTarget, PointerTargetKind, XorName, compute_address, ml_dsa_65,
};
use ant_core::network_defaults::bundled_bootstrap_seeds;
use anyhow::{Context, anyhow};
use bytes::Bytes;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Args {
    /// Where to write the records
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,

    /// A file to encrypt (repeatable)
    #[arg(long, value_name = "FILE")]
    file: Vec<PathBuf>,

    /// The address that the pointer is to have as its target (64 hex digits)
    #[arg(long, value_name = "ADDRESS")]
    point_to: String,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let chunks = args.out.join("chunks");
    fs::create_dir_all(&chunks)?;
    let mut files = Vec::new();
    for path in &args.file {
        let content = fs::read(path).with_context(|| path.display().to_string())?;
        let address = encrypt(content.into(), &chunks)?;
        files.push(json!({ "path": path.display().to_string(), "address": address }));
    }
    let pointer = sign_pointer(&args.point_to, &args.out.join("pointers"))?;
    let seeds = bundled_bootstrap_seeds()?.quic;
    let seeds: Vec<_> = seeds.iter().map(ToString::to_string).collect();
    println!(
        "{}",
        json!({ "event": "prepared", "files": files, "pointer": pointer, "mainnet": seeds })
    );
    Ok(())
}

/// Returns the file's address: the one of its data map.
fn encrypt(content: Bytes, chunks: &Path) -> anyhow::Result<String> {
    let (data_map, encrypted) = self_encryption::encrypt(content)?;
    let data_map = rmp_serde::to_vec(&data_map)?;
    let encrypted = encrypted.iter().map(|chunk| &chunk.content[..]);
    for chunk in encrypted.chain([&data_map[..]]) {
        fs::write(chunks.join(hex::encode(compute_address(chunk))), chunk)?;
    }
    Ok(hex::encode(compute_address(&data_map)))
}

/// Signs two states of a new pointer. A reader that returns the older one fails the test.
fn sign_pointer(target: &str, folder: &Path) -> anyhow::Result<Value> {
    let target: XorName = hex::decode(target)?
        .try_into()
        .map_err(|_| anyhow!("{target} is no address"))?;
    let chunk = |address| PointerTarget::new(PointerTargetKind::Chunk, address);
    let (owner, key) = ml_dsa_65().generate_keypair()?;
    let first = Pointer::create(&key, &owner, chunk([0; 32]))?;
    let newest = first.update(&key, chunk(target))?;
    fs::create_dir_all(folder)?;
    fs::write(folder.join("1"), first.to_bytes())?;
    fs::write(folder.join("2"), newest.to_bytes())?;
    Ok(json!({
        "address": hex::encode(newest.address()),
        "record": hex::encode(newest.to_bytes()),
    }))
}
