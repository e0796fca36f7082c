import { type JournalStore, PaymentJournal } from '../../src/payment/journal.ts';

/** A journal that ends with the test. */
export function memoryJournal(): PaymentJournal {
  const values = new Map<string, unknown>();
  const store: JournalStore = {
    get: async (key) => structuredClone(values.get(key)),
    put: async (key, value) => void values.set(key, structuredClone(value)),
    delete: async (key) => void values.delete(key),
    keys: async (prefix) => [...values.keys()].filter((key) => key.startsWith(prefix)),
  };
  return new PaymentJournal(store);
}
