import {
  type LibraryOffer,
  type MoveAnswer,
  type MoveOutcome,
  type MoveRequest,
  moveMessage,
} from '../../site-pages/messages.ts';
import { asGatewayApiError, gateway } from '../gateway-api.ts';
import { Observable } from '../observable.ts';
import { libraryHere, pinnedSiteFile, publicationFile } from './library-here.ts';

export type MoveState =
  | { step: 'rest' }
  | { step: 'blocked' }
  /** The window is open, and the user continues there. */
  | { step: 'open' }
  /** The user or the other page ended the move before the library was copied. */
  | { step: 'cancelled' }
  | ({ step: 'done' } & MoveOutcome)
  /** The library at this address was deleted after the copy. */
  | { step: 'deleted' };

/** How often to check that the window is still open, in milliseconds. */
const closedMs = 1_000;

/**
 * Offers this library to the page `/-/move` at another address of the same gateway, in a window that it opens. There is
 * one instance per page and not per screen, so a move continues when the user changes the screen.
 */
class LibraryMove extends Observable<MoveState> {
  #stop = new AbortController();
  #offered = new Set<string>();

  /** Call it in a click handler: otherwise the browser blocks the window. `target` is the other address's origin. */
  start(target: string): void {
    this.#stop.abort();
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    const opened = window.open(`${target}/-/move#${location.hostname}`);
    this.set({ step: opened ? 'open' : 'blocked' });
    if (!opened) return;
    window.addEventListener(
      'message',
      ({ origin, source, data, ports: [port] }) => {
        if (origin !== target || source !== opened || data?.type !== moveMessage || !port) return;
        void this.#offer(port, signal);
      },
      { signal },
    );
    const timer = setInterval(() => {
      if (!opened.closed) return;
      clearInterval(timer);
      if (this.state.step === 'open' && !signal.aborted) this.set({ step: 'cancelled' });
    }, closedMs);
    signal.addEventListener('abort', () => clearInterval(timer));
  }

  end(step: 'rest' | 'deleted'): void {
    this.#stop.abort();
    this.set({ step });
  }

  async #offer(port: MessagePort, signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => port.close());
    port.onmessage = async ({ data: request }: MessageEvent<MoveRequest>) => {
      if (request.kind === 'cancelled') return this.set({ step: 'cancelled' });
      if (request.kind === 'done') {
        // Entries that were added since the offer are not copied.
        const missing = entriesOf(await libraryHere(signal)).filter(
          (each) => !this.#offered.has(each),
        ).length;
        const { copied, published, failed } = request;
        return this.set({ step: 'done', copied, published, failed: failed + missing });
      }
      let answer: MoveAnswer;
      try {
        answer = { id: request.id, body: await this.#answer(request) };
      } catch (error) {
        const { code, message } = asGatewayApiError(error);
        answer = { id: request.id, code, message };
      }
      port.postMessage(answer);
    };
    try {
      const offer = await libraryHere(signal);
      this.#offered = new Set(entriesOf(offer));
      port.postMessage(offer);
    } catch (error) {
      console.warn('antway: the library could not be offered:', asGatewayApiError(error).message);
    }
  }

  async #answer(request: Extract<MoveRequest, { id: number }>): Promise<Blob | null> {
    switch (request.kind) {
      case 'ping':
        return null;
      case 'manifest':
        return gateway.manifest(request.address);
      case 'site':
        return pinnedSiteFile(request.address);
      case 'publication':
        return publicationFile(request.address);
    }
  }
}

/** Published content can be a site of the library too. */
function entriesOf({ sites, publications }: LibraryOffer): string[] {
  return [...sites.map(({ address }) => address), ...publications.map(({ id }) => `publication ${id}`)];
}

export const libraryMove = new LibraryMove({ step: 'rest' });
