/**
 * Packs golden chains into test/fixtures/golden: `node scripts/pack-golden.ts FOLDER_OF_CHAINS`. Each chain becomes one
 * file with its blocks, the outputs that they spend, chain.json, and the answers that tests compare. Answers about
 * runes and sats are in separate packs: `node scripts/pack-golden.ts FOLDER_OF_CHAINS runes` makes only these.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
const aboutRunes = ['rune', 'runes', 'status', 'balances'];
/** Names of answers that come from an ord with a sat index. */
const aboutSats = ['sat', 'r-sat', 'sat-unmined', 'status', 'output'];
/** Names of answers about inscriptions. With a sat index, only the sat and its charms differ. */
const withSats = ['inscription', 'r-inscription', 'r-children-inscriptions', 'r-parents-inscriptions'];
const target = join(import.meta.dirname, '../test/fixtures/golden');

/** The contents of a chain's pack: files by name, with each `.gz` unpacked. */
function filesOf(chain: string): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  add(files, chain, 'chain.json');
  for (const folder of ['blocks', 'spent']) {
    for (const name of readdirSync(join(chain, folder)).sort()) add(files, chain, join(folder, name));
  }
  addAnswers(files, chain, compared);
  return files;
}

function add(files: Map<string, Buffer>, chain: string, name: string): void {
  const bytes = readFileSync(join(chain, name));
  files.set(name.replace(/\.gz$/u, ''), name.endsWith('.gz') ? gunzipSync(bytes) : bytes);
}

function addAnswers(files: Map<string, Buffer>, chain: string, questions: readonly string[]): void {
  for (const folder of readdirSync(chain).filter((name) => name.startsWith('answers'))) {
    for (const question of questions) {
      for (const ending of ['.ndjson', '.ndjson.gz', '.json']) {
        const name = join(folder, question + ending);
        if (existsSync(join(chain, name))) add(files, chain, name);
      }
    }
  }
}

/** Splits lines about outputs: those with inscriptions, and all others, for which a node is needed. */
function outputFiles(ndjson: Buffer): { held: Buffer; empty: Buffer } {
  const lines = ndjson.toString('utf8').split('\n');
  const isEmpty = (line: string): boolean => /"inscriptions":(\[\]|null)/u.test(line);
  const text = (chosen: string[]): Buffer => Buffer.from(chosen.join('\n'));
  return { held: text(lines.filter((line) => !isEmpty(line))), empty: text(lines.filter(isEmpty)) };
}

function pack(chain: string): Buffer {
  const files = filesOf(chain);
  for (const name of files.keys()) {
    // if an ord without a sat index answers differently, tests compare only with that ord
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
  return packed(files);
}

function packRunes(chain: string): Buffer {
  const files = new Map<string, Buffer>();
  addAnswers(files, chain, aboutRunes);
  return packed(files);
}

function packSats(chain: string): Buffer {
  const files = new Map<string, Buffer>();
  addAnswers(files, chain, [...aboutSats, ...withSats]);
  for (const [name, bytes] of files) {
    // the pack without sats has the other answers, including those of an ord without a sat index
    if (name.startsWith('answers-no-sat-index/')) files.delete(name);
    else if (name.endsWith('/output.ndjson')) {
      files.delete(name);
      files.set(name.replace('output.ndjson', 'output-ranges.ndjson'), rangesOf(bytes));
    } else if (withSats.some((question) => name.endsWith(`/${question}.ndjson`))) {
      files.delete(name);
      files.set(name.replace('.ndjson', '-sats.ndjson'), satsOf(bytes));
    }
  }
  return packed(files);
}

/** The sat ranges of each output for which ord has ranges. */
function rangesOf(ndjson: Buffer): Buffer {
  const lines = ndjson.toString('utf8').split('\n');
  const ranges = lines.flatMap((line) => {
    if (line === '') return [];
    // numbers of sats are safe integers, so JSON.parse is exact
    const { key, value } = JSON.parse(line) as { key: string; value?: { sat_ranges: unknown } };
    return value?.sat_ranges == null ? [] : [JSON.stringify({ key, value: value.sat_ranges })];
  });
  return Buffer.from(ranges.join('\n'));
}

interface WithSat {
  readonly charms: readonly string[];
  readonly sat: number | null;
}

/** The sat and the charms of each inscription, or of each inscription in a list. */
function satsOf(ndjson: Buffer): Buffer {
  const lines = ndjson.toString('utf8').split('\n');
  const reduced = ({ charms, sat }: WithSat): WithSat => ({ charms, sat });
  const sats = lines.flatMap((line) => {
    if (line === '') return [];
    const { key, value } = JSON.parse(line) as {
      key: string;
      value?: WithSat & { children?: WithSat[]; parents?: WithSat[] };
    };
    if (value === undefined) return [];
    const list = value.children ?? value.parents;
    // `/inscription` has only ids of parents and children, so it is not a list
    const isList = list !== undefined && !('sat' in value);
    return [JSON.stringify({ key, value: isList ? list.map(reduced) : reduced(value) })];
  });
  return Buffer.from(sats.join('\n'));
}

function packed(files: ReadonlyMap<string, Buffer>): Buffer {
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

const [, , source, part] = process.argv;
if (source === undefined) throw new Error('usage: node scripts/pack-golden.ts FOLDER_OF_CHAINS [runes|sats]');
const parts = [
  { folder: 'runes', pack: packRunes },
  { folder: 'sats', pack: packSats },
  { folder: '.', pack },
].filter(({ folder }) => part === undefined || folder === part);
for (const { folder, pack: packChain } of parts) {
  mkdirSync(join(target, folder), { recursive: true });
  for (const name of readdirSync(source).filter((entry) => statSync(join(source, entry)).isDirectory())) {
    const bytes = packChain(join(source, name));
    writeFileSync(join(target, folder, `${name}.br`), bytes);
    console.log(`${folder}/${name}: ${bytes.length} bytes`);
  }
}
