import { IndexedDbStore } from '../src/chunks/indexed-db-store.ts';
import { asAntwayError } from '../src/errors.ts';
import type { Configuration, InForce } from '../src/gateway/configuration.ts';
import { errorResponse } from '../src/gateway/error-response.ts';
import { Gateway, type RequestContext } from '../src/gateway/gateway.ts';
import type { SiteNames } from '../src/gateway/site-names.ts';
import { StatsBroadcast } from '../src/gateway/stats-broadcast.ts';
import type { CodecPlatform } from '../src/self-encryption/codec.ts';
import { Stats } from '../src/stats/stats.ts';

/** How long answers under way may go on after another configuration has taken over, in milliseconds. */
const handOverMs = 60_000;

/**
 * The gateway of this worker, made from the configuration in force, and made anew when that becomes another.
 * Everything here can be lost with the worker at any time.
 */
export class Runtime {
  readonly #configuration: Configuration;
  readonly #platform: CodecPlatform;
  readonly #base: string;
  readonly #siteNames: SiteNames | undefined;
  /** Of this worker, whatever the configuration. */
  readonly stats = new Stats();
  readonly #broadcast = new StatsBroadcast(this.stats);
  readonly #store = new IndexedDbStore(this.stats);
  #current: { inForce: InForce; gateway: Gateway } | undefined;

  /**
   * @param base as for `parseTarget`.
   * @param siteNames on the gateway's own origin: finds out whether sites can have origins of their own.
   */
  constructor(
    configuration: Configuration,
    platform: CodecPlatform,
    { base = '/', siteNames }: { base?: string; siteNames?: SiteNames | undefined } = {},
  ) {
    this.#configuration = configuration;
    this.#platform = platform;
    this.#base = base;
    this.#siteNames = siteNames;
  }

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
      return errorResponse(asAntwayError(error), request, this.#base);
    }
  }

  /**
   * There is a network again: peers are asked as if they had never failed, and the pins go on.
   * @returns whether all of them are done.
   */
  async wake(): Promise<boolean> {
    const gateway = await this.#gateway();
    gateway.wake();
    return gateway.workOnPins();
  }

  /** Another version is about to take over: what would keep it waiting and can go on later ends. */
  handOver(): void {
    this.#current?.gateway.handOver();
  }

  async #gateway(): Promise<Gateway> {
    const inForce = await this.#configuration.current();
    if (this.#current?.inForce !== inForce) {
      const former = this.#current?.gateway;
      former?.handOver();
      if (former) setTimeout(() => former.close(), handOverMs);
      const gateway = new Gateway({
        inForce,
        configuration: this.#configuration,
        platform: this.#platform,
        store: this.#store,
        stats: this.stats,
        broadcast: this.#broadcast,
        base: this.#base,
        siteNames: this.#siteNames,
      });
      this.#current = { inForce, gateway };
    }
    return this.#current.gateway;
  }
}
