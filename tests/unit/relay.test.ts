import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import { limits } from '../../src/limits.ts';
import { arbitrumOne } from '../../src/payment/chain.ts';
import { isOfOneRecord } from '../../src/payment/errors.ts';
import type { RecordPayment } from '../../src/payment/payment-route.ts';
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

  it.each([403, 404, 405])('ends an upload at once if it takes none, with the answer %i', async (status) => {
    answers = [(response) => response.writeHead(status).end('{"code":"FORBIDDEN"}')];
    const address = 'ab'.repeat(32);
    const payment = { plan: { address }, transaction: `0x${'cd'.repeat(32)}` } as unknown as RecordPayment;
    const error = await new Relay(url, 1).store(payment, new Uint8Array(1), signal).catch((reason) => reason);
    expect(error).toMatchObject({ code: 'REFUSED', message: expect.stringContaining('FORBIDDEN') });
    expect(isOfOneRecord(error)).toBe(false);
    expect(asked).toBe(1);
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

describe('a pointer that a relay reads from the network', () => {
  const address = Address.fromHex('cd'.repeat(32));
  const record = new Uint8Array(limits.pointerBytes).fill(7);
  const newest = (by = signal) => new Relay(url, 1).pointer(address, limits.pointerBytes, by);
  const read = async (by = signal) => (await newest(by)).record;
  const answer = (status: number, body: string | Uint8Array) => (response: ServerResponse) =>
    response.writeHead(status).end(body);

  it('comes from the route that does not read the store of the relay', async () => {
    const paths: (string | undefined)[] = [];
    answers = [
      (response, request) => {
        paths.push(request.url);
        response.end(record);
      },
    ];
    expect(await read()).toEqual(record);
    expect(paths).toEqual([`/network/pointer/${address.hex}`]);
  });

  it.each([
    ['3', '2', { holders: 3, others: 2 }],
    ['7', '0', { holders: 7, others: 0 }],
    [undefined, undefined, {}],
    ['3', undefined, {}],
    ['-1', '7', {}],
    ['4e3', '0', {}],
    ['', '', {}],
  ])('is at as many nodes as the relay says: %s, and not at %s', async (holding, other, counts) => {
    const headers = {
      ...(holding !== undefined && { 'antway-holding-nodes': holding }),
      ...(other !== undefined && { 'antway-other-nodes': other }),
    };
    answers = [(response) => response.writeHead(200, headers).end(record)];
    expect(await newest()).toEqual({ record, ...counts });
  });

  it('is absent only if the relay says so with its code', async () => {
    answers = [answer(404, '{"code":"NOT_FOUND","message":""}')];
    await expect(read()).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(asked).toBe(1);
  });

  it.each([
    ['that does not know the method', 405, '{"code":"METHOD","message":""}'],
    ['behind a proxy that does not know the path', 404, '<h1>Not found</h1>'],
    ['with another code', 404, '{"code":"NO_ROUTE"}'],
  ])('is not counted as absent by an older relay %s', async (_, status, body) => {
    answers = [answer(status, body)];
    const reading = read();
    await expect(reading).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      message: expect.stringContaining('Update this peer'),
    });
    expect(await problemOf(reading)).toBe('OLD_RELAY');
    expect(asked).toBe(1);
  });

  it.each([
    [402, 1],
    [409, 1],
    [503, 3],
    [429, 3],
  ])('is unknown after the answer %i', async (status, times) => {
    answers = [answer(status, '{"code":"SHORTFALL"}')];
    expect(await problemOf(read())).toBe('SHORTFALL');
    expect(asked).toBe(times);
  });

  it.each([
    [403, 'REFUSED'],
    [451, 'DENIED'],
  ])('is refused by the relay with the answer %i', async (status, code) => {
    answers = [answer(status, `{"code":"${code}"}`)];
    const reading = read();
    await expect(reading).rejects.toMatchObject({
      code,
      message: expect.stringContaining(`${url} refuses to read this address from the network (${code})`),
    });
    expect(await problemOf(reading)).toBeUndefined();
    expect(asked).toBe(1);
  });

  it('is asked for again if the answer breaks off', async () => {
    answers = [
      (response) => {
        response.writeHead(200, { 'content-length': record.length });
        response.write(record.subarray(0, 10), () => response.destroy());
      },
      answer(200, record),
    ];
    expect(await read()).toEqual(record);
  });

  it('is given up if the answer never ends', async () => {
    answers = [endless(200)];
    await expect(read()).rejects.toMatchObject({ code: 'CORRUPT' });
    expect(sent).toBeLessThan(64 * 1024 * 1024);
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
