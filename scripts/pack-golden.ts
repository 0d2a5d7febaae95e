/**
 * Packs golden chains into test/fixtures/golden: `node scripts/pack-golden.ts FOLDER_OF_CHAINS`.
 * One file a chain: the blocks, the outputs they spend, chain.json, and the answers that tests compare.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { brotliCompressSync, constants, gunzipSync } from 'node:zlib';

const compared = [
  'inscription',
  'r-inscription',
  'inscriptions-block',
  'output',
  'content',
  'r-undelegated-content',
  'r-metadata',
  'r-parents',
];
const target = join(import.meta.dirname, '../test/fixtures/golden');

/** Files by name, a `.gz` unpacked: what the chain's pack holds. */
function filesOf(chain: string): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  const add = (path: string): void => {
    const bytes = readFileSync(path);
    const name = relative(chain, path);
    files.set(name.replace(/\.gz$/u, ''), name.endsWith('.gz') ? gunzipSync(bytes) : bytes);
  };
  add(join(chain, 'chain.json'));
  for (const folder of ['blocks', 'spent']) {
    for (const name of readdirSync(join(chain, folder)).sort()) add(join(chain, folder, name));
  }
  for (const folder of readdirSync(chain).filter((name) => name.startsWith('answers'))) {
    for (const question of compared) {
      for (const ending of ['.ndjson', '.ndjson.gz']) {
        const path = join(chain, folder, question + ending);
        if (existsSync(path)) add(path);
      }
    }
  }
  return files;
}

/** Keeps the lines about outputs that hold inscriptions: the whole file is most of a chain's size. */
function withInscriptions(ndjson: Buffer): Buffer {
  const lines = ndjson.toString('utf8').split('\n');
  return Buffer.from(lines.filter((line) => !/"inscriptions":(\[\]|null)/u.test(line)).join('\n'));
}

function pack(chain: string): Buffer {
  const files = filesOf(chain);
  for (const [name, bytes] of files) {
    if (name.endsWith('output.ndjson')) files.set(name, withInscriptions(bytes));
    // where ord without a sat index answers otherwise, only that answer is compared
    if (files.has(name.replace(/^answers\//u, 'answers-no-sat-index/')) && name.startsWith('answers/')) {
      files.delete(name);
    }
  }
  const directory = JSON.stringify([...files].map(([name, bytes]) => [name, bytes.length]));
  const whole = Buffer.concat([Buffer.from(`${directory}\n`), ...files.values()]);
  return brotliCompressSync(whole, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: 24,
      [constants.BROTLI_PARAM_SIZE_HINT]: whole.length,
    },
  });
}

const source = process.argv[2];
if (source === undefined) throw new Error('usage: node scripts/pack-golden.ts FOLDER_OF_CHAINS');
mkdirSync(target, { recursive: true });
for (const name of readdirSync(source).filter((entry) => statSync(join(source, entry)).isDirectory())) {
  const packed = pack(join(source, name));
  writeFileSync(join(target, `${name}.br`), packed);
  console.log(`${name}: ${packed.length} bytes`);
}
