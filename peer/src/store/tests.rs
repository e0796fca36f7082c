use super::chunk_folders::find_in_folders;
use super::*;
use futures_util::TryStreamExt;
use std::fs::{self, File};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

fn store(folder: &TempDir) -> FolderStore {
    FolderStore::open(folder.path(), StoreConfig::default()).unwrap()
}

fn open_with(folder: &TempDir, max_bytes: u64, eviction: EvictionPolicy) -> FolderStore {
    let config = StoreConfig {
        limit: StoreLimit::Bytes(max_bytes),
        eviction,
        memory_cache_bytes: 0,
    };
    FolderStore::open(folder.path(), config).unwrap()
}

fn chunk(content: &[u8]) -> Chunk {
    Chunk::new(Bytes::copy_from_slice(content))
}

async fn read_chunk(store: &FolderStore, address: Address) -> Option<Vec<u8>> {
    let body = store.get(address).await.unwrap()?;
    let length = body.length() as usize;
    let pieces: Vec<Bytes> = body.into_pieces().try_collect().await.unwrap();
    let bytes = pieces.concat();
    assert_eq!(bytes.len(), length);
    Some(bytes)
}

#[tokio::test]
async fn stores_a_chunk_under_its_address_and_counts_it_once() {
    let folder = TempDir::new().unwrap();
    let store = store(&folder);
    let chunk = chunk(&[7; 200_000]);
    assert_eq!(read_chunk(&store, chunk.address()).await, None);
    assert!(!store.has(chunk.address()).await.unwrap());
    assert_eq!(store.put(chunk.clone()).await.unwrap(), PutOutcome::Stored);
    assert_eq!(
        store.put(chunk.clone()).await.unwrap(),
        PutOutcome::AlreadyStored
    );
    assert!(store.has(chunk.address()).await.unwrap());
    assert_eq!(
        read_chunk(&store, chunk.address()).await.unwrap(),
        chunk.bytes()[..]
    );
    let stats = store.stats();
    assert_eq!((stats.chunks, stats.bytes), (1, 200_000));
    let name = chunk.address().to_string();
    let path = format!("chunks/{}/{}/{name}", &name[..2], &name[2..4]);
    assert!(folder.path().join(path).is_file());
}

#[tokio::test]
async fn serves_a_pointer_file_only_if_its_owner_signed_it() {
    let folder = TempDir::new().unwrap();
    let store = store(&folder);
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/self-encryption");
    let record = fs::read(fixtures.join("pointer-s1-c7.bin")).unwrap();
    let address = "41ffac2c96ce3ea1e47cac720de67e9cea8349da1d25ee5492e06e2644c22df6";
    let address: Address = address.parse().unwrap();
    let served = async || store.pointer(address).await.unwrap();
    assert_eq!(served().await, None);

    fs::create_dir(folder.path().join("pointers")).unwrap();
    let file = folder.path().join("pointers").join(address.to_string());
    fs::write(&file, &record).unwrap();
    assert_eq!(served().await.unwrap(), record);
    // A pointer record is not a chunk.
    assert!(!store.has(address).await.unwrap());

    fs::write(&file, [&record[..], b"more"].concat()).unwrap();
    assert_eq!(served().await, None);
    fs::copy(fixtures.join("pointer-s2-c3.bin"), &file).unwrap();
    assert_eq!(served().await, None);
    let mut unsigned = record.clone();
    unsigned[1960] += 1;
    fs::write(&file, unsigned).unwrap();
    assert_eq!(served().await, None);
}

#[tokio::test]
async fn concurrent_puts_store_a_chunk_once() {
    let folder = TempDir::new().unwrap();
    let store = store(&folder);
    let puts = (0..16).map(|_| store.put(chunk(b"same")));
    let outcomes = futures_util::future::try_join_all(puts).await.unwrap();
    let stored = outcomes.iter().filter(|o| **o == PutOutcome::Stored);
    assert_eq!(stored.count(), 1);
    assert_eq!(store.stats().chunks, 1);
}

