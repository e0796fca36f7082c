// The processes of peers that `npm start` and `antway serve` run. Plain JavaScript, see setup.mjs.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { SetupError } from './setup-error.mjs';

/** The peer's time to finish its work after SIGTERM. */
const stopTimeoutMs = 10_000;

/**
 * A peer that hosts the gateway, in a process of its own.
 * @typedef {object} PeerSettings
 * @property {string} program the script of the command `antway` for the peer in Node; the binary of the peer in Rust.
 * @property {string[]} addresses loopback addresses with ports, for HTTP.
 * @property {string[]} [webTransport] the same for WebTransport. Only the peer in Rust has it.
 * @property {string} store the folder of the chunks.
 * @property {boolean} [allowsWrites] whether programs of this machine may write.
 * @property {string} web the folder of the built gateway.
 * @property {string} config the file for `/antway.json`.
 * @property {string[]} [more] more options of the peer in Rust.
 */
export class PeerProcess {
  /** The peer's HTTP origin. Set by `start`. */
  url = '';
  #child;
  #isStopping = false;
  #kill = () => this.#child.kill('SIGKILL');

  /**
   * Starts a peer and waits until it listens.
   * @param {'node' | 'rust'} kind
   * @param {PeerSettings} settings
   * @param {(reason: string) => void} onEnd called when a peer that has started ends without a call of `stop`.
   * @throws SetupError when the peer does not start.
   */
  static async start(kind, settings, onEnd) {
    const peer = new PeerProcess(kind, settings);
    const ended = new Promise((resolve) => {
      peer.#child.once('error', (error) => resolve(error.message));
      peer.#child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
    });
    peer.url = await Promise.race([peer.#listening(), ended.then(() => undefined)]);
    if (!peer.url) {
      throw new SetupError('The peer did not start; it says why above. Is Antway running already?');
    }
    ended.then((reason) => peer.#isStopping || onEnd(reason));
    return peer;
  }

  constructor(kind, { program, addresses, webTransport, store, allowsWrites, web, config, more = [] }) {
    const common = [
      ...['--http', addresses.join(',')],
      ...['--store', store],
      ...(allowsWrites ? ['--allow-open-writes'] : []),
      ...['--web', web],
      ...['--web-config', config],
    ];
    // With its own process group, the peer gets no Ctrl-C. This process stops the peer in an orderly way.
    const options = { detached: process.platform !== 'win32' };
    if (kind === 'node') {
      const args = [program, 'peer', ...common];
      this.#child = spawn(process.execPath, args, {
        ...options,
        stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      });
    } else {
      // The peer's stdin ends with this process, also if this process is killed.
      const args = [
        'serve',
        ...common,
        ...['--webtransport', webTransport.join(',')],
        ...more,
        '--exit-with-stdin',
      ];
      this.#child = spawn(program, args, { ...options, stdio: ['pipe', 'pipe', 'inherit'] });
      this.#child.stdin.on('error', () => undefined); // the end of the peer is reported by its `exit`
    }
    process.on('exit', this.#kill);
    this.#child.once('exit', () => process.off('exit', this.#kill));
  }

  /** Only for the peer in Node: passes requests on to the peer at this origin; without an origin, answers itself again. */
  forwardTo(origin) {
    // Without a callback, a failure would end this process. The end of the peer is reported by its `exit`.
    this.#child.send({ forwardTo: origin ?? null }, () => undefined);
  }

  /** Ends the process, and waits for its end. */
  async stop() {
    this.#isStopping = true;
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), stopTimeoutMs);
    await ended;
    clearTimeout(timer);
  }

  /** The origin that the peer prints when it is ready. */
  async #listening() {
    for await (const line of createInterface({ input: this.#child.stdout })) {
      let message;
      try {
        message = JSON.parse(line);
      } catch {
        continue; // a log line for the user
      }
      if (message.event !== 'listening') continue;
      this.#child.stdout.resume(); // later output must not fill the pipe
      return message.http;
    }
    return undefined;
  }
}
