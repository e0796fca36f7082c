import { chromium, type Page } from '@playwright/test';
import lighthouse, { desktopConfig } from 'lighthouse';
import { expectAccessible } from '../support/accessibility.ts';
import { expect, Gateway, openWithoutScripts, sceneOfFile, test } from '../support/chromium.ts';
import { openFreshShell } from '../support/fresh-shell.ts';
import { freePort } from '../support/loopback-server.ts';
import { publish } from '../support/publish.ts';
import { knownPeers } from '../support/publish-screen.ts';
import { openAdvancedOptions } from '../support/settings.ts';
import { visitCounts } from '../support/visits.ts';

const isDefaultTier = process.env.ANTWAY_TIER === 'default';

const screens = ['', '#library', '#live', '#publish', '#settings'];

const viewports = {
  desktop: { width: 1280, height: 860 },
  phone: { width: 390, height: 844 },
};

const scene = sceneOfFile(async ({ startPeer, openWorker }) => {
  const peer = await startPeer();
  const letter = await publish(Buffer.from('a letter'), peer);
  return { gateway: await openWorker({ peers: [peer.url], names: { letter } }) };
});

for (const [device, viewport] of Object.entries(viewports)) {
  // On a phone, `tests/screens` audits the screens too.
  const tag = device === 'desktop' ? [] : '@full';
  test(`axe finds no violation on any screen, on a ${device}`, { tag }, async () => {
    test.setTimeout(180_000);
    const gateway = await openFreshShell(scene().gateway, 'letter');
    const page = gateway.shell;
    await page.setViewportSize(viewport);
    await openWithoutScripts(page);
    await visitCounts(page);
    await page.goto(`${gateway.url}/#settings`);
    await page.getByRole('region', { name: 'Names', exact: true }).waitFor();
    await openAdvancedOptions(page);
    await page.getByLabel('Address to block').fill('cd'.repeat(32));
    await page.getByRole('button', { name: 'Block', exact: true }).click();
    await page.getByRole('button', { name: /^Allow again/ }).waitFor();
    await audit(page, 'settings, with advanced options');
    await page.getByRole('banner').getByRole('button').first().click();
    await page.getByRole('region', { name: 'Connection', exact: true }).waitFor();
    await audit(page, 'the details of the connection');
    await page.keyboard.press('Escape');
    for (const screen of screens) {
      await page.goto(`${gateway.url}/${screen}`);
      await filled(page, screen);
      await audit(page, screen || 'open');
    }
    await page.goto(`${gateway.url}/#library`);
    await page.getByRole('button', { name: /^More for/ }).click();
    await audit(page, 'library with more actions');
    await page.goto(`${gateway.url}/#publish`);
    await page
      .locator('input[name=files]')
      .setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('something') });
    await page.getByLabel('Another peer').fill(gateway.url);
    await audit(page, 'publish, chosen');
    await knownPeers(page).uncheck();
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('img', { name: 'QR code of the link' }).waitFor();
    await audit(page, 'publish, done');
  });
}

for (const [device, viewport] of Object.entries(viewports)) {
  test(`axe finds no violation on the offer to move the library and on the page that takes it over, on a ${device}`, {
    tag: '@full',
  }, async () => {
    const { shell, url } = await openFreshShell(scene().gateway);
    const missing = 'ab'.repeat(32);
    const settings = { names: { sample: missing }, denied: ['cd'.repeat(32)] };
    await shell.evaluate(
      async ([settings, pin]) => {
        await fetch('/-/settings', { method: 'PUT', body: settings });
        await fetch('/-/pins', { method: 'POST', body: pin });
      },
      [JSON.stringify(settings), JSON.stringify({ address: missing, action: 'pin' })] as const,
    );
    await shell.goto(`${url}/#settings`);
    await shell.reload();
    const section = shell.getByRole('region', { name: 'Another address of this gateway' });
    const opened = shell.context().waitForEvent('page');
    await section.getByRole('button', { name: 'Move the library there…' }).click();
    const popup = await opened;
    const take = popup.getByRole('button', { name: 'Take it over' });
    await popup.setViewportSize(viewport);
    await expect(take).toBeVisible();
    await audit(popup, 'what is offered');
    await popup.bringToFront();
    await expect(take).toHaveAttribute('aria-disabled', 'false');
    await take.press('Enter');
    await expect(popup.getByRole('button', { name: 'Try again' })).toBeVisible();
    await audit(popup, 'what was not taken over');
    await shell.goto(`${url}/#library`);
    await section.getByRole('button', { name: 'Delete it here…' }).click();
    await audit(shell, 'what is left at the former address');
  });
}

