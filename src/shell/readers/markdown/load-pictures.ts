/** The most bytes of one picture in a document. */
const mostBytes = 30_000_000;
/** How far a picture may be from the visible part of the page when it starts to load. */
const margin = '800px';

/**
 * Loads each picture when it comes near the visible part of the page. The frame's policy allows no request, so this page
 * fetches the bytes through the gateway.
 * @returns a function that stops the loading and releases the pictures.
 */
export function loadPictures(pictures: ReadonlyMap<HTMLImageElement, string>, problem: string): () => void {
  const end = new AbortController();
  const urls: string[] = [];
  const load = async (image: HTMLImageElement) => {
    try {
      const url = URL.createObjectURL(await fetchPicture(pictures.get(image)!, end.signal));
      urls.push(url);
      if (end.signal.aborted) URL.revokeObjectURL(url);
      else image.src = url;
    } catch (error) {
      if (end.signal.aborted) return;
      console.warn('antway: a picture of the document did not load', error);
      image.alt = [image.alt, problem].filter(Boolean).join(' – ');
      image.classList.add('missing');
    }
  };
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        observer.unobserve(target);
        void load(target as HTMLImageElement);
      }
    },
    { rootMargin: margin },
  );
  for (const image of pictures.keys()) observer.observe(image);
  return () => {
    observer.disconnect();
    end.abort();
    for (const url of urls) URL.revokeObjectURL(url);
  };
}

async function fetchPicture(url: string, signal: AbortSignal): Promise<Blob> {
  const response = await fetch(url, { signal });
  const type = response.headers.get('Content-Type') ?? '';
  const size = Number(response.headers.get('Content-Length') ?? 0);
  if (!response.ok || !type.startsWith('image/') || size > mostBytes) {
    await response.body?.cancel();
    throw new Error(`${url}: status ${response.status}, ${type}, ${size} bytes`);
  }
  return response.blob();
}
