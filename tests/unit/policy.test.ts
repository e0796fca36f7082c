import { describe, expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import { deploymentAt } from '../../src/gateway/deployment.ts';
import {
  dependsOnClient,
  letShellFrame,
  ownPageHeaders,
  type Policy,
  type PolicyRequest,
  policyOf,
} from '../../src/gateway/http/policy.ts';

const target = 'ab'.repeat(32);
const other = 'cd'.repeat(32);
const origin = 'https://gateway.example';

const request = (options: Partial<PolicyRequest>): PolicyRequest => ({
  mode: 'path',
  isTrusted: false,
  destination: 'document',
  scope: { origin, pathPrefix: `/${target}/`, workerPath: '/sw.js' },
  targetAddress: target,
  ...options,
});

function headers(options: Partial<PolicyRequest>): Record<string, string> {
  const policy = policyOf(request(options));
  if (policy.refusal !== undefined) throw new Error(policy.refusal);
  return policy.headers;
}

/** The outcome of a policy, in a word. */
function verdict(policy: Policy): 'scripts' | 'no scripts' | 'refused' {
  if (policy.refusal !== undefined) return 'refused';
  return policy.headers['Content-Security-Policy']!.includes("script-src 'none'") ? 'no scripts' : 'scripts';
}

describe('the policy of an answer', () => {
  const clients = { own: target, other, page: null, unknown: undefined };
  /** As the table in docs/explanation/security.md: for a client of the same address, of another, a page of the origin, unknown. */
  type Row = [mode: PolicyRequest['mode'], isTrusted: boolean, destination: string, ...verdicts: string[]];
  const matrix: Row[] = [
    ['own-origin', true, 'document', 'scripts', 'scripts', 'scripts', 'scripts'],
    ['own-origin', true, 'iframe', 'scripts', 'scripts', 'scripts', 'scripts'],
    ['own-origin', false, 'document', 'no scripts', 'no scripts', 'no scripts', 'no scripts'],
    ['path', true, 'document', 'scripts', 'scripts', 'scripts', 'scripts'],
    ['path', true, 'iframe', 'scripts', 'no scripts', 'no scripts', 'no scripts'],
    ['path', true, 'object', 'scripts', 'no scripts', 'no scripts', 'no scripts'],
    ['path', true, 'script', 'scripts', 'scripts', 'scripts', 'scripts'],
    ['path', false, 'document', 'no scripts', 'no scripts', 'no scripts', 'no scripts'],
    ['path', false, 'iframe', 'no scripts', 'no scripts', 'no scripts', 'no scripts'],
    ['path', false, 'image', 'no scripts', 'no scripts', 'no scripts', 'no scripts'],
    ['path', false, '', 'no scripts', 'no scripts', 'no scripts', 'no scripts'],
    ['path', false, 'script', 'no scripts', 'no scripts', 'refused', 'refused'],
    ['path', false, 'worker', 'no scripts', 'no scripts', 'refused', 'refused'],
    ['path', false, 'manifest', 'no scripts', 'no scripts', 'refused', 'refused'],
    ['path', false, 'style', 'no scripts', 'no scripts', 'no scripts', 'no scripts'],
    ['embedded', true, 'document', 'scripts', 'scripts', 'scripts', 'scripts'],
    ['embedded', true, 'iframe', 'scripts', 'no scripts', 'scripts', 'scripts'],
    ['embedded', false, 'document', 'no scripts', 'no scripts', 'no scripts', 'no scripts'],
    ['embedded', false, 'image', 'no scripts', 'no scripts', 'no scripts', 'no scripts'],
    ['embedded', false, 'style', 'no scripts', 'refused', 'refused', 'refused'],
    ...['', 'audio', 'video', 'track', 'font', 'iframe', 'frame'].map(
      (shown): Row => ['embedded', false, shown, 'no scripts', 'no scripts', 'no scripts', 'no scripts'],
    ),
    ...[
      'script',
      'worker',
      'sharedworker',
      'serviceworker',
      'audioworklet',
      'paintworklet',
      'xslt',
      'json',
      'manifest',
      'object',
      'embed',
      'one of a later browser',
    ].map((applied): Row => ['embedded', false, applied, 'refused', 'refused', 'refused', 'refused']),
  ];
  it.each(matrix)('%s, trusted: %s, as “%s”', (mode, isTrusted, destination, ...expected) => {
    const found = Object.values(clients).map((clientAddress) =>
      verdict(policyOf(request({ mode, isTrusted, destination, clientAddress }))),
    );
    expect(found).toEqual(expected);
    // A caller that does not look the client up must not miss a difference.
    const isSame = new Set(found).size === 1;
    if (!isSame) expect(dependsOnClient(request({ mode, isTrusted, destination }))).toBe(true);
  });

  it('refuses an embedding site a picture that an SVG “use” element requests', () => {
    const use = { destination: 'image', requestMode: 'same-origin', clientAddress: target };
    expect(verdict(policyOf(request({ ...use, mode: 'embedded' })))).toBe('refused');
    expect(verdict(policyOf(request({ ...use, mode: 'path' })))).toBe('no scripts');
  });

  it('does not look up the client for subresources of pages', () => {
    for (const destination of ['document', 'image', 'style', 'font', 'video', 'audio', 'track', '']) {
      expect(dependsOnClient(request({ destination })), destination).toBe(false);
    }
  });
});

it('lets the gateway’s origin frame pages of a site’s origin, and nothing else', () => {
  const site = { origin: `https://${Address.fromHex(target).base32}.gateway.example` };
  for (const isTrusted of [true, false]) {
    const framed = new Headers(headers({ mode: 'own-origin', isTrusted, destination: 'iframe' }));
    letShellFrame(framed, deploymentAt(site.origin));
    expect(framed.get('Content-Security-Policy')).toMatch(
      /(^|; )frame-ancestors 'self' https:\/\/gateway\.example(;|$)/,
    );
  }
  const shared = new Headers(headers({ destination: 'iframe' }));
  letShellFrame(shared, deploymentAt(origin));
  expect(shared.get('Content-Security-Policy')).toMatch(/(^|; )frame-ancestors 'self'(;|$)/);
});

describe('a restricted document', () => {
  const policy = (options: Partial<PolicyRequest> = {}) =>
    headers(options)['Content-Security-Policy']!.split('; ');

  it('loads from its own address, runs nothing and is sandboxed', () => {
    const own = `${origin}/${target}/`;
    const answers = `${own} ${origin}/sw.js`;
    expect(policy()).toEqual([
      `default-src ${answers} data: blob:`,
      "script-src 'none'",
      "worker-src 'none'",
      "object-src 'none'",
      `style-src ${answers} 'unsafe-inline' data:`,
      `frame-src ${answers}`,
      "connect-src 'none'",
      "manifest-src 'none'",
      `base-uri ${own}`,
      "form-action 'none'",
      "frame-ancestors 'self'",
      'sandbox allow-same-origin allow-downloads allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation',
    ]);
  });

  it.each([
    ['a file', { origin, pathPrefix: `/${target}` }, `${origin}/${target}`],
    ['a name', { origin, pathPrefix: '/sample/' }, `${origin}/sample/`],
    ['an embedding site', { origin, pathPrefix: `/a;b,c/${target}/` }, `${origin}/a%3Bb%2Cc/${target}/`],
    ['its own origin', { origin, pathPrefix: '/' }, `${origin}/`],
    ['an IPv6 host', { origin: 'http://[::1]:8080', pathPrefix: `/${target}/` }, "'self'"],
    ['an IPv6 host without a port', { origin: 'http://[::1]', pathPrefix: `/${target}/` }, "'self'"],
  ])('at %s has that for its scope', (_, scope, source) => {
    const parts = policy({ scope: { ...scope, workerPath: '/a/sw.js' } });
    expect(parts).toContain(`base-uri ${source}`);
    const worker = source === "'self'" ? '' : ` ${scope.origin}/a/sw.js`;
    expect(parts).toContain(`frame-src ${source}${worker}`);
  });

  it('is no sandbox for a PDF, which browsers show in a viewer of their own', () => {
    expect(policy({ contentType: 'application/pdf' }).join()).not.toContain('sandbox');
    expect(policy({ contentType: 'text/html; charset=utf-8' }).join()).toContain('sandbox');
  });

  it('turns off features of elements that need no script', () => {
    expect(headers({})).toMatchObject({
      'X-DNS-Prefetch-Control': 'off',
      'Permissions-Policy': expect.stringContaining('geolocation=()'),
    });
    expect(headers({ isTrusted: true })['Permissions-Policy']).not.toContain('geolocation');
  });

  it('leaves no document of the gateway’s hosts the passkeys, also a trusted one', () => {
    const noPasskeys = 'publickey-credentials-create=(), publickey-credentials-get=()';
    for (const mode of ['path', 'own-origin'] as const) {
      for (const destination of ['document', 'iframe'] as const) {
        for (const isTrusted of [true, false]) {
          const policy = headers({ mode, destination, isTrusted })['Permissions-Policy'];
          expect(policy, `${mode} ${destination} ${isTrusted}`).toContain(noPasskeys);
        }
      }
    }
    expect(ownPageHeaders()).toMatchObject({ 'Permissions-Policy': noPasskeys });
    // An embedding site decides about its own passkeys.
    expect(headers({ mode: 'embedded', isTrusted: true })).not.toHaveProperty('Permissions-Policy');
    expect(ownPageHeaders({ ownsOrigin: false })).not.toHaveProperty('Permissions-Policy');
  });
});

describe('an answer', () => {
  it.each([
    ['path', 'document', true],
    ['own-origin', 'document', true],
    ['embedded', 'document', false],
    ['path', 'iframe', false],
    ['path', 'image', false],
    ['path', '', false],
  ] as const)('in mode %s as “%s” has an opener policy: %s', (mode, destination, has) => {
    for (const isTrusted of [true, false]) {
      const value = headers({ mode, destination, isTrusted, clientAddress: target })[
        'Cross-Origin-Opener-Policy'
      ];
      expect(value).toBe(has ? 'same-origin-allow-popups' : undefined);
    }
  });

  it('of any kind keeps its type, its origin and its referrer to itself', () => {
    for (const isTrusted of [true, false]) {
      expect(headers({ destination: 'image', isTrusted })).toMatchObject({
        'X-Content-Type-Options': 'nosniff',
        'Cross-Origin-Resource-Policy': 'same-origin',
        'Referrer-Policy': 'same-origin',
      });
    }
  });
});
