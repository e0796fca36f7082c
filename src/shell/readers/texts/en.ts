export const en = {
  loading: 'Loading …',
  files: 'Files',
  library: 'Library',
  raw: 'Open the file itself',
  download: 'Download',
  showAs: 'Show as',
  kinds: {
    markdown: 'Document',
    table: 'Table',
    json: 'Tree',
    code: 'Text',
    picture: 'Picture',
    media: 'Player',
  },
  views: {
    list: 'Files',
    gallery: (count: string) => `Pictures (${count})`,
    player: (count: string) => `Play (${count})`,
  },
  view: 'View',
  noReader: (type: string) => `There is no reader for this type of file (${type}).`,
  badLocation: 'This link does not lead to a file or folder of this gateway.',
  unknownName: (name: string) =>
    `“${name}” is neither an address (64 hex digits) nor a name of this gateway.`,
  ownHosts: 'This gateway shows content only at the content’s own host, so the app cannot read it.',
  cut: (shown: string, size: string | null) =>
    size === null ? `Only the first ${shown} are shown.` : `Only the first ${shown} of ${size} are shown.`,
  plainBecause: (why: string) => `Shown as plain text: ${why}`,
  showMore: 'Show more',
  emptyFile: 'The file is empty.',
  emptyFolder: 'The folder is empty.',
  code: {
    label: (name: string) => `Text of ${name}`,
    wrap: 'Wrap long lines',
    lines: (count: number, formatted: string) => `${formatted} ${count === 1 ? 'line' : 'lines'}`,
    firstLines: (count: number, formatted: string) =>
      count === 1 ? 'Start of the first line' : `First ${formatted} lines`,
    control: (name: string) => `A hidden character that changes the direction of text: ${name}`,
  },
  table: {
    label: (name: string) => `Table ${name}`,
    rows: (count: number, formatted: string) => `${formatted} ${count === 1 ? 'row' : 'rows'}`,
    sortBy: (column: string) => `Sort by ${column}`,
    column: (number: number) => `Column ${number}`,
    bounded: 'The table is larger. Some rows or columns are left out.',
    sorted: (column: string, isDescending: boolean) =>
      `Sorted by ${column}, ${isDescending ? 'descending' : 'ascending'}.`,
  },
  json: {
    label: (name: string) => `Tree of ${name}`,
    expandAll: 'Expand',
    collapseAll: 'Collapse all',
    items: (count: number, formatted: string) => `${formatted} ${count === 1 ? 'item' : 'items'}`,
    keys: (count: number, formatted: string) => `${formatted} ${count === 1 ? 'key' : 'keys'}`,
    more: (count: string) => `Show ${count} more`,
    tooLarge: 'The file is too large for a tree.',
  },
  markdown: {
    pictureOn: (host: string) => `picture on ${host}`,
    pictureMissing: 'the picture did not load',
    note: 'Pictures of other hosts are shown as links.',
  },
  list: {
    label: (name: string) => `Files in ${name}`,
    up: 'Up',
    folder: 'Folder',
  },
  gallery: {
    label: (name: string) => `Pictures in ${name}`,
    open: (name: string) => `Show ${name}`,
    previous: 'Previous picture',
    next: 'Next picture',
    close: 'Close',
    position: (at: string, count: string) => `${at} of ${count}`,
    failed: 'This picture cannot be shown.',
  },
  player: {
    label: (name: string) => `Player of ${name}`,
    playlist: 'Playlist',
    previous: 'Previous',
    next: 'Next',
    play: (name: string) => `Play ${name}`,
    failed: (name: string) =>
      `${name} cannot be played: the browser does not support its format, or it did not load.`,
    keys: 'Keys: space plays and pauses, the arrow keys seek, N and P change the title.',
  },
};

export type ReaderTexts = typeof en;
