import { describe, expect, it } from 'vitest';
import { PeerUrl } from '../../src/peer-url.ts';
import { webTransportEndpointOf } from '../../src/peers/transports/webtransport-endpoint.ts';
import { startHttpPeer } from './support/http-peer.ts';

const hash = 'ab'.repeat(32);

/** The endpoint of a peer on 127.0.0.1 that describes its WebTransport like this. */
async function endpointOf(webTransport: object): Promise<string> {
  const info = { protocol: 1, webTransport: { path: '/v1', certificateHashes: [hash], ...webTransport } };
  const peer = await startHttpPeer((_, response) => response.end(JSON.stringify(info)));
  const { url } = await webTransportEndpointOf(PeerUrl.parse(peer.url));
  return url;
}

describe('the WebTransport endpoint of a peer', () => {
  it('is at the host of HTTP if the peer names no other host', async () => {
    expect(await endpointOf({ port: 4433 })).toBe('https://127.0.0.1:4433/v1');
  });

  it('is at the host that the peer names', async () => {
    expect(await endpointOf({ port: 443, host: 'direct.peer.example' })).toBe(
      'https://direct.peer.example:443/v1',
    );
    expect(await endpointOf({ port: 4433, host: '[2001:db8::1]' })).toBe('https://[2001:db8::1]:4433/v1');
  });

  it('is the configured peer if its certificate is pinned', async () => {
    const peer = PeerUrl.parse(`https://peer.example:4433#sha-256=${hash}`);
    expect(await webTransportEndpointOf(peer)).toMatchObject({ url: 'https://peer.example:4433/v1' });
  });
});
