import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { Block } from 'bitcoinjs-lib';
import type { GoldenChain, GoldenTip } from '#test/support/chain/golden/golden-chain.ts';

/**
 * A second implementation of docs/events.md, without any code of Satscribe, for chains with recorded answers of ord.
 * The inscriptions with their numbers, charms and parents come from ord, bitcoinjs-lib reads the blocks, and this file
 * follows the sats.
 */
interface Revealed {
  readonly id: string;
  readonly sequence: number;
  readonly number: number;
  readonly charms: readonly string[];
  readonly parents: readonly string[];
}

interface Placed {
  readonly inscription: Revealed;
  readonly offset: number;
}

interface Floating {
  readonly inscription: Revealed;
  /** `null` if the inscription is new. */
  readonly old: string | null;
  readonly offset: number;
}

interface Envelope {
  readonly input: number;
  readonly pointer?: string;
}

const lost = `${'0'.repeat(64)}:4294967295`;
const charmBits: Readonly<Record<string, number>> = {
  cursed: 2,
  lost: 16,
  reinscription: 128,
  unbound: 256,
  vindicated: 1024,
  burned: 4096,
};

const decodeFile = join(import.meta.dirname, '../../../fixtures/parse/golden-decode.ndjson.br');
const envelopesOf = new Map(
  brotliDecompressSync(readFileSync(decodeFile))
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { chain: string; txid: string; envelopes: Envelope[] })
    .map(({ chain, txid, envelopes }) => [`${chain} ${txid}`, envelopes]),
);

export interface ReferenceBlock {
  readonly height: number;
  readonly text: string;
  readonly sha256: string;
  readonly cumulative: string;
}

export function referenceEvents(chain: GoldenChain, tip: GoldenTip): ReferenceBlock[] {
  const ords = chain.inscriptions(tip);
  const byId = new Map(
    chain.order(tip).map((id, sequence) => [id, { id, sequence, ...pick(ords.get(id)!) } as Revealed]),
  );
  const reader = new Reader(chain.name, byId);
  let cumulative = Buffer.alloc(32);
  return tip.headers.map((header) => {
    const { bytes, spent } = chain.block(header);
    const lines = reader.read(header.height, bytes, spent);
    const first = `satscribe inscriptions 1 ${chain.chain.network} ${header.height} ${header.hash}`;
    const text = [first, ...lines].map((line) => `${line}\n`).join('');
    const hash = createHash('sha256').update(text).digest();
    cumulative = createHash('sha256')
      .update(Buffer.concat([cumulative, hash]))
      .digest();
    return {
      height: header.height,
      text,
      sha256: hash.toString('hex'),
      cumulative: cumulative.toString('hex'),
    };
  });
}

const pick = ({
  number,
  charms,
  parents,
}: {
  number: number;
  charms: readonly string[];
  parents: readonly string[];
}): Omit<Revealed, 'id' | 'sequence'> => ({ number, charms, parents });

class Reader {
  readonly #chainName: string;
  readonly #byId: ReadonlyMap<string, Revealed>;
  /** The inscriptions in each output. */
  readonly #outputs = new Map<string, Placed[]>();

  constructor(chainName: string, byId: ReadonlyMap<string, Revealed>) {
    this.#chainName = chainName;
    this.#byId = byId;
  }

  /** The lines of the events of the next block. */
  read(height: number, bytes: Uint8Array, spent: Uint8Array): string[] {
    const values = spentValues(Buffer.from(spent));
    const [coinbase, ...transactions] = Block.fromBuffer(Buffer.from(bytes)).transactions ?? [];
    let reward = 5_000_000_000 / 2 ** Math.floor(height / 210_000);
    const fees: Floating[] = [];
    const lines: string[] = [];
    for (const [at, transaction] of transactions.entries()) {
      const inputs = values[at + 1]!;
      const total = sum(transaction.outs.map(({ value }) => Number(value)));
      const floating = this.#collect(transaction, inputs, total);
      const { placed, rest } = this.#place(transaction, floating);
      lines.push(...inOrder(placed));
      for (const one of rest) fees.push({ ...one, offset: one.offset - total + reward });
      reward += sum(inputs) - total;
    }
    const { placed, rest } = this.#place(coinbase!, fees);
    return [...lines, ...inOrder([...placed, ...rest.map((one) => event(one, lost, 'lost'))])];
  }

