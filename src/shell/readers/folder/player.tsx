import { useEffect, useRef, useState } from 'preact/hooks';
import { typeOfName } from '../../../gateway/http/content-type.ts';
import { Button } from '../../button.tsx';
import { Icon } from '../../icons.tsx';
import { contentHref, type ReaderLocation } from '../location.ts';
import { sanitizeName } from '../sanitize-name.ts';
import { useBounded } from '../show-more.tsx';
import { readerTexts } from '../texts/texts.ts';
import { offerMediaSession } from './media-session.ts';

interface Item {
  location: ReaderLocation;
  name: string;
}

const itemsPerStep = 300;
const seekSeconds = 5;

/** Sounds and films with a playlist. The next title begins when one ends. */
export function Player({ items, title }: { items: Item[]; title: string }) {
  const t = readerTexts().player;
  const [at, setAt] = useState(0);
  const [failed, setFailed] = useState<ReadonlySet<number>>(new Set());
  /** The first title waits for the user. Later titles begin by themselves. */
  const [isStarted, setStarted] = useState(false);
  const media = useRef<HTMLVideoElement & HTMLAudioElement>(null);
  const { shown, more } = useBounded(items.length, itemsPerStep);
  const { name, location } = items[at]!;
  const isVideo = typeOfName(name)?.startsWith('video/') ?? true;
  const Media = isVideo ? 'video' : 'audio';

  function play(to: number) {
    if (to < 0 || to >= items.length) return;
    setStarted(true);
    setAt(to);
    if (to === at) void media.current?.play().catch(() => undefined);
  }

  useEffect(() => {
    const actions = {
      previous: at > 0 ? () => play(at - 1) : null,
      next: at < items.length - 1 ? () => play(at + 1) : null,
    };
    return offerMediaSession(
      { title: sanitizeName(withoutExtension(name)), album: sanitizeName(title) },
      actions,
    );
  });

  function keyDown(event: KeyboardEvent) {
    const { target, key } = event;
    const element = media.current;
    if (!element || event.ctrlKey || event.metaKey || event.altKey) return;
    // A button keeps its own keys, and so do the controls of the browser.
    const isButton = (target as Element).closest('button') !== null;
    if (key === 'n' || key === 'N') play(at + 1);
    else if (key === 'p' || key === 'P') play(at - 1);
    else if (target === element) return;
    else if (key === ' ' && !isButton)
      void (element.paused ? element.play().catch(() => undefined) : element.pause());
    else if (key === 'ArrowRight') element.currentTime += seekSeconds;
    else if (key === 'ArrowLeft') element.currentTime -= seekSeconds;
    else return;
    event.preventDefault();
  }

  return (
    <section
      class={`card player player-${Media}`}
      aria-label={t.label(sanitizeName(title))}
      onKeyDown={keyDown}
    >
      <Media
        key={at}
        ref={media}
        src={contentHref(location)}
        controls
        preload="metadata"
        autoPlay={isStarted}
        aria-label={sanitizeName(name)}
        onPlay={() => setStarted(true)}
        onEnded={() => play(at + 1)}
        onError={() => setFailed(new Set(failed).add(at))}
      />
      <p class="player-now">
        <bdi class="player-title">{sanitizeName(withoutExtension(name))}</bdi>
        {items.length > 1 && (
          <span class="actions">
            <Button look="icon" aria-label={t.previous} aria-disabled={at === 0} onClick={() => play(at - 1)}>
              <Icon name="back" />
            </Button>
            <Button
              look="icon"
              aria-label={t.next}
              aria-disabled={at === items.length - 1}
              onClick={() => play(at + 1)}
            >
              <Icon name="open" />
            </Button>
          </span>
        )}
      </p>
      <p class="note note-problem" role="status">
        {failed.has(at) && t.failed(sanitizeName(name))}
      </p>
      {items.length > 1 && (
        <>
          <h2>{t.playlist}</h2>
          <ol class="playlist">
            {items.slice(0, shown).map((item, index) => (
              <li key={item.location.path}>
                <button
                  type="button"
                  class="playlist-item"
                  aria-current={index === at ? 'true' : undefined}
                  aria-label={t.play(sanitizeName(item.name))}
                  onClick={() => play(index)}
                >
                  <bdi>{sanitizeName(withoutExtension(item.name))}</bdi>
                </button>
              </li>
            ))}
          </ol>
          {more}
        </>
      )}
      <p class="note">{t.keys}</p>
    </section>
  );
}

function withoutExtension(name: string): string {
  return name.replace(/(?<=.)\.[^.]{1,5}$/, '');
}
