import type { Command } from 'commander';
import { parseAddressText } from '../../address-text.ts';
import { checkChunks, printChecks, requireAllRight } from '../check-chunks.ts';
import type { CommandContext } from '../context.ts';
import { plural } from '../format.ts';
import { type OutputOptions, originFrom, withOutput, withPeers } from '../options.ts';
import { Output } from '../output.ts';
import { showCount } from '../progress.ts';
import { type ReadOptions, readTarget } from '../read-target.ts';
import { loadSettings } from '../settings.ts';
import {
  checkSignatures,
  printSignatures,
  requireValid,
  type SignatureSummary,
  signedArchiveIn,
} from '../signatures.ts';
import { UsageError } from '../usage-error.ts';
import { verifyBuild } from '../verify-build.ts';
import { chunksOf, fetchAll, inventoryOf } from '../whole-content.ts';

interface VerifyOptions extends ReadOptions, OutputOptions {
  build?: string;
}

export function define(command: Command, context: CommandContext): void {
  withOutput(withPeers(command, 'a peer to verify; may be given more than once'))
    .argument('<what>', 'an address, a link or a name; or the origin of a gateway, to compare its files')
    .option('--from <folder>', 'verify chunks in a folder that “publish --out” wrote, instead of peers')
    .option(
      '--build <folder>',
      'the build to compare the gateway’s files with (default: dist of this project)',
    )
    .action(async (what: string, options: VerifyOptions) => {
      if (!isOrigin(what)) {
        if (options.build !== undefined) throw new UsageError('--build needs the origin of a gateway.');
        return verifyContent(what, options, context);
      }
      if (options.peer) throw new UsageError('--peer is for the verification of an address.');
      return verifyBuild({ ...options, gateway: gatewayIn(what) }, context.signal);
    });
}

/** Whether a text is the URL of a gateway without any content. */
function isOrigin(text: string): boolean {
  return /^https?:\/\/[^/?#]*\/?$/i.test(text) && 'problem' in parseAddressText(text);
}

function gatewayIn(text: string): string {
  try {
    return originFrom(text);
  } catch (error) {
    throw new UsageError(`“${text}” is no gateway. ${(error as Error).message}`);
  }
}

/** Fetches and verifies every chunk, from each peer, and then the signatures of the files. */
async function verifyContent(what: string, options: VerifyOptions, context: CommandContext): Promise<void> {
  const { signal } = context;
  const output = new Output(options);
  await readTarget(what, options, output, context, async (opened, reader) => {
    const { address } = opened;
    const inventory = await inventoryOf(reader, address, signal);
    const addresses = chunksOf(inventory);
    const { peers } = reader.target;
    const steps = addresses.length * (options.from === undefined ? peers.length : 1);
    const progress = showCount(output, 'Verifying', 'chunks');
    let done = 0;
    const onChunk = () => progress.update(++done, steps);
    const signaturesOf = async () => {
      const archive = await signedArchiveIn(opened, signal);
      if (!archive) return null;
      const { names } = await loadSettings(options, context.env);
      return checkSignatures(archive, names, signal);
    };
    const reportSignatures = (signatures: SignatureSummary | null) => {
      if (!signatures) return;
      printSignatures(signatures, output);
      requireValid(signatures);
    };
    try {
      if (options.from !== undefined) {
        await fetchAll(reader, addresses, signal, onChunk);
        progress.stop();
        const signatures = await signaturesOf();
        output.json({ address: address.hex, chunks: addresses.length, from: options.from, signatures });
        output.line(`${options.from}  ${plural(addresses.length, 'chunk')}, all right`);
        return reportSignatures(signatures);
      }
      const checks = await Promise.all(peers.map((peer) => checkChunks(peer, addresses, signal, onChunk)));
      progress.stop();
      const isRight = checks.every(({ right }) => right === addresses.length);
      // Files that no peer has completely cannot be checked.
      const signatures = isRight ? await signaturesOf() : null;
      output.json({ address: address.hex, chunks: addresses.length, peers: checks, signatures });
      printChecks(checks, addresses.length, output);
      requireAllRight(checks);
      reportSignatures(signatures);
    } finally {
      progress.stop();
    }
  });
}
