import assert from 'node:assert/strict';
import type { Browser } from '@playwright/test';
import { openShellIn, openWithoutScripts } from '../support/chromium.ts';
import { setSettings } from '../support/names-screen.ts';
import { codeOf, Reader, type TerminalAnswer } from '../support/tutorial.ts';
import { viewed } from '../support/viewer.ts';
import { type Row, seconds } from './rows.ts';

const tutorial = 'pay-on-a-test-chain';

const agrees: TerminalAnswer = [/Type “yes”: $/, 'yes'];
const newPassphrase: readonly TerminalAnswer[] = [
  [/New passphrase of the key: $/, 'correct horse'],
  [/The same passphrase again: $/, 'correct horse'],
];

/** Follows the tutorial on a test chain at a terminal, and opens what it publishes by address and by name. */
export async function followTutorial(browser: Browser): Promise<Row[]> {
  const reader = Reader.inLinkedProject();
  const startedMs = performance.now();
  try {
    await follow(reader, browser);
  } finally {
    await reader[Symbol.asyncDispose]();
  }
  return [{ step: 'the tutorial', item: 'all of it', seconds: seconds(startedMs) }];
}

async function follow(reader: Reader, browser: Browser): Promise<void> {
  const [start, makeSite, createPointer, ...others] = codeOf(tutorial, 'sh') as [string, string, string];
  assert.deepEqual(others, []);
  const [paid, paidBefore] = codeOf(tutorial, 'text') as [string, string];
  const network = reader.start(start.trim());
  await network.said(/Ctrl-C ends/);
  const printed = await network.said(/^((?: *export .*\n)+) *(node .*)$/m);
  const [, variables, publish] = printed as unknown as [string, string, string];
  for (const [, name, value] of variables.matchAll(/export (\w+)=(.*)/g)) reader.set({ [name!]: value });
  await reader.run(makeSite);

  const output = await reader.answer(publish, [agrees]);
  assertShown(output, paid);
  const [address] = /\b[0-9a-f]{64}$/m.exec(output)!;
  const [url] = /http:\S+/.exec(output.slice(output.indexOf(address!)))!;
  await opens(browser, url!);

  assertShown(await reader.answer(publish, []), paidBefore);

  const values: Record<string, string> = { address: address! };
  for (const name of ['relay', 'chain']) values[name] = new RegExp(`--${name} (\\S+)`).exec(publish)![1]!;
  const command = createPointer.trim().replaceAll(/<(\w+)>/g, (_, name) => values[name]!);
  const created = await reader.answer(command, [...newPassphrase, agrees]);
  const [lasting] = /\b[0-9a-f]{64}$/m.exec(created.trimEnd())!;
  assert.notEqual(lasting, address);
  await opens(browser, url!.replace(address!, lasting!));
  await opensByName(browser, new URL(url!).origin, lasting!);
  await network.stop();
}

/** Fees vary, and all the rest is the same. */
function assertShown(output: string, expected: string): void {
  const withoutFees = (text: string) => text.replaceAll(/about [\d.]+ ETH/g, 'about … ETH');
  for (const line of expected.trimEnd().split('\n'))
    assert.ok(withoutFees(output).includes(withoutFees(line)), `“${line}” is missing in:\n${output}`);
}

async function opens(browser: Browser, url: string): Promise<void> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(url);
    const question = page.getByRole('button', { name: 'Open without scripts' });
    const heading = page.getByRole('heading', { name: 'Paid once' });
    await question.or(heading).first().waitFor({ timeout: 60_000 });
    await openWithoutScripts(page);
    await heading.waitFor({ timeout: 60_000 });
  } finally {
    await context.close();
  }
}

/** Gives an address a name in another browser profile, and opens it by that name. */
async function opensByName(browser: Browser, origin: string, address: string): Promise<void> {
  const context = await browser.newContext();
  try {
    const shell = await openShellIn(context, origin);
    await setSettings(shell, { names: { shelf: address } });
    await shell.goto(`${origin}/~shelf/`);
    await viewed(shell).getByRole('heading', { name: 'Paid once' }).waitFor({ timeout: 60_000 });
  } finally {
    await context.close();
  }
}
