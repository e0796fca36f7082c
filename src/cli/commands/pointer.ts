import { readFile, stat } from 'node:fs/promises';
import { Argument, type Command } from 'commander';
import { Address } from '../../address.ts';
import { finalCounter, type Pointer, parsePointer } from '../../content/pointer.ts';
import { AntwayError, asAntwayError } from '../../errors.ts';
import { createKeyFile } from '../../owner/key-file.ts';
import {
  askAll,
  findTarget,
  freezeNow,
  type Moved,
  type MoveOptions,
  movePointer,
  type PointerPeer,
  type StateSource,
  type StatesBefore,
} from '../../owner/move-pointer.ts';
import { newSeed, OwnerKey } from '../../owner/owner-key.ts';
import { phraseOf, seedOfPhrase } from '../../owner/recovery-phrase.ts';
import type { PointerTarget } from '../../owner/sign-pointer.ts';
import { paymentError } from '../../payment/errors.ts';
import { paidPointers, pointerRecord } from '../../payment/paid-pointers.ts';
import { findNewer, priceState } from '../../payment/pointer-checks.ts';
import type { RecordToStore } from '../../payment/quotes.ts';
import { receiptOf } from '../../payment/receipt.ts';
import { Relay } from '../../payment/relay.ts';
import { peersOfRelays, relayPointerReader } from '../../payment/relay-pointers.ts';
import { PeerUrl } from '../../peer-url.ts';
import { HttpWriter } from '../../peers/transports/http-writer.ts';
import { requireWritable, writeAtomically } from '../atomic-file.ts';
import type { CommandContext } from '../context.ts';
import {
  type NetworkOptions,
  networkOptions,
  relayUrlsOf,
  requireNetworkFor,
  withNetwork,
} from '../network-payment.ts';
import { openKey } from '../open-key.ts';
import { type OutputOptions, uniquePeers, type WriteOptions, withOutput, withWrites } from '../options.ts';
import { Output } from '../output.ts';
import {
  readKeyFile,
  readStates,
  statesPath,
  withKeyLock,
  writeNewKeyFile,
  writeStates,
} from '../owner-files.ts';
import { confirms, readPassphrase, readPhrase } from '../passphrase.ts';
import { type CommandSettings, loadSettings, writablePeers } from '../settings.ts';
import { requirePeers } from '../silent-peers.ts';
import { targetOf } from '../target.ts';
import { UsageError } from '../usage-error.ts';

const actions = ['create', 'update', 'show', 'freeze', 'phrase', 'recover'] as const;

interface PointerOptions extends WriteOptions, OutputOptions, NetworkOptions {
  key: string;
  yes?: true;
}

/** The input and the output of an action. */
interface Task {
  content: string | undefined;
  options: PointerOptions;
  output: Output;
  settings: CommandSettings;
  context: CommandContext;
  /** The peers that have the pointer, or the network. */
  peers: readonly PointerPeer[];
  relayPeers?: readonly StateSource[];
  /** Other peers that may have a newer state, which the network does not have. */
  others?: readonly StateSource[];
  /**
   * Writes a receipt of the payments for a stored state.
   * @returns false if the journal has no payment for it. Then nothing is written.
   */
  writeReceipt?(moved: Moved): Promise<boolean>;
}

export function define(command: Command, context: CommandContext): void {
  const all = withOutput(withWrites(command))
    .addArgument(
      new Argument(
        '<action>',
        'create, update, show, freeze; phrase prints the recovery phrase, and recover reads it from standard input',
      ).choices(actions),
    )
    .argument('[content]', 'for create and update: the address, link or name that the pointer leads to')
    .option('--key <file>', 'the file of the owner’s key, encrypted with a passphrase', 'antway-pointer.key')
    .option('--yes', 'freeze without a question')
    .addHelpText(
      'after',
      `
A pointer is an address that stays while its content changes. Only its key can change it, so keep the recovery phrase.
The passphrase is ANTWAY_KEY_PASSPHRASE, or is typed at the terminal.

With --network, the state is stored in the Autonomi network, and the account pays for each new state.`,
    )
    .action(
      async (action: (typeof actions)[number], content: string | undefined, options: PointerOptions) => {
        const needsContent = action === 'create' || action === 'update';
        if (needsContent && content === undefined) {
          throw new UsageError(`pointer ${action} needs the content that the pointer leads to.`);
        }
        if (!needsContent && content !== undefined)
          throw new UsageError(`pointer ${action} takes no content.`);
        const output = new Output(options);
        const settings = await loadSettings(options, context.env);
        if (!options.network) requireNetworkFor(options);
        if (!options.network || usesNoPeers.has(action)) {
          await run[action]({ content, options, output, settings, context, peers: transportsOf(settings) });
          return;
        }
        await inNetwork(settings, options, output, context, action !== 'show', (at) =>
          run[action]({ content, options, output, context, ...at }),
        );
      },
    );
  for (const option of networkOptions) if (!onlyForFiles.has(option.long!)) all.addOption(option);
}

