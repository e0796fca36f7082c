/** Long enough for a browser to have begun a download: its URL has to live until then. */
const urlMs = 60_000;

/** Gives the user a file, as a download. */
export function saveAs(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), urlMs);
}
