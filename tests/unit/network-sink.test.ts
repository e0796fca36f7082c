// @module-tag slow
// @module-tag unix
import '../support/fast-signatures.ts';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import { OwnerKey } from '../../src/owner/owner-key.ts';
import { signPointer } from '../../src/owner/sign-pointer.ts';
import { parseAnt } from '../../src/payment/amounts.ts';
import { Vault } from '../../src/payment/vault.ts';
import { createPublisher } from '../../src/publisher/create-publisher.ts';
import { type AntNetworkOptions, networkSink, paymentProblem } from '../../src/publisher/network.ts';
import { folderJournal } from '../../src/publisher/node.ts';
import type { AntJournal, AntPrice, AntPublishInput, AntWaitingPayment } from '../../src/publisher/types.ts';
import { delay } from '../../src/util/delay.ts';
import { randomBytes } from '../support/random.ts';
import { RelayDouble } from '../support/relay-double.ts';
import { richKey, TestChain } from '../support/test-chain.ts';
import { TestWallet, walletError } from '../support/test-wallet.ts';

/** The price of a record at nodes without records: three times 0.00390625 ANT. */
const recordPrice = 11_718_750_000_000_000n;
/** Three chunks and the data map. */
const fileRecords = 4;

let chain: TestChain;
let relay: RelayDouble;
let folder: string;
let wallet: TestWallet;
let key: Uint8Array;

beforeAll(async () => {
  chain = await TestChain.start();
  relay = await RelayDouble.start(chain);
  folder = await mkdtemp(join(tmpdir(), 'antway-sink-'));
  key = Buffer.from(richKey.replace('0x', ''), 'hex');
});
afterAll(async () => {
  await relay.stop();
  await chain.stop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  wallet = new TestWallet(chain);
  relay.faults = {};
  relay.stored.clear();
  relay.pointers.clear();
});

function optionsWith(options: Partial<AntNetworkOptions> = {}): AntNetworkOptions {
  const { token, vault } = chain;
  return {
    relays: [relay.url],
    wallet,
    maxCost: '1',
    journal: folderJournal(join(folder, 'journal')),
    chain: { chainId: TestChain.chainId, token, vault },
    ...options,
  };
}

function publish(content: AntPublishInput, options: Partial<AntNetworkOptions> = {}, signal?: AbortSignal) {
  const publisher = createPublisher({ sink: networkSink(optionsWith(options)) });
  return publisher.publish(content, signal ? { signal } : {}).finally(() => publisher.close());
}

/** The code of a failure, and the problem of the payment. */
async function failureOf(publishing: Promise<unknown>) {
  const error = await publishing.then(
    () => new Error('It was published.'),
    (error) => error,
  );
  return [error.code, paymentProblem(error)];
}

/** The amount of the token that the account has less afterwards, in atto. */
async function spentBy(work: () => Promise<unknown>): Promise<bigint> {
  const { token, vault: contract } = chain;
  const vault = new Vault({ chainId: TestChain.chainId, token, vault: contract }, new TestWallet(chain));
  const before = await vault.balance(chain.accounts[0]!);
  await work();
  return before - (await vault.balance(chain.accounts[0]!));
}

const newFile = () => randomBytes(3000);

