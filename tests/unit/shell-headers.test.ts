import { describe, expect, it } from 'vitest';
import { servedHeaders, shellHeaders } from '../../sw/shell-headers.ts';

const site = 'abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrsa';

function directives(path: string, host: string): Record<string, string> {
  const parts = shellHeaders(path, host)['Content-Security-Policy']!.split('; ');
  return Object.fromEntries(parts.map((part) => [part.split(' ')[0]!, part.slice(part.indexOf(' ') + 1)]));
}

describe('the headers of the gateway’s own files', () => {
  it('allow scripts and styles of the shell’s folder only, and no frames around them', () => {
    expect(directives('/index.html', 'antway.localhost:8080')).toMatchObject({
      'default-src': "'none'",
      'script-src': "antway.localhost:8080/assets/ antway.localhost:8080/sw.js 'wasm-unsafe-eval'",
      'style-src': 'antway.localhost:8080/assets/ antway.localhost:8080/sw.js',
      'frame-src': '*.antway.localhost:8080',
      'frame-ancestors': "'none'",
    });
  });

  it.each([
    ['127.0.0.1:8080', '127.0.0.1:8080/assets/ 127.0.0.1:8080/sw.js', "'none'"],
    ['[::1]:8080', "'self'", "'none'"],
    ['192.168.0.1', "'self'", "'none'"],
    ['gateway.example', 'gateway.example/assets/ gateway.example/sw.js', '*.gateway.example'],
    [
      `${site}.gateway.example`,
      `${site}.gateway.example/assets/ ${site}.gateway.example/sw.js`,
      'gateway.example',
    ],
  ])('list at %s only valid sources of a policy', (host, styles, frames) => {
    expect(directives('/index.html', host)).toMatchObject({ 'style-src': styles, 'frame-src': frames });
  });

  it('forbid passkeys on the origin of a site, and not to the shell', () => {
    const features = (host: string) => shellHeaders('/index.html', host)['Permissions-Policy'];
    const own = 'camera=(), microphone=(), geolocation=()';
    expect(features('g.example')).toBe(own);
    expect(features(`${site}.g.example`)).toBe(
      `publickey-credentials-create=(), publickey-credentials-get=(), ${own}`,
    );
  });

  it('let the root origin and those of its sites frame each other’s pages', () => {
    const ancestors = (path: string, host: string) => directives(path, host)['frame-ancestors'];
    expect(ancestors('/-/bridge.html', `${site}.g.example`)).toBe('g.example');
    expect(ancestors('/-/bridge.html', 'g.example')).toBe("'none'");
    expect(ancestors('/-/root.html', 'g.example')).toBe('*.g.example');
    expect(ancestors('/-/root.html', '127.0.0.1')).toBe("'none'");
  });

  it('let the page that takes over a library access its opener, and forbid frames', () => {
    const openerPolicy = (path: string, host = 'antway.localhost:8080') =>
      shellHeaders(path, host)['Cross-Origin-Opener-Policy'];
    expect(openerPolicy('/-/move.html')).toBe('unsafe-none');
    expect(openerPolicy('/-/move.html', 'antway.localhost')).toBe('unsafe-none');
    for (const host of ['g.example', 'localhost:8080', '127.0.0.1:8080', 'antway.localhost.example'])
      expect(openerPolicy('/-/move.html', host), host).toBe('same-origin-allow-popups');
    expect(openerPolicy('/index.html')).toBe('same-origin-allow-popups');
    expect(openerPolicy('/-/site.html')).toBe('same-origin');
    expect(directives('/-/move.html', 'antway.localhost:8080')).toMatchObject({
      'script-src': 'antway.localhost:8080/-/ antway.localhost:8080/sw.js',
      'connect-src': "'self'",
      'frame-src': "'none'",
      'frame-ancestors': "'none'",
    });
  });

  it('let the viewer frame content in a shell that the worker has served', () => {
    const frames = (host: string) =>
      /frame-src ([^;]*);/.exec(servedHeaders('/index.html', host)['Content-Security-Policy']!)![1];
    expect(frames('antway.localhost:8080')).toBe("'self' *.antway.localhost:8080");
    expect(frames('127.0.0.1:8080')).toBe("'self'");
    expect(frames('[::1]:8080')).toBe("'self'");
    const openerPolicy = (host: string, path = '/index.html') =>
      servedHeaders(path, host)['Cross-Origin-Opener-Policy'];
    for (const host of ['antway.localhost:8080', 'gateway.example'])
      expect(openerPolicy(host)).toBe('same-origin');
    // There the shell opens the page that takes over its library.
    for (const host of ['localhost:8080', '127.0.0.1:8080', 'localhost'])
      expect(openerPolicy(host), host).toBe('same-origin-allow-popups');
    expect(servedHeaders('/-/move.html', 'g.example')).toEqual(shellHeaders('/-/move.html', 'g.example'));
  });

  it.each([
    ['/index.html', 'text/html; charset=utf-8'],
    ['/assets/a.js', 'text/javascript; charset=utf-8'],
    ['/assets/a.wasm', 'application/wasm'],
    ['/manifest.webmanifest', 'application/manifest+json; charset=utf-8'],
  ])('tell the type of %s by its name', (path, type) => {
    expect(shellHeaders(path, 'g.example')['Content-Type']).toBe(type);
  });
});
