import { describe, expect, it } from 'vitest';
import { antwayLocalhost } from '../../src/shell/origins/antway-localhost.ts';

const at = (url: string) => antwayLocalhost(new URL(url));

describe('antwayLocalhost', () => {
  it('returns the same port on a loopback address', () => {
    expect(at('http://127.0.0.1:8081/#publish')).toBe('http://antway.localhost:8081');
    expect(at('http://localhost/')).toBe('http://antway.localhost');
    expect(at('http://[::1]:8080/')).toBe('http://antway.localhost:8080');
  });

  it('returns null on every other host', () => {
    for (const url of [
      'https://gateway.example/',
      'http://192.168.1.2:8080/',
      'http://antway.localhost:8080/',
    ])
      expect(at(url)).toBeNull();
  });
});
