import { describe, expect, it } from 'vitest';
import type { PeerNetwork } from '../../src/peers/transports/protocol.ts';
import { connectionOf, type ReachedPeer } from '../../src/shell/connection/connection.ts';
import { spaceOf } from '../../src/shell/connection/local-access.ts';

const network = (state: string, name = 'mainnet'): PeerNetwork => ({
  name,
  state,
  peers: null,
  since: null,
  problem: null,
});
const here: ReachedPeer = { url: 'http://127.0.0.1:8080', kind: 'antway', answers: true, network: null };
const elsewhere: ReachedPeer = { ...here, url: 'https://peer.example:4433' };
const antTp: ReachedPeer = { ...here, url: 'anttp+http://127.0.0.1:18888', kind: 'anttp' };
const dead = (peer: ReachedPeer): ReachedPeer => ({ ...peer, answers: false });

describe('the connection', () => {
  it.each<[string, ReachedPeer[] | null, ReturnType<typeof connectionOf>]>([
    ['is not known before the first answer', null, { kind: 'checking' }],
    ['is local without a peer', [], { kind: 'local' }],
    ['is local with a peer on this computer that has no network', [here], { kind: 'local' }],
    [
      'is local with a peer on this computer that has lost its network',
      [{ ...here, network: network('disconnected') }],
      { kind: 'local' },
    ],
    ['fails if no peer answers', [dead(here), dead(elsewhere)], { kind: 'silent' }],
    [
      'fails if a dead peer was connected before',
      [dead({ ...here, network: network('connected') })],
      { kind: 'silent' },
    ],
    ['is not known if a peer shows life only by chunks', [{ ...antTp, answers: null }], { kind: 'untried' }],
    [
      'is that of a peer that is still connecting',
      [{ ...here, network: network('connecting') }],
      { kind: 'connecting' },
    ],
    [
      'is the Autonomi network if one of the peers is connected to it',
      [dead(antTp), elsewhere, { ...here, network: network('connected') }],
      { kind: 'network', name: null },
    ],
    [
      'names another network',
      [{ ...here, network: network('connected', 'devnet') }],
      { kind: 'network', name: 'devnet' },
    ],
    ['names the program that reads from the network', [here, antTp], { kind: 'program', name: 'AntTP' }],
    ['names a peer elsewhere', [here, elsewhere], { kind: 'community', name: 'peer.example:4433' }],
    ['does not name a peer elsewhere that is dead', [here, dead(elsewhere)], { kind: 'local' }],
  ])('%s', (_, peers, expected) => {
    expect(connectionOf(peers, true)).toEqual(expected);
  });

  it.each<[string, ReachedPeer[], number, ReturnType<typeof connectionOf>]>([
    ['without a peer', [], 12, { kind: 'direct', nodes: 12 }],
    ['if no peer answers', [dead(elsewhere)], 0, { kind: 'direct', nodes: 0 }],
    ['if no peer reaches a network', [elsewhere], 2, { kind: 'direct', nodes: 2 }],
  ])('is direct %s and this browser connects to nodes', (_, peers, connected, expected) => {
    expect(connectionOf(peers, true, { connected })).toEqual(expected);
  });

  it('is that of a peer that reaches the network, also if this browser connects to nodes', () => {
    const peer = { ...here, network: network('connected') };
    expect(connectionOf([peer], true, { connected: 5 })).toEqual({ kind: 'network', name: null });
    expect(connectionOf([antTp], true, { connected: 5 })).toMatchObject({ kind: 'program' });
  });

  it('is offline if the browser is, whatever the peers said before', () => {
    expect(connectionOf([{ ...here, network: network('connected') }], false)).toEqual({ kind: 'offline' });
  });
});

describe('the address space', () => {
  it.each([
    ['loopback', 'http://127.0.0.1:8080'],
    ['loopback', 'anttp+http://localhost:18888'],
    ['loopback', 'http://antway.localhost:8080'],
    ['loopback', 'https://[::1]:4433'],
    ['local', 'https://192.168.1.7'],
    ['local', 'https://10.0.0.1:4433'],
    ['local', 'https://172.31.0.1'],
    ['local', 'https://169.254.1.1'],
    ['local', 'https://[fd00::1]'],
    ['local', 'https://[fe80::1]:1'],
    ['local', 'https://box.local'],
    ['public', 'https://172.32.0.1'],
    ['public', 'https://peer.example'],
    ['public', 'https://127.0.0.1.example'],
    ['public', 'https://notlocalhost'],
    ['public', 'https://10.0.0.1.example'],
    ['public', 'https://[2001:db8::fd00]'],
  ])('is %s for %s', (space, url) => {
    expect(spaceOf(url)).toBe(space);
  });
});
