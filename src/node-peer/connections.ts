import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The connections of all addresses together. */
const maxConnections = 1_024;
/** Requests that wait behind another one of their connection. Browsers send one after the other. */
const maxPipelined = { perConnection: 16, inTotal: 1_024 };
/** Node parses all that it has read of a connection at once: up to 64 KiB, with 2,000 requests. */
const partBytes = 4_096;
/** A head with more lines ends its connection, because Node would parse it to its end. */
const maxHeadLines = 4_000;
const lineFeed = 0x0a;
const shortHeadBytes = 32 * 1024;
/** The longer heads that arrive at a time. Another one ends its connection. */
const maxLongHeads = 64;
const tickMs = 1_000;
/** A connection that moves fewer bytes in a tick stands still: a client can send one byte after the other. */
const leastBytesPerTick = 1_024;

interface Connection {
  address: string | undefined;
  isBusy: boolean;
  /** Ticks since its last request ended, while no other one has a complete head. */
  headTicks: number;
  /** The last request whose head has arrived. */
  last?: IncomingMessage;
  /** The bytes and the lines that have arrived of the next head. */
  headBytes: number;
  headLines: number;
  /** The requests that wait for their turn, in their order. */
  waiting: (() => void)[];
  /** The bytes that it has moved, at the last tick. */
  moved: number;
  /** Ticks since it moved enough. */
  stillTicks: number;
}

/**
 * The connections of a peer. If there are too many, one without a complete head of a request ends: an idle one, or one whose
 * head drips. If all have requests, one ends that stands still: its client does not read the answer, or its body drips. The
 * requests of a connection are answered one after the other, and only a few of them wait.
 */
export class Connections {
  readonly #open = new Map<Socket, Connection>();
  readonly #longHeads = new Set<Connection>();
  #waiting = 0;
  readonly #timer = setInterval(() => this.#tick(), tickMs).unref();

  /** Takes the connections of a server. */
  watch(server: Server): void {
    server.on('connection', (socket) => this.#add(socket));
    // Node would answer these requests itself, all at once.
    server.on('checkExpectation', ({ socket }) => socket.destroy());
  }

  /** Takes a new connection, or closes it if there are too many and all of them have requests that move. */
  #add(socket: Socket): void {
    if (this.#open.size >= maxConnections && !this.#endAnother()) {
      socket.destroy();
      return;
    }
    const connection: Connection = {
      address: socket.remoteAddress,
      isBusy: false,
      headTicks: 0,
      headBytes: 0,
      headLines: 0,
      waiting: [],
      moved: 0,
      stillTicks: 0,
    };
    this.#open.set(socket, connection);
    parseInParts(socket, (part) => this.#mayParse(connection, part));
    socket.once('close', () => this.#remove(socket, connection));
  }

  /**
   * Waits until the requests before this one are answered. A connection with too many requests ends.
   * @returns whether the connection is still open.
   */
  async turnOf(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const { socket } = request;
    const connection = this.#open.get(socket);
    if (!connection || socket.destroyed) return false;
    connection.last = request;
    connection.headTicks = 0;
    connection.headLines = 0;
    connection.headBytes = 0;
    this.#longHeads.delete(connection);
    if (connection.isBusy) {
      const { perConnection, inTotal } = maxPipelined;
      if (connection.waiting.length >= perConnection || this.#waiting >= inTotal) {
        socket.destroy();
        return false;
      }
      this.#waiting++;
      await new Promise<void>((resolve) => connection.waiting.push(resolve));
      this.#waiting--;
      if (socket.destroyed) return false;
    }
    connection.isBusy = true;
    response.once('close', () => {
      const next = connection.waiting.shift();
      if (next) next();
      else connection.isBusy = false;
    });
    return true;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #remove(socket: Socket, connection: Connection): void {
    this.#open.delete(socket);
    this.#longHeads.delete(connection);
    for (const end of connection.waiting.splice(0)) end();
  }

  /** Whether the parser may have these bytes. Otherwise their head is too long. */
  #mayParse(connection: Connection, part: Uint8Array): boolean {
    if (connection.last && !connection.last.complete) return true; // a body
    connection.headBytes += part.length;
    connection.headLines += linesOf(part);
    if (connection.headLines > maxHeadLines) return false;
    if (connection.headBytes <= shortHeadBytes || this.#longHeads.has(connection)) return true;
    if (this.#longHeads.size >= maxLongHeads) return false;
    this.#longHeads.add(connection);
    return true;
  }

  #tick(): void {
    for (const [socket, connection] of this.#open) {
      const moved = socket.bytesRead + socket.bytesWritten;
      connection.stillTicks = moved - connection.moved < leastBytesPerTick ? connection.stillTicks + 1 : 0;
      connection.moved = moved;
      connection.headTicks = isWithoutHead(connection) ? connection.headTicks + 1 : 0;
    }
  }

  /** @returns whether there is a connection that may end for a new one. */
  #endAnother(): boolean {
    const perAddress = new Map<string | undefined, number>();
    for (const { address } of this.#open.values())
      perAddress.set(address, (perAddress.get(address) ?? 0) + 1);
    let ended: Socket | undefined;
    let highest: Rank = [0, 0, 0];
    for (const [socket, connection] of this.#open) {
      const connections = perAddress.get(connection.address)!;
      const { headTicks, stillTicks } = connection;
      const rank: Rank = isWithoutHead(connection)
        ? [2, connections, headTicks]
        : [Math.min(1, stillTicks), connections, stillTicks];
      if (rank[0] === 0 || !isHigher(rank, highest)) continue;
      highest = rank;
      ended = socket;
    }
    if (!ended) return false;
    ended.destroy();
    this.#open.delete(ended);
    return true;
  }
}

/** The kind of a connection, the connections of its address, and ticks. The highest one ends first. */
type Rank = readonly [kind: number, connections: number, ticks: number];

function isHigher(rank: Rank, other: Rank): boolean {
  const differing = rank.findIndex((part, i) => part !== other[i]);
  return differing >= 0 && rank[differing]! > other[differing]!;
}

/** Whether the connection is idle, or has sent a part of a head. */
function isWithoutHead({ isBusy, last }: Connection): boolean {
  return !isBusy && (last === undefined || last.complete);
}

/** Node's parser gets what a client sends in parts, and nothing more once the connection has been closed. */
function parseInParts(socket: Socket, mayParse: (part: Uint8Array) => boolean): void {
  const parsers = socket.listeners('data');
  socket.removeAllListeners('data');
  socket.on('data', (bytes: Buffer) => {
    for (let at = 0; at < bytes.length && !socket.destroyed; at += partBytes) {
      const part = bytes.subarray(at, at + partBytes);
      if (!mayParse(part)) socket.destroy();
      else for (const parse of parsers) parse.call(socket, part);
    }
  });
}

function linesOf(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) lines++;
  return lines;
}
