// @module-tag isolated
import { beforeEach, describe, expect, it } from 'vitest';
import { localAnt, localEther, localInput, parseLocalAnt } from '../../src/shell/payment/local-amounts.ts';
import { speak } from '../../src/shell/texts/texts.ts';

const amount = 1_234_500_000_000_000_000_001n;

describe.each([
  ['en' as const, '1,234.500000000000000001', '1234.500000000000000001', '0.5', '0,5'],
  ['de' as const, '1.234,500000000000000001', '1234,500000000000000001', '0,5', '0.5'],
])('amounts in %s', (language, shown, field, good, bad) => {
  beforeEach(() => speak(language));

  it('have all digits', () => {
    expect(localAnt(amount)).toBe(`${shown} ANT`);
    expect(localEther(amount)).toBe(`${shown} ETH`);
    expect(localInput(amount)).toBe(field);
  });

  it('are read with the separator of the language only', () => {
    expect(parseLocalAnt(field)).toBe(amount);
    expect(parseLocalAnt(` ${good} `)).toBe(500_000_000_000_000_000n);
    expect(parseLocalAnt('12')).toBe(12_000_000_000_000_000_000n);
    for (const wrong of [bad, shown, '', `${good}${good}`, '1e3', '-1', `${good}x`])
      expect(parseLocalAnt(wrong), wrong).toBeUndefined();
  });
});
