/*
 * Reads runestones a second time, to compare with the indexer's reader. It is written from the text of the
 * specification (docs/src/runes/specification.md of ord), only with bigints.
 */

export interface ModelRunestone {
  readonly flaw: string | null;
  readonly edicts: readonly { readonly id: string; readonly amount: bigint; readonly output: bigint }[];
  readonly etching: Readonly<Record<string, bigint | boolean | null>> | null;
  readonly mint: string | null;
  readonly pointer: bigint | null;
}

const two = (bits: bigint): bigint => 1n << bits;
const noRunestone = { edicts: [], etching: null, mint: null, pointer: null };

/** The data after OP_RETURN OP_13, or a flaw. */
function dataOf(script: readonly number[]): number[] | string {
  const data: number[] = [];
  const rest = script.slice(2);
  while (rest.length > 0) {
    const opcode = rest.shift()!;
    if (opcode > 78) return 'opcode';
    const sizeBytes = { 76: 1, 77: 2, 78: 4 }[opcode] ?? 0;
    if (rest.length < sizeBytes) return 'invalid-script';
    const size = rest.splice(0, sizeBytes).reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n);
    const length = sizeBytes === 0 ? opcode : Number(size);
    if (rest.length < length) return 'invalid-script';
    data.push(...rest.splice(0, length));
  }
  return data;
}

function integersOf(data: readonly number[]): bigint[] | null {
  const integers: bigint[] = [];
  let bytes: number[] = [];
  for (const byte of data) {
    bytes.push(byte % 128);
    if (byte >= 128) continue;
    const value = bytes.reduceRight((sum, bits) => sum * 128n + BigInt(bits), 0n);
    if (bytes.length > 19 || value >= two(128n)) return null;
    integers.push(value);
    bytes = [];
  }
  return bytes.length > 0 ? null : integers;
}

interface Field {
  readonly tag: bigint;
  readonly value: bigint;
}
interface ModelEdict {
  readonly id: string;
  readonly amount: bigint;
  readonly output: bigint;
}
type Take = (tag: bigint, legal?: (value: bigint) => boolean) => bigint | null;

export function modelOf(script: Uint8Array, outputs: number): ModelRunestone {
  const data = dataOf([...script]);
  if (typeof data === 'string') return { flaw: data, ...noRunestone };
  const integers = integersOf(data);
  if (integers === null) return { flaw: 'varint', ...noRunestone };

  const { flaws, fields, edicts } = messageOf(integers, BigInt(outputs));
  const take: Take = (tag, legal = () => true) => {
    const place = fields.findIndex((field) => field.tag === tag);
    if (place < 0 || !legal(fields[place]!.value)) return null;
    return fields.splice(place, 1)[0]!.value;
  };
  const flags = new Set<bigint>();
  for (let bits = take(2n) ?? 0n, bit = 0n; bits > 0n; bits /= 2n, bit++)
    if (bits % 2n === 1n) flags.add(bit);
  const etching = flags.delete(0n) ? etchingOf(take, flags.delete(1n), flags.delete(2n)) : null;
  const mint = takeMint(fields);
  const pointer = take(22n, (value) => value < BigInt(outputs));
  if (etching !== null && supplyOf(etching) >= two(128n)) flaws.push('supply-overflow');
  if (flags.size > 0) flaws.push('unrecognized-flag');
  if (fields.some(({ tag }) => tag % 2n === 0n)) flaws.push('unrecognized-even-tag');
  if (flaws.length === 0) return { flaw: null, edicts, etching, mint, pointer };
  return { flaw: flaws[0]!, edicts: [], etching, mint, pointer: null };
}

function messageOf(
  integers: bigint[],
  outputs: bigint,
): { flaws: string[]; fields: Field[]; edicts: ModelEdict[] } {
  const flaws: string[] = [];
  const fields: Field[] = [];
  const edicts: ModelEdict[] = [];
  while (integers.length > 0) {
    const tag = integers.shift()!;
    if (tag === 0n) flaws.push(...bodyFlaws(integers.splice(0), outputs, edicts));
    else if (integers.length === 0) flaws.push('truncated-field');
    else fields.push({ tag, value: integers.shift()! });
  }
  return { flaws, fields, edicts };
}

function etchingOf(take: Take, terms: boolean, turbo: boolean): Record<string, bigint | boolean | null> {
  const isU64 = (value: bigint): boolean => value < two(64n);
  const isCharacter = (value: bigint): boolean => value < 0xd800n || (value > 0xdfffn && value <= 0x10ffffn);
  const term: Take = (tag, legal) => (terms ? take(tag, legal) : null);
  return {
    rune: take(4n),
    divisibility: take(1n, (value) => value <= 38n),
    spacers: take(3n, (value) => value < two(27n)),
    symbol: take(5n, isCharacter),
    premine: take(6n),
    terms,
    cap: term(8n),
    amount: term(10n),
    heightStart: term(12n, isU64),
    heightEnd: term(14n, isU64),
    offsetStart: term(16n, isU64),
    offsetEnd: term(18n, isU64),
    turbo,
  };
}

function supplyOf(etching: Readonly<Record<string, bigint | boolean | null>>): bigint {
  const [premine, cap, amount] = ['premine', 'cap', 'amount'].map((name) => BigInt(etching[name] ?? 0n));
  return premine! + cap! * amount!;
}

function takeMint(fields: Field[]): string | null {
  const [block, tx] = fields.filter(({ tag }) => tag === 20n);
  if (block === undefined || tx === undefined || !isId(block.value, tx.value)) return null;
  for (const field of [block, tx]) fields.splice(fields.indexOf(field), 1);
  return `${block.value}:${tx.value}`;
}

const isId = (block: bigint, tx: bigint): boolean =>
  block < two(64n) && tx < two(32n) && (block > 0n || tx === 0n);

function bodyFlaws(body: readonly bigint[], outputs: bigint, edicts: ModelEdict[]): string[] {
  let [block, tx] = [0n, 0n];
  for (let place = 0; place < body.length; place += 4) {
    if (body.length - place < 4) return ['trailing-integers'];
    const [blockStep, txStep, amount, output] = body.slice(place, place + 4) as [
      bigint,
      bigint,
      bigint,
      bigint,
    ];
    tx = blockStep === 0n ? tx + txStep : txStep;
    block += blockStep;
    if (!isId(block, tx)) return ['edict-rune-id'];
    if (output > outputs) return ['edict-output'];
    edicts.push({ id: `${block}:${tx}`, amount, output });
  }
  return [];
}
