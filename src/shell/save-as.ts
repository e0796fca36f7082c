/** The lifetime of the URL in milliseconds. The URL must exist until the browser has started the download. */
const urlMs = 60_000;

export function saveAs(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), urlMs);
}
