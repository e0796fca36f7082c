import { beforeEach } from 'vitest';
import { slowTests } from './folders.mjs';

beforeEach(({ task, skip }) => {
  if (slowTests.some((name) => task.name.includes(name))) skip();
});
