import { useEffect, useState } from 'preact/hooks';
import type { ListedPin } from '../../library/pin-state.ts';
import { gateway, onWorkerMessage } from '../gateway-api.ts';
import { useResource } from '../use-resource.ts';

/** The worker sends changes for 10 s after each request. */
const askEveryMs = 5_000;

/** All pins by address, updated while `active`. Null before they are known. */
export function usePins(active: boolean): {
  pins: ReadonlyMap<string, ListedPin> | null;
  refresh(): void;
} {
  const { value, refresh } = useResource(gateway.watchPins, active, askEveryMs);
  const [pins, setPins] = useState<ReadonlyMap<string, ListedPin> | null>(null);

  useEffect(() => {
    if (value) setPins(byAddress(value));
  }, [value]);
  useEffect(() => {
    if (!active) return;
    return onWorkerMessage((message) => {
      if (message.type === 'pins') setPins(byAddress(message.pins));
    });
  }, [active]);

  return { pins, refresh };
}

function byAddress(pins: readonly ListedPin[]): ReadonlyMap<string, ListedPin> {
  return new Map(pins.map((pin) => [pin.address, pin]));
}