describe('a publication in the network', () => {
  it.each(['wallet', 'key'] as const)('is paid by a %s, stored, and costs nothing again', async (payer) => {
    const by = payer === 'wallet' ? { wallet } : { wallet: undefined, key, rpc: chain.rpc };
    const file = newFile();
    const prices: AntPrice[] = [];
    const onPrice = (price: AntPrice) => void prices.push(price);
    const spent = await spentBy(async () => {
      const published = await publish(file, { ...(by as Partial<AntNetworkOptions>), onPrice });
      expect(published).toMatchObject({ chunks: fileRecords, presentChunks: 0 });
      expect(relay.stored.has(published.address)).toBe(true);
      await publish(file, { ...(by as Partial<AntNetworkOptions>), onPrice });
    });
    expect([spent, relay.stored.size]).toEqual([BigInt(fileRecords) * recordPrice, fileRecords]);
    expect(prices).toMatchObject([
      { chunks: fileRecords, dueChunks: fileRecords, amount: '0.046875' },
      { chunks: fileRecords, dueChunks: 0, amount: '0', fees: '0' },
    ]);
    expect(parseAnt(prices[0]!.fees)).toBeGreaterThan(0n);
  });

  it('stores the other chunks if one fails, and costs nothing when it continues', {
    tags: 'full',
  }, async () => {
    const file = newFile();
    const spent = await spentBy(async () => {
      relay.faults = { putStatus: 410, putFailures: 1 };
      expect(await failureOf(publish(file))).toEqual(['PEERS_UNREACHABLE', 'QUOTE_EXPIRED']);
      expect(relay.stored.size).toBe(2);
      await publish(file);
    });
    expect([spent, relay.stored.size]).toEqual([BigInt(fileRecords) * recordPrice, fileRecords]);
  });

  it('has the same address as one at peers, and keeps the data map of a private one', async () => {
    const files = [
      { path: 'index.html', content: new Blob(['<h1>Paid</h1>']) },
      { path: 'noise.bin', content: randomBytes(5000) },
    ];
    const plain = createPublisher({ sink: { put: async () => 'stored' } });
    const { address } = await plain.publish(files);
    plain.close();
    expect((await publish(files)).address).toBe(address);
    const publisher = createPublisher({ sink: networkSink(optionsWith()) });
    const hidden = await publisher.publish(newFile(), { isPrivate: true });
    publisher.close();
    expect(relay.stored.has(hidden.address)).toBe(false);
    expect(hidden.uri).toMatch(/^ant:\/\/manifest\//);
  });

  it('has a pointer, which is paid for together with the content, and moves for the price of one chunk', {
    tags: 'full',
  }, async () => {
    const seed = randomBytes(32);
    const prices: AntPrice[] = [];
    const publisher = createPublisher({
      sink: networkSink(optionsWith({ onPrice: (price) => void prices.push(price) })),
    });
    const file = newFile();
    const spent = await spentBy(async () => {
      const first = await publisher.publish(file, { pointer: { seed, counter: 0n } });
      const { address, record } = first.pointer!;
      expect(relay.pointers.get(address)).toEqual(Buffer.from(record));
      await publisher.publish(file, { pointer: { seed, counter: 0n } });
      const moved = await publisher.publish(newFile(), { pointer: { seed, counter: 1n } });
      expect(moved.pointer!.address).toBe(address);
      expect(relay.pointers.get(address)).toEqual(Buffer.from(moved.pointer!.record));
    });
    publisher.close();
    const records = fileRecords + 1;
    expect(spent).toBe(2n * BigInt(records) * recordPrice);
    expect(prices.map(({ chunks, dueChunks }) => [chunks, dueChunks])).toEqual([
      [records, records],
      [fileRecords, 0],
      [records, records],
    ]);
  });

  it('pays nothing if the network has a newer state of its pointer, or another of the same counter', {
    tags: 'full',
  }, async () => {
    const seed = randomBytes(32);
    const publisher = createPublisher({ sink: networkSink(optionsWith()) });
    const file = newFile();
    const { pointer } = await publisher.publish(file, { pointer: { seed, counter: 5n } });
    const spent = await spentBy(async () => {
      for (const counter of [4n, 5n]) {
        const older = publisher.publish(newFile(), { pointer: { seed, counter } });
        await expect(older).rejects.toMatchObject({ code: 'REFUSED' });
      }
    });
    publisher.close();
    expect(spent).toBe(0n);
    expect(relay.pointers.get(pointer!.address)).toEqual(Buffer.from(pointer!.record));
  });

  it('pays nothing if the network gets a newer state of its pointer while the caller or the user decides', {
    tags: 'full',
  }, async () => {
    const seed = randomBytes(32);
    const owner = new OwnerKey(seed);
    const newer = signPointer(owner, { kind: 'chunk', target: Address.fromHex('ab'.repeat(32)) }, [
      { counter: 8n },
    ]);
    const signedElsewhere = () => void relay.pointers.set(owner.address.hex, newer.record);
    const moving = async (options: Partial<AntNetworkOptions>) => {
      relay.pointers.clear();
      const publisher = createPublisher({ sink: networkSink(optionsWith(options)) });
      const publishing = publisher.publish(newFile(), { pointer: { seed, counter: 5n } });
      return failureOf(publishing.finally(() => publisher.close()));
    };
    const spent = await spentBy(async () => {
      expect(await moving({ onPrice: signedElsewhere })).toEqual(['REFUSED', undefined]);
      expect(wallet.asked).not.toContain('eth_sendTransaction');
      // While the user reads the first request: the permission.
      wallet.onSend = (send) => {
        signedElsewhere();
        return send();
      };
      expect(await moving({})).toEqual(['REFUSED', undefined]);
      expect(wallet.asked.filter((method) => method === 'eth_sendTransaction')).toHaveLength(1);
    });
    expect([spent, relay.pointers.get(owner.address.hex)]).toEqual([0n, newer.record]);
  });

  it('pays for no pointer with a relay of an older version, which cannot read the network', async () => {
    relay.faults = { readAnswer: [405, { code: 'METHOD', message: '' }] };
    const spent = await spentBy(async () => {
      const publishing = publishWithPointer(randomBytes(32));
      expect(await failureOf(publishing)).toEqual(['UNSUPPORTED', 'OLD_RELAY']);
    });
    expect([spent, relay.stored.size, relay.pointers.size]).toEqual([0n, 0, 0]);
  });

  function publishWithPointer(seed: Uint8Array) {
    const publisher = createPublisher({ sink: networkSink(optionsWith()) });
    const publishing = publisher.publish(newFile(), { pointer: { seed, counter: 0n } });
    return publishing.finally(() => publisher.close());
  }

  it('stores a pointer that was paid for and lost on the way, without a further payment', {
    tags: 'full',
  }, async () => {
    const seed = randomBytes(32);
    const file = newFile();
    const pointer = { seed, counter: 0n };
    const spent = await spentBy(async () => {
      const publisher = createPublisher({ sink: networkSink(optionsWith()) });
      await publisher.publish(file);
      relay.faults = { putStatus: 410 };
      expect(await failureOf(publisher.publish(file, { pointer }))).toEqual([
        'PEERS_UNREACHABLE',
        'QUOTE_EXPIRED',
      ]);
      relay.faults = {};
      const again = await publisher.publish(file, { pointer });
      publisher.close();
      expect(relay.pointers.get(again.pointer!.address)).toEqual(Buffer.from(again.pointer!.record));
    });
    expect(spent).toBe(BigInt(fileRecords + 1) * recordPrice);
  });

  it('is paid once if the relay fails after the payment, and also if two publish it at once', async () => {
    const file = newFile();
    const spent = await spentBy(async () => {
      relay.faults = { putStatus: 503 };
      const publisher = createPublisher({ sink: networkSink(optionsWith()) });
      const signal = AbortSignal.timeout(4000);
      await expect(publisher.publish(file, { signal })).rejects.toBeDefined();
      expect(relay.stored.size).toBe(0);
      relay.faults = {};
      await Promise.all([publisher.publish(file), publisher.publish(file)]);
      publisher.close();
    });
    expect([spent, relay.stored.size]).toEqual([BigInt(fileRecords) * recordPrice, fileRecords]);
  });

  it('is not paid for if it costs too much, or if the caller or the user refuses', async () => {
    const file = newFile();
    const spent = await spentBy(async () => {
      const onPrice = vi.fn();
      expect(await failureOf(publish(file, { maxCost: '0.01', onPrice }))).toEqual(['REFUSED', 'OVER_LIMIT']);
      expect(onPrice).not.toHaveBeenCalled();
      expect(await failureOf(publish(file, { onPrice: async () => false }))).toEqual(['REFUSED', undefined]);
      wallet.onSend = async () => {
        throw walletError(4001, 'User rejected the request.');
      };
      expect(await failureOf(publish(file))).toEqual(['REFUSED', 'REJECTED']);
      wallet.chainId = '0x1';
      wallet.answers.set('wallet_switchEthereumChain', () => {
        throw walletError(4902, 'Unrecognized chain ID.');
      });
      expect(await failureOf(publish(file))).toEqual(['REFUSED', 'CHAIN']);
    });
    expect([spent, relay.stored.size]).toEqual([0n, 0]);
  });

  it('is paid by another account once the caller says that an earlier payment left the wallet', {
    tags: 'full',
    timeout: 30_000,
  }, async () => {
    const [first, second] = chain.accounts as [string, string];
    const amount = (10n ** 18n).toString(16).padStart(64, '0');
    await chain.execute({
      to: chain.token,
      data: `0xa9059cbb${second.slice(2).padStart(64, '0')}${amount}`,
    });
    const file = newFile();
    const stop = new AbortController();
    let transactions = 0;
    wallet.accounts = [second];
    wallet.onSend = (send) => {
      // The first one is the permission.
      if (++transactions === 1) return send();
      stop.abort();
      return new Promise(() => {});
    };
    await expect(publish(file, {}, stop.signal)).rejects.toMatchObject({ name: 'AbortError' });

    wallet = new TestWallet(chain);
    wallet.accounts = [first];
    const asked: string[] = [];
    const answers: unknown[] = [undefined, false, 'yes', true];
    const onWaiting = ({ account }: AntWaitingPayment) => {
      asked.push(account);
      return answers[asked.length - 1];
    };
    const spent = await spentBy(async () => {
      expect(await failureOf(publish(file))).toEqual(['REFUSED', 'ACCOUNT']);
      for (const _ of answers.slice(1))
        expect(await failureOf(publish(file, { onWaiting }))).toEqual(['REFUSED', 'ACCOUNT']);
      await publish(file, { onWaiting });
      await publish(file, { onWaiting });
    });
    expect(asked).toEqual(answers.map(() => second));
    expect([spent, relay.stored.size]).toEqual([BigInt(fileRecords) * recordPrice, fileRecords]);
  });

  it('ends with the error of the caller’s function for the price, before anything is paid', async () => {
    const onPrice = () => {
      throw new Error('The window was closed.');
    };
    const spent = await spentBy(async () => {
      await expect(publish(newFile(), { onPrice })).rejects.toMatchObject({
        code: 'INTERNAL',
        message: 'The sink failed: The window was closed.',
      });
    });
    expect(spent).toBe(0n);
  });

  it('that was cancelled asks nothing any more, and lets the next one go on', {
    tags: 'full',
    timeout: 20_000,
  }, async () => {
    const stop = new AbortController();
    const stopLater = new AbortController();
    const prices: AntPrice[] = [];
    let asked = () => {};
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const onPrice = (price: AntPrice) => {
      prices.push(price);
      asked();
      return prices.length === 1 ? new Promise(() => {}) : true;
    };
    const publisher = createPublisher({ sink: networkSink(optionsWith({ onPrice })) });
    const spent = await spentBy(async () => {
      const first = publisher.publish(newFile(), { signal: stop.signal });
      await isAsked;
      const second = publisher.publish(newFile(), { signal: stopLater.signal });
      await delay(500);
      stopLater.abort();
      await expect(second).rejects.toMatchObject({ name: 'AbortError' });
      const connections = () => wallet.asked.filter((method) => method === 'eth_requestAccounts').length;
      expect(connections()).toBe(1);
      stop.abort();
      await expect(first).rejects.toMatchObject({ name: 'AbortError' });
      await publisher.publish(newFile());
      expect([connections(), prices.length]).toEqual([2, 2]);
    });
    publisher.close();
    expect(spent).toBe(BigInt(fileRecords) * recordPrice);
  });

  it('whose wallet never answers does not hold up the next one after it was cancelled', {
    tags: 'full',
    timeout: 20_000,
  }, async () => {
    wallet.answers.set('eth_requestAccounts', () => new Promise(() => {}));
    const publisher = createPublisher({ sink: networkSink(optionsWith()) });
    const cancelled = publisher.publish(newFile(), { signal: AbortSignal.timeout(1000) });
    await expect(cancelled).rejects.toMatchObject({ name: 'TimeoutError' });
    wallet.answers.clear();
    await publisher.publish(newFile());
    publisher.close();
    expect(relay.stored.size).toBe(fileRecords);
  });

  it('that was cancelled while it waited for the lock does not touch the journal', async () => {
    const stop = new AbortController();
    const own = folderJournal(join(folder, 'waiting'));
    let opened = 0;
    let ended: Promise<unknown> = Promise.resolve();
    const journal: AntJournal = {
      open: (name) => {
        opened++;
        return own.open(name);
      },
      lock(name, work) {
        stop.abort();
        const working = own.lock(name, work);
        ended = working.catch(() => undefined);
        return working;
      },
    };
    await expect(publish(newFile(), { journal }, stop.signal)).rejects.toMatchObject({ name: 'AbortError' });
    await ended;
    expect(opened).toBe(0);
  });

  it('is signed with the key as it was when the sink was made', { tags: 'full' }, async () => {
    const own = Uint8Array.from(key);
    const sink = networkSink(optionsWith({ wallet: undefined, key: own, rpc: chain.rpc } as never));
    own.fill(7);
    const publisher = createPublisher({ sink });
    const spent = await spentBy(() => publisher.publish(newFile()));
    publisher.close();
    expect([spent, relay.stored.size]).toEqual([BigInt(fileRecords) * recordPrice, fileRecords]);
  });

  it('keeps the journal in a folder that only one process uses at a time', async () => {
    const journal = folderJournal(join(folder, 'locked'));
    await journal.lock('chain', async () => {
      await expect(journal.lock('chain', async () => 'done')).rejects.toMatchObject({ code: 'REFUSED' });
    });
    const store = await journal.open('chain');
    await store.put('record-ab', { a: 1 });
    expect([await store.keys('record-'), await store.get('record-ab')]).toEqual([['record-ab'], { a: 1 }]);
    expect(await readdir(join(folder, 'locked'))).toEqual(['chain']);
  });

  it.each([
    [{ relays: [] }, TypeError],
    [{ key: new Uint8Array(32) }, TypeError],
    [{ wallet: undefined }, TypeError],
    [{ wallet: null }, TypeError],
    [{ wallet: undefined, key: new Uint8Array(31), rpc: 'https://rpc.example' }, TypeError],
    [{ wallet: undefined, key: new Uint8Array(32) }, TypeError],
    [{ rpc: 'https://rpc.example' }, TypeError],
    [{ maxCost: 1 }, TypeError],
    [{ maxCost: '1e3' }, TypeError],
    [{ journal: {} }, TypeError],
    [{ onPrice: true }, TypeError],
    [{ onWaiting: {} }, TypeError],
    [{ unknown: 1 }, TypeError],
    [{ relays: ['http://relay.example'] }, 'BAD_CONFIG'],
    [{ relays: ['https://user:word@relay.example'] }, 'BAD_CONFIG'],
    [{ relays: ['https://relay.example', 'https://relay.example/'] }, 'BAD_CONFIG'],
    [{ relays: ['https://relay.example/path'] }, 'BAD_CONFIG'],
    [{ relays: [`https://relay.example#sha-256=${'ab'.repeat(32)}`] }, 'BAD_CONFIG'],
    [{ wallet: undefined, key: new Uint8Array(32).fill(1), rpc: 'http://rpc.example' }, 'BAD_CONFIG'],
    [{ wallet: undefined, key: new Uint8Array(32), rpc: 'https://rpc.example' }, 'BAD_CONFIG'],
    [{ chain: { chainId: 1, token: '0x', vault: '0x' } }, 'BAD_CONFIG'],
  ])('refuses the options %j', (options, problem) => {
    const make = () => networkSink(optionsWith(options as Partial<AntNetworkOptions>));
    if (typeof problem === 'string') expect(make).toThrow(expect.objectContaining({ code: problem }));
    else expect(make).toThrow(problem);
  });
});

describe('a sink that stores whole publications', () => {
  it('gets all chunks first, and then each of them once', async () => {
    const announced: string[] = [];
    const stored: string[] = [];
    const progress: number[] = [];
    const publisher = createPublisher({
      sink: {
        async storeAll(chunks, store) {
          announced.push(...chunks.map(({ address }) => address));
          expect(progress).toEqual([]);
          await store(async (address) => {
            stored.push(address);
            return 'stored';
          });
        },
      },
    });
    const { address } = await publisher.publish(newFile(), {
      onProgress: ({ chunks }) => progress.push(chunks),
    });
    publisher.close();
    expect([...stored].sort()).toEqual([...announced].sort());
    expect([stored.length, stored.at(-1), progress.at(-1)]).toEqual([fileRecords, address, fileRecords]);
  });

  it('that stores nothing is an error, as is a sink without its function', async () => {
    const publisher = createPublisher({ sink: { storeAll: async () => undefined } });
    await expect(publisher.publish(newFile())).rejects.toMatchObject({ code: 'INTERNAL' });
    publisher.close();
    expect(() => createPublisher({ sink: { storeAll: 1 } as never })).toThrow(TypeError);
  });
});