/** Waits for what a screen asks the gateway for. */
async function filled(page: Page, screen: string): Promise<void> {
  const awaited = {
    '': page.getByRole('region', { name: 'Last opened' }).getByRole('link'),
    '#library': page.locator('.site-row'),
    '#live': page.locator('.chart canvas'),
    '#publish': page.getByRole('button', { name: 'Choose a folder…' }),
    '#settings': page.getByRole('region', { name: 'Names', exact: true }),
  }[screen]!;
  await expect(awaited.first()).toBeVisible();
}

async function audit(page: Page, name: string): Promise<void> {
  // `tests/screens` audits the dark screens too.
  await expectAccessible(page, { what: name, schemes: isDefaultTier ? ['light'] : ['light', 'dark'] });
}

/** Of 100. If a run reaches all of them, no other run follows. */
const wantedScores = { performance: 95, accessibility: 100, 'best-practices': 100 };
const mostRuns = 5;

const forms = {
  desktop: { config: desktopConfig },
  phone: { config: undefined },
};

for (const [device, { config }] of Object.entries(forms)) {
  test(
    `Lighthouse finds the shell fast, accessible and standards-compliant on a ${device}`,
    { tag: '@full' },
    async ({ startHost }, info) => {
      test.setTimeout(600_000);
      const host = await startHost({ peers: ['/'] });
      const port = await freePort();
      const { launchOptions } = info.project.use;
      const browser = await chromium.launch({
        ...launchOptions,
        args: [...(launchOptions?.args ?? []), `--remote-debugging-port=${port}`],
      });
      try {
        // The page as for a returning user, with a running worker.
        await Gateway.open(host, await browser.newPage());
        const categories = Object.keys(wantedScores) as (keyof typeof wantedScores)[];
        const best: Record<string, number> = {};
        const failed = new Set<string>();
        // The best of several: what else the machine does only ever makes it worse. An audit that ran out of time has none.
        for (
          let run = 0;
          run < mostRuns && !categories.every((name) => (best[name] ?? 0) >= wantedScores[name]);
          run++
        ) {
          const flags = { port, logLevel: 'error' as const, onlyCategories: categories };
          const { lhr } = (await lighthouse(`${host.url}/`, flags, config))!;
          for (const name of categories) {
            best[name] = Math.max(best[name] ?? 0, Math.round((lhr.categories[name]!.score ?? 0) * 100));
          }
          for (const { id, score, scoreDisplayMode } of Object.values(lhr.audits)) {
            if (scoreDisplayMode === 'binary' && score === 0) failed.add(id);
          }
        }
        console.log(`Lighthouse on a ${device}: ${JSON.stringify(best)}`);
        const reasons = [...failed].join(', ');
        expect(best.accessibility, reasons).toBe(wantedScores.accessibility);
        expect(best['best-practices'], reasons).toBe(wantedScores['best-practices']);
        // Only a lower bound: beside other tests on a slow machine, the score depends on the machine.
        // docs/reference/benchmarks.md has the score of an idle machine.
        expect(best.performance, reasons).toBeGreaterThanOrEqual(50);
      } finally {
        await browser.close();
      }
    },
  );
}
