import { lookup } from 'node:dns/promises';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import packageJson from '../../../package.json' with { type: 'json' };
import { Address } from '../../address.ts';
import { AntwayError, asAntwayError } from '../../errors.ts';
import { FolderPeerStore } from '../../node-peer/folder-store.ts';
import { publishFile } from '../../publish/publish.ts';
import { loadBlake3 } from '../../self-encryption/blake3.ts';
import { Codec } from '../../self-encryption/codec.ts';
import { bufferAccess } from '../../util/random-access.ts';
import { gatewayFiles } from '../built-files.ts';
import type { CommandContext } from '../context.ts';
import { formatBytes, plural } from '../format.ts';
import { isFree } from '../listen-port.ts';
import { type OutputOptions, type PeerOptions, withOutput, withPeers } from '../options.ts';
import { Output } from '../output.ts';
import { nodePlatform } from '../platform.ts';
import { loadSettings } from '../settings.ts';
import { suggestion } from '../suggestion.ts';
import { reportOn } from './peers.ts';

interface DoctorOptions extends PeerOptions, OutputOptions {
  store?: string;
}

/** In seconds. */
const peerTimeout = 5;

type Level = 'ok' | 'note' | 'problem';

interface Finding {
  check: string;
  level: Level;
  message: string;
}

/** The address of the bytes that `encryption` encrypts, on every machine. */
const knownAddress = '0e22beb98ecb9b78db33ecdcbe6d6d65c0e18de60b22169b44671734340a4f1d';

export function define(command: Command, context: CommandContext): void {
  withOutput(withPeers(command))
    .option(
      '--store <folder>',
      'the folder of a peer’s chunks to look at (default: .antway/store, if there is one)',
    )
    .addHelpText('after', '\nEnds with code 1 if there is a problem. A note is no problem.')
    .action(async (options: DoctorOptions) => {
      const output = new Output(options);
      const findings: Finding[] = [];
      for (const check of [node, encryption, configuration, peers, ports, names, build, store]) {
        for (const finding of await check(options, context)) {
          findings.push(finding);
          output.line(`${finding.level.padEnd(8)}${finding.check.padEnd(15)}${finding.message}`);
        }
      }
      output.json({ version: packageJson.version, findings });
      const problems = findings.filter(({ level }) => level === 'problem').length;
      if (problems > 0)
        throw new AntwayError('UNSUPPORTED', `${plural(problems, 'problem')} found.`, { problems });
    });
}

type Check = (options: DoctorOptions, context: CommandContext) => Promise<Finding[]>;

const finding = (check: string, level: Level, message: string): Finding => ({ check, level, message });

const node: Check = async () => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isNew = major > 20 || (major === 20 && minor >= 19);
  const where = `${process.versions.node} on ${process.platform} ${process.arch}; antway ${packageJson.version}`;
  return [finding('Node', isNew ? 'ok' : 'problem', isNew ? where : `${where}. 20.19 or newer is needed.`)];
};

/** Encrypts known bytes. Another address would mean that published content has a wrong address. */
const encryption: Check = async (_, { signal }) => {
  try {
    const { address } = await publishFile(
      bufferAccess(new TextEncoder().encode('Antway looks after itself.\n'.repeat(100))),
      {
        codec: new Codec(nodePlatform),
        sink: { store: async () => 'stored' },
        signal,
      },
    );
    const isRight = address.equals(Address.fromHex(knownAddress));
    return [
      finding(
        'encryption',
        isRight ? 'ok' : 'problem',
        isRight ? 'works' : `gives the wrong address ${address}`,
      ),
    ];
  } catch (error) {
    signal.throwIfAborted();
    return [finding('encryption', 'problem', asAntwayError(error).message)];
  }
};

const configuration: Check = async (options, { env }) => {
  try {
    const { file, names, isExplicit, token } = await loadSettings(options, env);
    const from = isExplicit
      ? 'peers from an option or variable'
      : file
        ? 'peers from the file'
        : 'the default peer';
    const what = file
      ? `${resolve(file)}, ${plural(names.size, 'name')}; ${from}`
      : `no antway.json here; ${from}`;
    return [finding('configuration', 'ok', token === undefined ? what : `${what}; a write token`)];
  } catch (error) {
    return [finding('configuration', 'problem', (error as Error).message)];
  }
};

const peers: Check = async (options, { env, signal }) => {
  const settings = await loadSettings(options, env).catch(() => undefined);
  if (!settings) return [];
  const reports = await Promise.all(settings.peers.map((peer) => reportOn(peer, signal, peerTimeout)));
  return reports.flatMap((report) => {
    const { peer, isReachable, problem, milliseconds, program, webTransport, network } = report;
    if (!isReachable) return [finding('peer', 'problem', `${peer}: ${problem} ${suggestion}`)];
    const transport = webTransport
      ? 'browsers use WebTransport'
      : 'without WebTransport: browsers use HTTP, which only https or this machine can offer';
    const connected = network ? `network ${network.name}: ${network.state}` : 'not connected to the network';
    return [
      finding(
        'peer',
        'ok',
        `${peer}: ${program ?? 'answers'}, ${milliseconds} ms; ${transport}; ${connected}`,
      ),
    ];
  });
};

const ports: Check = async () =>
  Promise.all(
    [8080, 8081].map(async (port) => {
      const isUsable = await isFree(port);
      return finding(
        'port',
        isUsable ? 'ok' : 'note',
        `${port} is ${isUsable ? 'free' : 'in use; Antway chooses another one'}`,
      );
    }),
  );

/** Browsers know that all these names are this machine. Other programs may not. */
const names: Check = async () => {
  const hasV6 = await isFree(0, '::1');
  const resolved = await lookup('antway.localhost').then(
    () => true,
    () => false,
  );
  return [
    finding(
      'localhost',
      'ok',
      `IPv4${hasV6 ? ' and IPv6' : ', no IPv6'}; browsers find antway.localhost, and ${resolved ? 'so do' : 'this command;'} other programs${resolved ? '' : ' may not'}`,
    ),
  ];
};

const build: Check = async () => {
  try {
    return [finding('gateway', 'ok', `built, in ${gatewayFiles(undefined)}`)];
  } catch (error) {
    return [finding('gateway', 'note', (error as Error).message)];
  }
};

const store: Check = async ({ store: named }, { env }) => {
  const folder = named ?? join(env.ANTWAY_DATA || '.antway', 'store');
  if (!existsSync(folder)) {
    return named === undefined ? [] : [finding('store', 'problem', `There is no folder “${folder}”.`)];
  }
  try {
    const { totals } = await FolderPeerStore.open(folder, await loadBlake3());
    return [
      finding(
        'store',
        'ok',
        `${resolve(folder)}: ${plural(totals.chunks, 'chunk')}, ${formatBytes(totals.bytes)}`,
      ),
    ];
  } catch (error) {
    return [finding('store', 'problem', `${resolve(folder)}: ${(error as Error).message}`)];
  }
};
