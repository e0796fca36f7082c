import decoderWasmUrl from 'brotli-dec-wasm/web/bg.wasm?url';
import { matchPrecache } from 'workbox-precaching';
import type { Config } from '../src/config.ts';
import { type AntwayError, asAntwayError } from '../src/errors.ts';
import { errorResponse } from '../src/gateway/error-response.ts';
import { Gateway, type RequestContext as GatewayContext } from '../src/gateway/gateway.ts';
import { HostConfig } from '../src/gateway/host-config.ts';
import { StatsBroadcast } from '../src/gateway/stats-broadcast.ts';
import type { CodecPlatform } from '../src/self-encryption/codec.ts';
import { Stats } from '../src/stats/stats.ts';

const platform: CodecPlatform = {
  // A worker's own requests do not pass through its precache.
  brotliDecoderWasm: async () => (await matchPrecache(decoderWasmUrl)) ?? fetch(decoderWasmUrl),
};

/** What the fetch event knows of a request. */
export type RequestContext = Omit<GatewayContext, 'configProblem'>;

/** How old the host's configuration may be before it is asked again, in milliseconds. */
const maxAgeMs = 60_000;
/** The same while there is none to work with, or it lacks what was asked for. */
const maxAgeInNeedMs = 2_000;
/** How long answers under way may go on after another configuration has taken over, in milliseconds. */
const handOverMs = 60_000;

/**
 * The gateway of this worker, made from the configuration that is known, and made anew when the host gives
 * another. Everything here can be lost with the worker at any time.
 */
export class Runtime {
  readonly #hostConfig = new HostConfig(self.location.origin);
  readonly #stats = new Stats();
  readonly #broadcast = new StatsBroadcast(this.#stats);
  #current: { json: string; gateway: Gateway } | undefined;
  /** Whether it works with the default because the host has not been reached yet. */
  #isProvisional = false;
  #problem: AntwayError | undefined;
  #refreshing: Promise<void> | undefined;
  #refreshedAt = 0;

  /**
   * Answers a request of this origin.
   * @returns undefined when it is not the gateway's.
   */
  async handle(request: Request, context: RequestContext): Promise<Response | undefined> {
    try {
      const answer = (await this.#gateway()).handle(request, this.#with(context));
      if (answer) return await answer;
      // Perhaps a name that the host has given since.
      await this.#refresh(maxAgeInNeedMs);
      return await this.#current?.gateway.handle(request, this.#with(context));
    } catch (error) {
      return errorResponse(asAntwayError(error), request);
    }
  }

  async #gateway(): Promise<Gateway> {
    const refreshing = this.#refresh(this.#current && !this.#isProvisional ? maxAgeMs : maxAgeInNeedMs);
    if (!this.#current) {
      const stored = await this.#hostConfig.stored();
      // What the host has given by now is newer.
      if (stored && !this.#current) this.#use(stored);
    }
    if (!this.#current) {
      await refreshing;
      if (!this.#current) {
        if (this.#problem) throw this.#problem;
        this.#use(this.#hostConfig.default());
        this.#isProvisional = true;
      }
    }
    return this.#current!.gateway;
  }

  /** Asks the host for its configuration, unless that was done a short while ago. Never rejects. */
  #refresh(olderThanMs: number): Promise<void> {
    if (!this.#refreshing || Date.now() - this.#refreshedAt > olderThanMs) {
      this.#refreshedAt = Date.now();
      this.#refreshing = this.#askHost();
    }
    return this.#refreshing;
  }

  async #askHost(): Promise<void> {
    try {
      const config = await this.#hostConfig.fetch();
      if (!config) return;
      this.#problem = undefined;
      this.#isProvisional = false;
      this.#use(config);
    } catch (error) {
      this.#problem = asAntwayError(error);
      console.error('antway: the host’s configuration is not used:', this.#problem.message);
    }
  }

  #with(context: RequestContext): GatewayContext {
    return { ...context, configProblem: this.#problem?.message ?? null };
  }

  #use(config: Config): void {
    const json = JSON.stringify(config, (_, value) =>
      value instanceof Map || value instanceof Set ? [...value] : value,
    );
    if (this.#current?.json === json) return;
    const former = this.#current?.gateway;
    if (former) setTimeout(() => former.close(), handOverMs);
    this.#current = { json, gateway: new Gateway(config, platform, this.#stats, this.#broadcast) };
  }
}
