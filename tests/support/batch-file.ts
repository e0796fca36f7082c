import { open } from 'node:fs/promises';
import { basename } from 'node:path';

const chunkBytes = 4_190_208;
const chunks = 60;

/** The records of the file: its chunks, and a data map with three chunks. One payment covers all of them. */
export const batchRecords = 64;

/** Makes a file for a batch. Its chunks differ by its name, and compress well. */
export async function makeBatchFile(path: string): Promise<void> {
  const file = await open(path, 'w');
  try {
    for (let i = 0; i < chunks; i++) await file.write(Buffer.alloc(chunkBytes, `${basename(path)} ${i}.`));
  } finally {
    await file.close();
  }
}
