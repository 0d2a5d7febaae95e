import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Folder of the files that pages load from our own origin. */
export const assetsFolder = fileURLToPath(new URL('./assets/', import.meta.url));

// clients keep an asset forever: its address contains a hash of its bytes
function address(name: string): string {
  const hash = createHash('sha256').update(readFileSync(new URL(name, import.meta.resolve('./assets/'))));
  return `/assets/${name}?v=${hash.digest('hex').slice(0, 12)}`;
}

export const assets = {
  style: address('satscribe.css'),
  script: address('satscribe.js'),
  icon: address('icon.svg'),
} as const;
