import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import sharp from 'sharp';

const file = new URL('../../fixtures/pages/pictures.json', import.meta.url);

/**
 * Number of cells of a picture. In such cells, letters become grey, but a missing tile, a white frame in the dark or a
 * lost style is visible.
 */
const columns = 24;
const rows = 32;
/**
 * Maximum mean difference in grey (of 255). It allows other fonts of a machine, one more line, or another time of day.
 */
const meanMost = 10;

export type Pictures = Readonly<Record<string, string>>;

/** A screenshot, reduced to a few cells of grey. */
export async function pictureOf(screenshot: Buffer): Promise<string> {
  const cells = await sharp(screenshot)
    .resize(columns, rows, { fit: 'fill', kernel: 'cubic' })
    .grayscale()
    .raw()
    .toBuffer();
  return cells.toString('base64');
}

/** The mean difference of two pictures, 0 to 255. */
function differenceOf(one: string, other: string): number {
  const [a, b] = [Buffer.from(one, 'base64'), Buffer.from(other, 'base64')];
  if (a.length !== b.length) return 255;
  return a.reduce((sum, cell, index) => sum + Math.abs(cell - (b[index] ?? 0)), 0) / a.length;
}

/** Pictures that differ from the stored pictures. If UPDATE_PICTURES is 1, stores the pictures instead. */
export function pictureFaults(seen: Pictures): string[] {
  if (process.env['UPDATE_PICTURES'] === '1') {
    writeFileSync(file, `${JSON.stringify(seen, null, 2)}\n`);
    return [];
  }
  const stored = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Pictures) : {};
  const names = [...new Set([...Object.keys(stored), ...Object.keys(seen)])];
  return names.flatMap((name) => {
    const [was, is] = [stored[name], seen[name]];
    if (was === undefined || is === undefined)
      return [`${name}: ${was === undefined ? 'not stored' : 'not seen'}`];
    const difference = differenceOf(was, is);
    return difference <= meanMost ? [] : [`${name}: differs by ${difference.toFixed(1)} of 255`];
  });
}
