import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readAttributes } from '../../src/drop-in/options.ts';

const warn = vi.spyOn(console, 'warn');
beforeEach(() => void warn.mockImplementation(() => {}));
afterEach(() => warn.mockReset());

describe('the attributes of the script’s element', () => {
  it('are read, and nothing is said of them', () => {
    expect(readAttributes({ scope: '/', peers: 'https://a.example https://b.example' })).toEqual({
      scope: '/',
      config: { peers: ['https://a.example', 'https://b.example'] },
    });
    expect(warn).not.toHaveBeenCalled();
  });

  it('that tools add are left alone, with one warning that names them', () => {
    const foreign = {
      nscript: 'afterInteractive',
      cfasync: 'false',
      turboTrack: 'reload',
      astroRerun: '',
      'v-7ba5bd90': '',
      domain: 'a.example',
      id: '1',
    };
    expect(readAttributes({ prefix: '/a/', ...foreign })).toEqual({ prefix: '/a/' });
    expect(warn).toHaveBeenCalledOnce();
    for (const name of ['data-nscript', 'data-cfasync', 'data-turbo-track', 'data-v-7ba5bd90']) {
      expect(warn.mock.calls[0]![0]).toContain(name);
    }
  });

  it.each([
    ['peer', 'data-peer', 'data-peers'],
    ['Peers', 'data--peers', 'data-peers'],
    ['pears', 'data-pears', 'data-peers'],
    ['name', 'data-name', 'data-names'],
    ['gatway', 'data-gatway', 'data-gateway'],
    ['tursted', 'data-tursted', 'data-trusted'],
    ['usePeerOfPeers', 'data-use-peer-of-peers', 'data-use-peers-of-peers'],
    ['usepeersofpeers', 'data-usepeersofpeers', 'data-use-peers-of-peers'],
    ['cacheMaxByte', 'data-cache-max-byte', 'data-cache-max-bytes'],
  ])('that seem to be misspelt are an error: %s', (key, attribute, meant) => {
    expect(() => readAttributes({ [key]: '' })).toThrow(
      expect.objectContaining({
        code: 'BAD_CONFIG',
        key: attribute,
        message: expect.stringContaining(meant),
      }),
    );
  });
});
