export const reader = { files: 'Files', read: 'Read', openInReader: 'Open in a reader' };
