import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A file that pages load from this server. */
export interface Asset {
  readonly bytes: Buffer;
  readonly type: string;
}

/**
 * The files of `assets/style`, in the sequence in which they form one stylesheet. Later files override earlier ones.
 */
const styles = [
  'fonts',
  'base',
  'top',
  'search',
  'home',
  'cards',
  'art',
  'results',
  'chart',
  'market',
  'tables',
  'inscription',
  'order',
  'mint',
  'runes',
  'status',
  'console',
  'watches',
  'states',
];

const stylesheet = 'satscribe.css';

const types: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  woff2: 'font/woff2',
  txt: 'text/plain; charset=utf-8',
};

const folder = fileURLToPath(new URL('./assets/', import.meta.url));

function typeOf(name: string): string {
  const type = types[name.slice(name.lastIndexOf('.') + 1)];
  if (type === undefined) throw new Error(`an asset of an unknown type: ${name}`);
  return type;
}

function readAssets(): ReadonlyMap<string, Asset> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const names = entries
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length).split(sep).join('/'))
    .sort((a, b) => (a < b ? -1 : 1));
  const unlisted = names.filter((name) => name.startsWith('style/') && !styles.includes(name.slice(6, -4)));
  if (unlisted.length > 0) throw new Error(`not in the list of styles: ${unlisted.join(', ')}`);
  const sheet = Buffer.concat(styles.map((name) => readFileSync(join(folder, 'style', `${name}.css`))));
  const files = names.filter((name) => !name.startsWith('style/'));
  return new Map([
    [stylesheet, { bytes: sheet, type: typeOf(stylesheet) }],
    ...files.map((name) => [name, { bytes: readFileSync(join(folder, name)), type: typeOf(name) }] as const),
  ]);
}

/** All assets, by the last part of their URL. */
export const assets: ReadonlyMap<string, Asset> = readAssets();

function hashOf(files: ReadonlyMap<string, Asset>): string {
  const hash = createHash('sha256');
  for (const [name, { bytes }] of files) hash.update(`${name} ${bytes.length}\n`).update(bytes);
  return hash.digest('hex').slice(0, 12);
}

/**
 * The version of all assets, which is a hash of their names and bytes. Files with this version in the URL are cached
 * forever.
 */
export const assetsVersion = hashOf(assets);

/** The URL of an asset. The version is a folder in the URL, so that scripts can import each other by relative URLs. */
export function assetAddress(name: string): string {
  if (!assets.has(name)) throw new Error(`there is no asset ${name}`);
  return `/assets/${assetsVersion}/${name}`;
}

/** The text of an asset. */
export function assetText(name: string): string {
  const asset = assets.get(name);
  if (asset === undefined) throw new Error(`there is no asset ${name}`);
  return asset.bytes.toString('utf8');
}

export const addresses = {
  style: assetAddress(stylesheet),
  script: assetAddress('script/site.js'),
  theme: assetAddress('script/theme.js'),
  icon: assetAddress('icon.svg'),
  touchIcon: assetAddress('icons/apple-touch.png'),
  /** The font of headings in Latin letters. Every page needs it. */
  headings: assetAddress('fonts/serif-latin.woff2'),
} as const;
