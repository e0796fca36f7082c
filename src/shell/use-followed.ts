import { useEffect, useState } from 'preact/hooks';

/** An object that reports its changes. */
export interface Followed {
  /** @returns a function that ends the subscription. */
  subscribe(listener: () => void): () => void;
}

/** Returns a value of an object, and renders again after each change. */
export function useFollowed<T>(followed: Followed, read: () => T): T {
  const [value, setValue] = useState(read);
  useEffect(() => {
    const look = () => setValue(read);
    // The value may have changed since the rendering.
    look();
    return followed.subscribe(look);
  }, []);
  return value;
}
