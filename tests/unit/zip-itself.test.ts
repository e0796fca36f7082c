import { describe, expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import { memorySource } from '../../src/content/byte-source.ts';
import { loadZip } from '../../src/content/zip.ts';
import { answerContent, type ContentContext } from '../../src/gateway/http/content-response.ts';
import { makeZip, type ZipFile } from '../support/zip.ts';

const address = Address.fromHex('aa'.repeat(32));

/** @returns the type of the answer for a path at the root of a ZIP, or the code of the error. */
async function typeAt(path: string, files: ZipFile[]): Promise<string> {
  const zip = memorySource(makeZip(files));
  const content = { kind: 'archive', archive: (await loadZip(zip))!, tar: undefined, zip };
  const root = `/${address.hex}`;
  const context = {
    resolver: { locate: async () => ({ content, address, isMutable: false }) },
    policyFor: () => ({
      mode: 'path',
      isTrusted: false,
      destination: '',
      scope: { origin: 'https://gateway.example', pathPrefix: `${root}/`, workerPath: '/sw.js' },
      targetAddress: address.hex,
    }),
    accept: null,
    range: null,
    signal: new AbortController().signal,
    trace: { time: (_: string, work: () => Promise<unknown>) => work() },
  } as unknown as ContentContext;
  const target = { address, root, path, query: new URLSearchParams(), search: '' };
  try {
    const answer = await answerContent(target, context);
    return answer.kind === 'representation' ? answer.representation.headers['Content-Type']! : answer.kind;
  } catch (error) {
    return (error as { code: string }).code;
  }
}

const file = { path: 'model.usdc', data: 'x' };
const page = { path: 'index.html', data: '<!doctype html>' };

describe('the ZIP itself', () => {
  it.each(['photos.zip', 'model.usdz', 'data.npz', 'package-1.0-py3-none-any.whl', 'a.jar', 'a.3mf'])(
    'has the name %s',
    async (name) => {
      expect(await typeAt(name, [file])).toMatch(/^(application|model)\//);
    },
  );

  it.each([
    'style.css',
    'script.js',
    'logo.png',
    'page.html',
    'favicon.ico',
    'README',
    '.hidden',
    'a/b.usdz',
  ])('has not the name %s', async (name) => expect(await typeAt(name, [file])).toBe('NOT_FOUND'));

  it('has no name of an unknown type if it is a site', async () => {
    expect(await typeAt('model.usdz', [file, page])).toBe('NOT_FOUND');
    expect(await typeAt('photos.zip', [file, page])).toBe('application/zip');
  });
});
