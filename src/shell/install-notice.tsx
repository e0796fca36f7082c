import { useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { Icon } from './icons.tsx';
import { Observable, useObserved } from './observable.ts';
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
const offer = new Observable<InstallPrompt | null>(null);
window.addEventListener('beforeinstallprompt', (event) => {
  event.preventDefault();
  offer.set(event as InstallPrompt);
});
window.addEventListener('appinstalled', () => offer.set(null));

/** Offers to install Antway after the user has opened some sites. A declined offer does not come back. */
export function InstallNotice({ active }: { active: boolean }) {
  const prompt = useObserved(offer, () => offer.state);
  const [isDeclined, setDeclined] = useState(isInstallDeclined);
  const sites = useSites(active && prompt !== null && !isDeclined);
  const opened = sites.value?.filter(({ lastOpened }) => lastOpened !== null).length ?? 0;

  if (!prompt || isDeclined || opened < sitesBefore) return null;

  async function install(shown: InstallPrompt) {
    const { outcome } = await shown.prompt();
    // A prompt can be shown only once. The browser sends another one when the user may want it again.
    offer.set(null);
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
        <Button isSmall onClick={() => install(prompt)}>
          {texts.notices.installNow}
        </Button>
        <Button look="icon" aria-label={texts.notices.dismiss} onClick={decline}>
          <Icon name="close" />
        </Button>
      </span>
    </section>
  );
}
