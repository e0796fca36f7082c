import { type LibraryPart, type MoveAnswer, type MoveRequest, moveMessage } from './messages.ts';

/** How long the shell may take to send its offer. */
const offerMs = 20_000;
/** How often this page pings the shell, and how long the shell may take to reply. */
const pingMs = 5_000;
const goneMs = 20_000;

/** The opening shell does not provide what this page requested. */
export class MoveProblem extends Error {
  override readonly name = 'MoveProblem';

  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

type Wanted = { kind: LibraryPart; address: string } | { kind: 'ping' };

/** The connection from `/-/move` to the shell that opened it. */
export class MovePort {
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, { resolve(body: Blob | null): void; reject(error: Error): void }>();
  #requests = 0;
  #answeredAt = Date.now();

  private constructor(port: MessagePort) {
    this.#port = port;
    port.onmessage = ({ data }: MessageEvent<MoveAnswer>) => {
      this.#answeredAt = Date.now();
      const waiting = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if ('code' in data) waiting?.reject(new MoveProblem(String(data.code), String(data.message)));
      else waiting?.resolve(data.body);
    };
  }

  /** @param origin only a window of this origin gets the message. @throws MoveProblem if the shell offers nothing. */
  static open(shell: Window, origin: string): Promise<{ port: MovePort; offer: unknown }> {
    const { port1, port2 } = new MessageChannel();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        port1.close();
        reject(new MoveProblem('UNANSWERED', `No library of ${origin} was offered.`));
      }, offerMs);
      port1.onmessage = ({ data }) => {
        clearTimeout(timer);
        resolve({ port: new MovePort(port1), offer: data });
      };
      shell.postMessage({ type: moveMessage }, { targetOrigin: origin, transfer: [port2] });
    });
  }

  send(message: Extract<MoveRequest, { kind: 'done' | 'cancelled' }>): void {
    this.#port.postMessage(message);
  }

  /** @param address id of a publication. @throws MoveProblem from the shell's reply, or if the shell is gone. */
  async get(kind: LibraryPart, address: string): Promise<Blob> {
    this.#answeredAt = Date.now();
    const stop = setInterval(() => {
      if (Date.now() - this.#answeredAt > goneMs) this.#giveUp();
      else this.#ask({ kind: 'ping' }).catch(() => undefined);
    }, pingMs);
    try {
      const body = await this.#ask({ kind, address });
      if (body instanceof Blob) return body;
      throw new MoveProblem('UNANSWERED', 'The other window sent something else.');
    } finally {
      clearInterval(stop);
    }
  }

  #ask(wanted: Wanted): Promise<Blob | null> {
    const id = ++this.#requests;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#port.postMessage({ ...wanted, id } satisfies MoveRequest);
    });
  }

  #giveUp(): void {
    const error = new MoveProblem('UNANSWERED', 'The window that opened this page does not answer.');
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
