import type { Page, Response } from '@playwright/test';
import { fetchIn } from '../support/chromium.ts';
import { sha256 } from '../support/tar.ts';
import type { Received } from './case.ts';
import type { Exchange } from './exchange.ts';

/**
 * Asks as pages do: a script of the shell fetches, and a user's visit is a navigation of a page of its own.
 * @param shell a page that the gateway's worker controls.
 */
export function inBrowser(shell: Page, visitor: Page, origin: string): Exchange {
  return async ({ method, path, headers, body, as, isLink }) => {
    if (as === 'document') return visit(visitor, origin + path, isLink ? { referer: `${origin}/` } : {});
    const sent = body === undefined ? {} : { body };
    return fetchIn(shell, path, { method, headers, cache: 'no-store', ...sent });
  };
}

async function visit(visitor: Page, url: string, options: { referer?: string }): Promise<Received> {
  let answer: Response = (await visitor.goto(url, options))!;
  // The first answer, not the one that its redirects led to.
  for (let from = answer.request().redirectedFrom(); from; from = from.redirectedFrom()) {
    answer = (await from.response())!;
  }
  const isRedirect = answer.status() >= 300 && answer.status() < 400;
  const body = isRedirect ? Buffer.alloc(0) : await answer.body();
  return {
    status: answer.status(),
    headers: answer.headers(),
    size: body.length,
    sha256: sha256(body),
    text: body.toString(),
  };
}
