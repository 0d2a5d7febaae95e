import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';

/** Where the data of test/fixtures/parse/ORIGIN.md is. */
export const fixtureFolder = join(import.meta.dirname, '../../../fixtures/parse');
export const samplesFolder = join(import.meta.dirname, '../../../../samples');

/** Lines of a compressed fixture. */
export const fixtureLines = (name: string): string[] =>
  linesOf(brotliDecompressSync(readFileSync(join(fixtureFolder, name))).toString());

export const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

/** The folder of all vectors that VECTORS_DIR names, if it does. */
export function vectorsFolder(): string | null {
  const folder = process.env['VECTORS_DIR'] ?? '';
  return folder !== '' && existsSync(join(folder, 'blocks/mainnet')) ? folder : null;
}
