// @module-tag isolated
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import { bridgeMessage } from '../../src/site-pages/messages.ts';

const rootHost = 'antway.localhost:8080';
const rootOrigin = `http://${rootHost}`;
const host = `${Address.fromHex('ab'.repeat(32)).base32}.${rootHost}`;
/** The window that frames the bridge. */
const shell = {};

type Listener = (event: object) => Promise<void>;
let listener: Listener;

let isPublicSuffix: boolean;
/** Of an empty frame. As in a browser, its domain can become the name of the gateway, unless that is a public suffix. */
const frameDocument = {
  set domain(name: string) {
    if (isPublicSuffix || name !== 'antway.localhost') throw new DOMException('', 'SecurityError');
  },
};

beforeEach(async () => {
  isPublicSuffix = false;
  vi.resetModules();
  vi.stubGlobal('location', new URL(`http://${host}/-/bridge`));
  vi.stubGlobal('parent', shell);
  vi.stubGlobal('document', {
    createElement: () => ({ contentDocument: frameDocument, remove: () => undefined }),
    documentElement: { append: () => undefined },
  });
  // Without service workers, the bridge answers that it is not ready.
  vi.stubGlobal('navigator', {});
  vi.stubGlobal('addEventListener', (_: string, added: Listener) => {
    listener = added;
  });
  await import('../../src/site-pages/bridge.ts');
});
afterEach(() => vi.unstubAllGlobals());

/** Sends the message of the shell, with these changes. @returns the port that the bridge got. */
async function send(changes: object) {
  const port = { onmessage: null, postMessage: vi.fn() };
  const data = { type: bridgeMessage };
  await listener({ origin: rootOrigin, source: shell, data, ports: [port], ...changes });
  return port;
}

it('the bridge answers the gateway that frames it', async () => {
  const { onmessage, postMessage } = await send({});
  expect(onmessage).not.toBeNull();
  expect(postMessage).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ ready: false, isSameSite: true }),
  );
});

it('the bridge says that it has a storage of its own below a public suffix', async () => {
  isPublicSuffix = true;
  const { postMessage } = await send({});
  expect(postMessage).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ isSameSite: false }));
});

it.each([
  ['answers no page of another origin', { origin: `http://${host}` }],
  ['answers no window that does not frame it', { source: {} }],
  ['answers no other message', { data: { type: 'antway:hello' } }],
])('the bridge %s', async (_, changes) => {
  const { onmessage, postMessage } = await send(changes);
  expect(onmessage).toBeNull();
  expect(postMessage).not.toHaveBeenCalled();
});
