import { readFile, writeFile } from 'node:fs/promises';
import sharp from 'sharp';

// Makes the icons of src/web/assets/icons from icon.svg. Usage: node scripts/icons/make-icons.ts

const assets = new URL('../../src/web/assets/', import.meta.url);
const svg = await readFile(new URL('icon.svg', assets), 'utf8');
const background = '#b4540a';

/** The pen on its rounded tile. */
const tile = (size: number): Promise<Buffer> =>
  sharp(Buffer.from(svg), { density: 72 * (size / 32) })
    .resize(size, size)
    .png({ palette: true })
    .toBuffer();

/** The pen on a complete square, from which a system cuts its own shape. The picture is within the middle 80 %. */
async function square(size: number): Promise<Buffer> {
  const inner = Math.round(size * 0.8);
  const pen = await sharp(Buffer.from(svg.replace(' rx="8"', '')), { density: 72 * (inner / 32) })
    .resize(inner, inner)
    .png()
    .toBuffer();
  return sharp({ create: { width: size, height: size, channels: 3, background } })
    .composite([{ input: pen }])
    .png({ palette: true })
    .toBuffer();
}

const files: readonly (readonly [name: string, png: Promise<Buffer>])[] = [
  ['icon-192.png', tile(192)],
  ['icon-512.png', tile(512)],
  ['maskable-512.png', square(512)],
  ['apple-touch.png', square(180)],
];
for (const [name, png] of files) await writeFile(new URL(`icons/${name}`, assets), await png);
