import { useEffect, useState } from 'preact/hooks';

/** Something that tells when it has changed. */
export interface Followed {
  /** @returns what ends the listening. */
  subscribe(listener: () => void): () => void;
}

/** What is read of something now, and anew whenever it tells of a change. */
export function useFollowed<T>(followed: Followed, read: () => T): T {
  const [value, setValue] = useState(read);
  useEffect(() => {
    const look = () => setValue(read);
    // It may have changed since this was rendered.
    look();
    return followed.subscribe(look);
  }, []);
  return value;
}
