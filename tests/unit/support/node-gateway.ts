import { Parser } from 'htmlparser2';
import { test as base } from 'vitest';
import type { Gateway } from '../../../src/gateway/create-gateway.ts';
import { deploymentAt } from '../../../src/gateway/deployment.ts';
import type { ServerConfig } from '../../../src/server-config.ts';
import { type Answer, GatewayApi } from '../../support/gateway-client.ts';
import { type ProcessFixtures, processes } from '../../support/processes.ts';
import { answerOf, contextOf, linkTo, requestOf, startGateway } from './gateway.ts';
import { freshIndexedDb } from './indexed-db.ts';

/** Options of `expect.poll` for a busy machine: browser tests wait as long. */
export const patient = { timeout: 30_000 };

const origin = 'http://127.0.0.1:8080';

/** A gateway in this process, with the real peers of its configuration. Node has no WebTransport, so it asks them by HTTP. */
export class NodeGateway extends GatewayApi {
  readonly #gateway: Gateway;

  constructor(config: ServerConfig) {
    super();
    this.#gateway = startGateway(deploymentAt(origin), { config, network: 'real' });
  }

  /** Follows redirects, as a page's `fetch` does. */
  async fetch(path: string, init: RequestInit = {}): Promise<Answer> {
    const answer = await answerOf(this.#gateway, requestOf(origin + path, init, 'fetch'));
    const { location } = answer.headers;
    return location === undefined ? answer : this.fetch(location, init);
  }

  /** Opens a path in a window, by a link of the gateway. Redirects are not followed. */
  open(path: string): Promise<Answer> {
    return answerOf(this.#gateway, linkTo(origin + path));
  }

  /** The response to `fetch`, whose body is not yet read. */
  async response(path: string): Promise<Response> {
    return (await this.#gateway.handle(requestOf(origin + path, {}, 'fetch'), contextOf(origin)))!;
  }

  close(): void {
    this.#gateway.close();
  }
}

interface Fixtures extends ProcessFixtures {
  /** Starts a gateway with an empty store of its own. */
  openGateway(config: ServerConfig): Promise<NodeGateway>;
}

export const test = base.extend<Fixtures>({
  ...processes,

  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern what a fixture needs
  openGateway: async ({}, use) => {
    const opened: NodeGateway[] = [];
    await use(async (config) => {
      freshIndexedDb();
      const gateway = new NodeGateway(config);
      opened.push(gateway);
      return gateway;
    });
    for (const gateway of opened) gateway.close();
  },
});

/** The texts of all elements of a kind in a page, with white space as a browser shows it. */
export function textsOf(html: string, name: string): string[] {
  const texts: string[] = [];
  let depth = 0;
  const parser = new Parser({
    onopentag(tag) {
      if (tag === name && depth++ === 0) texts.push('');
    },
    ontext(text) {
      if (depth > 0) texts.push(texts.pop() + text);
    },
    onclosetag(tag) {
      if (tag === name) depth--;
    },
  });
  parser.end(html);
  return texts.map((text) => text.trim().replace(/\s+/g, ' '));
}
