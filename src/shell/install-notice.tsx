import { useEffect, useState } from 'preact/hooks';
import { Icon } from './icons.tsx';
import { declineInstall, isInstallDeclined } from './preferences.ts';
import { texts } from './texts/texts.ts';
import { useSites } from './use-sites.ts';

/** Chromium's offer to install a page (https://wicg.github.io/manifest-incubations/). Other browsers make no offer. */
interface InstallPrompt extends Event {
  prompt(): Promise<{ outcome: 'accepted' | 'dismissed' }>;
}

/** The number of opened sites before the notice appears: until then, the user does not know what Antway is for. */
const sitesBefore = 2;

/** The browser's offer. It may arrive before anything is rendered. */
let offered: InstallPrompt | null = null;
const listeners = new Set<() => void>();
window.addEventListener('beforeinstallprompt', (event) => {
  event.preventDefault();
  offer(event as InstallPrompt);
});
window.addEventListener('appinstalled', () => offer(null));

function offer(prompt: InstallPrompt | null): void {
  offered = prompt;
  for (const listener of listeners) listener();
}

/** Offers to install Antway after the user has opened some sites. A declined offer does not come back. */
export function InstallNotice({ active }: { active: boolean }) {
  const [prompt, setPrompt] = useState(offered);
  const [isDeclined, setDeclined] = useState(isInstallDeclined);
  const sites = useSites(active && prompt !== null && !isDeclined);
  const opened = sites.value?.filter(({ lastOpened }) => lastOpened !== null).length ?? 0;
  useEffect(() => {
    const look = () => setPrompt(offered);
    listeners.add(look);
    look();
    return () => {
      listeners.delete(look);
    };
  }, []);

  if (!prompt || isDeclined || opened < sitesBefore) return null;

  async function install(shown: InstallPrompt) {
    const { outcome } = await shown.prompt();
    // A prompt can be shown only once. The browser sends another one when the user may want it again.
    offer(null);
    if (outcome === 'dismissed') decline();
    // An installed app should not lose its data, and browsers agree more often after an installation.
    else await navigator.storage?.persist?.();
  }

  function decline() {
    declineInstall();
    setDeclined(true);
  }

  return (
    <section class="banner" aria-label={texts.notices.installNow}>
      <span>{texts.notices.install}</span>
      <span class="banner-actions">
        <button type="button" class="button button-small" onClick={() => install(prompt)}>
          {texts.notices.installNow}
        </button>
        <button type="button" class="icon-button" aria-label={texts.notices.dismiss} onClick={decline}>
          <Icon name="close" />
        </button>
      </span>
    </section>
  );
}
