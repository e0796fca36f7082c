/** The time of a chunk on its way, in milliseconds. */
const flightMs = 1_500;
/** The worker reports several times a second. The chunks of a report start one after the other within this time. */
const spreadMs = 300;
/** More chunks at once would only overlap. */
const mostAtOnce = 6;
const mostInTrack = 24;

/**
 * Lets chunks move along a track. The browser's compositor moves them, so they cost no layout and no script, and rest
 * while the tab is hidden.
 */
export function fly(track: HTMLElement, count: number): void {
  const most = Math.min(count, mostAtOnce, mostInTrack - track.childElementCount);
  for (let i = 0; i < most; i++) {
    const chunk = document.createElement('i');
    chunk.className = 'flight';
    track.append(chunk);
    const flight = chunk.animate(
      [
        { transform: 'translateX(-100%)', opacity: 0 },
        { opacity: 1, offset: 0.15 },
        { opacity: 1, offset: 0.85 },
        { transform: 'translateX(0)', opacity: 0 },
      ],
      {
        duration: flightMs,
        delay: (spreadMs * i) / most,
        easing: 'cubic-bezier(0.35, 0, 0.3, 1)',
        fill: 'backwards',
      },
    );
    const end = () => chunk.remove();
    flight.finished.then(end, end);
  }
}