#[tokio::test]
async fn a_full_store_refuses_new_chunks_and_keeps_the_old_ones() {
    let folder = TempDir::new().unwrap();
    let store = open_with(&folder, 10, EvictionPolicy::default());
    let first = chunk(b"12345678");
    assert_eq!(store.put(first.clone()).await.unwrap(), PutOutcome::Stored);
    assert_eq!(store.put(chunk(b"123")).await.unwrap(), PutOutcome::Full);
    assert_eq!(store.put(chunk(b"12")).await.unwrap(), PutOutcome::Stored);
    assert_eq!(
        store.put(first).await.unwrap(),
        PutOutcome::AlreadyStored,
        "a stored chunk needs no room"
    );
    assert_eq!(store.stats().bytes, 10);
}

#[tokio::test]
async fn quarantines_a_damaged_chunk_and_stores_it_again() {
    let folder = TempDir::new().unwrap();
    let store = store(&folder);
    let chunk = chunk(&[1; 5000]);
    let address = chunk.address();
    for damage in [vec![2; 5000], vec![1; 4999], vec![], vec![1; 5_000_000]] {
        store.put(chunk.clone()).await.unwrap();
        fs::write(
            store.folders.layout.chunk(address, ChunkClass::Written),
            &damage,
        )
        .unwrap();
        assert_eq!(read_chunk(&store, address).await, None);
        assert_eq!(read_chunk(&store, address).await, None);
    }
    assert_eq!(store.stats().quarantined, 4);
    assert_eq!(store.stats().chunks, 0);
    store.put(chunk.clone()).await.unwrap();
    assert_eq!(
        read_chunk(&store, address).await.as_deref(),
        Some(&chunk.bytes()[..])
    );
    fs::write(
        store.folders.layout.chunk(address, ChunkClass::Written),
        b"damaged again",
    )
    .unwrap();
    assert_eq!(
        store.put(chunk.clone()).await.unwrap(),
        PutOutcome::Stored,
        "a PUT replaces the damaged file"
    );
    assert_eq!(
        read_chunk(&store, address).await.as_deref(),
        Some(&chunk.bytes()[..])
    );
}

#[tokio::test]
async fn opening_counts_chunks_and_removes_temporary_files() {
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
    assert!(read_chunk(&second, Address::of(b"kept")).await.is_some());
}

#[tokio::test]
async fn a_store_cannot_be_opened_twice() {
    let folder = TempDir::new().unwrap();
    let first = store(&folder);
    let second = FolderStore::open(folder.path(), StoreConfig::default());
    assert_eq!(
        second.err().map(|e| e.kind()),
        Some(io::ErrorKind::ResourceBusy)
    );
    drop(first);
    store(&folder);
}

/// A store with room for four chunks of 10 bytes.
fn small_store(folder: &TempDir, eviction: &EvictionPolicy) -> FolderStore {
    open_with(folder, 40, eviction.clone())
}

fn ten_bytes(seed: u8) -> Chunk {
    chunk(&[seed; 10])
}

async fn has_all(store: &FolderStore, seeds: &[u8]) -> Vec<bool> {
    let lookups = seeds
        .iter()
        .map(|&seed| store.has(ten_bytes(seed).address()));
    futures_util::future::try_join_all(lookups).await.unwrap()
}

#[tokio::test]
async fn evicts_the_least_recently_used_upstream_chunks_first() {
    let folder = TempDir::new().unwrap();
    let eviction = EvictionPolicy {
        pulled: true,
        written: false,
        pinned: [ten_bytes(2).address()].into(),
    };
    let store = small_store(&folder, &eviction);
    assert_eq!(store.put(ten_bytes(0)).await.unwrap(), PutOutcome::Stored);
    for seed in 1..4 {
        assert_eq!(
            store.cache(ten_bytes(seed)).await.unwrap(),
            PutOutcome::Stored
        );
    }
    assert_eq!(
        read_chunk(&store, ten_bytes(1).address()).await.unwrap(),
        [1; 10]
    );
    assert_eq!(store.put(ten_bytes(4)).await.unwrap(), PutOutcome::Stored);
    assert_eq!(
        has_all(&store, &[0, 1, 2, 3, 4]).await,
        [true, true, true, false, true]
    );
    assert_eq!(store.cache(ten_bytes(5)).await.unwrap(), PutOutcome::Stored);
    assert_eq!(
        has_all(&store, &[0, 1, 2, 4, 5]).await,
        [true, false, true, true, true]
    );
    let stats = store.stats();
    assert_eq!((stats.chunks, stats.bytes, stats.evicted), (4, 40, 2));
    assert_eq!(store.put(ten_bytes(6)).await.unwrap(), PutOutcome::Stored);
    assert_eq!(
        store.put(ten_bytes(7)).await.unwrap(),
        PutOutcome::Full,
        "only pinned and written chunks are left"
    );
    assert_eq!(store.stats().bytes, 40);
}

