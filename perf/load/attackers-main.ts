// A process of its own, so that the attacks do not take time of the honest client's event loop.
import { attack, attacks, type Target } from './attackers.ts';

const { count, target } = JSON.parse(process.argv[2]!) as { count: number; target: Target };
await Promise.all(Object.keys(attacks).map((_, kind) => attack(kind, count, target)));
