import { AntwayError, type ErrorCode, type ErrorDetails } from '../errors.ts';

/** The kind of a node's failure. */
export type NodeProblem =
  /** No connection, or it was lost. */
  | 'unreachable'
  | 'timeout'
  /** The node is not the one whose address was dialled. */
  | 'identity'
  /** The node broke the protocol. */
  | 'protocol'
  /** The bytes are not those of the address. */
  | 'wrong-bytes'
  /** The node answered with an error. */
  | 'refused';

const codes: Record<NodeProblem, ErrorCode> = {
  unreachable: 'PEERS_UNREACHABLE',
  timeout: 'PEERS_UNREACHABLE',
  identity: 'CORRUPT',
  protocol: 'CORRUPT',
  'wrong-bytes': 'CORRUPT',
  refused: 'PEERS_UNREACHABLE',
};

/** A failure of one node. `details.problem` is stable. */
export function nodeError(
  problem: NodeProblem,
  message: string,
  cause?: unknown,
  details: ErrorDetails = {},
): AntwayError {
  const options = cause === undefined ? undefined : { cause };
  return new AntwayError(codes[problem], message, { ...details, problem }, options);
}

export function problemOf(error: unknown): NodeProblem | undefined {
  if (!(error instanceof AntwayError)) return undefined;
  const { problem } = error.details;
  return typeof problem === 'string' && Object.hasOwn(codes, problem) ? (problem as NodeProblem) : undefined;
}

/** Whether an honest node does not do this. */
export function isHostile(error: unknown): boolean {
  const problem = problemOf(error);
  return problem === 'identity' || problem === 'protocol' || problem === 'wrong-bytes';
}