/** Actions that only read and write the key. */
const usesNoPeers = new Set<string>(['phrase', 'recover']);

/** Options of `publish --network` that make no sense here. */
const onlyForFiles = new Set(['--estimate', '--resume']);

/** Runs an action with pointers in the network, which the relays read and the account pays for. */
async function inNetwork(
  settings: CommandSettings,
  options: PointerOptions,
  output: Output,
  context: CommandContext,
  pays: boolean,
  work: (at: Pick<Task, 'settings' | 'peers' | 'relayPeers' | 'others' | 'writeReceipt'>) => Promise<void>,
): Promise<void> {
  const urls = relayUrlsOf(options, writablePeers(settings).map(String));
  const { receipt } = options;
  if (receipt !== undefined) await requireWritable(receipt);
  await withNetwork(
    options,
    urls,
    output,
    context,
    async ({ parts, chain, settle }) => {
      const relays = urls.map((url) => PeerUrl.parse(url));
      const { journal } = parts;
      let fees = 0n;
      const payFor = async (record: RecordToStore, bytes: Uint8Array<ArrayBuffer>, before?: StatesBefore) => {
        const { address } = record;
        const wanted = parsePointer(bytes, Address.fromHex(address));
        const { bill, lacksTarget } = await priceState(record, wanted, parts, paid);
        const { signal } = context;
        const missing = lacksTarget ? wanted.target.hex : undefined;
        if (missing !== undefined)
          output.note(
            `The network does not have the content yet that this state leads to: ${missing}. Publish it with --network, too.`,
          );
        const check = async () => {
          const newer =
            before && (await findNewer(wanted, before, { peers: [paid], relayPeers, others, signal }));
          if (!newer) return;
          const message = `The pointer has a newer state (${counterText(newer.counter)}), which leads to ${newer.target.hex}. Your key signed it in another place. Nothing was paid. To replace that state, run the command again.`;
          throw paymentError('CHANGED', message, { address });
        };
        ({ fees } = await settle(bill, { address, ...(missing !== undefined && { missing }) }, check));
      };
      const writeReceipt = async (path: string, { states: { address }, pointer }: Moved) => {
        const { stateId } = pointerRecord(address, pointer.record);
        if ((await journal.record(stateId))?.transaction === undefined) return false;
        // This run may have paid nothing. Then the receipt of an earlier run has the fees.
        const former = fees === 0n ? await textOfFile(path) : '';
        if (former.includes(stateId)) return true;
        const text = await receiptOf(address.hex, [stateId], { chain, journal, fees });
        await writeAtomically(path, [new TextEncoder().encode(text)]);
        return true;
      };
      const readers = urls.map((url) => relayPointerReader(new Relay(url)));
      const paid: PointerPeer = paidPointers(readers, payFor, parts);
      const relayPeers = peersOfRelays(readers);
      const others = uniquePeers(settings.peers)
        .map((peer) => new HttpWriter(peer))
        .filter(({ url }) => !relayPeers.some((peer) => peer.url === url));
      await work({
        settings: { ...settings, peers: relays },
        peers: [paid],
        relayPeers,
        others,
        ...(receipt !== undefined && { writeReceipt: (moved) => writeReceipt(receipt, moved) }),
      });
    },
    { pays },
  );
}

const run: Record<(typeof actions)[number], (task: Task) => Promise<void>> = {
  async create(task) {
    const { options, output } = task;
    // Nothing is created if the content or the peers are wrong.
    const target = await pointerTarget(task);
    const seed = newSeed();
    await createKey(seed, task);
    const key = new OwnerKey(seed);
    output.note(`The key is in ${options.key}. Write its recovery phrase down: antway pointer phrase`);
    await move(key, target, task);
  },

  async update(task) {
    const target = await pointerTarget(task);
    await move(await openKey(task.options.key, task.context), target, task);
  },

  async freeze(task) {
    const { options, context } = task;
    const key = await openKey(task.options.key, task.context);
    const confirm = async ({ counter, target }: Pointer) => {
      const question = `${key.address} leads to ${target} (${counterText(counter)}). Once it is frozen, it can never change again, also not by its owner.`;
      if (options.yes || (await confirms(question, context.signal))) return;
      throw new UsageError('Nothing is frozen. Confirm with --yes.');
    };
    const frozen = await withKeyLock(options.key, async () =>
      freezeNow(key, { ...(await moveOptions(key.address, task)), confirm }),
    );
    await report(frozen, task);
  },

  async show(task) {
    const { options, output, context } = task;
    const { address } = await readKeyFile(options.key);
    const known = await readStates(options.key, address);

    const asked = await askAll(address, { peers: task.peers, states: known, signal: context.signal });
    const { pointer, states, answers } = asked;
    output.json({
      address: address.hex,
      ...(pointer ? stateJson(pointer) : { counter: null }),
      frozen: states.isFrozen,
      states: states.all.map((state) => ({ ...stateJson(state), signed: state.signed })),
      peers: [...answers].map(([url, state]) => ({ url, counter: state ? String(state.counter) : null })),
    });
    output.line(address.hex);
    if (!pointer) output.line('no state');
    for (const { counter, kind, target, signed } of states.all) {
      output.line(`${counterText(counter)}  ${kind} ${target.hex}  ${signed}`);
    }
    for (const [url, state] of answers)
      output.note(`${url}: ${state ? counterText(state.counter) : 'no state'}`);
  },

  async phrase(task) {
    const { options, output, context } = task;
    const file = await readKeyFile(options.key);
    const phrase = phraseOf(await file.seed(await readPassphrase(context, false)));
    output.json({ address: file.address.hex, phrase });
    output.line(phrase);
  },

  async recover(task) {
    const { options, output, context } = task;
    const seed = seedOfPhrase(await readPhrase(context));
    await createKey(seed, task);
    const { address } = new OwnerKey(seed);
    output.json({ address: address.hex, key: options.key });
    output.line(address.hex);
  },
};