  #collect(transaction: Transaction, inputs: readonly number[], total: number): Floating[] {
    const txid = transaction.getId();
    const envelopes = envelopesOf.get(`${this.#chainName} ${txid}`) ?? [];
    const floating: Floating[] = [];
    let before = 0;
    transaction.ins.forEach(({ hash, index }, input) => {
      const outpoint = `${Buffer.from(hash).reverse().toString('hex')}:${index}`;
      for (const { inscription, offset } of this.#outputs.get(outpoint) ?? []) {
        floating.push({ inscription, old: `${outpoint}:${offset}`, offset: before + offset });
      }
      this.#outputs.delete(outpoint);
      envelopes.forEach((envelope, at) => {
        if (envelope.input !== input) return;
        const pointer = pointerOf(envelope);
        const offset = pointer !== null && pointer < total ? Number(pointer) : before;
        floating.push({ inscription: this.#byId.get(`${txid}i${at}`)!, old: null, offset });
      });
      before += inputs[input]!;
    });
    return floating;
  }

  /** Puts floating inscriptions into the outputs, by offset. Inscriptions beyond the outputs remain. */
  #place(transaction: Transaction, floating: readonly Floating[]): { placed: Event[]; rest: Floating[] } {
    const placed: Event[] = [];
    let rest = floating.toSorted((a, b) => a.offset - b.offset);
    let start = 0;
    for (const [vout, { value, script }] of transaction.outs.entries()) {
      const end = start + Number(value);
      const outpoint = `${transaction.getId()}:${vout}`;
      for (const one of rest.filter(({ offset }) => offset < end)) {
        const offset = one.offset - start;
        placed.push(event(one, `${outpoint}:${offset}`, script[0] === 0x6a ? 'burned' : null));
        if (isUnbound(one)) continue;
        const there = this.#outputs.get(outpoint) ?? [];
        this.#outputs.set(outpoint, [...there, { inscription: one.inscription, offset }]);
      }
      rest = rest.filter(({ offset }) => offset >= end);
      start = end;
    }
    return { placed, rest };
  }
}

type Transaction = NonNullable<Block['transactions']>[number];

interface Event {
  readonly sequence: number;
  readonly line: string;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const inOrder = (events: readonly Event[]): string[] =>
  events.toSorted((a, b) => a.sequence - b.sequence).map(({ line }) => line);
const isUnbound = ({ inscription, old }: Floating): boolean =>
  old === null && inscription.charms.includes('unbound');

function event(one: Floating, location: string, charmOfPlace: string | null): Event {
  const { id, sequence, number, charms, parents } = one.inscription;
  if (one.old !== null) return { sequence, line: `transferred ${id} ${sequence} ${one.old} ${location}` };
  // ord adds these two charms by the current location
  const others = isUnbound(one) ? charms : charms.filter((charm) => charm !== 'burned' && charm !== 'lost');
  const all = new Set(charmOfPlace === null ? others : [...others, charmOfPlace]);
  const bits = sum([...all].map((charm) => charmBits[charm] ?? 0));
  const words = [id, sequence, number, bits, isUnbound(one) ? '-' : location, parents.join(',') || '-'];
  return { sequence, line: `created ${words.join(' ')}` };
}

/** Reads a little-endian pointer. It may have more than eight bytes only if the other bytes are zeros. */
function pointerOf({ pointer }: Envelope): bigint | null {
  if (pointer === undefined) return null;
  const bytes = Buffer.from(pointer, 'hex');
  if (bytes.subarray(8).some((byte) => byte !== 0)) return null;
  return Buffer.concat([bytes, Buffer.alloc(8)]).readBigUInt64LE(0);
}

/** Reads the values of spent outputs: a list for each transaction. */
function spentValues(spent: Buffer): number[][] {
  let at = 0;
  const size = (): number => {
    const first = spent[at++]!;
    if (first < 0xfd) return first;
    at += 2;
    return spent.readUInt16LE(at - 2);
  };
  return Array.from({ length: size() }, () =>
    Array.from({ length: size() }, () => {
      const value = Number(spent.readBigUInt64LE(at));
      at += 8;
      const scriptLength = size();
      at += scriptLength;
      return value;
    }),
  );
}
