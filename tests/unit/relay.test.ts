import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { arbitrumOne } from '../../src/payment/chain.ts';
import { Relay } from '../../src/payment/relay.ts';
import { rpcProvider } from '../../src/payment/rpc.ts';
import { problemOf } from '../support/payment-problem.ts';

let server: Server;
let url: string;
let answers: ((response: ServerResponse, request: IncomingMessage) => void)[];
let asked: number;

beforeEach(async () => {
  asked = 0;
  server = createServer((request, response) => {
    request.resume();
    answers[Math.min(asked++, answers.length - 1)]!(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

let sent: number;

/** An answer that never ends, as fast as the client reads it. */
function endless(status: number) {
  return (response: ServerResponse) => {
    sent = 0;
    response.writeHead(status, { 'content-type': 'application/json' });
    const piece = Buffer.alloc(64 * 1024, ' ');
    const write = () => {
      while (response.writable) {
        sent += piece.length;
        if (!response.write(piece)) break;
      }
    };
    response.on('drain', write);
    write();
  };
}

const records = [{ address: 'ab'.repeat(32), size: 1 }];
const stored = JSON.stringify({ records: [{ address: records[0]!.address, status: 'stored' }] });
const signal = new AbortController().signal;
const ask = (by = signal) => new Relay(url, 1).quotes(records, by);

describe('a relay', () => {
  it.each([
    [200, 'QUOTE', 1],
    [400, 'SHORTFALL', 1],
    [503, 'SHORTFALL', 6],
  ])('with an answer of status %d that never ends is given up', async (status, problem, times) => {
    answers = [endless(status)];
    expect(await problemOf(ask())).toBe(problem);
    expect(asked).toBe(times);
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  it.each([
    ['that is down', (response: ServerResponse) => response.destroy()],
    ['that is busy', (response: ServerResponse) => response.writeHead(503).end('{"code":"BUSY"}')],
  ])('%s cannot be checked', async (_, answer) => {
    answers = [answer];
    const checking = new Relay(url, 1).check(arbitrumOne, signal);
    expect(await problemOf(checking)).toBe('SHORTFALL');
  });

  it.each(['{}', '[]', 'no', '{"code":5}', '{"code":"\u001b[31m"}', `{"code":"${'A'.repeat(1000)}"}`])(
    'names only the status of an error without a code: %s',
    async (body) => {
      answers = [(response) => response.writeHead(400).end(body)];
      await expect(ask()).rejects.toThrow(`${url} refused: 400.`);
    },
  );

  it('is asked again if its answer breaks off', async () => {
    answers = [
      (response) => {
        response.writeHead(200, { 'content-length': stored.length });
        response.write(stored.slice(0, 10), () => response.destroy());
      },
      (response) => response.end(stored),
    ];
    expect(await ask()).toEqual([{ status: 'stored' }]);
    expect(asked).toBe(2);
  });

  it('is not blamed if the user stops while its answer arrives', async () => {
    const stopping = new AbortController();
    const reason = new Error('the user stopped');
    answers = [
      (response) => {
        response.writeHead(200, { 'content-length': stored.length });
        response.write(stored.slice(0, 10), () => stopping.abort(reason));
      },
    ];
    await expect(ask(stopping.signal)).rejects.toBe(reason);
  });
});

describe('an RPC endpoint', () => {
  const request = () => rpcProvider(url).request({ method: 'eth_chainId' });

  it.each([200, 500])('with an answer of status %d that never ends is given up', async (status) => {
    answers = [endless(status)];
    await expect(request()).rejects.toThrow(Error);
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  it('cannot send the request to another place', async () => {
    answers = [
      (response) => response.writeHead(307, { location: '/other' }).end(),
      (response) => response.end('{"result":"0x1"}'),
    ];
    await expect(request()).rejects.toThrow(Error);
    expect(asked).toBe(1);
  });

  it.each(['{}', 'null', '[]', '1', '{"error":"no"}', '{"error":{}}'])(
    'that answers %s has failed',
    async (answer) => {
      answers = [(response) => response.end(answer)];
      const error = await request().then(
        (result) => result,
        (caught) => caught,
      );
      expect(error).toBeInstanceOf(Error);
      expect(error.message).not.toMatch(/undefined|null/);
    },
  );
});
