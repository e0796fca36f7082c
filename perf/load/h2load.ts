import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** The results of `h2load`. */
export interface LoadResult {
  requestsPerSecond: number;
  /** Answers with a status of 2xx. */
  good: number;
  /** All others: failed, refused, reset, in time out, or with another status. */
  bad: number;
  /** Of all requests, as `h2load` words them. */
  times: string;
}

/** Asks for a URL `requests` times over `clients` connections at once, by HTTP/1.1. */
export async function h2load(url: string, requests: number, clients: number): Promise<LoadResult> {
  const args = ['--h1', '-n', String(requests), '-c', String(clients), url];
  const { stdout } = await promisify(execFile)('h2load', args, { maxBuffer: 64 * 1024 * 1024 });
  return parseH2load(stdout, requests);
}

/** @throws Error when the text is not what `h2load` prints at its end. */
export function parseH2load(text: string, requests: number): LoadResult {
  const found = (pattern: RegExp) => {
    const match = pattern.exec(text);
    if (!match) throw new Error(`h2load did not tell ${pattern}:\n${text}`);
    return match[1]!;
  };
  const good = Number(found(/^status codes: (\d+) 2xx/m));
  return {
    requestsPerSecond: Number(found(/^finished in .*?, ([\d.]+) req\/s/m)),
    good,
    bad: requests - good,
    times: found(/^time for request:\s+(.*)$/m).replaceAll(/\s+/g, ' '),
  };
}
