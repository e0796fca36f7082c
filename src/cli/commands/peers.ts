import { type Command, InvalidArgumentError } from 'commander';
import { AntwayError, asAntwayError } from '../../errors.ts';
import type { PeerUrl } from '../../peer-url.ts';
import { probePeer } from '../../peers/probe.ts';
import type { CommandContext } from '../context.ts';
import { type OutputOptions, type PeerOptions, peerFrom, withOutput, withPeers } from '../options.ts';
import { Output } from '../output.ts';
import { loadSettings } from '../settings.ts';
import { suggestion } from '../suggestion.ts';

/** In seconds. A peer that does not answer is reported within two seconds from the start of the command. */
const defaultTimeout = 1.5;

export interface PeerReport {
  peer: string;
  isReachable: boolean;
  /** From a request on an open connection to the first byte of its answer. */
  milliseconds: number | null;
  program: string | null;
  protocol: number | null;
  /** Whether the peer offers WebTransport, which this command cannot test. */
  webTransport: boolean | null;
  network: { name: string; state: string; peers: number | null; problem: string | null } | null;
  problem: string | null;
}

export function define(command: Command, context: CommandContext): void {
  withOutput(withPeers(command))
    .argument('[url...]', 'the peers to test (default: those that the other commands use)')
    .option('--timeout <seconds>', 'how long a peer may take', secondsFrom, defaultTimeout)
    .addHelpText(
      'after',
      '\nTests peers by HTTP, which is the only transport in Node. Ends with code 4 if no peer answers.',
    )
    .action(async (urls: string[], options: PeerOptions & OutputOptions & { timeout: number }) => {
      const output = new Output(options);
      const peers = urls.length > 0 ? urls.map(peerFrom) : (await loadSettings(options, context.env)).peers;
      const reports = await Promise.all(peers.map((peer) => reportOn(peer, context.signal, options.timeout)));
      output.json(reports);
      for (const report of reports) output.line(lineOf(report));
      if (reports.some(({ isReachable }) => isReachable)) return;
      const names = reports.map(({ peer }) => peer).join(', ');
      throw new AntwayError('PEERS_UNREACHABLE', `No peer answers at ${names}. ${suggestion}`, {
        answered: true,
      });
    });
}

/** @throws InvalidArgumentError */
function secondsFrom(value: string): number {
  const seconds = Number(value);
  if (/^\d+(\.\d+)?$/.test(value) && seconds > 0 && seconds <= 600) return seconds;
  throw new InvalidArgumentError('It must be a number of seconds, at most 600.');
}

/**
 * Asks a peer to describe itself. @param timeout in seconds. @throws the signal's reason when aborted.
 */
export async function reportOn(
  peer: PeerUrl,
  signal: AbortSignal,
  timeout = defaultTimeout,
): Promise<PeerReport> {
  const nothing = { milliseconds: null, program: null, protocol: null, webTransport: null, network: null };
  const late = AbortSignal.timeout(1000 * timeout);
  try {
    const { info, firstByteMs } = await probePeer(peer, 'http', AbortSignal.any([signal, late]));
    return {
      ...nothing,
      peer: peer.id,
      isReachable: true,
      milliseconds: firstByteMs,
      ...(info && {
        program: `${info.name} ${info.version}`.trim(),
        protocol: info.protocol,
        webTransport: info.webTransport !== null,
        network: info.network && {
          name: info.network.name,
          state: info.network.state,
          peers: info.network.peers,
          problem: info.network.problem,
        },
      }),
      problem: null,
    };
  } catch (error) {
    signal.throwIfAborted();
    const problem = late.aborted ? `It did not answer in ${timeout} s.` : asAntwayError(error).message;
    return { ...nothing, peer: peer.id, isReachable: false, problem };
  }
}

function lineOf(report: PeerReport): string {
  const { peer, isReachable, milliseconds, program, protocol, webTransport, network, problem } = report;
  if (!isReachable) return `${peer}  unreachable: ${problem}`;
  const parts = [
    `${milliseconds} ms`,
    program ?? 'AntTP or antd',
    ...(protocol === null ? [] : [`protocol ${protocol}`]),
    ...(webTransport ? ['WebTransport'] : []),
    network
      ? `network ${network.name}: ${network.state}${network.peers === null ? '' : `, ${network.peers} nodes`}${network.problem ? ` (${network.problem})` : ''}`
      : 'no network',
  ];
  return `${peer}  ${parts.join(', ')}`;
}
