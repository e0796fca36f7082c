import { shortAddress } from '../../address.ts';
import { AntwayError } from '../../errors.ts';
import { mostIconBytes, readSiteHead } from '../../library/site-file-head.ts';
import { formatBytes, formatChunks, formatFiles } from '../format.ts';
import { GatewayApiError, gateway, type ListedSite } from '../gateway-api.ts';
import { texts } from '../texts/texts.ts';

/** The side of an icon in an exported file, in pixels. */
const iconSide = 96;

export interface ImportedSite {
  /** A path of this gateway. */
  path: string;
  /** The title that the file gives, or the short address. */
  title: string;
  /** The files or chunks, in words. */
  count: string;
  icon: Blob | null;
  /** The bytes of its content, in words. Null if the file does not say. */
  size: string | null;
  /** The number of parts that were wrong. */
  refused: number;
}

/**
 * Imports an exported site and adds it to the library under the title that the file gives. Opening the site replaces
 * that title by the site's own.
 * @throws GatewayApiError `UNSUPPORTED` if the file is not an export, or the error of the gateway.
 */
export async function importExport(file: Blob): Promise<ImportedSite> {
  const { title, icon, files, size, kind } = await headOf(file);
  const { address, chunks, refused } = await gateway.importSite(file);
  const path = kind === 'archive' ? `/${address}/` : `/${address}`;
  if (title) {
    const visit = { address, path, name: null, title: asHtml(title), icon: null, kind, lastOpened: null };
    // The site is imported and pinned already. Without the title, it is listed by its address.
    await gateway.addSite(visit).catch((error) => {
      console.warn('antway: the title of the imported site is not stored', error);
    });
  }
  return {
    path,
    title: title ?? shortAddress(address),
    count: files === null ? formatChunks(chunks) : formatFiles(files),
    icon: icon && new Blob([new Uint8Array(icon)], { type: 'image/png' }),
    size: size === null ? null : formatBytes(size),
    refused: refused.length,
  };
}

async function headOf(file: Blob) {
  try {
    return await readSiteHead({
      size: file.size,
      read: async (start, end) => new Uint8Array(await file.slice(start, end).arrayBuffer()),
    });
  } catch (error) {
    if (!(error instanceof AntwayError)) {
      throw new GatewayApiError('UNREADABLE', texts.open.unreadable((error as Error).message), {
        isTranslated: true,
      });
    }
    const { code, details } = error;
    const text = details.isOtherVersion ? texts.library.otherVersion : texts.library.notAnExport;
    throw new GatewayApiError(code, text, { isTranslated: true });
  }
}

/** The gateway stores titles as documents contain them. */
function asHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/** The form's fields that describe a site to the receiver of its file. */
export async function exportFields(
  site: Pick<ListedSite, 'title' | 'icon'>,
): Promise<[string, string | Blob][]> {
  const icon = site.icon && (await pngOf(site.icon));
  return [
    ...(site.title ? [['title', site.title] as [string, string]] : []),
    ...(icon ? [['icon', icon] as [string, Blob]] : []),
  ];
}

/** Draws a picture of this origin as a small PNG, also one of vectors. @returns null if the browser cannot. */
async function pngOf(url: string): Promise<Blob | null> {
  try {
    const image = new Image(iconSide, iconSide);
    image.src = url;
    await image.decode();
    const canvas = Object.assign(document.createElement('canvas'), { width: iconSide, height: iconSide });
    canvas.getContext('2d')!.drawImage(image, 0, 0, iconSide, iconSide);
    const png = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
    return png && png.size <= mostIconBytes ? png : null;
  } catch (error) {
    console.warn('antway: the icon is not part of the export', error);
    return null;
  }
}
