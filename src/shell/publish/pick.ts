import { whyLeftOut } from '../../publish/left-out.ts';
import type { PickedFile, PublishInput } from './messages.ts';

export interface Picked extends Omit<PublishInput, 'signer'> {
  /** The size of all files in bytes. */
  bytes: number;
  leftOut: { path: string; why: 'git' | 'system' }[];
}

/** Files of an `<input>`. With `webkitdirectory`, each file has a path that starts with the folder's name. */
export function pickedFromList(list: Iterable<File>): Picked {
  const files = [...list];
  const paths = files.map((file) => file.webkitRelativePath);
  if (paths.every((path) => path.includes('/')) && files.length > 0) {
    const name = paths[0]!.split('/')[0]!;
    const inside = files.map((file, i) => ({ path: paths[i]!.slice(paths[i]!.indexOf('/') + 1), file }));
    return picked(name, inside, true);
  }
  return pickedFiles(files);
}

/** A folder from `showDirectoryPicker`. @throws DOMException when a file may not be read. */
export async function pickedFromHandle(folder: FileSystemDirectoryHandle): Promise<Picked> {
  const files: PickedFile[] = [];
  const walk = async (handle: FileSystemDirectoryHandle, prefix: string) => {
    for await (const [name, child] of handle.entries()) {
      if (child.kind === 'directory') await walk(child as FileSystemDirectoryHandle, `${prefix}${name}/`);
      else files.push({ path: prefix + name, file: await (child as FileSystemFileHandle).getFile() });
    }
  };
  await walk(folder, '');
  return picked(folder.name, files, true);
}

/** Call it while the event is handled: the data is gone later. @throws DOMException when a file may not be read. */
export async function pickedFromDrop(data: DataTransfer): Promise<Picked> {
  const entries = [...data.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  const [first] = entries;
  if (entries.length === 1 && first!.isDirectory) {
    return picked(first!.name, await filesBelow(first as FileSystemDirectoryEntry, ''), true);
  }
  if (entries.every((entry) => entry.isFile)) {
    return pickedFiles(await Promise.all(entries.map((entry) => fileOf(entry as FileSystemFileEntry))));
  }
  const files = await Promise.all(
    entries.map(async (entry) =>
      entry.isDirectory
        ? filesBelow(entry as FileSystemDirectoryEntry, `${entry.name}/`)
        : [{ path: entry.name, file: await fileOf(entry as FileSystemFileEntry) }],
    ),
  );
  return picked('', files.flat(), true);
}

async function filesBelow(folder: FileSystemDirectoryEntry, prefix: string): Promise<PickedFile[]> {
  const reader = folder.createReader();
  const files: PickedFile[] = [];
  // `readEntries` returns the entries in batches. An empty batch is the end.
  for (;;) {
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (entries.length === 0) return files;
    for (const entry of entries) {
      const path = prefix + entry.name;
      if (entry.isDirectory) files.push(...(await filesBelow(entry as FileSystemDirectoryEntry, `${path}/`)));
      else files.push({ path, file: await fileOf(entry as FileSystemFileEntry) });
    }
  }
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

/** A single file is published as itself, several files as an archive. */
function pickedFiles(files: readonly File[]): Picked {
  const paths = files.map((file) => ({ path: file.name, file }));
  return files.length === 1 ? picked(files[0]!.name, paths, false) : picked('', paths, true);
}

function picked(name: string, all: readonly PickedFile[], isFolder: boolean): Picked {
  const files: PickedFile[] = [];
  const leftOut: Picked['leftOut'] = [];
  for (const each of all) {
    // Filter only folders: the user chose a single file deliberately.
    const why = isFolder ? whyLeftOut(each.path) : undefined;
    if (why) leftOut.push({ path: each.path, why });
    else files.push(each);
  }
  return { name, files, isFolder, leftOut, bytes: files.reduce((sum, { file }) => sum + file.size, 0) };
}
