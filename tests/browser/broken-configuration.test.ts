import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, openShellIn, test } from '../support/chromium.ts';
import { LoopbackServer, passOn } from '../support/loopback-server.ts';

// The shell asks for the configuration every 15 s, and the worker asks the host at most once a minute.
test.setTimeout(180_000);

test('a broken configuration tells visitor and operator what it means, and goes away by itself', async ({
  context,
  startHost,
}) => {
  const host = await startHost({ peers: [] });
  let config: string | undefined = '{"peers":';
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.url !== '/antway.json' || config === undefined) return passOn(request, response, host.url);
    response.setHeader('Content-Type', 'application/json');
    response.end(config);
  };
  await using server = await LoopbackServer.start(answer);
  const page = await openShellIn(context, server.url);
  const alert = page.locator('.banner-problem');
  await expect(alert).toContainText('cannot show content now');
  await expect(alert).toContainText('You need not do anything');
  await expect(alert).toContainText('For the operator: antway.json is not valid JSON');

  config = undefined;
  await expect(alert).toHaveCount(0, { timeout: 120_000 });
  await expect(page.getByRole('button', { name: 'Local only' })).toBeVisible();
});
