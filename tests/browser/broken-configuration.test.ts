import type { IncomingMessage, ServerResponse } from 'node:http';
import { test as base, expect, openShellIn } from '../support/chromium.ts';
import { LoopbackServer, passOn } from '../support/loopback-server.ts';

/** A host whose `antway.json` is broken until `repair`. */
interface BrokenHost {
  url: string;
  repair(): void;
}

const test = base.extend<{ brokenHost: BrokenHost }>({
  brokenHost: async ({ startHost }, use) => {
    const host = await startHost({ peers: [] });
    let isBroken = true;
    const answer = async (request: IncomingMessage, response: ServerResponse) => {
      if (request.url !== '/antway.json' || !isBroken) return passOn(request, response, host.url);
      response.setHeader('Content-Type', 'application/json');
      response.end('{"peers":');
    };
    await using server = await LoopbackServer.start(answer);
    await use({
      url: server.url,
      repair: () => {
        isBroken = false;
      },
    });
  },
});

test('a broken configuration tells visitor and operator what it means', async ({ context, brokenHost }) => {
  const page = await openShellIn(context, brokenHost.url);
  const alert = page.locator('.banner-problem');
  await expect(alert).toContainText('cannot show content now');
  await expect(alert).toContainText('You need not do anything');
  await expect(alert).toContainText('For the operator: antway.json is not valid JSON');
});

test('the message about a broken configuration disappears once the host has repaired it', {
  tag: '@full',
}, async ({ context, brokenHost }) => {
  // The shell asks for the configuration every 15 s, and the worker asks the host at most once a minute.
  test.setTimeout(180_000);
  const page = await openShellIn(context, brokenHost.url);
  const alert = page.locator('.banner-problem');
  await expect(alert).toBeVisible();
  brokenHost.repair();
  await expect(alert).toHaveCount(0, { timeout: 120_000 });
  await expect(page.getByRole('button', { name: 'Local only' })).toBeVisible();
});
