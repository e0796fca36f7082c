/** Limits of the network's protocol for browsers, and limits that Antway sets itself. Times in milliseconds. */
export const nodeLimits = Object.freeze({
  /** One message of a data channel. */
  messageBytes: 16 * 1024,
  /** The JSON header of a request or response. */
  headerBytes: 64 * 1024,
  chunkBytes: 4 * 1024 * 1024,
  /** A response to a pointer request, by the node's own limit. */
  smallBodyBytes: 64 * 1024,
  multiaddrCharacters: 2048,
  /** Shortest average message of a long frame: smaller ones would only cost time. */
  leastMessageBytes: 256,

  /** Nodes that one answer may name, and nodes that a lookup keeps in view (`K`). */
  bucket: 20,
  /** Nodes that the first answers name: each takes 0.75 kB, and a new connection brings 6 kB in one round trip. */
  firstNames: 7,
  /** Requests of a lookup at the same time (`α`). */
  parallel: 6,
  /** After this time without an answer, a lookup sends one more request. At most `mostParallel` run at the same time. */
  placeMs: 1_000,
  mostParallel: 18,
  /** The nodes closest to an address, which hold its record, and how many of them decide. */
  closeGroup: 7,
  majority: 4,
  /** Nodes that one lookup asks. */
  asked: 120,
  /** Nodes that are asked in addition, before a record counts as absent, and how long each answer is awaited. */
  extra: 20,
  extraMs: 4_000,
  /** The longest time for which a lookup awaits the names of a node, once enough others have answered. */
  lateMs: 15_000,
  /** After this many failures of nodes that one node named, and four times as many as successes, its names count less. */
  falseNames: 8,

  connectMs: 10_000,
  handshakeMs: 10_000,
  /** A node that sends nothing for this time while it owes an answer is given up. */
  stallMs: 10_000,
  /** How often a connection looks whether bytes get through, and the slowest rate at which a request may do so. */
  sendLookMs: 250,
  sendBytesPerSecond: 4 * 1024,
  /** A caller gives up a small request that waits longer than this behind a chunk. Sending the chunk continues. */
  behindMs: 140_000,
  /** Browsers with libwebrtc tell a page that bytes have left only once more than this have, or all. */
  reportedBytes: 100 * 1024,
  /** Older ones say that bytes have left when these enter a buffer of this size. */
  hiddenBytes: 2_000_000,
  /** How long a node may take to check the payment for a chunk and to store it. */
  putMs: 60_000,
  /** The same for a chunk of a batch. The node first looks up the nodes that were paid, for up to two minutes. */
  batchedPutMs: 150_000,
  /** Nodes close connections that are idle for a minute. */
  idleMs: 50_000,
  connections: 24,
  /** The limit while all are in use. A further connection waits up to `roomMs`, and looks for a place every `roomStepMs`. */
  mostConnections: 48,
  roomMs: 10_000,
  roomStepMs: 200,
  /** Attempts to connect: so many in all, and so many that began within `youngMs`. Most others go to dead nodes. */
  attemptsAtOnce: 24,
  connectsAtOnce: 12,
  youngMs: 2_000,
  /** Nodes accept four connections of an IP address. Antway has one for each node, and so many for each host. */
  connectionsPerHost: 4,
  /** Nodes close a connection that sends more than 16 requests a second, and count the handshake. */
  requestsPerSecond: 14,
  requestBurst: 12,
  requestsAtOnce: 4,
  /** How much later than the hello the first request is sent, if the node has not answered the hello by then. */
  helloLeadMs: 20,

  /** A node that failed is not asked for this time, and twice as long after each further failure. */
  retryMs: { first: 60_000, most: 3_600_000 },
  /** A node that sent wrong bytes or broke the protocol. */
  banMs: 3_600_000,
  /**
   * The next node is asked for a record that another one sends: without a first byte at the least, and after it. Each so
   * many bytes that arrive give a node one more millisecond.
   */
  hedgeMs: { firstByte: 800, rest: 4_000 },
  hedgeBytesPerMs: 256,
  recordsAtOnce: 3,
  /** Records of all reads that arrive from a further node, because the first one is slow. */
  hedgesAtOnce: 2,

  /** Nodes that are remembered for the next start, and how often that is written. */
  remembered: 200,
  rememberMs: 10_000,
});
