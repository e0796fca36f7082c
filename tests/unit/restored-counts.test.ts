import { expect, it } from 'vitest';
import { addedText } from '../../src/shell/backup/added-text.ts';
import { backup as german } from '../../src/shell/texts/de/backup.ts';
import { backup as english } from '../../src/shell/texts/en/backup.ts';

const none = { sites: 0, pins: 0, names: 0, denied: 0, trusted: 0 };

it('the counts of a restore have a plural, and leave out what was not added', () => {
  expect(addedText(english, { ...none, sites: 2, pins: 1 })).toBe('Added: 2 sites, 1 pin.');
  expect(addedText(english, { sites: 1, pins: 2, names: 1, denied: 1, trusted: 1 })).toBe(
    'Added: 1 site, 2 pins, 1 name, 1 blocked address, 1 site that may run scripts.',
  );
  expect(addedText(german, { ...none, pins: 1, names: 3 })).toBe('Hinzugefügt: 1 Pin, 3 Namen.');
  expect(addedText(german, none)).toBe('');
});
