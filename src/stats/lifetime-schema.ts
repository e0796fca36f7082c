import * as s from '../schema.ts';
import type { LifetimeCounts } from './activity.ts';

/** The schema of `LifetimeCounts`, which a site can change. @param count the schema of one counter. */
export function lifetimeSchema(count: s.Schema<number>): s.Schema<LifetimeCounts> {
  return s.object({
    verifiedChunks: count,
    verifiedBytes: count,
    badChunks: count,
    servedBytes: count,
    requests: count,
    failures: count,
  });
}
