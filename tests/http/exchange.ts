import type { Case, CaseRequest, Received } from './case.ts';
import { differences, etagPaths, fillIn } from './case.ts';
import type { Fixtures } from './fixtures.ts';

/** Sends a request whose placeholders are filled in. Redirects are not followed. */
export type Exchange = (request: CaseRequest) => Promise<Received>;

/** A case and what was wrong with its answer: nothing, if it passed. */
export interface Result {
  case: Case;
  differences: string[];
}

/** Asks every case, one after the other. */
export async function runCases(
  cases: readonly Case[],
  fixtures: Fixtures,
  exchange: Exchange,
): Promise<Result[]> {
  const etags = new Map<string, string>();
  const etagOf = async (path: string) => {
    const known = etags.get(path);
    if (known !== undefined) return known;
    const url = fillIn(path, fixtures, etags);
    const { headers } = await exchange({ method: 'GET', path: url, headers: {}, as: 'fetch' });
    const etag = headers.etag ?? 'none';
    etags.set(path, etag);
    return etag;
  };

  const results: Result[] = [];
  for (const each of cases) {
    const { request, expected } = each;
    for (const path of etagPaths(each)) await etagOf(path || request.path);
    const own = new Map(etags).set('', etags.get(request.path) ?? 'none');
    const fill = (text: string) => fillIn(text, fixtures, own);
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, fill(value)]),
    );
    let found: string[];
    try {
      const body = request.body === undefined ? {} : { body: fill(request.body) };
      const received = await exchange({ ...request, path: fill(request.path), headers, ...body });
      found = differences(expected, received, fill);
    } catch (error) {
      found = [`no answer (${error instanceof Error ? error.message.split('\n')[0] : error})`];
    }
    results.push({ case: each, differences: found });
  }
  return results;
}
