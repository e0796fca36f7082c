import type { ErrorCode } from '../errors.ts';

/** The exit codes of the command: a part of its public interface. docs/reference/cli.md lists them. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  unreachable: 4,
  damaged: 5,
  refused: 6,
  interrupted: 130,
} as const;

const byError: Partial<Record<ErrorCode, number>> = {
  BAD_ADDRESS: exitCodes.usage,
  BAD_CONFIG: exitCodes.usage,
  NOT_FOUND: exitCodes.notFound,
  PEERS_UNREACHABLE: exitCodes.unreachable,
  HOST_UNREACHABLE: exitCodes.unreachable,
  OFFLINE: exitCodes.unreachable,
  CORRUPT: exitCodes.damaged,
  BUILD_MISMATCH: exitCodes.damaged,
  REFUSED: exitCodes.refused,
  DENIED: exitCodes.refused,
};

export function exitCodeOf(code: ErrorCode): number {
  return byError[code] ?? exitCodes.failed;
}
