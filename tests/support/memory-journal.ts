import { type JournalStore, PaymentJournal } from '../../src/payment/journal.ts';

/** The store of a journal. It ends with the test. */
export function memoryStore(): JournalStore {
  const values = new Map<string, unknown>();
  return {
    get: async (key) => structuredClone(values.get(key)),
    put: async (key, value) => void values.set(key, structuredClone(value)),
    delete: async (key) => void values.delete(key),
    keys: async (prefix) => [...values.keys()].filter((key) => key.startsWith(prefix)),
  };
}

export function memoryJournal(): PaymentJournal {
  return new PaymentJournal(memoryStore());
}
