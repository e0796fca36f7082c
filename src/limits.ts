/** Every fixed limit of Antway in one place. Sizes are bytes, times are milliseconds. */
export const limits = Object.freeze({
  /** Largest plaintext part of a self-encrypted file (crate `self_encryption`, `MAX_CHUNK_SIZE`). */
  plaintextChunkBytes: 4_190_208,
  /**
   * Largest part that occurs: a file one byte short of three full parts is cut in thirds, rounded down, and
   * the last one takes the rest, which is one byte more than a full part.
   */
  largestPartBytes: 4_190_209,
  /** Largest record of the network. A sealed part of the largest size fits with room to spare. */
  chunkBytes: 4_194_304,
  /** A file has at least this many bytes, and a data map at least this many chunks. */
  minFileBytes: 3,
  minChunks: 3,
  /** A published data map holds at most this many chunks; longer ones are shrunk. */
  publishedMapChunks: 3,
  /** Deepest nesting of shrunk data maps that is followed. */
  mapDepth: 8,

  /** Largest `archive.tar.idx` that is read; a tar with a longer one is listed by its headers. */
  indexBytes: 64 * 1024 * 1024,
  /** Largest file of the shell: the build refuses a larger one, and the worker reads no more of one. */
  shellFileBytes: 4 * 1024 * 1024,
  /** What each origin may store at least, whatever the other origins store. */
  leastStoreBytes: 64 * 1024 * 1024,
  /** Largest `.ant` manifest. */
  manifestBytes: 64 * 1024 * 1024,
  /** Most members of one archive. */
  archiveEntries: 100_000,
  /** Most folders of one archive; its paths could name far more than it has members. */
  archiveFolders: 200_000,
  /** Longest path of a member, in UTF-16 units. */
  pathCharacters: 4_096,
  /** Most values in a manifest's MessagePack: a few per entry. */
  manifestValues: 4_000_000,
  /** Most headers that are read to list a tar without an index: folders, links and long names count too. */
  tarHeaders: 400_000,
  /** Largest `app-conf.json`. */
  routeMapBytes: 1024 * 1024,
  /** Most characters that the patterns of all routes of an archive have together. */
  routePatternCharacters: 8_192,
  /** Longest path that routes with wildcards are tried on. */
  routedPathCharacters: 2_048,
  /** First guess at how much of a tar's end holds its index. */
  indexTailBytes: 64 * 1024,
  /** Longest run of pax or GNU long-name data before a tar header. */
  tarMetadataBytes: 1024 * 1024,

  /** Bytes of a file that one OPEN asks for: three whole chunks, which is all of a small archive. */
  openBytes: 3 * 4_190_208,
  /** Chunks and bytes that an OPEN may bring, whatever the data map claims of its range. The rest is fetched. */
  aheadChunks: 64,
  aheadBytes: 32 * 1024 * 1024,
  /** Addresses in one GET or HAS request of the peer protocol. */
  addressesPerRequest: 64,
  /** Chunks up to this size may share a GET: all that one asks for are no more than one chunk of the largest size. */
  smallChunkBytes: 64 * 1024,
  /**
   * While so many GETs of small chunks are under way, the next one waits for more to go with it, at most so long. When
   * nothing of an answer comes for `pauseMs`, who comes after it is asked for apart.
   */
  gatheredGets: { streams: 4, waitMs: 2, pauseMs: 500 },
  /** Longest write token, in bytes of UTF-8. */
  tokenBytes: 1024,
  /** A pointer record has exactly so many bytes. */
  pointerBytes: 5_303,
  /** Most pointers of which a browser keeps the newest record. */
  keptPointers: 1_000,
  /** Most pointers that lead from one to the next. */
  pointerDepth: 8,
  /** Peers asked for a pointer at once. */
  pointerPeers: 5,
  /** How long one is waited for; how long what they say holds; how long, that they know none or do not answer. */
  pointerMs: { answer: 4_000, fresh: 60_000, missing: 5_000 },
  /** Most peers that are learnt from others. */
  peersOfPeers: 8,
  /** Largest `/-/info` answer. */
  infoBytes: 64 * 1024,

  /** A request goes by HTTP when the WebTransport session is not up after this time. */
  connectGraceMs: 2_000,
  /** A WebTransport session that is not up after this time is given up. */
  connectTimeoutMs: 10_000,
  /** A stream or body that brings no byte for this time is given up. */
  stallMs: 10_000,
  /** A transfer that is slower than this on average is given up, as a peer gives it up. */
  minBytesPerSecond: 16 * 1024,
  /** When a WebTransport that fails is tried again, in the background. */
  webTransportCircuit: { failures: 1, firstMs: 1_000, maxMs: 60_000 },
  /** When a peer that fails, or cannot be reached, is asked again before the others are. */
  peerCircuit: { failures: 3, firstMs: 1_000, maxMs: 60_000 },
  /** How long a peer that sent wrong bytes is left out. */
  wrongChunkBanMs: 60_000,
  /** How long a peer may take before another is asked too: while little is known of it, and at least. */
  firstPatienceMs: { firstByte: 1_000, rest: 3_000 },
  leastPatienceMs: { firstByte: 30, rest: 500 },
  /** Peers asked for one chunk at the same time. */
  parallelTries: 3,
  /** Hedges for each request on average, and how many may be saved up. */
  hedgeShare: 0.1,
  hedgeBurst: 5,
  /** Sessions opened ahead of the first request, and most sessions kept open. */
  warmSessions: 3,
  sessions: 8,

  /**
   * Chunks that one reader has under way: before the link was measured, at least on a fast link, and at most. Two where
   * a chunk takes `slowChunkMs`; one where opening it and a round trip are no more than `idleShare` of its time.
   */
  readAhead: { first: 4, least: 3, most: 6, slowChunkMs: 1_000, openMs: 50, idleShare: 0.02 },
  /** Chunks of a pin that are fetched at the same time, and small ones beside them. */
  parallelPinFetches: 8,
  parallelSmallPinFetches: 64,
  /** Bytes handed to a response body at once. */
  streamPieceBytes: 1024 * 1024,
});
