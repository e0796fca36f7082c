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

beforeEach(async () => {
  vi.resetModules();
  vi.stubGlobal('location', new URL(`http://${host}/-/bridge`));
  vi.stubGlobal('parent', shell);
  vi.stubGlobal('document', { cookie: 'same-site=1' });
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
  const data = { type: bridgeMessage, cookie: 'same-site=1' };
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

it.each([
  ['answers no page of another origin', { origin: `http://${host}` }],
  ['answers no window that does not frame it', { source: {} }],
  ['answers no other message', { data: { type: 'antway:hello', cookie: '' } }],
])('the bridge %s', async (_, changes) => {
  const { onmessage, postMessage } = await send(changes);
  expect(onmessage).toBeNull();
  expect(postMessage).not.toHaveBeenCalled();
});
