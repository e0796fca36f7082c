use super::*;
use futures_util::TryStreamExt;
use tempfile::TempDir;

fn store(folder: &TempDir) -> FolderStore {
    FolderStore::open(folder.path(), u64::MAX).unwrap()
}

fn chunk(content: &[u8]) -> Chunk {
    Chunk::new(Bytes::copy_from_slice(content))
}

async fn read(store: &FolderStore, address: Address) -> Option<Vec<u8>> {
    let body = store.get(address).await.unwrap()?;
    let length = body.length() as usize;
    let pieces: Vec<Bytes> = body.into_pieces().try_collect().await.unwrap();
    let bytes = pieces.concat();
    assert_eq!(bytes.len(), length);
    Some(bytes)
}

#[tokio::test]
async fn a_chunk_is_kept_under_its_address_and_counted_once() {
    let folder = TempDir::new().unwrap();
    let store = store(&folder);
    let chunk = chunk(&[7; 200_000]);
    assert_eq!(read(&store, chunk.address()).await, None);
    assert!(!store.has(chunk.address()).await.unwrap());
    assert_eq!(store.put(chunk.clone()).await.unwrap(), PutOutcome::Stored);
    assert_eq!(
        store.put(chunk.clone()).await.unwrap(),
        PutOutcome::AlreadyThere
    );
    assert!(store.has(chunk.address()).await.unwrap());
    assert_eq!(
        read(&store, chunk.address()).await.unwrap(),
        chunk.bytes()[..]
    );
    let stats = store.stats();
    assert_eq!((stats.chunks, stats.bytes), (1, 200_000));
    let name = chunk.address().to_string();
    let path = format!("chunks/{}/{}/{name}", &name[..2], &name[2..4]);
    assert!(folder.path().join(path).is_file());
}

#[tokio::test]
async fn the_same_chunk_put_many_times_at_once_is_stored_once() {
    let folder = TempDir::new().unwrap();
    let store = store(&folder);
    let puts = (0..16).map(|_| store.put(chunk(b"same")));
    let outcomes = futures_util::future::try_join_all(puts).await.unwrap();
    let stored = outcomes.iter().filter(|o| **o == PutOutcome::Stored);
    assert_eq!(stored.count(), 1);
    assert_eq!(store.stats().chunks, 1);
}

#[tokio::test]
async fn a_full_store_refuses_new_chunks_and_keeps_the_old() {
    let folder = TempDir::new().unwrap();
    let store = FolderStore::open(folder.path(), 10).unwrap();
    let first = chunk(b"12345678");
    assert_eq!(store.put(first.clone()).await.unwrap(), PutOutcome::Stored);
    assert_eq!(store.put(chunk(b"123")).await.unwrap(), PutOutcome::Full);
    assert_eq!(store.put(chunk(b"12")).await.unwrap(), PutOutcome::Stored);
    assert_eq!(
        store.put(first).await.unwrap(),
        PutOutcome::AlreadyThere,
        "what is there needs no room"
    );
    assert_eq!(store.stats().bytes, 10);
}

#[tokio::test]
async fn a_damaged_chunk_is_quarantined_and_can_be_stored_again() {
    let folder = TempDir::new().unwrap();
    let store = store(&folder);
    let chunk = chunk(&[1; 5000]);
    let address = chunk.address();
    for damage in [vec![2; 5000], vec![1; 4999], vec![], vec![1; 5_000_000]] {
        store.put(chunk.clone()).await.unwrap();
        fs::write(store.inner.path(address), &damage).unwrap();
        assert_eq!(read(&store, address).await, None);
        assert_eq!(read(&store, address).await, None);
    }
    assert_eq!(store.stats().quarantined, 4);
    assert_eq!(store.stats().chunks, 0);
    store.put(chunk.clone()).await.unwrap();
    assert_eq!(
        read(&store, address).await.as_deref(),
        Some(&chunk.bytes()[..])
    );
    fs::write(store.inner.path(address), b"damaged again").unwrap();
    assert_eq!(
        store.put(chunk.clone()).await.unwrap(),
        PutOutcome::Stored,
        "a PUT heals"
    );
    assert_eq!(
        read(&store, address).await.as_deref(),
        Some(&chunk.bytes()[..])
    );
}

#[tokio::test]
async fn opening_counts_what_is_there_and_removes_what_a_crash_left() {
    let folder = TempDir::new().unwrap();
    let first = store(&folder);
    first.put(chunk(b"kept")).await.unwrap();
    drop(first);
    let left = folder.path().join("temporary/half-written");
    fs::write(&left, b"half").unwrap();
    fs::write(folder.path().join("chunks/README"), b"not a chunk").unwrap();
    let misplaced = folder.path().join("chunks/00/00");
    fs::create_dir_all(&misplaced).unwrap();
    fs::write(misplaced.join(Address::of(b"x").to_string()), b"x").unwrap();
    let second = store(&folder);
    assert!(!left.exists());
    let stats = second.stats();
    assert_eq!((stats.chunks, stats.bytes), (1, 4));
    assert!(read(&second, Address::of(b"kept")).await.is_some());
}

#[tokio::test]
async fn a_store_is_open_in_one_place_at_a_time() {
    let folder = TempDir::new().unwrap();
    let first = store(&folder);
    let second = FolderStore::open(folder.path(), u64::MAX);
    assert_eq!(
        second.err().map(|e| e.kind()),
        Some(io::ErrorKind::ResourceBusy)
    );
    drop(first);
    store(&folder);
}
