/** Every fixed limit of Antway in one place. Sizes are bytes, times are milliseconds. */
export const limits = Object.freeze({
  /** Largest plaintext part of a self-encrypted file (crate `self_encryption`, `MAX_CHUNK_SIZE`). */
  plaintextChunkBytes: 4_190_208,
  /** The last of three parts takes the remainder, so it can be one byte larger than a full part. */
  largestPartBytes: 4_190_209,
  /** Largest record of the network. An encrypted part of the largest size fits. */
  chunkBytes: 4_194_304,
  /** A file has at least this many bytes, and a data map at least this many chunks. */
  minFileBytes: 3,
  minChunks: 3,
  /** A data map with more chunks is shrunk. */
  publishedMapChunks: 3,
  /** Deepest nesting of shrunk data maps that the resolver follows. */
  mapDepth: 8,
  /** Most chunks of a shrunk data map. The network's own software makes 17 for the largest one. */
  nestedMapChunks: 1_024,

  /** Largest `archive.tar.idx` that is read. A tar with a larger index is listed by its headers. */
  indexBytes: 64 * 1024 * 1024,
  /** Largest file of the shell. The build refuses a larger file, and the worker reads no more than this of a file. */
  shellFileBytes: 4 * 1024 * 1024,
  /** Storage that each origin may use in any case, even if the other origins use the rest. */
  leastStoreBytes: 64 * 1024 * 1024,
  manifestBytes: 64 * 1024 * 1024,
  archiveEntries: 100_000,
  /** A separate limit, because paths can name far more folders than there are members. */
  archiveFolders: 200_000,
  /** Longest path of a member, in UTF-16 units. */
  pathCharacters: 4_096,
  /** Most values in a manifest's MessagePack: a few per entry. */
  manifestValues: 4_000_000,
  /** Most headers that are read to list a tar without an index. Folders, links and long names count too. */
  tarHeaders: 400_000,
  /** How long a site that was found to be stored completely is not counted again. */
  storedMs: 5_000,
  /**
   * Estimated memory of a chunk in memory beside its bytes: its key, its entry and its buffer. Otherwise a hostile file of
   * tiny chunks takes many times the limit.
   */
  chunkEntryBytes: 1_024,
  /** Memory for decrypted chunks of sites that are read without peers: four chunks. */
  localMemoryBytes: 4 * (4_190_209 + 1_024),
  /** Longest title of a site, and longest URL of its icon, in UTF-16 units. */
  titleCharacters: 2_000,
  /** Largest list of sites, and most entries of a list or of the host's catalogue. */
  listBytes: 64 * 1024,
  listEntries: 100,
  /** Most names of a list of names. It has at most `listBytes` as well. */
  listedNames: 500,
  routeMapBytes: 1024 * 1024,
  /** Most characters in the patterns of all routes of an archive together. */
  routePatternCharacters: 8_192,
  /** Longest path that is matched against routes with wildcards. */
  routedPathCharacters: 2_048,
  /** Largest `_redirects` that is read, and most of its rules. */
  redirectsBytes: 64 * 1024,
  redirectRules: 1_000,
  /** Bytes at the end of a tar that are prefetched, because its index is probably there. */
  indexTailBytes: 64 * 1024,
  /** Longest run of pax or GNU long-name data before a tar header. */
  tarMetadataBytes: 1024 * 1024,

  /** Bytes of a file that one OPEN requests: three whole chunks, which cover a small archive completely. */
  prefetchBytes: 3 * 4_190_208,
  /** Most chunks and bytes accepted from one OPEN, whatever the data map claims. The rest is fetched. */
  prefetchedChunks: 64,
  prefetchedBytes: 32 * 1024 * 1024,
  /** Records that the gateway's own origin hands to a site's origin: what one OPEN requests, its maps and the padding. */
  handed: { records: 128, bytes: 16 * 1024 * 1024 },
  /** Addresses in one GET or HAS request of the peer protocol. */
  addressesPerRequest: 64,
  /** Chunks up to this size may share a GET, which in total is no larger than one chunk of the largest size. */
  smallChunkBytes: 64 * 1024,
  /**
   * If `streams` GETs of small chunks are running, the next GET waits up to `waitMs` for more addresses. If an answer
   * pauses for `pauseMs`, the chunks after it are requested on separate streams.
   */
  batchedGets: { streams: 4, waitMs: 2, pauseMs: 500 },
  /** Longest write token, in bytes of UTF-8. */
  tokenBytes: 1024,
  /** The exact size of a pointer record, in bytes. */
  pointerBytes: 5_303,
  /** Most pointers whose newest record a browser stores. */
  storedPointers: 1_000,
  pointerDepth: 8,
  pointerPeers: 5,
  /** `fresh`: how long a found or known pointer stays valid. `missing`: how long "not found" stays valid. */
  pointerMs: { answer: 4_000, fresh: 60_000, missing: 5_000 },
  peersOfPeers: 8,
  infoBytes: 64 * 1024,
  /** Longest texts of `network` in a peer's `/-/info`, in UTF-16 units. Longer texts are cut. */
  networkText: { name: 64, state: 32, since: 40, problem: 300 },
  /** Longest name and version of a peer, in UTF-16 units. Longer texts are cut. */
  peerNameText: 64,
  /** `fresh`: how long a peer's `network` stays valid. `ask`: longest wait for it. */
  networkMs: { fresh: 60_000, ask: 1_500 },
  /**
   * Checks whether a peer answers. `answer`: longest wait. `fresh`: how long a sign of life stays valid. `again`: the
   * pause before a silent peer is checked again.
   */
  checkMs: { answer: 4_000, fresh: 30_000, again: 3_000 },

  /**
   * A peer that answers "busy" is asked again after its hint: `default` without a hint, never sooner than `min` or
   * later than `max`. A hint below `default` is not that of a lookup. After `total`, the peer has failed. A lookup in
   * the live network takes 5 s at the median and 13 s at the 90th percentile. Peers of a network do not hedge each
   * other before `hedge`, a little more than the median.
   */
  busyMs: { default: 2_000, min: 250, max: 60_000, total: 60_000, hedge: 6_000 },
  /**
   * `first`: a navigation that waits this long for a lookup gets the progress page. `next`: if no lookup is running then,
   * the gateway checks again at this interval. `ask`: how long one request of the page's script waits. `goOn`: how long the
   * work for a request continues after its answer, so that the next request can join it. `failed`: how long a failure is
   * remembered for the navigation after it.
   */
  progressMs: { first: 1_000, next: 500, ask: 5_000, goOn: 8_000, failed: 10_000 },

  /** A request waits this long for a WebTransport session, and then uses HTTP. */
  connectGraceMs: 2_000,
  connectTimeoutMs: 10_000,
  /** A stream or body that delivers no byte for this time fails. */
  stallMs: 10_000,
  /** A transfer that is slower than this on average fails. The peer has the same limit. */
  minBytesPerSecond: 16 * 1024,
  /** Failures that stop the use of a WebTransport, and the delays before it is tried again in the background. */
  webTransportCircuit: { failures: 1, firstMs: 1_000, maxMs: 60_000 },
  /** Failures that move a peer to the end of the order, and the delays before it is tried in its place again. */
  peerCircuit: { failures: 3, firstMs: 1_000, maxMs: 60_000 },
  /** First ban of a peer that sent wrong bytes. Each further ban is twice as long, up to 64 times the first. */
  wrongChunkBanMs: 60_000,
  /** Hedge delays: the default while few answers were measured, and the lower bound. */
  defaultHedgeDelayMs: { firstByte: 1_000, rest: 3_000 },
  minHedgeDelayMs: { firstByte: 30, rest: 500 },
  /** The network's nodes are not asked before the last peer was silent for this time. */
  nodeHedgeMs: 1_000,
  /** Peers that are asked for one chunk at the same time. */
  parallelTries: 3,
  /** Hedges per request on average, and how many unused hedges may accumulate. */
  hedgeShare: 0.1,
  hedgeBurst: 5,
  /** Sessions that are connected before the first request, and most sessions that stay connected. */
  warmSessions: 3,
  sessions: 8,

  /**
   * Chunks that one reader requests at the same time: before the link was measured, at least on a fast link, and at
   * most. Two chunks if one takes `slowChunkMs` to arrive. One chunk if decrypting it and a round trip take no more
   * than `idleShare` of its transfer time.
   */
  readAhead: { first: 4, least: 3, most: 6, slowChunkMs: 1_000, decryptMs: 50, idleShare: 0.02 },
  /** Chunks of a nested map that are fetched at the same time. The network's own software makes at most 17, of 4 MiB. */
  parallelMapChunks: 17,
  /** Chunks of a pin that are fetched at the same time, and small chunks in addition to them. */
  parallelPinFetches: 8,
  parallelSmallPinFetches: 64,
  /** Largest file that may be opened as an envelope. */
  envelopeBytes: 4 * 1024 * 1024,
  /** Longest attribute value or CSS token in which content addresses are rewritten. A longer one passes unchanged. */
  linkTokenBytes: 64 * 1024,
  /** Bytes written to a response body at once. */
  streamPieceBytes: 1024 * 1024,
});
