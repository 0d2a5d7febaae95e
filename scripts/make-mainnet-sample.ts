/**
 * Makes samples/mainnet from a collection of real blocks: `node scripts/make-mainnet-sample.ts COLLECTION`. COLLECTION
 * contains blocks/mainnet/HEIGHT-HASH.bin. For some heights it also contains prevouts/HEIGHT.csv, which has a line
 * "txid,vout,value_sat[,script_pubkey_hex]" for every outpoint of another block that the block spends.
 * samples/mainnet/ORIGIN.md says where the blocks came from and how they were verified.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Blocks that are interesting to a visitor, each with the reason. */
const chosen: ReadonlyMap<number, string> = new Map([
  [767_430, 'the first inscription of all: number 0'],
  [778_163, 'early pictures'],
  [780_004, 'texts, names and a transaction that broke parsers'],
  [
    781_735,
    'pictures before the jubilee, with all values that it spends, and the sequence numbers that ord gave',
  ],
  [818_677, 'a block full of BRC-20'],
  [831_331, 'JavaScript that the next block loads'],
  [831_332, 'a recursive inscription that loads it, and a batch of thousands'],
  [832_918, 'HTML, AVIF, metadata after the jubilee, with all values that it spends, and sequence numbers'],
  [839_999, 'delegates, metadata and generative HTML, just before the halving'],
  [840_672, 'pictures and rune commitments'],
  [866_342, 'everything that it spends is known, scripts too: satpoints, owners, fees'],
  [951_658, 'the youngest one'],
]);

/** First sequence numbers of blocks, from ord's own event stream. */
const firstSequence: ReadonlyMap<number, number> = new Map([
  [781_735, 552_117],
  [832_918, 63_577_119],
]);

interface Output {
  readonly value: bigint;
  readonly script: Buffer;
}
interface Transaction {
  readonly txid: Buffer;
  readonly inputs: readonly Buffer[];
  readonly outputs: readonly Output[];
}

const sha256d = (bytes: Buffer): Buffer =>
  createHash('sha256').update(createHash('sha256').update(bytes).digest()).digest();

class Reader {
  at = 0;
  readonly #bytes: Buffer;
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }
  take(length: number): Buffer {
    this.at += length;
    return this.#bytes.subarray(this.at - length, this.at);
  }
  compactSize(): number {
    const first = this.take(1).readUInt8();
    if (first < 0xfd) return first;
    if (first === 0xfd) return this.take(2).readUInt16LE();
    return first === 0xfe ? this.take(4).readUInt32LE() : Number(this.take(8).readBigUInt64LE());
  }
}

function readTransaction(bytes: Buffer, reader: Reader): Transaction {
  const version = reader.take(4);
  const segwit = bytes[reader.at] === 0;
  if (segwit) reader.take(2);
  const start = reader.at;
  const inputs = Array.from({ length: reader.compactSize() }, () => {
    const outpoint = reader.take(36);
    reader.take(reader.compactSize() + 4);
    return outpoint;
  });
  const outputs = Array.from({ length: reader.compactSize() }, () => ({
    value: reader.take(8).readBigInt64LE(),
    script: reader.take(reader.compactSize()),
  }));
  const end = reader.at;
  if (segwit)
    for (const _ of inputs) for (let n = reader.compactSize(); n > 0; n--) reader.take(reader.compactSize());
  const txid = sha256d(Buffer.concat([version, bytes.subarray(start, end), reader.take(4)]));
  return { txid, inputs, outputs };
}

function compactSize(n: number): Buffer {
  if (n < 0xfd) return Buffer.from([n]);
  const bytes = Buffer.alloc(n <= 0xffff ? 3 : 5);
  bytes[0] = n <= 0xffff ? 0xfd : 0xfe;
  if (n <= 0xffff) bytes.writeUInt16LE(n, 1);
  else bytes.writeUInt32LE(n, 1);
  return bytes;
}

/** Outputs of other blocks that a block spends, by outpoint in hex. The script is empty if unknown. */
function readPrevouts(file: string): Map<string, Output> {
  const lines = readFileSync(file, 'utf8').trim().split('\n').slice(1);
  return new Map(
    lines.map((line) => {
      const [txid = '', vout = '', value = '', script = ''] = line.split(',');
      const outpoint = Buffer.alloc(36);
      Buffer.from(txid, 'hex').reverse().copy(outpoint);
      outpoint.writeUInt32LE(Number(vout), 32);
      return [outpoint.toString('hex'), { value: BigInt(value), script: Buffer.from(script, 'hex') }];
    }),
  );
}

/** The block's spent outputs in the format of the node's REST interface. */
function spentOutputs(block: Buffer, prevouts: Map<string, Output>): Buffer {
  const reader = new Reader(block);
  reader.take(80);
  const parts: Buffer[] = [];
  const transactions = Array.from({ length: reader.compactSize() }, () => readTransaction(block, reader));
  parts.push(compactSize(transactions.length));
  transactions.forEach(({ inputs }, index) => {
    parts.push(compactSize(index === 0 ? 0 : inputs.length));
    for (const outpoint of index === 0 ? [] : inputs) {
      const output = prevouts.get(outpoint.toString('hex'));
      if (output === undefined) throw new Error(`no value for input ${outpoint.toString('hex')}`);
      const value = Buffer.alloc(8);
      value.writeBigInt64LE(output.value);
      parts.push(value, compactSize(output.script.length), output.script);
    }
    transactions[index]?.outputs.forEach((output, vout) => {
      const outpoint = Buffer.alloc(36);
      transactions[index]?.txid.copy(outpoint);
      outpoint.writeUInt32LE(vout, 32);
      prevouts.set(outpoint.toString('hex'), output);
    });
  });
  return Buffer.concat(parts);
}

const [collection] = process.argv.slice(2);
if (collection === undefined) throw new Error('usage: node scripts/make-mainnet-sample.ts COLLECTION');
const target = 'samples/mainnet';
rmSync(join(target, 'blocks'), { recursive: true, force: true });
rmSync(join(target, 'spent'), { recursive: true, force: true });
mkdirSync(join(target, 'blocks'), { recursive: true });
mkdirSync(join(target, 'spent'), { recursive: true });
const files = readdirSync(join(collection, 'blocks/mainnet'));
const headers = [...chosen.keys()].map((height) => {
  const name = files.find((file) => Number(file.split('-')[0]) === height);
  if (name === undefined) throw new Error(`no block ${height}`);
  const block = readFileSync(join(collection, 'blocks/mainnet', name));
  writeFileSync(join(target, 'blocks', name), block);
  const csv = join(collection, 'prevouts', `${height}.csv`);
  if (readdirSync(join(collection, 'prevouts')).includes(`${height}.csv`)) {
    writeFileSync(join(target, 'spent', name), spentOutputs(block, readPrevouts(csv)));
  }
  return { height, hash: name.replace(/^\d+-|\.bin$/g, ''), why: chosen.get(height) };
});
const islands = [...firstSequence].map(([height, sequence]) => ({ height, start: { sequence } }));
const chain = { network: 'mainnet', gaps: true, headers, islands };
writeFileSync(join(target, 'chain.json'), `${JSON.stringify(chain, null, 2)}\n`);