#[tokio::test]
async fn does_not_evict_a_cached_chunk_after_a_client_writes_it() {
    let folder = TempDir::new().unwrap();
    let eviction = EvictionPolicy {
        pulled: true,
        ..EvictionPolicy::default()
    };
    let store = small_store(&folder, &eviction);
    store.cache(ten_bytes(0)).await.unwrap();
    assert_eq!(
        store.put(ten_bytes(0)).await.unwrap(),
        PutOutcome::AlreadyStored
    );
    assert_eq!(store.stats().chunks, 1);
    for seed in 1..9 {
        store.cache(ten_bytes(seed)).await.unwrap();
    }
    assert_eq!(has_all(&store, &[0, 1, 8]).await, [true, false, true]);
}

#[test]
fn finds_a_chunk_that_moves_during_the_search() {
    let folder = TempDir::new().unwrap();
    let store = store(&folder);
    let chunk = ten_bytes(0);
    let folders = &store.folders;
    folders.write(&chunk, ChunkClass::Pulled).unwrap();
    let mut searched = Vec::new();
    let found = find_in_folders(|class| {
        let found = folders.read_from(chunk.address(), class)?;
        if searched.is_empty() {
            folders.write(&chunk, ChunkClass::Written)?;
        }
        searched.push(class);
        Ok(found)
    });
    assert_eq!(found.unwrap().unwrap(), chunk.bytes());
    assert_eq!(
        searched,
        [ChunkClass::Written, ChunkClass::Pulled, ChunkClass::Written],
        "the first two lookups miss it"
    );
    assert!(folders.exists(chunk.address()).unwrap());
    assert!(!folders.exists(ten_bytes(1).address()).unwrap());
}

#[tokio::test]
async fn evicts_written_chunks_last_and_only_if_allowed() {
    let folder = TempDir::new().unwrap();
    let eviction = EvictionPolicy {
        pulled: true,
        written: true,
        ..EvictionPolicy::default()
    };
    let store = small_store(&folder, &eviction);
    for seed in 0..3 {
        store.put(ten_bytes(seed)).await.unwrap();
    }
    store.cache(ten_bytes(3)).await.unwrap();
    store.put(ten_bytes(4)).await.unwrap();
    assert_eq!(has_all(&store, &[0, 3, 4]).await, [true, false, true]);
    store.put(ten_bytes(5)).await.unwrap();
    assert_eq!(has_all(&store, &[0, 1, 5]).await, [false, true, true]);
    assert_eq!(store.put(chunk(&[9; 41])).await.unwrap(), PutOutcome::Full);
    assert_eq!(
        store.stats().chunks,
        4,
        "nothing is evicted for a chunk that never fits"
    );
}

#[tokio::test]
async fn the_order_of_use_survives_a_restart() {
    let folder = TempDir::new().unwrap();
    let eviction = EvictionPolicy {
        pulled: true,
        ..EvictionPolicy::default()
    };
    let store = small_store(&folder, &eviction);
    for seed in 0..4 {
        store.cache(ten_bytes(seed)).await.unwrap();
        let path = store
            .folders
            .layout
            .chunk(ten_bytes(seed).address(), ChunkClass::Pulled);
        let days_ago = SystemTime::now() - Duration::from_secs(86_400 * (9 - u64::from(seed)));
        File::open(path).unwrap().set_modified(days_ago).unwrap();
    }
    read_chunk(&store, ten_bytes(0).address()).await.unwrap();
    drop(store);
    let store = small_store(&folder, &eviction);
    assert_eq!(store.stats().chunks, 4);
    store.cache(ten_bytes(5)).await.unwrap();
    assert_eq!(has_all(&store, &[0, 1, 2]).await, [true, false, true]);
}

