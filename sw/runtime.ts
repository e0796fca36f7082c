import decoderWasmUrl from 'brotli-dec-wasm/web/bg.wasm?url';
import { matchPrecache } from 'workbox-precaching';
import { IndexedDbStore } from '../src/chunks/indexed-db-store.ts';
import { asAntwayError } from '../src/errors.ts';
import { Configuration, type InForce } from '../src/gateway/configuration.ts';
import { errorResponse } from '../src/gateway/error-response.ts';
import { Gateway, type RequestContext } from '../src/gateway/gateway.ts';
import { StatsBroadcast } from '../src/gateway/stats-broadcast.ts';
import type { CodecPlatform } from '../src/self-encryption/codec.ts';
import { Stats } from '../src/stats/stats.ts';
import { sodiumWasm } from './sodium-wasm.ts';

const platform: CodecPlatform = {
  // A worker's own requests do not pass through its precache.
  brotliDecoderWasm: async () => (await matchPrecache(decoderWasmUrl)) ?? fetch(decoderWasmUrl),
  sodiumWasm,
};

/** How long answers under way may go on after another configuration has taken over, in milliseconds. */
const handOverMs = 60_000;

/**
 * The gateway of this worker, made from the configuration in force, and made anew when that becomes another.
 * Everything here can be lost with the worker at any time.
 */
export class Runtime {
  readonly #configuration = new Configuration(self.location.origin);
  readonly #stats = new Stats();
  readonly #broadcast = new StatsBroadcast(this.#stats);
  readonly #store = new IndexedDbStore(this.#stats);
  #current: { inForce: InForce; gateway: Gateway } | undefined;

  /**
   * Answers a request of this origin.
   * @returns undefined when it is not the gateway's.
   */
  async handle(request: Request, context: RequestContext): Promise<Response | undefined> {
    try {
      const answer = (await this.#gateway()).handle(request, context);
      if (answer) return await answer;
      // Perhaps a name that the host has given since.
      await this.#configuration.renew();
      return await (await this.#gateway()).handle(request, context);
    } catch (error) {
      return errorResponse(asAntwayError(error), request);
    }
  }

  /**
   * Goes on with the pins.
   * @returns whether all are done.
   */
  async workOnPins(): Promise<boolean> {
    return (await this.#gateway()).workOnPins();
  }

  async #gateway(): Promise<Gateway> {
    const inForce = await this.#configuration.current();
    if (this.#current?.inForce !== inForce) {
      const former = this.#current?.gateway;
      former?.handOver();
      if (former) setTimeout(() => former.close(), handOverMs);
      void this.#store.setMaxBytes(inForce.config.cache.maxBytes);
      const gateway = new Gateway({
        inForce,
        configuration: this.#configuration,
        platform,
        store: this.#store,
        stats: this.#stats,
        broadcast: this.#broadcast,
      });
      this.#current = { inForce, gateway };
    }
    return this.#current.gateway;
  }
}