async function createKey(seed: Uint8Array, { options, context }: Task): Promise<void> {
  await writeNewKeyFile(options.key, await createKeyFile(seed, await readPassphrase(context, true)));
}

function transportsOf(settings: CommandSettings): HttpWriter[] {
  return writablePeers(settings).map((peer) => new HttpWriter(peer));
}

async function move(key: OwnerKey, target: PointerTarget, task: Task): Promise<void> {
  const moved = await withKeyLock(task.options.key, async () =>
    movePointer(key, target, await moveOptions(key.address, task)),
  );
  await report(moved, task);
}

/** The caller has the lock of the key. */
async function moveOptions(address: Address, task: Task): Promise<MoveOptions> {
  const { options, settings, context } = task;
  return {
    peers: task.peers,
    relayPeers: task.relayPeers,
    others: task.others,
    states: await readStates(options.key, address),
    save: (states) => writeStates(options.key, states),
    token: settings.token,
    signal: context.signal,
  };
}

/**
 * Finds out whether the content is a chunk or a pointer.
 * @throws AntwayError `NOT_FOUND` if no peer has it, `UNSUPPORTED` for a path or a manifest; as `targetOf`.
 */
async function pointerTarget({
  content,
  output,
  settings,
  context,
  peers: pointers,
}: Task): Promise<PointerTarget> {
  const { signal } = context;
  const peers = writablePeers(settings);
  await requirePeers(peers, signal, output.isSilent);
  const { address, paths, manifest } = await targetOf(content!, settings, output.isSilent, signal);
  if (manifest || paths.some((path) => path !== '')) {
    throw new AntwayError('UNSUPPORTED', 'A pointer leads to an address, not to a path or a manifest.', {
      address: address.hex,
    });
  }
  return findTarget(address, pointers, signal);
}

/** @returns no text if there is no such file. Reading a pipe or a terminal would wait without an end. */
async function textOfFile(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() ? readFile(path, 'utf8').catch(() => '') : '';
}

/**
 * Writes the receipt, and prints the result.
 * @throws AntwayError as `writeAtomically`, after the result is printed: the state is stored.
 */
async function report(moved: Moved, task: Task): Promise<void> {
  const { options, output, writeReceipt } = task;
  if (!writeReceipt) return printMoved(moved, task);
  const [written] = await Promise.allSettled([writeReceipt(moved)]);
  const isWritten = written.status === 'fulfilled' && written.value;
  printMoved(moved, task, { receipt: isWritten ? options.receipt : null });
  if (written.status === 'rejected') {
    const { code, message, details } = asAntwayError(written.reason);
    const text = `The state is stored, but the receipt is not written. An update to the same content writes it. ${message}`;
    throw new AntwayError(code, text, details, { cause: written.reason });
  }
  if (!isWritten) output.note('There is no receipt, because nothing was paid for this state from here.');
}

/** @param more members of the JSON object. */
function printMoved(
  { pointer, states, stored, present }: Moved,
  { options, output }: Task,
  more: Record<string, unknown> = {},
): void {
  output.json({
    address: states.address.hex,
    ...stateJson(pointer),
    frozen: states.isFrozen,
    stored,
    present,
    key: options.key,
    states: statesPath(options.key),
    ...more,
  });
  const where = stored.length > 0 ? `stored at ${stored.join(' and ')}` : 'all peers had it already';
  output.note(`${counterText(pointer.counter)} leads to ${pointer.target.hex}: ${where}.`);
  output.line(states.address.hex);
}

function stateJson({ counter, kind, target }: Pick<Pointer, 'counter' | 'kind' | 'target'>) {
  return { counter: String(counter), kind, target: target.hex };
}

function counterText(counter: bigint): string {
  return counter === finalCounter ? 'frozen' : `state ${counter}`;
}
