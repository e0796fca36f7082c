const systemFiles = new Set(['.DS_Store', 'Thumbs.db', 'desktop.ini']);

/** Why a file of a chosen folder is not published: it belongs to git or to an operating system. Otherwise undefined. */
export function whyLeftOut(path: string): 'git' | 'system' | undefined {
  const segments = path.split('/');
  if (segments.includes('.git')) return 'git';
  return systemFiles.has(segments.at(-1)!) ? 'system' : undefined;
}
