interface Playing {
  title: string;
  /** The folder. */
  album: string;
}

interface Actions {
  previous: (() => void) | null;
  next: (() => void) | null;
}

/** Tells the system what is played, for its own controls and the keys of headsets. @returns a function that ends this. */
export function offerMediaSession({ title, album }: Playing, { previous, next }: Actions): () => void {
  const { mediaSession } = navigator as { mediaSession?: MediaSession };
  if (!mediaSession) return () => {};
  mediaSession.metadata = new MediaMetadata({ title, album });
  mediaSession.setActionHandler('previoustrack', previous);
  mediaSession.setActionHandler('nexttrack', next);
  return () => {
    mediaSession.metadata = null;
    mediaSession.setActionHandler('previoustrack', null);
    mediaSession.setActionHandler('nexttrack', null);
  };
}