#[tokio::test]
async fn a_scan_does_not_evict_chunks_that_are_read_often() {
    let folder = TempDir::new().unwrap();
    let eviction = EvictionPolicy {
        pulled: true,
        ..EvictionPolicy::default()
    };
    let store = small_store(&folder, &eviction);
    for _ in 0..3 {
        for seed in 0..3 {
            if read_chunk(&store, ten_bytes(seed).address())
                .await
                .is_none()
            {
                store.cache(ten_bytes(seed)).await.unwrap();
            }
        }
    }
    for seed in 10..200 {
        assert_eq!(read_chunk(&store, ten_bytes(seed).address()).await, None);
        store.cache(ten_bytes(seed)).await.unwrap();
    }
    assert_eq!(has_all(&store, &[0, 1, 2]).await, [true; 3]);
    assert_eq!(store.stats().chunks, 4);
    // A chunk that becomes as popular as the others is admitted.
    for _ in 0..5 {
        assert_eq!(read_chunk(&store, ten_bytes(201).address()).await, None);
    }
    assert_eq!(
        store.cache(ten_bytes(201)).await.unwrap(),
        PutOutcome::Stored
    );
}

#[tokio::test]
async fn refuses_a_chunk_of_an_upstream_if_all_others_are_more_popular() {
    let folder = TempDir::new().unwrap();
    let eviction = EvictionPolicy {
        pulled: true,
        ..EvictionPolicy::default()
    };
    let store = small_store(&folder, &eviction);
    for seed in 0..4 {
        store.cache(ten_bytes(seed)).await.unwrap();
        for _ in 0..3 {
            read_chunk(&store, ten_bytes(seed).address()).await;
        }
    }
    assert_eq!(store.cache(ten_bytes(4)).await.unwrap(), PutOutcome::Full);
    assert_eq!(store.folders.refused.get(), 1);
    assert_eq!(has_all(&store, &[0, 1, 2, 3]).await, [true; 4]);
    // A client's chunk is stored in any case.
    assert_eq!(store.put(ten_bytes(5)).await.unwrap(), PutOutcome::Stored);
}

#[tokio::test]
async fn a_refused_chunk_displaces_nothing() {
    let folder = TempDir::new().unwrap();
    let eviction = EvictionPolicy {
        pulled: true,
        ..EvictionPolicy::default()
    };
    let store = small_store(&folder, &eviction);
    // Two chunks that are never read, and two that are read often.
    for seed in 0..4 {
        store.cache(ten_bytes(seed)).await.unwrap();
    }
    for _ in 0..5 {
        for seed in 2..4 {
            read_chunk(&store, ten_bytes(seed).address()).await;
        }
    }
    let large = chunk(&[9; 30]);
    assert_eq!(store.cache(large).await.unwrap(), PutOutcome::Full);
    assert_eq!(has_all(&store, &[0, 1, 2, 3]).await, [true; 4]);
    assert_eq!((store.stats().evicted, store.stats().bytes), (0, 40));
    assert_eq!(store.folders.refused.get(), 1);
    // The two chunks give room to one that needs no more.
    let fitting = chunk(&[9; 20]);
    assert_eq!(store.cache(fitting).await.unwrap(), PutOutcome::Stored);
    assert_eq!(
        has_all(&store, &[0, 1, 2, 3]).await,
        [false, false, true, true]
    );
}

#[tokio::test]
async fn a_chunk_for_which_nothing_can_make_room_displaces_nothing() {
    let folder = TempDir::new().unwrap();
    let eviction = EvictionPolicy {
        pulled: true,
        ..EvictionPolicy::default()
    };
    let store = small_store(&folder, &eviction);
    store.cache(ten_bytes(0)).await.unwrap();
    for seed in 1..4 {
        store.put(ten_bytes(seed)).await.unwrap();
    }
    assert_eq!(store.put(chunk(&[9; 20])).await.unwrap(), PutOutcome::Full);
    assert_eq!(has_all(&store, &[0, 1, 2, 3]).await, [true; 4]);
    assert_eq!(store.put(ten_bytes(5)).await.unwrap(), PutOutcome::Stored);
    assert_eq!(has_all(&store, &[0, 5]).await, [false, true]);
}

