import './pointers.css';
import { Button } from '../button.tsx';
import { useSiteIsolation } from '../origins/use-site-isolation.ts';
import { pointerTexts } from '../texts/pointers.ts';
import { useResource } from '../use-resource.ts';
import { isMovable, ownedPointers } from './owned.ts';

const list = () => ownedPointers.list();

/** Offers a lasting address for what was just published. Shows nothing where no key may be used. */
export default function LastingStep({ onGo }: { onGo: () => void }) {
  const owned = useResource(list, true);
  const isolation = useSiteIsolation(true);
  if (!owned.value || isolation.value !== 'own') return null;
  const { step } = pointerTexts();
  return (
    <div class="lasting-step">
      <p class="note">{step.about}</p>
      <Button look="quiet" onClick={onGo}>
        {owned.value.some(isMovable) ? step.move : step.create}
      </Button>
    </div>
  );
}
