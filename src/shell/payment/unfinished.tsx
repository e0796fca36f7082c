import { Section } from '../section.tsx';
import { paymentTexts } from '../texts/payment.ts';
import { useResource } from '../use-resource.ts';
import { unfinishedUploads } from './journal-database.ts';

/** Uploads and states of pointers that were paid for before the page was closed. */
export default function UnfinishedUploads() {
  const uploads = useResource(unfinishedUploads, true);
  const t = paymentTexts();
  if (!uploads.value?.length) return null;
  return (
    <Section id="unfinished" title={t.unfinishedTitle}>
      <ul>
        {uploads.value.map(({ address, name, isPointer }) => (
          <li key={address}>{isPointer ? t.unfinishedPointer(name) : t.unfinished(name || t.unnamed)}</li>
        ))}
      </ul>
    </Section>
  );
}
