import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';

/** Folder of the data that test/fixtures/parse/ORIGIN.md describes. */
export const fixtureFolder = join(import.meta.dirname, '../../../fixtures/parse');
export const samplesFolder = join(import.meta.dirname, '../../../../samples');

/** Lines of a compressed fixture. */
export const fixtureLines = (name: string): string[] =>
  linesOf(brotliDecompressSync(readFileSync(join(fixtureFolder, name))).toString());

export const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

/** The folder of all vectors, if VECTORS_DIR names one. */
export function vectorsFolder(): string | null {
  const folder = process.env['VECTORS_DIR'] ?? '';
  return folder !== '' && existsSync(join(folder, 'blocks/mainnet')) ? folder : null;
}