/// A store with a memory cache of 1 MB.
fn cached_store(folder: &TempDir, eviction: EvictionPolicy) -> FolderStore {
    let config = StoreConfig {
        limit: StoreLimit::Bytes(1_000_000),
        eviction,
        memory_cache_bytes: 1_000_000,
    };
    FolderStore::open(folder.path(), config).unwrap()
}

#[tokio::test]
async fn the_memory_cache_holds_no_chunk_that_is_not_stored() {
    let folder = TempDir::new().unwrap();
    let eviction = EvictionPolicy {
        pulled: true,
        ..EvictionPolicy::default()
    };
    let store = cached_store(&folder, eviction);
    let chunk = ten_bytes(0);
    let address = chunk.address();
    store.cache(chunk.clone()).await.unwrap();
    assert_eq!(read_chunk(&store, address).await.unwrap(), [0; 10]);
    assert!(store.folders.request(address).is_some());
    store.folders.evict_down_to(0).unwrap();
    assert!(store.folders.request(address).is_none());
    assert_eq!(read_chunk(&store, address).await, None);

    store.cache(chunk.clone()).await.unwrap();
    read_chunk(&store, address).await.unwrap();
    store.put(chunk).await.unwrap();
    assert!(
        store.folders.request(address).is_none(),
        "the class changed"
    );
    read_chunk(&store, address).await.unwrap();
    let hot = store.folders.request(address).unwrap();
    assert_eq!(hot.class, ChunkClass::Written);
}

#[tokio::test]
async fn a_chunk_that_is_removed_while_it_is_read_does_not_stay_in_memory() {
    let folder = TempDir::new().unwrap();
    let eviction = EvictionPolicy {
        pulled: true,
        ..EvictionPolicy::default()
    };
    let store = cached_store(&folder, eviction);
    let (folders, chunk) = (&store.folders, ten_bytes(0));
    let (address, class) = (chunk.address(), ChunkClass::Pulled);
    store.cache(chunk.clone()).await.unwrap();
    let removals = folders.removals.count(address);
    assert!(folders.remove(address, class).unwrap());
    folders
        .add_to_memory_cache(address, class, chunk.bytes(), removals)
        .unwrap();
    assert!(folders.request(address).is_none());
    // The same for a chunk that moves.
    store.cache(chunk.clone()).await.unwrap();
    let removals = folders.removals.count(address);
    store.put(chunk.clone()).await.unwrap();
    folders
        .add_to_memory_cache(address, class, chunk.bytes(), removals)
        .unwrap();
    assert!(folders.request(address).is_none());
    // A removed neighbour does not matter.
    let removals = folders.removals.count(address);
    folders.removals.record(address);
    let class = ChunkClass::Written;
    folders
        .add_to_memory_cache(address, class, chunk.bytes(), removals)
        .unwrap();
    assert!(folders.request(address).is_some());
}

#[tokio::test]
async fn the_use_of_a_chunk_in_memory_is_recorded_on_disk() {
    let folder = TempDir::new().unwrap();
    let store = cached_store(&folder, EvictionPolicy::default());
    let address = ten_bytes(0).address();
    store.put(ten_bytes(0)).await.unwrap();
    let path = store.folders.layout.chunk(address, ChunkClass::Written);
    let days_ago = SystemTime::now() - Duration::from_secs(86_400 * 9);
    File::open(&path).unwrap().set_modified(days_ago).unwrap();
    store.folders.record_use(address, ChunkClass::Written);
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    assert!(modified.elapsed().unwrap() < Duration::from_secs(3600));
}

#[tokio::test]
async fn the_limit_shrinks_a_store_that_holds_too_much() {
    let folder = TempDir::new().unwrap();
    let eviction = EvictionPolicy {
        pulled: true,
        ..EvictionPolicy::default()
    };
    let large = open_with(&folder, 100, eviction.clone());
    large.put(ten_bytes(0)).await.unwrap();
    for seed in 1..9 {
        large.cache(ten_bytes(seed)).await.unwrap();
    }
    drop(large);
    let small = small_store(&folder, &eviction);
    assert_eq!(small.stats().bytes, 90);
    small.put(ten_bytes(9)).await.unwrap();
    assert_eq!(small.stats().bytes, 40);
    assert_eq!(has_all(&small, &[0, 8, 9]).await, [true; 3]);
}
