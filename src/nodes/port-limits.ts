/** Limits of the worker's requests to the page with the connections. Times in milliseconds. */
export const portLimits = Object.freeze({
  /** Requests that a worker sends at the same time. The others wait in the worker. */
  requests: 64,
  /** Requests that a page works on at the same time. Each can use some ten megabytes for its record. */
  atOnce: 8,
  /** The same for one worker, so that a worker with many slow requests leaves places for the others. */
  atOncePerPort: 6,
  /** Pointer records in one answer. */
  records: 20,
  /** Longest error message, in UTF-16 units. */
  messageCharacters: 300,
  /** A context asks another for a sign of life each `tickMs`. After so many asks without one, the other is silent. */
  tickMs: 300,
  silentTicks: 5,
  /** How often the worker looks for the leader's status after a question, and the pause before each look. */
  reportLooks: 10,
  reportLookMs: 50,
  /** How long a request waits for a leader: longer than it takes another page to take over. */
  leaderWaitMs: 4_000,
});
