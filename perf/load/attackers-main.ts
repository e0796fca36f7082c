// A process of its own, so that the attacks do not take time of the honest client's event loop.
import { attack, type Target } from './attackers.ts';

const { kinds, ...attackers } = JSON.parse(process.argv[2]!) as {
  kinds: string[];
  count: number;
  networks: number;
  target: Target;
};
await Promise.all(kinds.map((kind) => attack(kind, attackers)));
