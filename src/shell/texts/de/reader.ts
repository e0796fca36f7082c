export const reader = { files: 'Dateien', read: 'Lesen', openInReader: 'In der App lesen' };
