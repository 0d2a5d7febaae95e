/**
 * Packs golden chains into test/fixtures/golden: `node scripts/pack-golden.ts FOLDER_OF_CHAINS`.
 * One file a chain: the blocks, the outputs they spend, chain.json, and the answers that tests compare.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { brotliCompressSync, constants, gunzipSync } from 'node:zlib';

const compared = [
  'inscription',
  'inscription-number',
  'inscriptions-block',
  'r-inscription',
  'r-metadata',
  'r-children',
  'r-children-inscriptions',
  'r-parents',
  'r-parents-inscriptions',
  'content',
  'r-undelegated-content',
  'gallery',
  'galleries',
  'decode',
  'block',
  'r-blockinfo',
  'output',
];
const target = join(import.meta.dirname, '../test/fixtures/golden');

/** Files by name, a `.gz` unpacked: the contents of the chain's pack. */
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

/** The lines about outputs with inscriptions, and the lines about other outputs, which need a node. */
function outputFiles(ndjson: Buffer): { held: Buffer; empty: Buffer } {
  const lines = ndjson.toString('utf8').split('\n');
  const isEmpty = (line: string): boolean => /"inscriptions":(\[\]|null)/u.test(line);
  const text = (chosen: string[]): Buffer => Buffer.from(chosen.join('\n'));
  return { held: text(lines.filter((line) => !isEmpty(line))), empty: text(lines.filter(isEmpty)) };
}

function pack(chain: string): Buffer {
  const files = filesOf(chain);
  for (const name of files.keys()) {
    // where ord without a sat index answers differently, only its own answer is compared
    if (files.has(name.replace(/^answers\//u, 'answers-no-sat-index/')) && name.startsWith('answers/')) {
      files.delete(name);
    }
  }
  for (const [name, bytes] of files) {
    if (!name.endsWith('/output.ndjson')) continue;
    const { held, empty } = outputFiles(bytes);
    files.set(name, held);
    files.set(name.replace('output.ndjson', 'output-empty.ndjson'), empty);
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
